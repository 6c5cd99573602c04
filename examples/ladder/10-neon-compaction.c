/* Step 10: compacts the survivors on AArch64, like step 4 on x86-64.
 *
 * NEON has no instruction that compresses, and no permutation of dwords. But `tbl` looks up bytes
 * of a register by their indices, and four lanes have only sixteen masks. So a table of 256 bytes
 * has the order of bytes for each mask:
 *
 *   lanes             a b c d     b and d passed
 *   order             4 5 6 7   12 13 14 15   -   -
 *   survivors         b d - -
 *
 * As in step 5, a pass first stores the positions of all keys, and then loads bytes and tests.
 * SPDX-License-Identifier: MIT */
#include "ladder.h"
#include <arm_neon.h>

enum { BLOCK_NKEYS = 1024 };

static inline uint32x4_t positions_of(const struct filter *filter, uint32x4_t probes) /* step 9 */
{
  const uint32x4_t n = vshrq_n_u32(probes, 3);
  const uint64x2_t low = vmull_n_u32(vget_low_u32(n), filter->multiplier);
  const uint64x2_t high = vmull_high_n_u32(n, filter->multiplier);
  const uint32x4_t upper = vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
  const int32x4_t right = vdupq_n_s32(32 - (int32_t)filter->shift);
  return vmlsq_n_u32(probes, vshlq_u32(upper, right), 8 * filter->nbytes);
}

static void locate(const struct filter *filter, const uint32_t *hashes, size_t n, uint32_t p,
                   uint32_t *positions)
{
  for (size_t i = 0; i < n; i += 4) {
    const uint32x4_t hash = vld1q_u32(hashes + i);
    const uint32x4_t stride = vsriq_n_u32(vshlq_n_u32(hash, 15), hash, 17);
    vst1q_u32(positions + i, positions_of(filter, vmlaq_n_u32(hash, stride, p)));
  }
}

/* Returns a mask: bit i is set if key i of four passes. */
static inline unsigned test(const uint8_t *payload, const uint32_t *at)
{
  static const uint32_t lane_bits[4] = {1, 2, 4, 8};
  uint8x16_t bytes = vdupq_n_u8(0); /* in each lane, only the lowest byte is used */
  bytes = vld1q_lane_u8(payload + at[0] / 8, bytes, 0);
  bytes = vld1q_lane_u8(payload + at[1] / 8, bytes, 4);
  bytes = vld1q_lane_u8(payload + at[2] / 8, bytes, 8);
  bytes = vld1q_lane_u8(payload + at[3] / 8, bytes, 12);
  const uint32x4_t bits = vandq_u32(vld1q_u32(at), vdupq_n_u32(7));
  const uint32x4_t masks = vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(bits));
  const uint32x4_t passed = vtstq_u32(vreinterpretq_u32_u8(bytes), masks);
  return vaddvq_u32(vandq_u32(passed, vld1q_u32(lane_bits)));
}

static uint8_t orders[16][16]; /* for each mask, the bytes of its lanes */

static void make_orders(void)
{
  for (unsigned mask = 0; mask < 16; mask++)
    for (unsigned byte = 0, n = 0; byte < 16; byte++)
      if (mask >> byte / 4 & 1)
        orders[mask][n++] = (uint8_t)byte;
}

static inline void compact(uint32_t *to, const uint32_t *from, unsigned mask)
{
  const uint8x16_t four = vreinterpretq_u8_u32(vld1q_u32(from));
  vst1q_u32(to, vreinterpretq_u32_u8(vqtbl1q_u8(four, vld1q_u8(orders[mask]))));
}

static void probe(const struct filter *filter, const struct batch *batch, uint8_t *bitmap)
{
  uint32_t hashes[BLOCK_NKEYS], indices[BLOCK_NKEYS], positions[BLOCK_NKEYS];
  make_orders();
  memset(bitmap, 0, NKEYS / 8);
  for (size_t first = 0; first < NKEYS; first += BLOCK_NKEYS) {
    memcpy(hashes, batch->hashes32 + first, sizeof hashes);
    for (uint32_t i = 0; i < BLOCK_NKEYS; i++)
      indices[i] = (uint32_t)first + i;
    size_t n = BLOCK_NKEYS;
    for (uint32_t p = 0; p < filter->nprobes; p++) {
      locate(filter, hashes, n, p, positions);
      size_t nsurvivors = 0;
      for (size_t i = 0; i < n; i += 4) {
        const unsigned last = n - i < 4 ? (1u << (n - i)) - 1 : 15;
        const unsigned mask = test(filter->payload, positions + i) & last;
        compact(hashes + nsurvivors, hashes + i, mask);
        compact(indices + nsurvivors, indices + i, mask);
        nsurvivors += (size_t)__builtin_popcount(mask);
      }
      n = nsurvivors;
    }
    for (size_t i = 0; i < n; i++)
      bitmap[indices[i] / 8] |= (uint8_t)(1 << indices[i] % 8);
  }
}

int main(int argc, char **argv)
{
  return climb(argc, argv, "step 10: NEON, compaction of survivors", leveldb, probe);
}
