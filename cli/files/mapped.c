/* Maps the files of filters into memory.
 * SPDX-License-Identifier: MIT */
#include "mapped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../input/inputs.h"
#include "../system/files.h"
#include "../system/process.h"
#include "filters.h"

/* ---- Files that become shorter while they are mapped ---- */

static struct mapped *first;

/* Prints the message that watch() has prepared, because this function may not format one, and ends
 * the command. */
static void report_lost_page(const void *address)
{
  for (const struct mapped *mapped = first; mapped; mapped = mapped->next)
    if ((uintptr_t)address - (uintptr_t)mapped->bytes < mapped->nbytes)
      end_at_once(mapped->message, EXIT_TROUBLE);
}

static void watch(struct mapped *mapped, const char *path)
{
  char *name = escape_name(path);
  if (asprintf(&mapped->message, "lanebloom: %s: %s\n", name, shrunk_text) < 0)
    die(NULL, "%s", strerror(ENOMEM));
  free(name);
  mapped->next = first;
  first = mapped;
  watch_maps(report_lost_page);
}

/* ---- Mapping ---- */

/* If the path leads to a regular file that can be mapped, maps the file and sets mapped->bytes.
 * Does not open other files, because the caller opens the path again, and a pipe that is opened
 * twice may lose its content. */
static void map(struct mapped *mapped, const char *path)
{
  struct system_info found;
  if (is_standard_input(path) || !lanebloom_system_info(path, &found) || found.kind != SYSTEM_FILE)
    return;
  const int fd = lanebloom_system_open(path, true);
  if (fd < 0)
    return;
  if (lanebloom_system_file_info(fd, &found) && found.nbytes > 0) {
    mapped->nbytes = (size_t)found.nbytes;
    mapped->bytes = lanebloom_system_map(fd, mapped->nbytes);
  }
  lanebloom_system_close(fd);
}

lanebloom_status map_filter(struct mapped *mapped, const char *path, char *problem,
                            size_t problem_size)
{
  *mapped = (struct mapped){0};
  map(mapped, path);
  lanebloom_status status;
  if (mapped->bytes) {
    watch(mapped, path);
    status = lanebloom_filter_parse(mapped->bytes, mapped->nbytes, &mapped->filter, problem,
                                    problem_size);
    if (status != LANEBLOOM_OK)
      unmap_filter(mapped);
  } else {
    status = lanebloom_filter_load(is_standard_input(path) ? "/dev/stdin" : path, &mapped->filter,
                                   problem, problem_size);
  }
  if (status != LANEBLOOM_OK && problem)
    explain_no_filter(path, status, problem, problem_size);
  return status;
}

lanebloom_status verify_again(const struct mapped *mapped)
{
  if (!mapped->bytes)
    return LANEBLOOM_OK;
  lanebloom_filter *filter;
  const lanebloom_status status =
      lanebloom_filter_parse(mapped->bytes, mapped->nbytes, &filter, NULL, 0);
  lanebloom_filter_free(filter);
  return status;
}

void unmap_filter(struct mapped *mapped)
{
  lanebloom_filter_free(mapped->filter);
  for (struct mapped **link = &first; *link; link = &(*link)->next)
    if (*link == mapped) {
      *link = mapped->next;
      break;
    }
  if (mapped->bytes)
    lanebloom_system_unmap(mapped->bytes, mapped->nbytes);
  free(mapped->message);
  *mapped = (struct mapped){0};
}
