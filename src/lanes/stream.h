/* Stores whole cache lines in memory without filling the cache with them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_STREAM_H
#define LANEBLOOM_LANES_STREAM_H

#include "partitions.h"
#include "vector.h"

static inline void stream_line(uint8_t *to, const struct cache_line *line)
{
  for (size_t i = 0; i < CACHE_LINE_NBYTES; i += VECTOR_NBYTES)
    stream_aligned(to + i, load_aligned(line->bytes + i));
}

#endif
