/* Defines the words of lanes/vocabulary.h for RVV 1.0, RISC-V's vectors. Registers have 128 bits or
 * more. A vector is two registers, of which at most 32 lanes are used.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_RVV_VECTOR_H
#define LANEBLOOM_RVV_VECTOR_H

#include <riscv_vector.h>
#include <string.h>

#include "../lanes/vocabulary.h"

typedef vuint32m2_t vector;
typedef vbool16_t mask32;
#define LANES32 __riscv_vsetvl_e32m2(32)

#define ALL_LANES(word, type, instruction)                                                         \
  static inline vector word(vector a, type b)                                                      \
  {                                                                                                \
    return instruction(a, b, LANES32);                                                             \
  }

/* ---- Memory and constants ---- */

static inline mask32 first_lanes32(size_t n)
{
  return __riscv_vmsltu_vx_u32m2_b16(__riscv_vid_v_u32m2(LANES32), (uint32_t)n, LANES32);
}

/* Loads the lanes as bytes, because a CPU may refuse to load wider elements at unaligned
 * addresses. */
static inline vector load_first32(const void *from, size_t n)
{
  return __riscv_vreinterpret_v_u8m2_u32m2(__riscv_vle8_v_u8m2(from, n * sizeof(uint32_t)));
}

static inline vuint64m4_t load_first64(const void *from, size_t n)
{
  return __riscv_vreinterpret_v_u8m4_u64m4(__riscv_vle8_v_u8m4(from, n * sizeof(uint64_t)));
}

static inline vector load_first_low_halves(const void *from, size_t n)
{
  return __riscv_vncvt_x_x_w_u32m2(load_first64(from, n), LANES32);
}

static inline vector load_first_high_halves(const void *from, size_t n)
{
  return __riscv_vnsrl_wx_u32m2(load_first64(from, n), 32, LANES32);
}

static inline vector gather_bytes32(mask32 mask, const uint8_t *from, vector offsets)
{
  const vuint8mf2_t bytes = __riscv_vluxei32_v_u8mf2_m(mask, from, offsets, LANES32);
  return __riscv_vzext_vf4_u32m2(bytes, LANES32);
}

static inline vector splat32(uint32_t value)
{
  return __riscv_vmv_v_x_u32m2(value, LANES32);
}

/* ---- Arithmetic and bits ---- */

ALL_LANES(add32, vector, __riscv_vadd_vv_u32m2)
ALL_LANES(sub32, vector, __riscv_vsub_vv_u32m2)
ALL_LANES(mul_low32, vector, __riscv_vmul_vv_u32m2)
ALL_LANES(mul_high32, vector, __riscv_vmulhu_vv_u32m2)
ALL_LANES(bit_and, vector, __riscv_vand_vv_u32m2)
ALL_LANES(shift_left32, size_t, __riscv_vsll_vx_u32m2)
ALL_LANES(shift_right32, size_t, __riscv_vsrl_vx_u32m2)

static inline vector rotate_left32(vector v, uint32_t nbits)
{
  return __riscv_vor_vv_u32m2(shift_left32(v, nbits), shift_right32(v, 32 - nbits), LANES32);
}

/* ---- Masks ---- */

static inline bool any32(mask32 mask)
{
  return __riscv_vfirst_m_b16(mask, LANES32) >= 0;
}

static inline mask32 has_bit32(mask32 mask, vector v, vector numbers)
{
  const vector shifted = __riscv_vsrl_vv_u32m2(v, numbers, LANES32);
  const vector bits = __riscv_vand_vx_u32m2(shifted, 1, LANES32);
  return __riscv_vmand_mm_b16(mask, __riscv_vmsne_vx_u32m2_b16(bits, 0, LANES32), LANES32);
}

/* The number of lanes is a multiple of 8, so all bits of the stored bytes belong to lanes. */
static inline uint32_t mask_bits32(mask32 mask)
{
  uint8_t bytes[sizeof(uint32_t)] = {0};
  __riscv_vsm_v_b16(bytes, mask, LANES32);
  uint32_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return bits;
}

#endif
