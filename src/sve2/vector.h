/* Defines the words of lanes/vocabulary.h for SVE2, whose registers have 128 to 2048 bits.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SVE2_VECTOR_H
#define LANEBLOOM_SVE2_VECTOR_H

#include <arm_sve.h>

#include "../lanes/vocabulary.h"

typedef svuint32_t vector;
typedef svbool_t mask32;
#define LANES32 svcntw()

#define ALL_LANES(word, type, instruction)                                                         \
  static inline vector word(vector a, type b)                                                      \
  {                                                                                                \
    return instruction(svptrue_b32(), a, b);                                                       \
  }

/* ---- Memory and constants ---- */

static inline mask32 first_lanes32(size_t n)
{
  return svwhilelt_b32_u64(0, n);
}

static inline vector load_first32(const void *from, size_t n)
{
  return svld1_u32(first_lanes32(n), from);
}

static inline vector load_first_low_halves(const void *from, size_t n)
{
  return svget2_u32(svld2_u32(first_lanes32(n), from), 0);
}

static inline vector load_first_high_halves(const void *from, size_t n)
{
  return svget2_u32(svld2_u32(first_lanes32(n), from), 1);
}

static inline vector gather_bytes32(mask32 mask, const uint8_t *from, vector offsets)
{
  return svld1ub_gather_u32offset_u32(mask, from, offsets);
}

SPLATTING(splat32, uint32_t, uint32_t, svdup_u32)

/* ---- Arithmetic and bits ---- */

ALL_LANES(add32, vector, svadd_u32_x)
ALL_LANES(sub32, vector, svsub_u32_x)
ALL_LANES(mul_low32, vector, svmul_u32_x)
ALL_LANES(mul_high32, vector, svmulh_u32_x)
ALL_LANES(bit_and, vector, svand_u32_x)
ALL_LANES(shift_left32, uint32_t, svlsl_n_u32_x)
ALL_LANES(shift_right32, uint32_t, svlsr_n_u32_x)

/* This word is a macro, because nbits must be a constant of the instruction. The instruction
 * computes an xor (here with 0) and rotates the result to the right. */
#define rotate_left32(v, nbits) svxar_n_u32(v, splat32(0), 32 - (nbits))

/* ---- Masks ---- */

static inline bool any32(mask32 mask)
{
  return svptest_any(svptrue_b32(), mask);
}

static inline mask32 has_bit32(mask32 mask, vector v, vector numbers)
{
  const vector shifted = svlsr_u32_x(svptrue_b32(), v, numbers);
  return svcmpne_n_u32(mask, svand_n_u32_x(svptrue_b32(), shifted, 1), 0);
}

static inline uint32_t mask_bits32(mask32 mask)
{
  const vector powers = svlsl_u32_x(svptrue_b32(), splat32(1), svindex_u32(0, 1));
  return svorv_u32(mask, powers);
}

#endif
