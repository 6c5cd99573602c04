/* Defines some of the words of lanes/vocabulary.h for WebAssembly's SIMD128, with a vector of 16
 * bytes: the words of the algorithms that SSE4.1 has, too.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SIMD128_VECTOR_H
#define LANEBLOOM_SIMD128_VECTOR_H

#include <string.h>
#include <wasm_simd128.h>

#include "../lanes/vocabulary.h"

typedef v128_t vector;
typedef v128_t order32; /* the indices of a byte shuffle */
typedef uint32_t count32, count64;

#define VECTOR_NBYTES 16
enum { LANES32 = VECTOR_NBYTES / 4 };

#define HAS_GATHERS 0
#define HAS_LANE_LOADS 0

/* ---- Memory, at any alignment ---- */

LOADING(load, wasm_v128_load)
LOADING(load_half, wasm_v128_load64_zero)
LOADING(load_widened32, wasm_u64x2_load32x2)
STORING(store, wasm_v128_store)
#define store_aligned store

/* A byte shuffle replaces the number of a bit by its mask. */
static inline vector bit_masks8(vector numbers)
{
  return wasm_i8x16_swizzle(wasm_i64x2_const_splat((int64_t)0x8040201008040201), numbers);
}

/* Stores masks. A byte shuffle moves the lowest bytes of the four lanes together:
 *
 *   v   v0 .. .. .. v1 .. .. .. v2 .. .. .. v3 .. .. ..   ->   v0 v1 v2 v3 */
static inline void store_masks8(uint8_t *to, vector v)
{
  const vector lowest =
      wasm_i8x16_shuffle(v, v, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
  const vector masks = bit_masks8(wasm_v128_and(lowest, wasm_i8x16_const_splat(7)));
  wasm_v128_store32_lane(to, masks, 0);
}

static inline unsigned test_bits16(const uint8_t *payload, const uint32_t *at, const uint8_t *masks)
{
  vector bytes = wasm_v128_load8_splat(payload + at[0]);
  bytes = wasm_v128_load8_lane(payload + at[1], bytes, 1);
  bytes = wasm_v128_load8_lane(payload + at[2], bytes, 2);
  bytes = wasm_v128_load8_lane(payload + at[3], bytes, 3);
  bytes = wasm_v128_load8_lane(payload + at[4], bytes, 4);
  bytes = wasm_v128_load8_lane(payload + at[5], bytes, 5);
  bytes = wasm_v128_load8_lane(payload + at[6], bytes, 6);
  bytes = wasm_v128_load8_lane(payload + at[7], bytes, 7);
  vector high = wasm_v128_load8_splat(payload + at[8]);
  high = wasm_v128_load8_lane(payload + at[9], high, 9);
  high = wasm_v128_load8_lane(payload + at[10], high, 10);
  high = wasm_v128_load8_lane(payload + at[11], high, 11);
  high = wasm_v128_load8_lane(payload + at[12], high, 12);
  high = wasm_v128_load8_lane(payload + at[13], high, 13);
  high = wasm_v128_load8_lane(payload + at[14], high, 14);
  high = wasm_v128_load8_lane(payload + at[15], high, 15);
  bytes = wasm_i64x2_shuffle(bytes, high, 0, 3);
  const vector wanted = load(masks);
  return wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_and(bytes, wanted), wanted));
}

/* ---- Constants ---- */

SPLATTING(splat16, uint16_t, int16_t, wasm_i16x8_splat)
SPLATTING(splat32, uint32_t, int32_t, wasm_i32x4_splat)
SPLATTING(splat64, uint64_t, int64_t, wasm_i64x2_splat)
#define splat_count32(nbits) (nbits)
#define splat_count64(nbits) (nbits)

/* ---- Arithmetic ---- */

BINARY(add16, wasm_i16x8_add)
BINARY(add32, wasm_i32x4_add)
BINARY(add64, wasm_i64x2_add)
BINARY(sub32, wasm_i32x4_sub)
BINARY(sub64, wasm_i64x2_sub)
BINARY(mul_low16, wasm_i16x8_mul)
BINARY(mul_low32, wasm_i32x4_mul)

/* SIMD128 multiplies adjacent lanes, so the even lanes are moved together first. */
static inline vector even_lanes(vector v)
{
  return wasm_i32x4_shuffle(v, v, 0, 2, 0, 2);
}
BINARY_AS(mul_even32, wasm_u64x2_extmul_low_u32x4(even_lanes(a), even_lanes(b)))

