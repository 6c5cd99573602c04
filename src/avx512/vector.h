/* Defines the words of lanes/vocabulary.h for AVX-512, with a vector of 64 bytes. A number in a
 * name is the size of a lane in bits. A "block" is 16 bytes; byte shuffles and interleaving move
 * bytes only within a block.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX512_VECTOR_H
#define LANEBLOOM_AVX512_VECTOR_H

#include <immintrin.h>

#include "../lanes/vocabulary.h"

/* Without optimisation, gcc's intrinsics with constant operands are macros. gcc would report the
 * conversions in these macros as if they were in this code, so the warnings are switched off. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#endif

typedef __m512i vector;
typedef __mmask64 mask8; /* one bit for each lane; bit 0 is for the first lane */
typedef __mmask16 mask32;
typedef __m128i block16;
typedef __mmask8 mask64;
typedef __mmask16 order32;         /* see order_of32() */
typedef __m512i count32, picked32; /* a picked bit is the lowest bit of its lane */

#define VECTOR_NBYTES 64
enum {
  VECTOR_NBLOCKS = VECTOR_NBYTES / 16,
  LANES32 = VECTOR_NBYTES / 4,
  LANES64 = VECTOR_NBYTES / 8,
};

/* ---- Memory, at any alignment unless a name says otherwise ---- */

LOADING(load, _mm512_loadu_si512)
STORING(store, _mm512_storeu_si512)
LOADING(load_aligned, _mm512_load_si512)
STORING(store_aligned, _mm512_store_si512)
STORING(stream_aligned, _mm512_stream_si512)

static inline __attribute__((always_inline)) block16 load_block(const void *from)
{
  return _mm_loadu_si128(from);
}

LOADING_AS(load_widened32, _mm512_cvtepu32_epi64(_mm256_loadu_si256(from)))

static inline vector load_differences32(const uint32_t *from)
{
  return _mm512_cvtepu32_epi64(_mm256_sub_epi32(_mm256_loadu_si256((const void *)(from + 1)),
                                                _mm256_loadu_si256((const void *)from)));
}

#define HAS_GATHERS 1

/* Loads elements of `base`, an array of 32-bit numbers. The empty asm hides from gcc 12 that the
 * mask selects all lanes. Otherwise gcc would use a gather without the initial value of zero. Such
 * a gather waits for the old value of its register. */
static inline vector gather32(const void *base, vector indices)
{
  __mmask16 all = 0xffff;
  __asm__("" : "+Yk"(all));
  return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), all, indices, base, 4);
}

/* Loads blocks. Sanitizers do not check this function, because they would report the loaded bytes
 * that belong to other data. */
__attribute__((no_sanitize("address", "thread"))) static inline vector
load_blocks(const uint8_t *const from[VECTOR_NBLOCKS])
{
  const __m256i low =
      _mm256_inserti128_si256(_mm256_castsi128_si256(load_block(from[0])), load_block(from[1]), 1);
  const __m256i high =
      _mm256_inserti128_si256(_mm256_castsi128_si256(load_block(from[2])), load_block(from[3]), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

static inline void store_masks8(uint8_t *to, vector v)
{
  const __m512i masks =
      _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(v, _mm512_set1_epi32(7)));
  _mm_storeu_si128((void *)to, _mm512_cvtepi32_epi8(masks));
}

LOADING_AS(load_in_eights, _mm512_broadcast_i64x4(_mm256_loadu_si256(from)))

static inline vector load_halves(const void *lower, const void *upper)
{
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(lower)),
                            _mm256_loadu_si256(upper), 1);
}

/* Loads a vector by two loads, although its halves are adjacent; load_line() says why. The empty
 * asm keeps compilers from joining the two loads. */
static inline vector load_in_halves(const uint8_t *from)
{
  __m256i lower = _mm256_loadu_si256((const void *)from);
  __asm__("" : "+x"(lower));
  return _mm512_inserti64x4(_mm512_castsi256_si512(lower),
                            _mm256_loadu_si256((const void *)(from + 32)), 1);
}

static inline void store_halves(void *lower, void *upper, vector v)
{
  _mm256_storeu_si256(lower, _mm512_castsi512_si256(v));
  _mm256_storeu_si256(upper, _mm512_extracti64x4_epi64(v, 1));
}

