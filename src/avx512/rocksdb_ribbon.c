/* rocksdb_ribbon in lanes of AVX-512: four columns in a register, eight in a pass.
 * SPDX-License-Identifier: MIT */
#include "../lanes/rocksdb_ribbon.h"
#include "../lanes/lanes.h"
#include "isa.h"

enum { PASS_NCOLUMNS = 8 };

/* 256 slots from the block's first on: the coefficients, shifted by the slot where they begin. A
 * count that is not below 64, or is negative, shifts all out. */
static inline __m256i slots_of(const struct rocksdb_ribbon_equation *equation)
{
  const __m256i low = _mm256_set1_epi64x((long long)equation->coefficients[0]),
                high = _mm256_set1_epi64x((long long)equation->coefficients[1]);
  const __m256i first = _mm256_set1_epi64x(equation->slot);
  const __m256i left = _mm256_sub_epi64(first, _mm256_set_epi64x(192, 128, 64, 0)),
                right = _mm256_sub_epi64(_mm256_set_epi64x(192, 128, 64, 0), first);
  const __m256i word = _mm256_set1_epi64x(64);
  const __m256i of_low =
                    _mm256_or_si256(_mm256_sllv_epi64(low, left), _mm256_srlv_epi64(low, right)),
                of_high = _mm256_or_si256(_mm256_sllv_epi64(high, _mm256_add_epi64(left, word)),
                                          _mm256_srlv_epi64(high, _mm256_sub_epi64(right, word)));
  return _mm256_or_si256(of_low, of_high);
}

/* Of four columns, the slots that are added. */
static inline __m512i four_columns(const struct ribbon_query *query, size_t at, __m512i here,
                                   __m512i beyond)
{
  const __m512i segments = _mm512_loadu_si512(query->segments + at),
                next = _mm512_loadu_si512(query->next + at);
  return _mm512_ternarylogic_epi64(_mm512_and_si512(segments, here), next, beyond,
                                   0x78); /* a ^ (b & c) */
}

/* In bit 0 of each lane of 64 bits: their sum, modulo 2. */
static inline __m512i parities(__m512i lanes)
{
  const __m512i of_nibble =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0));
  const __m512i nibbles =
      _mm512_and_si512(_mm512_xor_si512(lanes, _mm512_srli_epi64(lanes, 4)), _mm512_set1_epi8(15));
  return _mm512_sad_epu8(_mm512_shuffle_epi8(of_nibble, nibbles), _mm512_setzero_si512());
}

/* Lanes of a pass, from two registers:
 *
 *   a   columns 0 1 2 3, 128 slots each
 *   b   columns 4 5 6 7                      ->   0 4 1 5 2 6 3 7, 64 bits each */
static inline __attribute__((always_inline)) bool is_fulfilled(const struct ribbon_query *query)
{
  const __m512i slots = _mm512_castsi256_si512(slots_of(&query->equation));
  const __m512i here = _mm512_shuffle_i64x2(slots, slots, 0x00),
                beyond = _mm512_shuffle_i64x2(slots, slots, 0x55);
  const __m512i expected = _mm512_set1_epi64(query->equation.expected),
                counting = _mm512_set1_epi64(_bzhi_u32(UINT32_MAX, query->ncolumns));
  __m512i columns = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0), differing = _mm512_setzero_si512();
  for (uint32_t pass = 0; pass < query->npasses; pass++) {
    const size_t at = (size_t)pass * PASS_NCOLUMNS * ROCKSDB_RIBBON_SEGMENT_NBYTES;
    const __m512i a = four_columns(query, at, here, beyond),
                  b = four_columns(query, at + 64, here, beyond);
    const __m512i found =
        parities(_mm512_xor_si512(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)));
    const __m512i wanted = _mm512_srlv_epi64(expected, columns),
                  counts = _mm512_srlv_epi64(counting, columns);
    differing = _mm512_or_si512(
        differing, _mm512_ternarylogic_epi64(found, wanted, counts, 0x28)); /* (a ^ b) & c */
    columns = _mm512_add_epi64(columns, _mm512_set1_epi64(PASS_NCOLUMNS));
  }
  return _mm512_test_epi64_mask(differing, _mm512_set1_epi64(1)) == 0;
}

static inline __attribute__((always_inline)) bool
may_match(const struct filter_shape *shape, const uint8_t *payload, const void *hashes, size_t i)
{
  return ribbon_may_match(shape, payload, hash64_at(hashes, i), PASS_NCOLUMNS, is_fulfilled);
}

void KERNEL(rocksdb_ribbon_probe)(const struct filter_shape *shape, const uint8_t *payload,
                                  struct hash_source *source, uint8_t *bitmap)
{
  probe_each_line(shape, payload, source, bitmap, ribbon_fetch, may_match, may_match);
}
