/* Defines the words of lanes/vocabulary.h for NEON, with a vector of two registers, which have four
 * lanes of 32 bits each.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_NEON_VECTOR_H
#define LANEBLOOM_NEON_VECTOR_H

#if defined(__aarch64__)
#include <arm_neon.h>
#else /* only in tests: SIMDe provides the intrinsics */
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/arm/neon.h>
#endif

#include "../lanes/vocabulary.h"

typedef struct {
  uint32x4_t low, high;
} vector;
typedef int32x4_t count32;  /* 0 or less, because NEON shifts to the right by negative counts */
typedef uint8x8_t picked32; /* a byte for each lane, all ones or 0 */

#define VECTOR_NBYTES 32
enum { LANES32 = VECTOR_NBYTES / 4 };

/* Defines a word that is one instruction for each register. */
#define FOR_BOTH(word, instruction)                                                                \
  static inline vector word(vector a, vector b)                                                    \
  {                                                                                                \
    return (vector){instruction(a.low, b.low), instruction(a.high, b.high)};                       \
  }

/* ---- Single registers ---- */

static inline uint32x4_t load_four(const void *from)
{
  return vreinterpretq_u32_u8(vld1q_u8(from));
}

static inline void store_four(void *to, uint32x4_t four)
{
  vst1q_u8(to, vreinterpretq_u8_u32(four));
}

/* Returns a byte in which bit i is set if byte i is all ones. All bytes must be all ones or 0. NEON
 * has no instruction that makes a mask of lanes. So byte i is replaced by 2^i if it is set, and the
 * sum of all bytes is the mask. */
static inline uint8_t mask_of(uint8x8_t bytes)
{
  static const uint8_t bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  return vaddv_u8(vand_u8(bytes, vld1_u8(bits)));
}

/* The bytes of a lane, for table look-ups. */
enum { A = 0x03020100, B = 0x07060504, C = 0x0b0a0908, D = 0x0f0e0d0c };

/* These two tables have, for each mask of 4 bits, the lanes whose bits are set, in ascending order,
 * and the number of these lanes. */
static const uint32_t survivors_of[16][4] = {
    {A, A, A, A}, {A, A, A, A}, {B, A, A, A}, {A, B, A, A}, {C, A, A, A}, {A, C, A, A},
    {B, C, A, A}, {A, B, C, A}, {D, A, A, A}, {A, D, A, A}, {B, D, A, A}, {A, B, D, A},
    {C, D, A, A}, {A, C, D, A}, {B, C, D, A}, {A, B, C, D},
};
static const uint8_t nsurvivors_of[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/* Moves the lanes of a mask together. For the mask 0b1010, a b c d becomes b d a a. */
static inline uint32x4_t compact_four(uint32x4_t lanes, unsigned mask)
{
  const uint8x16_t order = vreinterpretq_u8_u32(vld1q_u32(survivors_of[mask]));
  return vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(lanes), order));
}

/* ---- Memory, at any alignment ---- */

static inline vector load(const void *from)
{
  return (vector){load_four(from), load_four((const uint8_t *)from + 16)};
}

static inline void store(void *to, vector v)
{
  store_four(to, v.low);
  store_four((uint8_t *)to + 16, v.high);
}

/* NEON's intrinsics have no stores that bypass the cache. */
#define load_aligned load
#define stream_aligned store

/* Returns, for each lane, a byte in which only the bit is set whose number is the lowest 3 bits of
 * the lane. */
static inline uint8x8_t masks_of(vector v)
{
  const uint16x8_t halves = vuzp1q_u16(vreinterpretq_u16_u32(v.low), vreinterpretq_u16_u32(v.high));
  const uint8x8_t indices = vand_u8(vmovn_u16(halves), vdup_n_u8(7));
  return vshl_u8(vdup_n_u8(1), vreinterpret_s8_u8(indices));
}

static inline void store_masks8(uint8_t *to, vector v)
{
  vst1_u8(to, masks_of(v));
}

static inline size_t store_chosen_four(uint32_t *to, uint32x4_t four, unsigned mask)
{
  vst1q_u32(to, compact_four(four, mask));
  return nsurvivors_of[mask];
}

static inline size_t store_chosen32(uint32_t *to, vector v, unsigned mask)
{
  const size_t n = store_chosen_four(to, v.low, mask & 15);
  return n + store_chosen_four(to + n, v.high, mask >> 4);
}

