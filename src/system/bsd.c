/* Defines what macOS and FreeBSD share (see system.h and unix.h).
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "system.h"
#include "unix.h"

const char *lanebloom_system_environment(const char *name)
{
  return issetugid() ? NULL : getenv(name); /* NOLINT(concurrency-mt-unsafe): as elsewhere */
}

void lanebloom_unix_prefer_huge_pages(void *pages, size_t nbytes)
{
  (void)pages; /* these systems choose large pages by themselves */
  (void)nbytes;
}

/* The arguments of qsort_r() have another order on macOS and on FreeBSD before version 14, so the
 * context is passed beside qsort(). */
static _Thread_local struct {
  int (*compare)(const void *, const void *, void *);
  void *context;
} sorting;

static int compare_elements(const void *a, const void *b)
{
  return sorting.compare(a, b, sorting.context);
}

void lanebloom_system_sort(void *elements, size_t n, size_t size,
                           int (*compare)(const void *, const void *, void *), void *context)
{
  sorting.compare = compare;
  sorting.context = context;
  qsort(elements, n, size, compare_elements);
}
