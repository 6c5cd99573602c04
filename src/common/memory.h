/* Memory for filters.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_MEMORY_H
#define LANEBLOOM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes, and how they are freed. */
struct memory {
  uint8_t *bytes;
  size_t nbytes; /* at least what was requested */
  enum { MEMORY_BORROWED, MEMORY_HEAP, MEMORY_MAPPED } kind;
};

/* Allocates zeroed memory, aligned to a cache line. From 2 MiB on it is on huge pages if the system
 * has them. bytes is NULL if memory ran out. */
struct memory lanebloom_memory_create(uint64_t nbytes);

/* Frees the memory and zeroes the struct. */
void lanebloom_memory_free(struct memory *memory);

#endif
