/* Cache lines in AVX-512 registers: one in each, the probes of two keys across lanes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX512_CACHE_LINES_H
#define LANEBLOOM_AVX512_CACHE_LINES_H

#include "../lanes/cache_lines.h"
#include "isa.h"
#include "masks.h"

/* Where each probe looks in its line: the number of a dword, and a position in bits, of which the
 * lowest 9 bits count. */
struct probes {
  __m512i dwords, positions;
};

/* Eight probes of hash 2 * pair in lanes 0 to 7, of the next hash in lanes 8 to 15. Defined by each
 * layout's file, as lookup is. */
static inline struct probes probes_of(const struct lookup *lookup, uint32_t pass,
                                      const uint8_t *hashes, int pair);

/* Lanes 8 to 15 repeat lanes 0 to 7. */
static inline __m512i load_twice(const uint32_t *lanes)
{
  return _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)lanes));
}

/* A line; in halves if it is far: 5.2 ns instead of 7.4 for 64 lines on their way from memory, 0.2
 * more in L2 (Zen 4). The empty asm keeps compilers from joining them. */
static inline __m512i load_line(const uint8_t *line, const bool far)
{
  if (!far)
    return _mm512_loadu_si512(line);
  __m256i lower = _mm256_loadu_si256((const __m256i *)line);
  __asm__("" : "+x"(lower));
  return _mm512_inserti64x4(_mm512_castsi256_si512(lower),
                            _mm256_loadu_si256((const __m256i *)(line + 32)), 1);
}

/* ---- Probing ---- */

/* Lanes 0 to 7: probes in line a that meet a bit that is clear; 8 to 15: in line b. Rotating takes
 * its count modulo 32. */
static inline __mmask16 failures_in_two(struct probes probes, __m512i line_a, __m512i line_b)
{
  const __m512i of_b = _mm512_set_epi32(16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i dwords =
      _mm512_permutex2var_epi32(line_a, _mm512_or_si512(probes.dwords, of_b), line_b);
  const __m512i bit_first = _mm512_rorv_epi32(dwords, probes.positions);
  return _mm512_testn_epi32_mask(bit_first, _mm512_set1_epi32(1));
}

static inline uint8_t probe_eight(const struct lookup *lookup, uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets,
                                  const uint8_t *hashes, bool far)
{
  __mmask16 failures[4];
  for (int i = 0; i < 4; i++) {
    const __m512i line_a = load_line(payload + offsets[2 * i], far);
    const __m512i line_b = load_line(payload + offsets[2 * i + 1], far);
    failures[i] = failures_in_two(probes_of(lookup, 0, hashes, i), line_a, line_b);
    for (uint32_t pass = 1; pass < npasses; pass++)
      failures[i] |= failures_in_two(probes_of(lookup, pass, hashes, i), line_a, line_b);
  }
  return bytes_of_zero(join_masks(failures));
}

/* ---- Adding ---- */

/* A line with bits at these positions, of which there is an even number. Shifting by a count that
 * is not below 32, or is negative, leaves 0: so of all dwords only the bit's own gets it. */
static inline __m512i line_of_bits(const uint32_t *positions, uint32_t nbits)
{
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i to_dword =
      _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                         _mm512_set1_epi32(-32));
  __m512i line = _mm512_setzero_si512();
  for (uint32_t i = 0; i < nbits; i += 2) {
    const __m512i a = _mm512_add_epi32(to_dword, _mm512_set1_epi32((int)positions[i]));
    const __m512i b = _mm512_add_epi32(to_dword, _mm512_set1_epi32((int)positions[i + 1]));
    line = _mm512_ternarylogic_epi32(line, _mm512_sllv_epi32(one, a), _mm512_sllv_epi32(one, b),
                                     0xfe); /* or */
  }
  return line;
}

static inline void add_eight(const struct lookup *lookup, uint32_t nprobes, uint8_t *payload,
                             const uint64_t *offsets, const uint8_t *hashes, size_t n, bool far)
{
  uint32_t positions[8][MAX_NPASSES * PASS_NPROBES];
  for (int i = 0; i < 4; i++)
    for (uint32_t pass = 0; pass < npasses_for(nprobes); pass++) {
      const __m512i two = _mm512_and_si512(probes_of(lookup, pass, hashes, i).positions,
                                           _mm512_set1_epi32(8 * CACHE_LINE_NBYTES - 1));
      _mm256_storeu_si256((__m256i *)&positions[2 * i][pass * PASS_NPROBES],
                          _mm512_castsi512_si256(two));
      _mm256_storeu_si256((__m256i *)&positions[2 * i + 1][pass * PASS_NPROBES],
                          _mm512_extracti64x4_epi64(two, 1));
    }
  for (size_t i = 0; i < n; i++) {
    const __m512i line = load_line(payload + offsets[i], far);
    _mm512_storeu_si512(payload + offsets[i],
                        _mm512_or_si512(line, line_of_bits(positions[i], nprobes)));
  }
}

#endif
