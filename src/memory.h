/* The memory that filters live in.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_MEMORY_H
#define LANEBLOOM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes, and who frees them. */
struct memory {
  uint8_t *bytes;
  size_t nbytes;
  enum { MEMORY_BORROWED, MEMORY_HEAP, MEMORY_MAPPED } kind;
};

/* Zeroed and aligned to a cache line; on huge pages where that helps. bytes is NULL on failure. */
struct memory lanebloom_memory_create(uint64_t nbytes);
void lanebloom_memory_free(struct memory *memory);

#endif
