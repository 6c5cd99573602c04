/* Stores of whole cache lines past the cache.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX512_STREAM_H
#define LANEBLOOM_AVX512_STREAM_H

#include "../lanes/partitions.h"
#include "isa.h"

static inline void stream_line(uint8_t *to, const struct cache_line *line)
{
  _mm512_stream_si512((void *)to, _mm512_load_si512(line->bytes));
}

#endif
