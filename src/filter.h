/* What a filter is inside the library.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FILTER_H
#define LANEBLOOM_FILTER_H

#include "format.h"
#include "memory.h"

struct lanebloom_filter {
  const struct format_table *format;
  struct filter_shape shape;
  const uint8_t *bytes; /* the engine's: the payload in its frame */
  size_t nbytes;
  const uint8_t *payload; /* in `bytes`; of constant answers all of them */
  uint64_t nkeys;         /* LANEBLOOM_UNKNOWN */
  double bits_per_key;    /* as recorded; NaN when unknown */
  struct memory memory;
};

/* A filter over the engine's bytes, which lie in `memory` or are borrowed. On success it owns the
 * memory; on an error the memory stays the caller's. Errors: FORMAT, LIMIT, MEMORY. */
lanebloom_status lanebloom_filter_adopt(const struct format_table *requested, const uint8_t *bytes,
                                        size_t nbytes, uint64_t nkeys, double bits_per_key,
                                        struct memory memory, lanebloom_filter **filter);

#endif
