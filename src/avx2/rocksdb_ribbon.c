/* rocksdb_ribbon in lanes of AVX2: two columns in a register, four in a pass.
 * SPDX-License-Identifier: MIT */
#include "../lanes/rocksdb_ribbon.h"
#include "../lanes/lanes.h"
#include "isa.h"

enum { PASS_NCOLUMNS = 4 };

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

static inline __m256i two_columns(const struct ribbon_query *query, size_t at, __m256i here,
                                  __m256i beyond)
{
  const __m256i segments = _mm256_loadu_si256((const __m256i *)(query->segments + at)),
                next = _mm256_loadu_si256((const __m256i *)(query->next + at));
  return _mm256_xor_si256(_mm256_and_si256(segments, here), _mm256_and_si256(next, beyond));
}

/* In bit 0 of each lane of 64 bits: their sum, modulo 2. */
static inline __m256i parities(__m256i lanes)
{
  const __m256i of_nibble =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0));
  const __m256i nibbles =
      _mm256_and_si256(_mm256_xor_si256(lanes, _mm256_srli_epi64(lanes, 4)), _mm256_set1_epi8(15));
  return _mm256_sad_epu8(_mm256_shuffle_epi8(of_nibble, nibbles), _mm256_setzero_si256());
}

/* Lanes of a pass, from two registers:
 *
 *   a   columns 0 1, 128 slots each
 *   b   columns 2 3                      ->   0 2 1 3, 64 bits each */
static inline __attribute__((always_inline)) bool is_fulfilled(const struct ribbon_query *query)
{
  const __m256i slots = slots_of(&query->equation);
  const __m256i here = _mm256_permute4x64_epi64(slots, 0x44),
                beyond = _mm256_permute4x64_epi64(slots, 0xee);
  const __m256i expected = _mm256_set1_epi64x(query->equation.expected),
                counting = _mm256_set1_epi64x((1LL << query->ncolumns) - 1);
  __m256i columns = _mm256_set_epi64x(3, 1, 2, 0), differing = _mm256_setzero_si256();
  for (uint32_t pass = 0; pass < query->npasses; pass++) {
    const size_t at = (size_t)pass * PASS_NCOLUMNS * ROCKSDB_RIBBON_SEGMENT_NBYTES;
    const __m256i a = two_columns(query, at, here, beyond),
                  b = two_columns(query, at + 32, here, beyond);
    const __m256i found =
        parities(_mm256_xor_si256(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)));
    const __m256i wanted = _mm256_srlv_epi64(expected, columns),
                  counts = _mm256_srlv_epi64(counting, columns);
    differing =
        _mm256_or_si256(differing, _mm256_and_si256(_mm256_xor_si256(found, wanted), counts));
    columns = _mm256_add_epi64(columns, _mm256_set1_epi64x(PASS_NCOLUMNS));
  }
  return _mm256_testz_si256(differing, _mm256_set1_epi64x(1));
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
