/* What a filter is inside the library, and the memory that holds its bytes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FILTER_H
#define LANEBLOOM_FILTER_H

#include "format.h"

/* Bytes, and who frees them. */
struct filter_memory {
  uint8_t *bytes;
  size_t nbytes;
  enum { MEMORY_BORROWED, MEMORY_HEAP, MEMORY_MAPPED } kind;
};

/* Zeroed and aligned to a cache line; on huge pages where that helps. bytes is NULL on failure. */
struct filter_memory lanebloom_memory_create(uint64_t nbytes);
void lanebloom_memory_free(struct filter_memory *memory);

struct lanebloom_filter {
  const struct format_table *format;
  struct filter_shape shape;
  const uint8_t *bytes; /* the engine's: the payload in its frame */
  size_t nbytes;
  const uint8_t *payload; /* in `bytes`; of constant answers all of them */
  uint64_t nkeys;         /* LANEBLOOM_UNKNOWN */
  double bits_per_key;    /* NaN when unknown */
  struct filter_memory memory;
};

/* A filter over the engine's bytes, which lie in `memory` or are borrowed. On success it owns the
 * memory; on an error the memory stays the caller's. Errors: FORMAT, LIMIT, MEMORY. */
lanebloom_status lanebloom_filter_adopt(const struct format_table *format, const uint8_t *bytes,
                                        size_t nbytes, uint64_t nkeys, double bits_per_key,
                                        struct filter_memory memory, lanebloom_filter **filter);

#endif
