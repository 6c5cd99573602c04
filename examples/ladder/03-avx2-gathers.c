/* Step 3: computes the probes of eight keys in lanes, and gathers their bits.
 *
 * A register holds the same probe of eight keys. Its lanes compute what step 2 computes, and a
 * gather loads a dword for each lane:
 *
 *   lane       0        1        2              7
 *   probe 0    key A    key B    key C    ...   key H
 *   probe 1    key A    key B    key C    ...   key H
 *
 * So there are as many probes per key as in step 2, but an eighth of the instructions. There is no
 * early exit.
 *
 * A dword that begins at the last byte would reach past the filter, where an unreadable page may
 * begin. So only aligned dwords are loaded, because an aligned dword never crosses into another
 * page. For this, bits are counted from the aligned dword in which the filter begins.
 * SPDX-License-Identifier: MIT */
#include "ladder.h"
#include <immintrin.h>

/* Does step 1 in lanes. A multiplication gives products of 64 bits, and only for even lanes. So it
 * is done twice, the second time with the odd lanes moved down:
 *
 *   n           n0 n1 n2 n3
 *   even        -- h0 -- h2     upper halves of n0 * m, n2 * m
 *   odd         -- h1 -- h3     upper halves of n1 * m, n3 * m
 *   upper       h0 h1 h2 h3     even >> 32, and odd in odd lanes */
static inline __m256i positions_of(const struct filter *filter, __m256i probes)
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

/* Gathers a dword for each index. If gcc 12 knew that all lanes are wanted, it would drop the mask,
 * and the gather would then wait for the old value of its register. So the mask is hidden from
 * gcc. */
static inline __m256i gather(const int *dwords, __m256i indices)
{
  __m256i all = _mm256_set1_epi32(-1);
  __asm__("" : "+x"(all));
  return _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), dwords, indices, all, 4);
}

/* Shifts each tested bit to the sign of its lane. The shift goes to the left, by 31 minus the
 * number of the bit in its dword. */
static inline __m256i test(const struct filter *filter, __m256i probes)
{
  const size_t offset = (uintptr_t)filter->payload % 4; /* the payload's place in its dword */
  const int *dwords = (const int *)(const void *)(filter->payload - offset);
  const __m256i first_bit = _mm256_set1_epi32((int)(8 * offset));
  const __m256i at = _mm256_add_epi32(positions_of(filter, probes), first_bit);
  const __m256i found = gather(dwords, _mm256_srli_epi32(at, 5));
  return _mm256_sllv_epi32(found, _mm256_andnot_si256(at, _mm256_set1_epi32(31)));
}

static void probe(const struct filter *filter, const struct batch *batch, uint8_t *bitmap)
{
  for (size_t i = 0; i < NKEYS; i += 8) {
    __m256i probes = _mm256_loadu_si256((const void *)(batch->hashes32 + i));
    const __m256i strides =
        _mm256_or_si256(_mm256_srli_epi32(probes, 17), _mm256_slli_epi32(probes, 15));
    __m256i passed = _mm256_set1_epi32(-1);
    for (uint32_t p = 0; p < filter->nprobes; p++, probes = _mm256_add_epi32(probes, strides))
      passed = _mm256_and_si256(passed, test(filter, probes));
    bitmap[i / 8] = (uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(passed));
  }
}

int main(int argc, char **argv)
{
  return climb(argc, argv, "step 3: keys across lanes, gathers", leveldb, probe);
}