static inline void set_bits_32(uint8_t *to, const void *bits)
{
  _mm256_storeu_si256(
      (void *)to, _mm256_or_si256(_mm256_loadu_si256((const void *)to), _mm256_loadu_si256(bits)));
}

/* ---- Constants ---- */

static inline vector zero(void)
{
  return _mm512_setzero_si512();
}

SPLATTING(splat8, uint8_t, char, _mm512_set1_epi8)
SPLATTING(splat32, uint32_t, int, _mm512_set1_epi32)
SPLATTING(splat64, uint64_t, long long, _mm512_set1_epi64)
SPLATTING(splat_count32, uint32_t, int, _mm512_set1_epi32)

LOADING_AS(splat_block, _mm512_broadcast_i32x4(_mm_loadu_si128(from)))

static inline vector iota32(void)
{
  return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* ---- Arithmetic ---- */

BINARY(add32, _mm512_add_epi32)
BINARY(sub32, _mm512_sub_epi32)
BINARY(add64, _mm512_add_epi64)
BINARY(sub64, _mm512_sub_epi64)
BINARY_AS(subtract_if_positive32, _mm512_min_epu32(a, _mm512_sub_epi32(a, b)))
BINARY_AS(subtract_if_positive64, _mm512_min_epu64(a, _mm512_sub_epi64(a, b)))
BINARY(mul_low32, _mm512_mullo_epi32)
BINARY(mul_even32, _mm512_mul_epu32)
BINARY(min_signed32, _mm512_min_epi32)
BINARY(sum_differences8, _mm512_sad_epu8)

/* ---- Bits ---- */

BINARY(bit_and, _mm512_and_si512)
BINARY(bit_or, _mm512_or_si512)
BINARY(bit_xor, _mm512_xor_si512)

static inline vector or3(vector a, vector b, vector c)
{
  return _mm512_ternarylogic_epi32(a, b, c, 0xfe);
}

static inline vector and_or(vector a, vector b, vector c)
{
  return _mm512_ternarylogic_epi32(a, b, c, 0xea);
}

static inline bool are_disjoint(vector a, vector b)
{
  return _mm512_test_epi64_mask(a, b) == 0;
}

SHIFTING(shift_left32, unsigned, _mm512_slli_epi32)
SHIFTING(shift_right32, unsigned, _mm512_srli_epi32)
SHIFTING(shift_left64, unsigned, _mm512_slli_epi64)
SHIFTING(shift_right64, unsigned, _mm512_srli_epi64)
SHIFTING(shift_right_count32, count32, _mm512_srlv_epi32)
BINARY(shift_left_each32, _mm512_sllv_epi32)
BINARY(shift_right_each32, _mm512_srlv_epi32)
BINARY(shift_left_each64, _mm512_sllv_epi64)
BINARY(shift_right_each64, _mm512_srlv_epi64)
#define rotate_left32(v, nbits) _mm512_rol_epi32(v, nbits)

/* ---- Masks ---- */

COMPARING(equal32, mask32, _mm512_cmpeq_epi32_mask)
COMPARING(greater_signed8, mask8, _mm512_cmpgt_epi8_mask)
COMPARING(equal64, mask64, _mm512_cmpeq_epi64_mask)
COMPARING(greater_signed32, mask32, _mm512_cmpgt_epi32_mask)
COMPARING(greater_signed64, mask64, _mm512_cmpgt_epi64_mask)

static inline unsigned mask_bits32(mask32 mask)
{
  return mask;
}

static inline unsigned mask_bits64(mask64 mask)
{
  return mask;
}

COMPARING(disjoint32, mask32, _mm512_testn_epi32_mask)

BINARY(pick_bits32, _mm512_rorv_epi32)

static inline unsigned picked_bits32(picked32 picked)
{
  return _mm512_test_epi32_mask(picked, splat32(1));
}

/* Returns a byte in which bit i is set if key i has no lane in its mask. Each of the four masks is
 * for two keys, with eight lanes for each key. */
static inline uint8_t zero_masks(const mask32 masks[4])
{
  const __mmask32 first = _mm512_kunpackw(masks[1], masks[0]),
                  last = _mm512_kunpackw(masks[3], masks[2]);
  const uint64_t bytes = _cvtmask64_u64(_mm512_kunpackd(last, first));
  const uint64_t low_bits = 0x7f7f7f7f7f7f7f7f;
  const uint64_t high_bit_if_not_zero = ((bytes & low_bits) + low_bits) | bytes;
  return (uint8_t)_pext_u64(~high_bit_if_not_zero, ~low_bits);
}

/* positive_low32 and positive_high32 compare each half of the vector separately. If they compared
 * the whole vector and took halves of the mask, clang 14 would move the high lanes through memory
 * and wait for them. */
static inline mask64 positive_low32(vector v)
{
  return _mm256_cmpgt_epi32_mask(_mm512_castsi512_si256(v), _mm256_setzero_si256());
}

static inline mask64 positive_high32(vector v)
{
  return _mm256_cmpgt_epi32_mask(_mm512_extracti64x4_epi64(v, 1), _mm256_setzero_si256());
}

CHOOSING_AS(keep8, mask8, _mm512_maskz_mov_epi8(mask, v))

CHOOSING_AS(keep32, mask32, _mm512_maskz_mov_epi32(mask, v))

SELECTING_AS(select32, mask32, _mm512_mask_mov_epi32(b, mask, a))

SELECTING_AS(select64, mask64, _mm512_mask_mov_epi64(b, mask, a))

/* ---- Moving lanes ---- */

static inline vector permute32(vector v, vector indices)
{
  return _mm512_permutexvar_epi32(indices, v);
}

static inline vector permute_both32(vector a, vector b, vector indices)
{
  return _mm512_permutex2var_epi32(a, indices, b);
}

BINARY(shuffle_bytes, _mm512_shuffle_epi8)
BINARY(interleave_low32, _mm512_unpacklo_epi32)
BINARY(interleave_high32, _mm512_unpackhi_epi32)
BINARY(interleave_low64, _mm512_unpacklo_epi64)
BINARY(interleave_high64, _mm512_unpackhi_epi64)

static inline vector join_blocks(const block16 *blocks)
{
  vector v = _mm512_castsi128_si512(blocks[0]);
  v = _mm512_inserti64x2(v, blocks[1], 1);
  v = _mm512_inserti64x2(v, blocks[2], 2);
  return _mm512_inserti64x2(v, blocks[3], 3);
}

BINARY_AS(first_blocks,
          _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), b))
