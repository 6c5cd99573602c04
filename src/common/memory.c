/* Allocates and frees the memory of filters.
 * SPDX-License-Identifier: MIT */
#include "memory.h"

#include <string.h>

#include "../system/system.h"

/* Filters from this size on are put on huge pages. On pages of 4 KiB, random probes of such a
 * filter miss the first-level TLB, and a probe takes 1.4 to 2 times as long. Transparent huge pages
 * need memory that is aligned to their size. */
static const size_t HUGE_PAGE_NBYTES = (size_t)2 << 20;
static const size_t CACHE_LINE_NBYTES = 64;

static size_t round_up(size_t n, size_t unit)
{
  return (n + unit - 1) / unit * unit;
}

static struct memory on_huge_pages(size_t nbytes)
{
  const size_t size = round_up(nbytes, HUGE_PAGE_NBYTES);
  uint8_t *bytes = lanebloom_system_pages(size, HUGE_PAGE_NBYTES);
  return (struct memory){.bytes = bytes, .nbytes = bytes ? size : 0, .kind = MEMORY_PAGES};
}

struct memory lanebloom_memory_create(uint64_t nbytes)
{
  if (nbytes > PTRDIFF_MAX - 2 * HUGE_PAGE_NBYTES)
    return (struct memory){0};
  if (nbytes >= HUGE_PAGE_NBYTES)
    return on_huge_pages((size_t)nbytes);

  const size_t size = round_up((size_t)nbytes + 1, CACHE_LINE_NBYTES); /* never 0 */
  uint8_t *bytes = lanebloom_system_allocate(CACHE_LINE_NBYTES, size);
  if (bytes)
    memset(bytes, 0, size);
  return (struct memory){.bytes = bytes, .nbytes = size, .kind = MEMORY_HEAP};
}

void lanebloom_memory_free(struct memory *memory)
{
  if (memory->kind == MEMORY_HEAP)
    lanebloom_system_free(memory->bytes);
  else if (memory->kind == MEMORY_PAGES)
    lanebloom_system_pages_free(memory->bytes, memory->nbytes);
  else if (memory->kind == MEMORY_MAPPED)
    lanebloom_system_unmap(memory->bytes, memory->nbytes);
  *memory = (struct memory){0};
}
