/* Words of lanes/vocabulary.h that have the same definition for all instruction sets of x86. The
 * file vector.h of each of these sets includes this file at its end.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_X86_WORDS_H
#define LANEBLOOM_X86_WORDS_H

#define HAS_LANE_LOADS 0
#define both_picked32 bit_and

/* Returns the high halves of products of 64 bits. All lanes of b must have the same number. Even
 * and odd lanes are multiplied separately, and then the halves are merged:
 *
 *   even    a0 -- a2 --              -- h0 -- h2            h0 h1 h2 h3
 *   odd     a1 -- a3 --   products   -- h1 -- h3   merged */
static inline vector mul_high32(vector a, vector b)
{
  return merge_odd32(mul_even32(a, b), mul_even32(shift_right64(a, 32), b));
}

static inline size_t store_chosen32(uint32_t *to, vector v, unsigned mask)
{
  store(to, compress32(v, order_of32(mask)));
  return (unsigned)__builtin_popcount(mask);
}

static inline unsigned test_bits16(const uint8_t *payload, const uint32_t *at, const uint8_t *masks)
{
  __m128i bytes = _mm_cvtsi32_si128(payload[at[0]]), high = _mm_cvtsi32_si128(payload[at[8]]);
  bytes = _mm_insert_epi8(bytes, payload[at[1]], 1);
  bytes = _mm_insert_epi8(bytes, payload[at[2]], 2);
  bytes = _mm_insert_epi8(bytes, payload[at[3]], 3);
  bytes = _mm_insert_epi8(bytes, payload[at[4]], 4);
  bytes = _mm_insert_epi8(bytes, payload[at[5]], 5);
  bytes = _mm_insert_epi8(bytes, payload[at[6]], 6);
  bytes = _mm_insert_epi8(bytes, payload[at[7]], 7);
  high = _mm_insert_epi8(high, payload[at[9]], 1);
  high = _mm_insert_epi8(high, payload[at[10]], 2);
  high = _mm_insert_epi8(high, payload[at[11]], 3);
  high = _mm_insert_epi8(high, payload[at[12]], 4);
  high = _mm_insert_epi8(high, payload[at[13]], 5);
  high = _mm_insert_epi8(high, payload[at[14]], 6);
  high = _mm_insert_epi8(high, payload[at[15]], 7);
  bytes = _mm_unpacklo_epi64(bytes, high);
  const __m128i wanted = _mm_loadu_si128((const void *)masks);
#if VECTOR_NBYTES == 64
  return _mm_test_epi8_mask(bytes, wanted);
#else
  return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(bytes, wanted), wanted));
#endif
}

#if VECTOR_NBYTES >= 32

/* Shifts a block of 128 bits in a register of 256 bits, whose lower half then has the bits that
 * stay, and whose upper half has the bits that are shifted out. Each of the four lanes shifts both
 * words of the block by counts of its own. A count that is negative, or 64 or more, gives 0, so
 * that each lane keeps only the bits that belong into it. */
static inline void shift_left_block(const uint64_t block[2], uint32_t nbits, vector *here,
                                    vector *beyond)
{
  const __m256i low = _mm256_set1_epi64x((long long)block[0]),
                high = _mm256_set1_epi64x((long long)block[1]);
  const __m256i first = _mm256_set1_epi64x(nbits);
  const __m256i left = _mm256_sub_epi64(first, _mm256_set_epi64x(192, 128, 64, 0)),
                right = _mm256_sub_epi64(_mm256_set_epi64x(192, 128, 64, 0), first);
  const __m256i word = _mm256_set1_epi64x(64);
  const __m256i of_low =
                    _mm256_or_si256(_mm256_sllv_epi64(low, left), _mm256_srlv_epi64(low, right)),
                of_high = _mm256_or_si256(_mm256_sllv_epi64(high, _mm256_add_epi64(left, word)),
                                          _mm256_srlv_epi64(high, _mm256_sub_epi64(right, word)));
  const __m256i both = _mm256_or_si256(of_low, of_high);
#if VECTOR_NBYTES == 64
  const __m512i blocks = _mm512_castsi256_si512(both);
  *here = _mm512_shuffle_i64x2(blocks, blocks, 0x00);
  *beyond = _mm512_shuffle_i64x2(blocks, blocks, 0x55);
#else
  *here = _mm256_permute4x64_epi64(both, 0x44);
  *beyond = _mm256_permute4x64_epi64(both, 0xee);
#endif
}

#endif

#endif
