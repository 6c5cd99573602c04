/* Maps the files of filters into memory.
 * SPDX-License-Identifier: MIT */
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/paths.h"
#include "../base/report.h"
#include "../input/inputs.h"
#include "filters.h"

/* ---- Files that become shorter while they are mapped ---- */

static struct mapped *first;

/* Handles SIGBUS, which reading a missing page of a mapping raises: the file has become shorter.
 * Prints the message that watch() has prepared, because a signal handler cannot format one, and
 * ends the command. */
static void report_lost_page(int signal_number, siginfo_t *info, void *context)
{
  (void)context;
  for (const struct mapped *mapped = first; mapped; mapped = mapped->next)
    if ((uintptr_t)info->si_addr - (uintptr_t)mapped->bytes < mapped->nbytes) {
      ssize_t nwritten = write(STDERR_FILENO, mapped->message, strlen(mapped->message));
      (void)nwritten;
      _exit(EXIT_TROUBLE);
    }
  signal(signal_number, SIG_DFL); /* the address is in no mapping: the signal is raised again and
                                   * ends the command */
}

static void watch(struct mapped *mapped, const char *path)
{
  char *name = escape_name(path);
  if (asprintf(&mapped->message, "lanebloom: %s: %s\n", name, shrunk_text) < 0)
    die(NULL, "%s", strerror(ENOMEM));
  free(name);
  mapped->next = first;
  first = mapped;
  sigaction(SIGBUS, &(struct sigaction){.sa_sigaction = report_lost_page, .sa_flags = SA_SIGINFO},
            NULL);
}

/* ---- Mapping ---- */

/* If the path leads to a regular file that can be mapped, maps the file and sets mapped->bytes.
 * Does not open other files, because the caller opens the path again, and a pipe that is opened
 * twice may lose its content. */
static void map(struct mapped *mapped, const char *path)
{
  struct stat found;
  if (is_standard_input(path) || stat(path, &found) != 0 || !S_ISREG(found.st_mode))
    return;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  if (fstat(fd, &found) == 0 && found.st_size > 0) {
    mapped->nbytes = (size_t)found.st_size;
    mapped->bytes = mmap(NULL, mapped->nbytes, PROT_READ, MAP_SHARED, fd, 0);
  }
  if (mapped->bytes == MAP_FAILED)
    mapped->bytes = NULL;
  close(fd);
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
    munmap(mapped->bytes, mapped->nbytes);
  free(mapped->message);
  *mapped = (struct mapped){0};
}
