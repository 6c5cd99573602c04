/* Step 8: hashes in lanes.
 *
 * BloomHash is a chain of operations on each word of a key: add the word, multiply, and mix the
 * upper half into the lower half. Each operation waits for the previous one, so one key cannot be
 * hashed faster. So each lane hashes another key. For this, the words of eight keys are moved into
 * lanes. Keys of eight bytes have two words each, A and a:
 *
 *   low register      A0 a0 A1 a1 | A2 a2 A3 a3
 *   high register     A4 a4 A5 a5 | A6 a6 A7 a7
 *   first words       A0 A1 A4 A5 | A2 A3 A6 A7      one shuffle, of each half by itself
 *   second words      a0 a1 a4 a5 | a2 a3 a6 a7
 *
 * The lanes hash the keys in this order. At the end, one permutation of pairs puts the hashes into
 * the order of the keys.
 * SPDX-License-Identifier: MIT */
#include "ladder.h"
#include <immintrin.h>

/* The function is not inlined, because compilers would vectorise the loop around it. */
static __attribute__((noinline)) uint32_t hash_one(uint64_t key)
{
  return bloomhash(key);
}

static void hash_scalar(const uint64_t *keys, uint32_t *hashes)
{
  for (size_t i = 0; i < NKEYS; i++)
    hashes[i] = hash_one(keys[i]);
}

static inline __m256i mix(__m256i hashes, __m256i words)
{
  const __m256i multiplier = _mm256_set1_epi32((int)BLOOMHASH_MULTIPLIER);
  const __m256i products = _mm256_mullo_epi32(_mm256_add_epi32(hashes, words), multiplier);
  return _mm256_xor_si256(products, _mm256_srli_epi32(products, 16));
}

static void hash(const uint64_t *keys, uint32_t *hashes)
{
  const __m256i start = _mm256_set1_epi32((int)(BLOOMHASH_SEED ^ 8 * BLOOMHASH_MULTIPLIER));
  for (size_t i = 0; i < NKEYS; i += 8) {
    const __m256 low = _mm256_loadu_ps((const void *)(keys + i));
    const __m256 high = _mm256_loadu_ps((const void *)(keys + i + 4));
    const __m256i first = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0x88));
    const __m256i second = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0xdd));
    const __m256i mixed = mix(mix(start, first), second);
    /* the pairs of hashes:   01 45 | 23 67   ->   01 23 | 45 67 */
    _mm256_storeu_si256((void *)(hashes + i), _mm256_permute4x64_epi64(mixed, 0xd8));
  }
}

int main(int argc, char **argv)
{
  return climb_hashing(argc, argv, "step 8: BloomHash of 8 bytes, scalar", hash_scalar) |
         climb_hashing(argc, argv, "step 8: BloomHash of 8 bytes, eight lanes", hash);
}
