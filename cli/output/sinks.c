/* Writes records to standard output or to files. A file is replaced in the same way as the file of
 * a filter.
 * SPDX-License-Identifier: MIT */
#include "sinks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/memory.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../system/files.h"

static const size_t BUFFER_NBYTES = (size_t)64 << 10;

/* The sinks whose files are not moved to their paths yet, in the order in which they were
 * opened. */
static struct sink *first;

static void discard_all(void)
{
  for (; first; first = first->next)
    lanebloom_replace_end(&first->file, false);
}

static _Noreturn void die_of_sink(const struct sink *sink)
{
  if (errno != EPIPE)
    die(sink->name, "%s", strerror(errno));
  leave(EXIT_TROUBLE);
}

void sink_open(struct sink *sink, const char *path)
{
  static bool is_registered;
  *sink = (struct sink){.path = path, .is_open = true};
  if (!path) {
    sink->file = (struct replacement){.fd = STANDARD_OUTPUT, .folder = -1};
    struct system_info target;
    if (lanebloom_system_file_info(STANDARD_OUTPUT, &target) && target.kind == SYSTEM_FILE)
      sink->target = target;
    return;
  }
  const struct target target = check_target(path);
  sink->name = target.name;
  sink->buffer = resize(NULL, BUFFER_NBYTES);
  if (!lanebloom_system_info(target.path, &sink->target) || sink->target.kind != SYSTEM_FILE)
    sink->target = (struct system_info){0};
  if (!is_registered)
    call_at_end(discard_all);
  is_registered = true;
  if (!lanebloom_replace_begin(&sink->file, target.path))
    die_of_sink(sink);
  struct sink **end = &first;
  while (*end)
    end = &(*end)->next;
  *end = sink;
}

static void write_file(struct sink *sink, const void *data, size_t nbytes)
{
  if (!lanebloom_replace_write(&sink->file, data, nbytes))
    die_of_sink(sink);
}

void sink_flush(struct sink *sink)
{
  if (!sink->path) {
    output_flush();
    return;
  }
  write_file(sink, sink->buffer, sink->nbuffered);
  sink->nbuffered = 0;
}

void sink_write(struct sink *sink, const void *data, size_t nbytes)
{
  if (!sink->path) {
    output(data, nbytes);
    return;
  }
  if (nbytes > BUFFER_NBYTES - sink->nbuffered)
    sink_flush(sink);
  if (nbytes > BUFFER_NBYTES) {
    write_file(sink, data, nbytes);
    return;
  }
  memcpy(sink->buffer + sink->nbuffered, data, nbytes);
  sink->nbuffered += nbytes;
}

void sink_write_whole(struct sink *sink, const void *data, size_t nbytes)
{
  if (!sink->path) {
    output_whole(data, nbytes);
    return;
  }
  sink_flush(sink);
  write_file(sink, data, nbytes);
}

void sinks_commit(void)
{
  output_flush();
  for (struct sink *sink = first; sink; sink = sink->next)
    sink_flush(sink);
  while (first) {
    struct sink *sink = first;
    first = sink->next;
    free(sink->buffer);
    if (!lanebloom_replace_end(&sink->file, true))
      die_of_sink(sink);
  }
}

void sinks_discard(void)
{
  output_flush();
  for (struct sink *sink = first; sink; sink = sink->next)
    free(sink->buffer);
  discard_all();
}

/* ---- Comparing files ---- */

bool sink_is_terminal(const struct sink *sink)
{
  return is_terminal(sink->file.fd);
}

bool sink_equals(const struct sink *a, const struct sink *b)
{
  return (a->target.kind == SYSTEM_FILE && is_same_file(&a->target, &b->target)) ||
         lanebloom_replace_is_same(&a->file, &b->file);
}

bool sink_is(const struct sink *sink, const char *path)
{
  struct system_info found;
  return sink->path && sink->target.kind == SYSTEM_FILE &&
         lanebloom_system_info(is_standard_input(path) ? "/dev/stdin" : path, &found) &&
         is_same_file(&found, &sink->target);
}
