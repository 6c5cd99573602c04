/* Step 9: computes the probes of eight keys in lanes on AArch64, like steps 3 and 5 on x86-64.
 *
 * A register of NEON has four lanes of 32 bits, so eight keys take two registers. NEON has no
 * gather and needs none: positions leave the lanes, and `ld1` loads a byte into a lane of another
 * register. A byte is enough for a probe, and it cannot reach past the end of the filter.
 *
 * A move from a lane to a general register is slow on most cores. So one move of 64 bits takes two
 * lanes, and each of the two additions that compute the addresses uses one half.
 *
 * NEON has no movemask either. Each byte that passed keeps the bit of its lane, and the sum of the
 * bytes is the byte of the bitmap:
 *
 *   passed            ff  00  ff  ff  00  00  00  ff
 *   and               01  02  04  08  10  20  40  80
 *   sum               01 + 04 + 08 + 80 = 8d
 * SPDX-License-Identifier: MIT */
#include "ladder.h"
#include <arm_neon.h>

/* Does step 1 in lanes. A multiplication of two lanes gives two products of 64 bits:
 *
 *   low       [n0 * m] [n1 * m]
 *   high      [n2 * m] [n3 * m]
 *   upper     h0 h1 h2 h3            the upper halves of all, by `uzp2` */
static inline uint32x4_t positions_of(const struct filter *filter, uint32x4_t probes)
{
  const uint32x4_t n = vshrq_n_u32(probes, 3);
  const uint64x2_t low = vmull_n_u32(vget_low_u32(n), filter->multiplier);
  const uint64x2_t high = vmull_high_n_u32(n, filter->multiplier);
  const uint32x4_t upper = vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
  const int32x4_t right = vdupq_n_s32(32 - (int32_t)filter->shift); /* negative, so to the right */
  return vmlsq_n_u32(probes, vshlq_u32(upper, right), 8 * filter->nbytes);
}

/* Returns a byte for each key: all ones if the tested bit is set, and 0 if not. */
static inline uint8x8_t test(const struct filter *filter, uint32x4_t low, uint32x4_t high)
{
  const uint8_t *payload = filter->payload;
  low = positions_of(filter, low);
  high = positions_of(filter, high);
  const uint64x2_t pairs01 = vreinterpretq_u64_u32(vshrq_n_u32(low, 3));
  const uint64x2_t pairs23 = vreinterpretq_u64_u32(vshrq_n_u32(high, 3));
  const uint64_t pairs[4] = {vgetq_lane_u64(pairs01, 0), vgetq_lane_u64(pairs01, 1),
                             vgetq_lane_u64(pairs23, 0), vgetq_lane_u64(pairs23, 1)};
  uint8x8_t bytes = vld1_dup_u8(payload + (uint32_t)pairs[0]);
  bytes = vld1_lane_u8(payload + (pairs[0] >> 32), bytes, 1);
  bytes = vld1_lane_u8(payload + (uint32_t)pairs[1], bytes, 2);
  bytes = vld1_lane_u8(payload + (pairs[1] >> 32), bytes, 3);
  bytes = vld1_lane_u8(payload + (uint32_t)pairs[2], bytes, 4);
  bytes = vld1_lane_u8(payload + (pairs[2] >> 32), bytes, 5);
  bytes = vld1_lane_u8(payload + (uint32_t)pairs[3], bytes, 6);
  bytes = vld1_lane_u8(payload + (pairs[3] >> 32), bytes, 7);
  const uint8x8_t positions = vmovn_u16(vcombine_u16(vmovn_u32(low), vmovn_u32(high)));
  const uint8x8_t bits = vand_u8(positions, vdup_n_u8(7));
  return vtst_u8(bytes, vshl_u8(vdup_n_u8(1), vreinterpret_s8_u8(bits)));
}

static inline uint8_t mask_of(uint8x8_t passed)
{
  static const uint8_t bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  return vaddv_u8(vand_u8(passed, vld1_u8(bits)));
}

static inline uint32x4_t strides_of(uint32x4_t hashes)
{
  return vsriq_n_u32(vshlq_n_u32(hashes, 15), hashes, 17);
}

static void probe(const struct filter *filter, const struct batch *batch, uint8_t *bitmap)
{
  for (size_t i = 0; i < NKEYS; i += 8) {
    uint32x4_t low = vld1q_u32(batch->hashes32 + i), high = vld1q_u32(batch->hashes32 + i + 4);
    const uint32x4_t low_strides = strides_of(low), high_strides = strides_of(high);
    uint8x8_t passed = vdup_n_u8(0xff);
    for (uint32_t p = 0; p < filter->nprobes; p++) {
      passed = vand_u8(passed, test(filter, low, high));
      low = vaddq_u32(low, low_strides);
      high = vaddq_u32(high, high_strides);
    }
    bitmap[i / 8] = mask_of(passed);
  }
}

int main(int argc, char **argv)
{
  return climb(argc, argv, "step 9: NEON, keys across lanes, loads", leveldb, probe);
}
