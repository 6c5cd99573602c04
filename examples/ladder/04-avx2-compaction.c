/* Step 4: compacts the survivors, which has the effect of an early exit.
 *
 * With a probability of 0.84, at least one of eight absent keys passes the first two probes, so
 * eight lanes can hardly ever stop early. Instead, each pass makes one probe for each key of a
 * block that is left, and moves the survivors, the keys that pass this probe, together. The
 * registers of the next pass are full again, but there are only half as many:
 *
 *   pass 0      A b c D e F g h   I J k l m n o P     capitals pass
 *   survivors   A D F I J P
 *   pass 1      A d F I j p   ...
 *
 * An absent key needs 1.8 passes instead of 6 probes. But a pass costs more than a probe, so
 * present keys lose. The library counts hits, and decides for each block whether to compact.
 * SPDX-License-Identifier: MIT */
#include "ladder.h"
#include <immintrin.h>

enum { BLOCK_NKEYS = 1024 };

static inline __m256i positions_of(const struct filter *filter, __m256i probes) /* see step 3 */
{
  const __m256i multiplier = _mm256_set1_epi32((int)filter->multiplier);
  const __m256i n = _mm256_srli_epi32(probes, 3);
  const __m256i even = _mm256_mul_epu32(n, multiplier);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(n, 32), multiplier);
  const __m256i upper = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  const __m256i quotients = _mm256_srlv_epi32(upper, _mm256_set1_epi32((int)filter->shift - 32));
  const __m256i nbits = _mm256_set1_epi32((int)(8 * filter->nbytes));
  return _mm256_sub_epi32(probes, _mm256_mullo_epi32(quotients, nbits));
}

/* Returns a mask: bit i is set if key i of eight passes probe p. */
static inline unsigned test(const struct filter *filter, const uint32_t *from, uint32_t p)
{
  const __m256i hashes = _mm256_loadu_si256((const void *)from);
  const size_t offset = (uintptr_t)filter->payload % 4;
  const int *dwords = (const int *)(const void *)(filter->payload - offset);
  const __m256i strides =
      _mm256_or_si256(_mm256_srli_epi32(hashes, 17), _mm256_slli_epi32(hashes, 15));
  const __m256i from_hash = _mm256_mullo_epi32(strides, _mm256_set1_epi32((int)p));
  const __m256i positions = positions_of(filter, _mm256_add_epi32(hashes, from_hash));
  const __m256i at = _mm256_add_epi32(positions, _mm256_set1_epi32((int)(8 * offset)));
  __m256i all = _mm256_set1_epi32(-1);
  __asm__("" : "+x"(all)); /* see step 3 */
  const __m256i found =
      _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), dwords, _mm256_srli_epi32(at, 5), all, 4);
  const __m256i signs = _mm256_sllv_epi32(found, _mm256_andnot_si256(at, _mm256_set1_epi32(31)));
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(signs));
}

/* For each mask, its lanes in order. (AVX2 has no instruction that compresses.) */
static uint8_t orders[256][8];

static void make_orders(void)
{
  for (unsigned mask = 0; mask < 256; mask++)
    for (uint8_t lane = 0, n = 0; lane < 8; lane++)
      if (mask >> lane & 1)
        orders[mask][n++] = lane;
}

/* Stores eight lanes, the survivors first:   a b c d e f g h  ->  b d g - - - - - */
static inline void compact(uint32_t *to, const uint32_t *from, unsigned mask)
{
  const __m256i eight = _mm256_loadu_si256((const void *)from);
  const __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)orders[mask]));
  _mm256_storeu_si256((void *)to, _mm256_permutevar8x32_epi32(eight, order));
}

static void probe(const struct filter *filter, const struct batch *batch, uint8_t *bitmap)
{
  uint32_t hashes[BLOCK_NKEYS], indices[BLOCK_NKEYS]; /* the survivors */
  make_orders();
  memset(bitmap, 0, NKEYS / 8);
  for (size_t first = 0; first < NKEYS; first += BLOCK_NKEYS) {
    memcpy(hashes, batch->hashes32 + first, sizeof hashes);
    for (uint32_t i = 0; i < BLOCK_NKEYS; i++)
      indices[i] = (uint32_t)first + i;
    size_t n = BLOCK_NKEYS;
    for (uint32_t p = 0; p < filter->nprobes; p++) {
      size_t nsurvivors = 0;
      for (size_t i = 0; i < n; i += 8) {
        const unsigned last = n - i < 8 ? (1u << (n - i)) - 1 : 0xff; /* lanes past n hold no key */
        const unsigned mask = test(filter, hashes + i, p) & last;
        compact(hashes + nsurvivors, hashes + i, mask); /* overwrites only keys that were read */
        compact(indices + nsurvivors, indices + i, mask);
        nsurvivors += (size_t)__builtin_popcount(mask);
      }
      n = nsurvivors;
    }
    for (size_t i = 0; i < n; i++)
      bitmap[indices[i] / 8] |= (uint8_t)(1 << indices[i] % 8);
  }
}

int main(int argc, char **argv)
{
  return climb(argc, argv, "step 4: compaction of survivors", leveldb, probe);
}
