/* Compaction: survivors as a mask, and moved together.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_NEON_COMPACTION_H
#define LANEBLOOM_NEON_COMPACTION_H

#include <stdint.h>

#include "isa.h"

/* Bit i: byte i is all ones; others are 0. NEON has no movemask: each byte keeps the bit of its
 * index, and their sum is the mask. */
static inline uint8_t mask_of(uint8x8_t bytes)
{
  static const uint8_t bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  return vaddv_u8(vand_u8(bytes, vld1_u8(bits)));
}

/* The bytes of a lane, for table look-ups. */
enum { A = 0x03020100, B = 0x07060504, C = 0x0b0a0908, D = 0x0f0e0d0c };

/* The lanes set in a mask of 4 bits, in order, and how many. */
static const uint32_t survivors_of[16][4] = {
    {A, A, A, A}, {A, A, A, A}, {B, A, A, A}, {A, B, A, A}, {C, A, A, A}, {A, C, A, A},
    {B, C, A, A}, {A, B, C, A}, {D, A, A, A}, {A, D, A, A}, {B, D, A, A}, {A, B, D, A},
    {C, D, A, A}, {A, C, D, A}, {B, C, D, A}, {A, B, C, D},
};
static const uint8_t nsurvivors_of[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/*   mask 0b1010   lanes a b c d   ->   b d a a */
static inline uint32x4_t compact_four(uint32x4_t lanes, unsigned mask)
{
  const uint8x16_t order = vreinterpretq_u8_u32(vld1q_u32(survivors_of[mask]));
  return vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(lanes), order));
}

#endif
