/* Stores of whole cache lines past the cache.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX2_STREAM_H
#define LANEBLOOM_AVX2_STREAM_H

#include "../lanes/partitions.h"
#include "isa.h"

static inline void stream_line(uint8_t *to, const struct cache_line *line)
{
  const __m256i *halves = (const __m256i *)line->bytes;
  _mm256_stream_si256((__m256i *)to, _mm256_load_si256(halves));
  _mm256_stream_si256((__m256i *)to + 1, _mm256_load_si256(halves + 1));
}

#endif
