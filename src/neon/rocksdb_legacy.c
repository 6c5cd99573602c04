/* rocksdb_legacy in lanes of NEON: as rocksdb_local, but for where the line is and which bits of
 * it. Lines of other sizes than 64 bytes are left to scalar.
 * SPDX-License-Identifier: MIT */
#include "../scalar/scalar.h"
#include "isa.h"
#include "lines.h"
#include "neon.h"

enum {
  FEW_NKEYS = 6,    /* fewer go to scalar. Taken over from avx2: nothing here was measured on ARM */
  MAX_NPASSES = 16, /* of eight probes: readers take up to 127 */
  LINE_NBYTES = 64,
};

/* ---- Vocabulary ---- */

/* What finds the lines of hashes: see divide.h. */
struct divisor {
  uint32x4_t nlines, multiplier;
  uint64x2_t addend;
  int32x4_t shift;
};

static inline struct divisor divisor_of(const struct filter_shape *shape)
{
  return (struct divisor){
      .nlines = vdupq_n_u32(shape->nlines),
      .multiplier = vdupq_n_u32(shape->reciprocal.multiplier),
      .addend = vdupq_n_u64(shape->reciprocal.addend),
      .shift = vdupq_n_s32(
          32 - (int32_t)shape->reciprocal.shift), /* of upper halves, and to the right: 0 or less */
  };
}

static inline uint32x4_t load_hashes(const uint8_t *hashes)
{
  return vreinterpretq_u32_u8(vld1q_u8(hashes));
}

static inline uint32x4_t strides_of(uint32x4_t hashes)
{
  return vsriq_n_u32(vshlq_n_u32(hashes, 15), hashes, 17);
}

/* The lines of four hashes. Quotients lie in the upper halves of 64-bit products, but for a shift:
 *
 *   [n0 * m + a] [n1 * m + a]
 *   [n2 * m + a] [n3 * m + a]   ->   h0 h1 h2 h3 */
static inline uint32x4_t lines_of(uint32x4_t hashes, const struct divisor *divisor)
{
  const uint64x2_t low =
      vmlal_u32(divisor->addend, vget_low_u32(hashes), vget_low_u32(divisor->multiplier));
  const uint64x2_t high = vmlal_high_u32(divisor->addend, hashes, divisor->multiplier);
  const uint32x4_t upper_halves =
      vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
  return vmlsq_u32(hashes, vshlq_u32(upper_halves, divisor->shift), divisor->nlines);
}

/* What the stride of a hash is multiplied by: for probe 8 * pass + i in lane i of a pass. Lanes
 * beyond the last probe repeat the first one. Of probes 16 bits are enough, as their lowest 9 are
 * the number of a bit. */
struct multipliers {
  uint16x8_t passes[MAX_NPASSES];
};

static inline struct multipliers multipliers_for(uint32_t nprobes)
{
  struct multipliers multipliers;
  for (uint32_t pass = 0; pass < npasses_of(nprobes); pass++) {
    uint16_t lanes[LANES_PER_KEY];
    for (uint32_t i = 0; i < LANES_PER_KEY; i++)
      lanes[i] = (uint16_t)(pass * LANES_PER_KEY + i < nprobes ? pass * LANES_PER_KEY + i : 0);
    multipliers.passes[pass] = vld1q_u16(lanes);
  }
  return multipliers;
}

/* Of four hashes. The number of a bit is moved to the top of the lower half of a lane. */
static inline struct four probes_of(const uint8_t *hashes, uint16x8_t multipliers)
{
  const uint32x4_t four = load_hashes(hashes);
  const uint16x8_t first = vreinterpretq_u16_u32(vshlq_n_u32(four, 7));
  const uint16x8_t stride = vreinterpretq_u16_u32(vshlq_n_u32(strides_of(four), 7));
  return (struct four){
      pair_of(vmlaq_u16(vdupq_laneq_u16(first, 0), multipliers, vdupq_laneq_u16(stride, 0)),
              vmlaq_u16(vdupq_laneq_u16(first, 2), multipliers, vdupq_laneq_u16(stride, 2))),
      pair_of(vmlaq_u16(vdupq_laneq_u16(first, 4), multipliers, vdupq_laneq_u16(stride, 4)),
              vmlaq_u16(vdupq_laneq_u16(first, 6), multipliers, vdupq_laneq_u16(stride, 6))),
  };
}

/* ---- Blocks of hashes and their lines ---- */

