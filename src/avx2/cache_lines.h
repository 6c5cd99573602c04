/* Cache lines in AVX2 registers: half of one in each, the probes of one key across lanes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX2_CACHE_LINES_H
#define LANEBLOOM_AVX2_CACHE_LINES_H

#include "../lanes/cache_lines.h"
#include "isa.h"

/* Where each probe looks in its line: the sign says in which half, the lowest 3 bits of dwords at
 * which dword there, the lowest 5 bits of positions at which bit of that. The lowest 9 bits of
 * positions are all this in one number. */
struct probes {
  __m256i signs, dwords, positions;
};

/* Eight probes of hash i. Defined by each layout's file, as lookup is. */
static inline struct probes probes_of(const struct lookup *lookup, uint32_t pass,
                                      const uint8_t *hashes, size_t i);

/* Each probe's bit, as the sign of its lane. */
static inline __m256i bits_as_signs(struct probes probes, const uint8_t *line)
{
  const __m256i lower =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)line), probes.dwords);
  const __m256i upper =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)(line + 32)), probes.dwords);
  const __m256i dwords = _mm256_castps_si256(_mm256_blendv_ps(
      _mm256_castsi256_ps(lower), _mm256_castsi256_ps(upper), _mm256_castsi256_ps(probes.signs)));
  const __m256i to_sign = _mm256_andnot_si256(probes.positions, _mm256_set1_epi32(31));
  return _mm256_sllv_epi32(dwords, to_sign);
}

static inline uint8_t probe_eight(const struct lookup *lookup, uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets,
                                  const uint8_t *hashes, bool far)
{
  (void)far;
  unsigned hits = 0;
  for (size_t i = 8; i-- > 0;) {
    const uint8_t *line = payload + offsets[i];
    __m256i passed = bits_as_signs(probes_of(lookup, 0, hashes, i), line);
    for (uint32_t pass = 1; pass < npasses; pass++)
      passed = _mm256_and_si256(passed, bits_as_signs(probes_of(lookup, pass, hashes, i), line));
    hits = 2 * hits + (_mm256_movemask_ps(_mm256_castsi256_ps(passed)) == 0xff);
  }
  return (uint8_t)hits;
}

/* Sets bits at these positions. Shifting by a count that is not below 32, or is negative, leaves 0:
 * so of all dwords only the bit's own gets it. */
static inline void set_bits(uint8_t *line, const uint32_t *positions, uint32_t nbits)
{
  const __m256i one = _mm256_set1_epi32(1);
  const __m256i to_lower = _mm256_set_epi32(-224, -192, -160, -128, -96, -64, -32, 0);
  const __m256i to_upper = _mm256_sub_epi32(to_lower, _mm256_set1_epi32(256));
  __m256i lower = _mm256_loadu_si256((const __m256i *)line);
  __m256i upper = _mm256_loadu_si256((const __m256i *)(line + 32));
  for (uint32_t i = 0; i < nbits; i++) {
    const __m256i bit = _mm256_set1_epi32((int)positions[i]);
    lower = _mm256_or_si256(lower, _mm256_sllv_epi32(one, _mm256_add_epi32(bit, to_lower)));
    upper = _mm256_or_si256(upper, _mm256_sllv_epi32(one, _mm256_add_epi32(bit, to_upper)));
  }
  _mm256_storeu_si256((__m256i *)line, lower);
  _mm256_storeu_si256((__m256i *)(line + 32), upper);
}

static inline void add_eight(const struct lookup *lookup, uint32_t nprobes, uint8_t *payload,
                             const uint64_t *offsets, const uint8_t *hashes, size_t n, bool far)
{
  (void)far;
  uint32_t positions[8][MAX_NPASSES * PASS_NPROBES];
  for (size_t i = 0; i < 8; i++)
    for (uint32_t pass = 0; pass < npasses_for(nprobes); pass++)
      _mm256_storeu_si256((__m256i *)&positions[i][pass * PASS_NPROBES],
                          _mm256_and_si256(probes_of(lookup, pass, hashes, i).positions,
                                           _mm256_set1_epi32(8 * CACHE_LINE_NBYTES - 1)));
  for (size_t i = 0; i < n; i++)
    set_bits(payload + offsets[i], positions[i], nprobes);
}

#endif
