/* Words that are the same for all instruction sets of x86, at the end of their vector.h.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_X86_H
#define LANEBLOOM_LANES_X86_H

#define HAS_LANE_LOADS 0
#define both_picked32 bit_and

/* High halves of the products of even lanes and of odd ones:
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

#endif
