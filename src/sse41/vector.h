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

#define VECTOR_NBYTES 16
enum { LANES32 = VECTOR_NBYTES / 4 };

#define HAS_GATHERS 0

/* ---- Memory, at any alignment ---- */

LOADING(load, _mm_loadu_si128)
STORING(store, _mm_storeu_si128)

/* Stores masks. SSE4.1 cannot shift each lane by its own number. So one byte shuffle moves the
 * lowest bytes of the four lanes together, and a second one replaces the number of a bit by its
 * mask:
 *
 *   v   v0 .. .. .. v1 .. .. .. v2 .. .. .. v3 .. .. ..   ->   m0 m1 m2 m3 */
static inline void store_masks8(uint8_t *to, vector v)
{
  const __m128i powers = _mm_set1_epi64x((long long)0x8040201008040201);
  const __m128i lowest = _mm_cvtsi32_si128(0x0c080400);
  const __m128i indices = _mm_and_si128(_mm_shuffle_epi8(v, lowest), _mm_set1_epi8(7));
  const int masks = _mm_cvtsi128_si32(_mm_shuffle_epi8(powers, indices));
  memcpy(to, &masks, sizeof masks);
}

/* ---- Constants ---- */

SPLATTING(splat32, uint32_t, int, _mm_set1_epi32)
SPLATTING(splat_count32, uint32_t, int, _mm_cvtsi32_si128)

/* ---- Arithmetic ---- */

BINARY(add32, _mm_add_epi32)
BINARY(sub32, _mm_sub_epi32)
BINARY(mul_low32, _mm_mullo_epi32)
BINARY(mul_even32, _mm_mul_epu32)

/* ---- Bits ---- */

BINARY(bit_and, _mm_and_si128)
BINARY(bit_or, _mm_or_si128)
SHIFTING(shift_left32, int, _mm_slli_epi32)
SHIFTING(shift_right32, int, _mm_srli_epi32)
SHIFTING(shift_right64, int, _mm_srli_epi64)
SHIFTING(shift_right_count32, count32, _mm_srl_epi32)

static inline vector rotate_left32(vector v, int nbits)
{
  return bit_or(shift_left32(v, nbits), shift_right32(v, 32 - nbits));
}

/* ---- Moving lanes ---- */

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
