/* Writes records to standard output or to files. A file is replaced in the same way as the file of
 * a filter.
 * SPDX-License-Identifier: MIT */
#include "sinks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/memory.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/filters.h"

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
    struct stat target;
    if (fstat(STDOUT_FILENO, &target) == 0 && S_ISREG(target.st_mode))
      sink->target = target;
    return;
  }
  const struct target target = check_target(path);
  sink->name = target.name;
  sink->buffer = resize(NULL, BUFFER_NBYTES);
  if (stat(target.path, &sink->target) != 0 || !S_ISREG(sink->target.st_mode))
    sink->target = (struct stat){0};
  if (!is_registered && (atexit(discard_all) != 0 || at_quick_exit(discard_all) != 0))
    die(NULL, "%s", strerror(ENOMEM));
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

static bool is_beside(const struct sink *sink)
{
  return sink->path && sink->file.folder >= 0;
}

static int descriptor_of(const struct sink *sink)
{
  return sink->path ? sink->file.fd : STDOUT_FILENO;
}

bool sink_is_terminal(const struct sink *sink)
{
  return isatty(descriptor_of(sink));
}

bool sink_equals(const struct sink *a, const struct sink *b)
{
  if (S_ISREG(a->target.st_mode) && is_same_file(&a->target, &b->target))
    return true;
  const bool beside = is_beside(a);
  if (beside != is_beside(b) || (beside && strcmp(a->file.name, b->file.name) != 0))
    return false;
  struct stat status_a, status_b; /* the status of the two folders or, if the outputs have none
                                   * (pipes, for example), of the outputs themselves */
  return fstat(beside ? a->file.folder : descriptor_of(a), &status_a) == 0 &&
         fstat(beside ? b->file.folder : descriptor_of(b), &status_b) == 0 &&
         !S_ISCHR(status_a.st_mode) && is_same_file(&status_a, &status_b);
}

bool sink_is(const struct sink *sink, const char *path)
{
  struct stat found;
  return sink->path && S_ISREG(sink->target.st_mode) &&
         stat(is_standard_input(path) ? "/dev/stdin" : path, &found) == 0 &&
         is_same_file(&found, &sink->target);
}
