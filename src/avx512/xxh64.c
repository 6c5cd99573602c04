/* XXH64 in lanes of AVX-512: eight keys at a time.
 * SPDX-License-Identifier: MIT */
enum { NLANES = 8, GROUP_NKEYS = 8 };
#include "../lanes/xxh64.h"
#include "../lanes/lanes.h"
#include "isa.h"

/* 32 bytes of two keys. */
static inline __m512i load_two(const uint8_t *a, const uint8_t *b)
{
  const __m512i first = _mm512_castsi256_si512(_mm256_loadu_si256((const void *)a));
  return _mm512_inserti64x4(first, _mm256_loadu_si256((const void *)b), 1);
}

/* pairs[i]: words 0 1 2 3 of key i, words 0 1 2 3 of key i + 4. */
static inline void load_stripe(const uint8_t *const keys[NLANES], size_t offset, words columns[4])
{
  const __m512i lower = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0),
                upper = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  __m512i pairs[4];
  for (size_t i = 0; i < 4; i++)
    pairs[i] = load_two(keys[i] + offset, keys[i + 4] + offset);
  const __m512i even_01 = _mm512_unpacklo_epi64(pairs[0], pairs[1]),
                odd_01 = _mm512_unpackhi_epi64(pairs[0], pairs[1]),
                even_23 = _mm512_unpacklo_epi64(pairs[2], pairs[3]),
                odd_23 = _mm512_unpackhi_epi64(pairs[2], pairs[3]);
  columns[0] = (words)_mm512_permutex2var_epi64(even_01, lower, even_23);
  columns[1] = (words)_mm512_permutex2var_epi64(odd_01, lower, odd_23);
  columns[2] = (words)_mm512_permutex2var_epi64(even_01, upper, even_23);
  columns[3] = (words)_mm512_permutex2var_epi64(odd_01, upper, odd_23);
}

static inline void load_pairs(const uint8_t *keys, words columns[2])
{
  const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0),
                odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
  const __m512i a = _mm512_loadu_si512(keys), b = _mm512_loadu_si512(keys + 64);
  columns[0] = (words)_mm512_permutex2var_epi64(a, even, b);
  columns[1] = (words)_mm512_permutex2var_epi64(a, odd, b);
}

void KERNEL(xxh64_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_batch(keys, hashes);
}
