/* Step 5: loads bytes instead of gathering dwords.
 *
 * On many CPUs, a gather takes more work than eight loads: Zen 3 needs 39 operations, and Intel's
 * CPUs before AVX-VNNI need microcode. So this step loads each byte and inserts it into its lane. A
 * byte also cannot reach past the end of the filter.
 *
 * Positions go from lanes to addresses through memory, and a load of bytes just stored has to wait.
 * So one loop of a pass stores the positions of all keys, and another loop loads and tests.
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

/* Computes the positions of probe p of n keys. */
static void locate(const struct filter *filter, const uint32_t *hashes, size_t n, uint32_t p,
                   uint32_t *positions)
{
  for (size_t i = 0; i < n; i += 8) {
    const __m256i hash = _mm256_loadu_si256((const void *)(hashes + i));
    const __m256i stride =
        _mm256_or_si256(_mm256_srli_epi32(hash, 17), _mm256_slli_epi32(hash, 15));
    const __m256i from_hash = _mm256_mullo_epi32(stride, _mm256_set1_epi32((int)p));
    const __m256i position = positions_of(filter, _mm256_add_epi32(hash, from_hash));
    _mm256_storeu_si256((void *)(positions + i), position);
  }
}

/* Sets bit i of a mask if key i passes. 31 ^ bit, which is 31 - bit, shifts the bit to a sign. */
static inline unsigned test(const uint8_t *payload, const uint32_t *at)
{
  const __m256i lanes = _mm256_setr_epi32(
      payload[at[0] / 8], payload[at[1] / 8], payload[at[2] / 8], payload[at[3] / 8],
      payload[at[4] / 8], payload[at[5] / 8], payload[at[6] / 8], payload[at[7] / 8]);
  const __m256i positions = _mm256_loadu_si256((const void *)at);
  const __m256i bits = _mm256_and_si256(positions, _mm256_set1_epi32(7));
  const __m256i signs = _mm256_sllv_epi32(lanes, _mm256_xor_si256(bits, _mm256_set1_epi32(31)));
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(signs));
}

static uint8_t orders[256][8]; /* see step 4 */
static void make_orders(void)
{
  for (unsigned mask = 0; mask < 256; mask++)
    for (uint8_t lane = 0, n = 0; lane < 8; lane++)
      if (mask >> lane & 1)
        orders[mask][n++] = lane;
}

static inline void compact(uint32_t *to, const uint32_t *from, unsigned mask)
{
  const __m256i eight = _mm256_loadu_si256((const void *)from);
  const __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)orders[mask]));
  _mm256_storeu_si256((void *)to, _mm256_permutevar8x32_epi32(eight, order));
}

static void probe(const struct filter *filter, const struct batch *batch, uint8_t *bitmap)
{
  uint32_t hashes[BLOCK_NKEYS], indices[BLOCK_NKEYS], positions[BLOCK_NKEYS];
  make_orders();
  memset(bitmap, 0, NKEYS / 8);
  for (size_t first = 0; first < NKEYS; first += BLOCK_NKEYS) {
    memcpy(hashes, batch->hashes32 + first, sizeof hashes);
    for (uint32_t i = 0; i < BLOCK_NKEYS; i++)
      indices[i] = (uint32_t)first + i;
    size_t n = BLOCK_NKEYS;
    for (uint32_t p = 0; p < filter->nprobes; p++) {
      locate(filter, hashes, n, p, positions);
      size_t nsurvivors = 0;
      for (size_t i = 0; i < n; i += 8) {
        const unsigned last = n - i < 8 ? (1u << (n - i)) - 1 : 0xff;
        const unsigned mask = test(filter->payload, positions + i) & last;
        compact(hashes + nsurvivors, hashes + i, mask);
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
  return climb(argc, argv, "step 5: loads instead of gathers", leveldb, probe);
}
