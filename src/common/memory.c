/* Allocates and frees the memory of filters.
 * SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Filters from this size on are put on huge pages. On pages of 4 KiB, random probes of such a
 * filter miss the first-level TLB, and a probe takes 1.4 to 2 times as long. Transparent huge pages
 * need memory that is aligned to their size. mmap alone does not promise this alignment, so more is
 * mapped, and the ends are unmapped. */
static const size_t HUGE_PAGE_NBYTES = (size_t)2 << 20;
static const size_t CACHE_LINE_NBYTES = 64;

static size_t round_up(size_t n, size_t unit)
{
  return (n + unit - 1) / unit * unit;
}

static struct memory on_huge_pages(size_t nbytes)
{
  const size_t size = round_up(nbytes, HUGE_PAGE_NBYTES);
  const size_t reserved = size + HUGE_PAGE_NBYTES;
  uint8_t *begin = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED)
    return (struct memory){0};

  uint8_t *aligned = begin + (round_up((uintptr_t)begin, HUGE_PAGE_NBYTES) - (uintptr_t)begin);
  const size_t before = (size_t)(aligned - begin), after = reserved - size - before;
  if (before > 0)
    munmap(begin, before);
  if (after > 0)
    munmap(aligned + size, after);
  madvise(aligned, size,
          MADV_HUGEPAGE); /* may fail: without huge pages probes are slower, but not wrong */
  return (struct memory){.bytes = aligned, .nbytes = size, .kind = MEMORY_MAPPED};
}

struct memory lanebloom_memory_create(uint64_t nbytes)
{
  if (nbytes > PTRDIFF_MAX - 2 * HUGE_PAGE_NBYTES)
    return (struct memory){0};
  if (nbytes >= HUGE_PAGE_NBYTES)
    return on_huge_pages((size_t)nbytes);

  const size_t size =
      round_up((size_t)nbytes + 1, CACHE_LINE_NBYTES); /* never 0, which aligned_alloc may refuse */
  uint8_t *bytes = aligned_alloc(CACHE_LINE_NBYTES, size);
  if (bytes)
    memset(bytes, 0, size);
  return (struct memory){.bytes = bytes, .nbytes = size, .kind = MEMORY_HEAP};
}

void lanebloom_memory_free(struct memory *memory)
{
  if (memory->kind == MEMORY_HEAP)
    free(memory->bytes);
  else if (memory->kind == MEMORY_MAPPED)
    munmap(memory->bytes, memory->nbytes);
  *memory = (struct memory){0};
}