/* The high halves are the odd lanes of the products. */
BINARY_AS(mul_high16,
          wasm_i16x8_shuffle(wasm_u32x4_extmul_low_u16x8(a, b), wasm_u32x4_extmul_high_u16x8(a, b),
                             1, 3, 5, 7, 9, 11, 13, 15))
BINARY_AS(mul_high32, wasm_i32x4_shuffle(wasm_u64x2_extmul_low_u32x4(a, b),
                                         wasm_u64x2_extmul_high_u32x4(a, b), 1, 3, 5, 7))

/* ---- Bits ---- */

BINARY(bit_and, wasm_v128_and)
BINARY(bit_or, wasm_v128_or)
BINARY(bit_xor, wasm_v128_xor)
SHIFTING(shift_left16, uint32_t, wasm_i16x8_shl)
SHIFTING(shift_right16, uint32_t, wasm_u16x8_shr)
SHIFTING(shift_left32, uint32_t, wasm_i32x4_shl)
SHIFTING(shift_right32, uint32_t, wasm_u32x4_shr)
SHIFTING(shift_left64, uint32_t, wasm_i64x2_shl)
SHIFTING(shift_right64, uint32_t, wasm_u64x2_shr)
#define shift_right_count32 shift_right32
#define shift_right_count64 shift_right64

static inline vector rotate_left32(vector v, uint32_t nbits)
{
  return bit_or(shift_left32(v, nbits), shift_right32(v, 32 - nbits));
}

/* ---- Masks ---- */

BINARY(equal8, wasm_i8x16_eq)
BINARY(equal64, wasm_i64x2_eq)
#define mask_bits8 wasm_i8x16_bitmask

/* ---- Moving lanes ---- */

/* A byte shuffle gives 0 if a number is above 15. */
BINARY_AS(shuffle_bytes, wasm_i8x16_swizzle(a, bit_and(b, wasm_u8x16_const_splat(0x8f))))
BINARY_AS(interleave_low32, wasm_i32x4_shuffle(a, b, 0, 4, 1, 5))
BINARY_AS(interleave_high32, wasm_i32x4_shuffle(a, b, 2, 6, 3, 7))
BINARY_AS(interleave_low64, wasm_i64x2_shuffle(a, b, 0, 2))
BINARY_AS(interleave_high64, wasm_i64x2_shuffle(a, b, 1, 3))
BINARY_AS(join_halves, wasm_i64x2_shuffle(a, b, 0, 3))
BINARY_AS(unzip_even32, wasm_i32x4_shuffle(a, b, 0, 2, 4, 6))
BINARY_AS(unzip_odd32, wasm_i32x4_shuffle(a, b, 1, 3, 5, 7))
BINARY(narrow_signed32, wasm_i16x8_narrow_i32x4)
BINARY(narrow_signed16, wasm_i8x16_narrow_i16x8)
BINARY(narrow_unsigned32, wasm_u16x8_narrow_i32x4)
BINARY(narrow_unsigned16, wasm_u8x16_narrow_i16x8)

static inline vector look_up_quarter(vector quarter, vector numbers, int q)
{
  return wasm_i8x16_swizzle(quarter, wasm_i8x16_sub(numbers, wasm_i8x16_splat((int8_t)(16 * q))));
}

/* The bytes of a lane, for byte shuffles. */
enum { A = 0x03020100, B = 0x07060504, C = 0x0b0a0908, D = 0x0f0e0d0c };

/* Returns the order that moves the lanes of a mask together. For the mask 0b1010, a b c d becomes b
 * d a a. */
static inline order32 order_of32(unsigned mask)
{
  static const uint32_t orders[16][LANES32] = {
      {A, A, A, A}, {A, A, A, A}, {B, A, A, A}, {A, B, A, A}, {C, A, A, A}, {A, C, A, A},
      {B, C, A, A}, {A, B, C, A}, {D, A, A, A}, {A, D, A, A}, {B, D, A, A}, {A, B, D, A},
      {C, D, A, A}, {A, C, D, A}, {B, C, D, A}, {A, B, C, D},
  };
  return load(orders[mask]);
}

BINARY(compress32, wasm_i8x16_swizzle)

static inline size_t store_chosen32(uint32_t *to, vector v, unsigned mask)
{
  store(to, compress32(v, order_of32(mask)));
  return (unsigned)__builtin_popcount(mask);
}

#endif
