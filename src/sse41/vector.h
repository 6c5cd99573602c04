/* Defines some of the words of lanes/vocabulary.h for SSE4.1, with a vector of 16 bytes. Few
 * algorithms of lanes/ are faster here than scalar code, so few words are needed.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SSE41_VECTOR_H
#define LANEBLOOM_SSE41_VECTOR_H

#include <smmintrin.h>
#include <string.h>

#include "../lanes/vocabulary.h"

/* Without optimisation, gcc's intrinsics with constant operands are macros. gcc would report the
 * conversions in these macros as if they were in this code, so the warnings are switched off. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#endif

typedef __m128i vector;
typedef __m128i order32; /* the indices of a byte shuffle */
typedef __m128i count32; /* the count is in the low half; shifts ignore the high half */
typedef __m128i count64;

#define VECTOR_NBYTES 16
enum { LANES32 = VECTOR_NBYTES / 4 };

#define HAS_GATHERS 0

/* ---- Memory, at any alignment ---- */

LOADING(load, _mm_loadu_si128)
LOADING(load_half, _mm_loadl_epi64)
LOADING_AS(load_widened32, _mm_cvtepu32_epi64(_mm_loadl_epi64(from)))
STORING(store, _mm_storeu_si128)
STORING(store_aligned, _mm_store_si128)

/* A byte shuffle replaces the number of a bit by its mask. */
static inline vector bit_masks8(vector numbers)
{
  return _mm_shuffle_epi8(_mm_set1_epi64x((long long)0x8040201008040201), numbers);
}

/* Stores masks. SSE4.1 cannot shift each lane by its own number. So a byte shuffle moves the
 * lowest bytes of the four lanes together, and then each number of a bit is replaced by its mask:
 *
 *   v   v0 .. .. .. v1 .. .. .. v2 .. .. .. v3 .. .. ..   ->   m0 m1 m2 m3 */
static inline void store_masks8(uint8_t *to, vector v)
{
  const __m128i lowest = _mm_cvtsi32_si128(0x0c080400);
  const __m128i indices = _mm_and_si128(_mm_shuffle_epi8(v, lowest), _mm_set1_epi8(7));
  const int masks = _mm_cvtsi128_si32(bit_masks8(indices));
  memcpy(to, &masks, sizeof masks);
}

/* ---- Constants ---- */

SPLATTING(splat16, uint16_t, short, _mm_set1_epi16)
SPLATTING(splat32, uint32_t, int, _mm_set1_epi32)
SPLATTING(splat64, uint64_t, long long, _mm_set1_epi64x)
SPLATTING(splat_count32, uint32_t, int, _mm_cvtsi32_si128)
#define splat_count64 splat_count32

/* ---- Arithmetic ---- */

BINARY(add16, _mm_add_epi16)
BINARY(add32, _mm_add_epi32)
BINARY(add64, _mm_add_epi64)
BINARY(sub32, _mm_sub_epi32)
BINARY(sub64, _mm_sub_epi64)
BINARY(mul_low16, _mm_mullo_epi16)
BINARY(mul_high16, _mm_mulhi_epu16)
BINARY(mul_low32, _mm_mullo_epi32)
BINARY(mul_even32, _mm_mul_epu32)

/* ---- Bits ---- */

BINARY(bit_and, _mm_and_si128)
BINARY(bit_or, _mm_or_si128)
BINARY(bit_xor, _mm_xor_si128)
SHIFTING(shift_left16, int, _mm_slli_epi16)
SHIFTING(shift_right16, int, _mm_srli_epi16)
SHIFTING(shift_left32, int, _mm_slli_epi32)
SHIFTING(shift_right32, int, _mm_srli_epi32)
SHIFTING(shift_left64, int, _mm_slli_epi64)
SHIFTING(shift_right64, int, _mm_srli_epi64)
SHIFTING(shift_right_count32, count32, _mm_srl_epi32)
SHIFTING(shift_right_count64, count64, _mm_srl_epi64)

static inline vector rotate_left32(vector v, int nbits)
{
  return bit_or(shift_left32(v, nbits), shift_right32(v, 32 - nbits));
}

/* ---- Masks ---- */

BINARY(equal8, _mm_cmpeq_epi8)
BINARY(equal64, _mm_cmpeq_epi64)

static inline unsigned mask_bits8(vector mask)
{
  return (unsigned)_mm_movemask_epi8(mask);
}

/* ---- Moving lanes ---- */

BINARY(shuffle_bytes, _mm_shuffle_epi8)
BINARY(interleave_low32, _mm_unpacklo_epi32)
BINARY(interleave_high32, _mm_unpackhi_epi32)
BINARY(interleave_low64, _mm_unpacklo_epi64)
BINARY(interleave_high64, _mm_unpackhi_epi64)
BINARY(narrow_signed32, _mm_packs_epi32)
BINARY(narrow_signed16, _mm_packs_epi16)
BINARY(narrow_unsigned32, _mm_packus_epi32)
BINARY(narrow_unsigned16, _mm_packus_epi16)
BINARY_AS(join_halves, _mm_blend_epi16(a, b, 0xf0))

/* The instruction that selects two lanes from each of two registers is one for floating-point
 * numbers. */
#define SELECT_LANES(a, b, lanes)                                                                  \
  _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), lanes))
BINARY_AS(unzip_even32, SELECT_LANES(a, b, 0x88))
BINARY_AS(unzip_odd32, SELECT_LANES(a, b, 0xdd))

/* Looks up bytes by numbers from 0 to 63. A byte shuffle gives 0 if the top bit of a number is set;
 * otherwise it uses the lowest four bits. So for each quarter, the numbers are changed such that
 * the top bit is clear only for bytes of that quarter:
 *
 *   number      00 .. 0f   10 .. 1f   20 .. 2f   30 .. 3f
 *   + 70        70 .. 7f   80 .. 8f   90 .. 9f   a0 .. af    finds only the first quarter
 *   ^ 10, + 70  80 .. 8f   70 .. 7f   a0 .. af   90 .. 9f    finds only the second */
static inline vector look_up_quarter(vector quarter, vector numbers, int q)
{
  const vector own =
      _mm_add_epi8(_mm_xor_si128(numbers, _mm_set1_epi8((char)(q << 4))), _mm_set1_epi8(0x70));
  return _mm_shuffle_epi8(quarter, own);
}

static inline vector merge_odd32(vector a, vector b)
{
  return _mm_blend_epi16(_mm_srli_epi64(a, 32), b, 0xcc);
}

/* The bytes of a lane, for byte shuffles. */
enum { A = 0x03020100, B = 0x07060504, C = 0x0b0a0908, D = 0x0f0e0d0c };

/* Returns the order that moves the lanes of a mask together. For the mask 0b1010, a b c d becomes b
 * d a a. */
static inline order32 order_of32(unsigned mask)
{
  static const _Alignas(16) uint32_t orders[16][LANES32] = {
      {A, A, A, A}, {A, A, A, A}, {B, A, A, A}, {A, B, A, A}, {C, A, A, A}, {A, C, A, A},
      {B, C, A, A}, {A, B, C, A}, {D, A, A, A}, {A, D, A, A}, {B, D, A, A}, {A, B, D, A},
      {C, D, A, A}, {A, C, D, A}, {B, C, D, A}, {A, B, C, D},
  };
  return _mm_load_si128((const void *)orders[mask]);
}

static inline vector compress32(vector v, order32 order)
{
  return _mm_shuffle_epi8(v, order);
}

#include "../x86/words.h"

#endif
