/* Defines what only Linux has, with glibc or with musl (see system.h).
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "system.h"
#include "unix.h"

const char *lanebloom_system_environment(const char *name)
{
  return secure_getenv(name);
}

unsigned long lanebloom_system_cpu_bits(int word)
{
  return getauxval(word == 1 ? AT_HWCAP : AT_HWCAP2);
}

void lanebloom_unix_prefer_huge_pages(void *pages, size_t nbytes)
{
  madvise(pages, nbytes, MADV_HUGEPAGE);
}

void lanebloom_system_sort(void *elements, size_t n, size_t size,
                           int (*compare)(const void *, const void *, void *), void *context)
{
  qsort_r(elements, n, size, compare, context);
}
