/* Lines of RocksDB's formats in AVX-512 registers.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX512_LINES_H
#define LANEBLOOM_AVX512_LINES_H

#include "../lines.h"
#include "isa.h"

/* A line; in halves if it is far: Zen 4 takes 7.4 ns for a line of 64 that are on their way from
 * memory when it is loaded whole, and 5.2 in halves, while in L2 that is 0.2 slower. The empty asm
 * keeps compilers from joining them. */
static inline __m512i load_line(const uint8_t *line, const bool far)
{
  if (!far)
    return _mm512_loadu_si512(line);
  __m256i lower = _mm256_loadu_si256((const __m256i *)line);
  __asm__("" : "+x"(lower));
  return _mm512_inserti64x4(_mm512_castsi256_si512(lower),
                            _mm256_loadu_si256((const __m256i *)(line + 32)), 1);
}

/* Bit i: byte i is 0. */
static inline uint8_t bytes_of_zero(uint64_t bytes)
{
  const uint64_t low_bits = 0x7f7f7f7f7f7f7f7f;
  const uint64_t high_bit_if_not_zero = ((bytes & low_bits) + low_bits) | bytes;
  return (uint8_t)_pext_u64(~high_bit_if_not_zero, ~low_bits);
}

/* A line of which these bits are set. Shifting by a count that is not below 32, or is negative,
 * leaves 0: so of all dwords only the bit's own gets it. */
static inline __m512i line_of_bits(const uint32_t *bits, uint32_t nbits)
{
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i to_dword =
      _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                         _mm512_set1_epi32(-32));
  __m512i line = _mm512_setzero_si512();
  for (uint32_t i = 0; i < nbits; i += 2) {
    const __m512i a = _mm512_add_epi32(to_dword, _mm512_set1_epi32((int)bits[i]));
    const __m512i b = _mm512_add_epi32(to_dword, _mm512_set1_epi32((int)bits[i + 1]));
    line = _mm512_ternarylogic_epi32(line, _mm512_sllv_epi32(one, a), _mm512_sllv_epi32(one, b),
                                     0xfe); /* or */
  }
  return line;
}

static inline void set_bits(uint8_t *line, __m512i bits, const bool far)
{
  _mm512_storeu_si512(line, _mm512_or_si512(load_line(line, far), bits));
}

#endif