BINARY_AS(last_blocks,
          _mm512_permutex2var_epi64(a, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), b))
BINARY_AS(blend_odd32, _mm512_mask_mov_epi32(a, 0xaaaa, b))
BINARY_AS(merge_even32, _mm512_mask_shuffle_epi32(a, 0xaaaa, b, _MM_PERM_CCAA))
BINARY_AS(merge_odd32, _mm512_mask_shuffle_epi32(b, 0x5555, a, _MM_PERM_DDBB))

static inline vector unzip_even32(vector a, vector b)
{
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_epi32(a, even, b);
}

static inline vector unzip_odd32(vector a, vector b)
{
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  return _mm512_permutex2var_epi32(a, odd, b);
}

BINARY_AS(unzip_even64,
          _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b))

BINARY_AS(unzip_odd64,
          _mm512_permutex2var_epi64(a, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), b))

static inline vector unzipped(vector v)
{
  return v;
}

static inline order32 order_of32(unsigned mask)
{
  return (order32)mask;
}

/* Moves the lanes of a mask together. For the mask 0b...01001010:
 *
 *   a b c d e f g h ...  ->  b d g ... 0 0 0 */
static inline vector compress32(vector v, order32 order)
{
  return _mm512_maskz_compress_epi32(order, v);
}

/* ---- Stores of some lanes ---- */

static inline void scatter32(uint8_t *base, const uint32_t *indices, size_t n, vector v)
{
  const mask32 first = greater_signed32(splat32((uint32_t)n), iota32());
  _mm512_mask_i32scatter_epi32(base, first, load(indices), v, 4);
}

static inline void store_positive64(uint64_t *to, vector low, vector high, vector v)
{
  const mask64 low_mask = positive_low32(v), high_mask = positive_high32(v);
  store(to, _mm512_maskz_compress_epi64(low_mask, low));
  store(to + __builtin_popcount(low_mask), _mm512_maskz_compress_epi64(high_mask, high));
}

#include "../x86/words.h"

#endif