static inline unsigned test_bits16(const uint8_t *payload, const uint32_t *at, const uint8_t *masks)
{
  uint8x8_t low = vld1_dup_u8(payload + at[0]);
  low = vld1_lane_u8(payload + at[1], low, 1);
  low = vld1_lane_u8(payload + at[2], low, 2);
  low = vld1_lane_u8(payload + at[3], low, 3);
  low = vld1_lane_u8(payload + at[4], low, 4);
  low = vld1_lane_u8(payload + at[5], low, 5);
  low = vld1_lane_u8(payload + at[6], low, 6);
  low = vld1_lane_u8(payload + at[7], low, 7);
  uint8x8_t high = vld1_dup_u8(payload + at[8]);
  high = vld1_lane_u8(payload + at[9], high, 1);
  high = vld1_lane_u8(payload + at[10], high, 2);
  high = vld1_lane_u8(payload + at[11], high, 3);
  high = vld1_lane_u8(payload + at[12], high, 4);
  high = vld1_lane_u8(payload + at[13], high, 5);
  high = vld1_lane_u8(payload + at[14], high, 6);
  high = vld1_lane_u8(payload + at[15], high, 7);
  return mask_of(vtst_u8(low, vld1_u8(masks))) |
         (unsigned)mask_of(vtst_u8(high, vld1_u8(masks + 8))) << 8;
}

/* ---- Bits in lanes ---- */

#define HAS_GATHERS 0
#define HAS_LANE_LOADS 1

/* Offsets are moved from lanes to general registers in pairs, because such moves are slow. These
 * two functions split a pair. */
static inline size_t low_index(uint64_t pair)
{
  return (uint32_t)pair;
}

static inline size_t high_index(uint64_t pair)
{
  return pair >> 32;
}

static inline picked32 pick_loaded32(const uint8_t *payload, vector at, vector indices)
{
  const uint64x2_t low = vreinterpretq_u64_u32(at.low), high = vreinterpretq_u64_u32(at.high);
  const uint64_t at01 = vgetq_lane_u64(low, 0), at23 = vgetq_lane_u64(low, 1);
  const uint64_t at45 = vgetq_lane_u64(high, 0), at67 = vgetq_lane_u64(high, 1);
  uint8x8_t bytes = vld1_dup_u8(payload + low_index(at01));
  bytes = vld1_lane_u8(payload + high_index(at01), bytes, 1);
  bytes = vld1_lane_u8(payload + low_index(at23), bytes, 2);
  bytes = vld1_lane_u8(payload + high_index(at23), bytes, 3);
  bytes = vld1_lane_u8(payload + low_index(at45), bytes, 4);
  bytes = vld1_lane_u8(payload + high_index(at45), bytes, 5);
  bytes = vld1_lane_u8(payload + low_index(at67), bytes, 6);
  bytes = vld1_lane_u8(payload + high_index(at67), bytes, 7);
  return vtst_u8(bytes, masks_of(indices));
}

static inline picked32 both_picked32(picked32 a, picked32 b)
{
  return vand_u8(a, b);
}

static inline unsigned picked_bits32(picked32 picked)
{
  return mask_of(picked);
}

/* ---- Constants ---- */

static inline vector splat32(uint32_t value)
{
  return (vector){vdupq_n_u32(value), vdupq_n_u32(value)};
}

static inline count32 splat_count32(uint32_t nbits)
{
  return vdupq_n_s32(-(int32_t)nbits);
}

/* ---- Arithmetic ---- */

FOR_BOTH(add32, vaddq_u32)
FOR_BOTH(sub32, vsubq_u32)
FOR_BOTH(mul_low32, vmulq_u32)

/* Returns the high halves of 64-bit products:
 *
 *   [a0 * b0] [a1 * b1]
 *   [a2 * b2] [a3 * b3]   ->   h0 h1 h2 h3 */
static inline uint32x4_t mul_high_four(uint32x4_t a, uint32x4_t b)
{
  const uint64x2_t low = vmull_u32(vget_low_u32(a), vget_low_u32(b));
  const uint64x2_t high = vmull_high_u32(a, b);
  return vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
}

FOR_BOTH(mul_high32, mul_high_four)

/* ---- Bits ---- */

FOR_BOTH(bit_and, vandq_u32)
FOR_BOTH(bit_xor, veorq_u32)

static inline vector shift_right_count32(vector v, count32 count)
{
  return (vector){vshlq_u32(v.low, count), vshlq_u32(v.high, count)};
}

#define shift_right32(v, nbits)                                                                    \
  ((vector){vshrq_n_u32((v).low, nbits), vshrq_n_u32((v).high, nbits)})
#define rotate_left_four(four, nbits) vsriq_n_u32(vshlq_n_u32(four, nbits), four, 32 - (nbits))
#define rotate_left32(v, nbits)                                                                    \
  ((vector){rotate_left_four((v).low, nbits), rotate_left_four((v).high, nbits)})

#endif
