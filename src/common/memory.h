/* Allocates and frees the memory of filters.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_MEMORY_H
#define LANEBLOOM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes, and the way in which they are freed. MEMORY_BORROWED is never freed. */
struct memory {
  uint8_t *bytes;
  size_t nbytes; /* at least the requested size */
  enum { MEMORY_BORROWED, MEMORY_HEAP, MEMORY_PAGES, MEMORY_MAPPED } kind;
};

/* Allocates zeroed memory, aligned to a cache line. Memory of 2 MiB or more is on huge pages if the
 * system has them. If memory runs out, `bytes` of the result is NULL. */
struct memory lanebloom_memory_create(uint64_t nbytes);

/* Frees the memory and zeroes the struct. */
void lanebloom_memory_free(struct memory *memory);

#endif