/* Where the lines of eight hashes are. */
static inline __attribute__((always_inline)) void locate_eight(struct block *block, size_t i,
                                                               const struct divisor *divisor,
                                                               const uint8_t *payload,
                                                               const bool prefetch)
{
  const uint8_t *hashes = block->hashes + i * sizeof(uint32_t);
  store_offsets(block->offsets + i, lines_of(load_hashes(hashes), divisor));
  store_offsets(block->offsets + i + 4,
                lines_of(load_hashes(hashes + 4 * sizeof(uint32_t)), divisor));
  if (prefetch)
    prefetch_eight(payload, block->offsets + i);
}

/* ---- Probing ---- */

/* Bit i: hash i finds all bits of a pass. In a loop of two, because all eight lines at once are
 * twice what registers hold, and gcc 12 would begin by loading them. */
static inline __attribute__((always_inline)) uint8_t probe_eight(uint16x8_t multipliers,
                                                                 const uint8_t *payload,
                                                                 const uint64_t *offsets,
                                                                 const uint8_t *hashes)
{
  uint8x16_t fours[2];
  for (size_t i = 0; i < 2; i++)
    fours[i] =
        found(probes_of(hashes + i * 4 * sizeof(uint32_t), multipliers), payload, offsets + i * 4);
  return hits_of(fours[0], fours[1]);
}

/* A pass after the first is for eights of which a hash is left. */
static inline void probe_blocks(const struct filter_shape *shape, const uint8_t *payload,
                                struct hash_source *source, uint8_t *bitmap, const uint32_t npasses,
                                const bool prefetch)
{
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const struct divisor divisor = divisor_of(shape);
  uint8_t padded[NEXT_NKEYS * sizeof(uint32_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint32_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, &divisor, payload, prefetch);
  while (block->n > 0) {
    next_block(source, sizeof(uint32_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, &divisor, payload, prefetch);
      bitmap[i / 8] = probe_eight(multipliers.passes[0], payload, block->offsets + i,
                                  block->hashes + i * sizeof(uint32_t));
    }
    for (uint32_t pass = 1; pass < npasses; pass++)
      for (size_t i = 0; i < block->n; i += 8)
        if (bitmap[i / 8] != 0)
          bitmap[i / 8] &= probe_eight(multipliers.passes[pass], payload, block->offsets + i,
                                       block->hashes + i * sizeof(uint32_t));
    bitmap += (block->n + 7) / 8;
    if (block->n % 8 != 0)
      bitmap[-1] &= (uint8_t)((1 << block->n % 8) - 1);
    struct block *const done = block;
    block = next;
    next = done;
  }
}

void lanebloom_rocksdb_legacy_probe_neon(const struct filter_shape *shape, const uint8_t *payload,
                                         struct hash_source *source, uint8_t *bitmap)
{
  if (shape->line_nbytes != LINE_NBYTES || source->n < FEW_NKEYS) {
    lanebloom_rocksdb_legacy_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const uint32_t npasses = npasses_of(shape->nprobes);
  const bool near = shape->nbytes <= NEAR_NBYTES;
  probe_blocks(shape, payload, source, bitmap, npasses, !near);
}

/* ---- Adding ---- */

/* One key after another, as two may have the same line. */
static inline void add_eight(const struct multipliers *multipliers, const uint32_t npasses,
                             uint8_t *payload, const uint64_t *offsets, const uint8_t *hashes,
                             size_t n)
{
  for (uint32_t pass = 0; pass < npasses; pass++) {
    struct places places;
    for (size_t i = 0; i < 8; i += 4)
      store_four(&places, i, probes_of(hashes + i * sizeof(uint32_t), multipliers->passes[pass]));
    for (size_t i = 0; i < n; i++)
      set_bits(payload + offsets[i], places.bytes[i], places.bits[i]);
  }
}

void lanebloom_rocksdb_legacy_add_neon(const struct filter_shape *shape, uint8_t *payload,
                                       struct hash_source *source)
{
  if (shape->line_nbytes != LINE_NBYTES) {
    lanebloom_rocksdb_legacy_add_scalar(shape, payload, source);
    return;
  }
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const uint32_t npasses = npasses_of(shape->nprobes);
  const struct divisor divisor = divisor_of(shape);
  const bool prefetch = shape->nbytes > NEAR_NBYTES;
  uint8_t padded[NEXT_NKEYS * sizeof(uint32_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint32_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, &divisor, payload, prefetch);
  while (block->n > 0) {
    next_block(source, sizeof(uint32_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, &divisor, payload, prefetch);
      const size_t left = block->n - i;
      add_eight(&multipliers, npasses, payload, block->offsets + i,
                block->hashes + i * sizeof(uint32_t), left < 8 ? left : 8);
    }
    struct block *const done = block;
    block = next;
    next = done;
  }
}
