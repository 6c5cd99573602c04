/* Defines the functions of system.h that the engine needs in a WebAssembly module. The module has
 * no files, no environment and no clock.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "system.h"

const char *lanebloom_system_environment(const char *name)
{
  (void)name;
  return NULL;
}

void *lanebloom_system_allocate(size_t alignment, size_t nbytes)
{
  return aligned_alloc(alignment, nbytes);
}

void lanebloom_system_free(void *bytes)
{
  free(bytes);
}

/* A module has no pages that are larger than others, so a small alignment is enough. */
uint8_t *lanebloom_system_pages(size_t nbytes, size_t alignment)
{
  enum { CACHE_LINE_NBYTES = 64 };
  (void)alignment;
  uint8_t *pages = aligned_alloc(CACHE_LINE_NBYTES, nbytes);
  return pages ? memset(pages, 0, nbytes) : NULL;
}

void lanebloom_system_pages_free(uint8_t *pages, size_t nbytes)
{
  (void)nbytes;
  free(pages);
}

void lanebloom_system_unmap(uint8_t *bytes, size_t nbytes) /* nothing is mapped */
{
  (void)bytes;
  (void)nbytes;
}
