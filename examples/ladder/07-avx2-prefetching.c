/* Step 7: prefetches cache lines in blocks, for filters that are larger than the caches.
 *
 * A cache miss takes about a hundred nanoseconds. A CPU can have tens of misses in flight, but it
 * looks ahead only a few keys. So this step requests the lines of a whole block of keys while it
 * tests the previous block:
 *
 *   fetch 0
 *   fetch 1   test 0
 *   fetch 2   test 1
 *             ...
 *
 * Prefetches and tests take turns. If all requests came in one burst, they would wait for each
 * other, and memory would be idle between the bursts. All addresses of a block are computed in
 * advance, because a prefetch waits if its address was just stored.
 *
 * The lines are prefetched into the second-level cache, because the first level has fewer buffers
 * for lines in flight. If the filter is already in a cache, prefetching is useless work.
 * SPDX-License-Identifier: MIT */
#include "ladder.h"
#include <immintrin.h>

enum { BLOCK_NKEYS = 128 };

static __m256i powers_of(const struct filter *filter) /* see step 6 */
{
  uint32_t powers[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (uint32_t p = 1; p < filter->nprobes; p++)
    powers[p] = powers[p - 1] * LOCAL_MULTIPLIER;
  return _mm256_loadu_si256((const void *)powers);
}

static inline unsigned test(const uint8_t *line, uint64_t hash, __m256i powers) /* see step 6 */
{
  const __m256i probes = _mm256_mullo_epi32(_mm256_set1_epi32((int)(hash >> 32)), powers);
  const __m256i dword = _mm256_srli_epi32(probes, 28);
  const __m256i lower = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const void *)line), dword);
  const __m256i upper =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const void *)(line + 32)), dword);
  const __m256 found = _mm256_blendv_ps(_mm256_castsi256_ps(lower), _mm256_castsi256_ps(upper),
                                        _mm256_castsi256_ps(probes));
  const __m256i to_sign = _mm256_andnot_si256(_mm256_srli_epi32(probes, 23), _mm256_set1_epi32(31));
  const __m256i signs = _mm256_sllv_epi32(_mm256_castps_si256(found), to_sign);
  return _mm256_movemask_ps(_mm256_castsi256_ps(signs)) == 0xff;
}

/* Computes the offsets of the lines of a block, by a multiplication and a shift in four lanes of 64
 * bits. */
static void locate(const struct filter *filter, const uint64_t *hashes, uint64_t *offsets)
{
  const __m256i nlines = _mm256_set1_epi64x(filter->nlines);
  for (size_t i = 0; i < BLOCK_NKEYS; i += 4) {
    const __m256i four = _mm256_loadu_si256((const void *)(hashes + i));
    const __m256i lines = _mm256_srli_epi64(_mm256_mul_epu32(four, nlines), 32);
    _mm256_storeu_si256((void *)(offsets + i), _mm256_slli_epi64(lines, 6));
  }
}

static void probe(const struct filter *filter, const struct batch *batch, uint8_t *bitmap)
{
  const __m256i powers = powers_of(filter);
  const uint8_t *payload = filter->payload;
  uint64_t blocks[2][BLOCK_NKEYS]; /* the offsets of lines, for even and odd blocks */
  locate(filter, batch->hashes64, blocks[0]);
  for (size_t first = 0; first < NKEYS; first += BLOCK_NKEYS) {
    const uint64_t *offsets = blocks[first / BLOCK_NKEYS % 2];
    uint64_t *next = blocks[(first / BLOCK_NKEYS + 1) % 2];
    if (first + BLOCK_NKEYS < NKEYS) /* otherwise `next` keeps old offsets */
      locate(filter, batch->hashes64 + first + BLOCK_NKEYS, next);
    for (size_t i = 0; i < BLOCK_NKEYS; i += 8) {
      unsigned mask = 0;
      for (size_t j = 0; j < 8; j++) {
        __builtin_prefetch(payload + next[i + j], 0, 2);
        mask |= test(payload + offsets[i + j], batch->hashes64[first + i + j], powers) << j;
      }
      bitmap[(first + i) / 8] = (uint8_t)mask;
    }
  }
}

int main(int argc, char **argv)
{
  return climb(argc, argv, "step 7: one line per key, prefetched", local, probe);
}
