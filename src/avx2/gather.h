/* Gathers, for kernel files alone.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX2_GATHER_H
#define LANEBLOOM_AVX2_GATHER_H

#include "isa.h"

/* Eight dwords by their indices. gcc 12 drops a mask that it knows, and then waits for the
 * register's old value: 3.6 times slower. */
static inline __m256i gather_dwords(const void *dwords, __m256i indices)
{
  __m256i all = _mm256_set1_epi32(-1);
  __asm__("" : ISA_OPERAND(all));
  return _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)dwords, indices, all, 4);
}

#endif
