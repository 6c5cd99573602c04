/* Probes and adds to filters of the layout rocksdb_legacy with NEON. This file differs from
 * rocksdb_local.c in how a hash selects its line and the bits in the line.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "cache_lines.h"

/* ---- Vocabulary ---- */

/* `numbers` has only 16 bits for each probe. That is enough, because the position of a probe is its
 * lowest 9 bits. */
struct lookup {
  uint32x4_t nlines, multiplier; /* see divide.h */
  uint64x2_t addend;
  /* the count by which upper halves are shifted; it is 0 or less, because in NEON a negative count
   * shifts to the right */
  int32x4_t shift;
  uint16x8_t numbers[ROCKSDB_LEGACY_MAX_NPASSES];
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = vdupq_n_u32(shape->lines.n);
  lookup->multiplier = vdupq_n_u32(shape->lines.reciprocal.multiplier);
  lookup->addend = vdupq_n_u64(shape->lines.reciprocal.addend);
  lookup->shift = vdupq_n_s32(32 - (int32_t)shape->lines.reciprocal.shift);
  uint32_t lanes[ROCKSDB_LEGACY_MAX_NPASSES * PASS_NPROBES];
  rocksdb_legacy_numbers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++) {
    const uint32_t *const eight = &lanes[pass * PASS_NPROBES];
    lookup->numbers[pass] =
        vcombine_u16(vmovn_u32(vld1q_u32(eight)), vmovn_u32(vld1q_u32(eight + 4)));
  }
}

static inline uint32x4_t four_hashes(const uint8_t *hashes, size_t i)
{
  return vreinterpretq_u32_u8(vld1q_u8(hashes + i * sizeof(uint32_t)));
}

/* Computes the number of the line of each hash, which is the hash modulo the number of lines. The
 * quotients are in the upper halves of products of 64 bits, and only need a shift:
 *
 *   [n0 * m + a] [n1 * m + a]
 *   [n2 * m + a] [n3 * m + a]   ->   h0 h1 h2 h3 */
static inline uint32x4_t lines_of(const struct lookup *lookup, const uint8_t *hashes, size_t i)
{
  const uint32x4_t four = four_hashes(hashes, i);
  const uint64x2_t low =
      vmlal_u32(lookup->addend, vget_low_u32(four), vget_low_u32(lookup->multiplier));
  const uint64x2_t high = vmlal_high_u32(lookup->addend, four, lookup->multiplier);
  const uint32x4_t upper_halves =
      vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
  return vmlsq_u32(four, vshlq_u32(upper_halves, lookup->shift), lookup->nlines);
}

static inline uint32x4_t strides_of(uint32x4_t hashes)
{
  return vsriq_n_u32(vshlq_n_u32(hashes, 15), hashes, 17);
}

/* Returns eight probes of each of four hashes. Hashes and strides are shifted left by 7 bits first,
 * so that the lowest 9 bits of a probe are at the top of its 16 bits. */
static inline struct four probes_of(const struct lookup *lookup, uint32_t pass,
                                    const uint8_t *hashes, size_t i)
{
  const uint32x4_t four = four_hashes(hashes, i);
  const uint16x8_t numbers = lookup->numbers[pass];
  const uint16x8_t first = vreinterpretq_u16_u32(vshlq_n_u32(four, 7));
  const uint16x8_t stride = vreinterpretq_u16_u32(vshlq_n_u32(strides_of(four), 7));
  return (struct four){
      pair_of(vmlaq_u16(vdupq_laneq_u16(first, 0), numbers, vdupq_laneq_u16(stride, 0)),
              vmlaq_u16(vdupq_laneq_u16(first, 2), numbers, vdupq_laneq_u16(stride, 2))),
      pair_of(vmlaq_u16(vdupq_laneq_u16(first, 4), numbers, vdupq_laneq_u16(stride, 4)),
              vmlaq_u16(vdupq_laneq_u16(first, 6), numbers, vdupq_laneq_u16(stride, 6))),
  };
}

static const struct cache_line_steps steps = {
    .hash_nbytes = sizeof(uint32_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
    .add = add_eight,
};

CACHE_LINE_KERNELS(rocksdb_legacy)
