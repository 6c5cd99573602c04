/* Lines of RocksDB's formats in AVX2 registers.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX2_LINES_H
#define LANEBLOOM_AVX2_LINES_H

#include "../lines.h"
#include "isa.h"

/* The dwords of a line, shifted by these, take 32 bits each from bit 0 of the line on. */
static inline void set_bits(uint8_t *line, const uint32_t *bits, uint32_t nbits)
{
  const __m256i one = _mm256_set1_epi32(1);
  const __m256i to_lower = _mm256_set_epi32(-224, -192, -160, -128, -96, -64, -32, 0);
  const __m256i to_upper = _mm256_sub_epi32(to_lower, _mm256_set1_epi32(256));
  __m256i lower = _mm256_loadu_si256((const __m256i *)line);
  __m256i upper = _mm256_loadu_si256((const __m256i *)(line + 32));
  for (uint32_t i = 0; i < nbits; i++) {
    const __m256i bit = _mm256_set1_epi32((int)bits[i]);
    lower = _mm256_or_si256(lower, _mm256_sllv_epi32(one, _mm256_add_epi32(bit, to_lower)));
    upper = _mm256_or_si256(upper, _mm256_sllv_epi32(one, _mm256_add_epi32(bit, to_upper)));
  }
  _mm256_storeu_si256((__m256i *)line, lower);
  _mm256_storeu_si256((__m256i *)(line + 32), upper);
}

#endif
