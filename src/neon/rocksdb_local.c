/* rocksdb_local in lanes of NEON: the probes of a key across lanes, two keys in a register.
 * SPDX-License-Identifier: MIT */
#include "../scalar/scalar.h"
#include "isa.h"
#include "lines.h"
#include "neon.h"

enum {
  FEW_NKEYS = 6,   /* fewer go to scalar. Taken over from avx2: nothing here was measured on ARM */
  MAX_NPASSES = 4, /* of eight probes: readers take up to 30 */
};

/* ---- Vocabulary ---- */

/* The lines of four hashes: rocksdb_local_line in each lane, but for its last factor. */
static inline uint32x4_t lines_of(const uint8_t *hashes, uint32x4_t nlines)
{
  const uint32x4_t hashes01 = vreinterpretq_u32_u8(vld1q_u8(hashes));
  const uint32x4_t hashes23 = vreinterpretq_u32_u8(vld1q_u8(hashes + 16));
  const uint32x4_t low_halves = vuzp1q_u32(hashes01, hashes23);
  const uint64x2_t scaled01 = vmull_u32(vget_low_u32(low_halves), vget_low_u32(nlines));
  const uint64x2_t scaled23 = vmull_high_u32(low_halves, nlines);
  return vuzp2q_u32(vreinterpretq_u32_u64(scaled01), vreinterpretq_u32_u64(scaled23));
}

/* What the high half of a hash is multiplied by: probe 8 * pass + i in lane i of a pass. Lanes
 * beyond the last probe repeat the first one. */
struct multipliers {
  uint32x4x2_t passes[MAX_NPASSES];
};

static inline struct multipliers multipliers_for(uint32_t nprobes)
{
  struct multipliers multipliers;
  uint32_t power = 1;
  for (uint32_t pass = 0; pass < npasses_of(nprobes); pass++) {
    uint32_t lanes[LANES_PER_KEY];
    for (uint32_t i = 0; i < LANES_PER_KEY; i++, power *= ROCKSDB_LOCAL_MULTIPLIER)
      lanes[i] = pass * LANES_PER_KEY + i < nprobes ? power : 1;
    multipliers.passes[pass].val[0] = vld1q_u32(lanes);
    multipliers.passes[pass].val[1] = vld1q_u32(lanes + 4);
  }
  return multipliers;
}

/* The upper halves of eight lanes: all that pair_of asks for. */
static inline uint16x8_t upper_halves(uint32x4_t low, uint32x4_t high)
{
  return vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
}

/* Of two hashes, whose high halves are lanes 1 and 3. */
static inline struct pair pair_probes(const uint8_t *hashes, uint32x4x2_t multipliers)
{
  const uint32x4_t two = vreinterpretq_u32_u8(vld1q_u8(hashes)), low = multipliers.val[0],
                   high = multipliers.val[1];
  return pair_of(upper_halves(vmulq_laneq_u32(low, two, 1), vmulq_laneq_u32(high, two, 1)),
                 upper_halves(vmulq_laneq_u32(low, two, 3), vmulq_laneq_u32(high, two, 3)));
}

/* Of four hashes. */
static inline struct four probes_of(const uint8_t *hashes, uint32x4x2_t multipliers)
{
  return (struct four){pair_probes(hashes, multipliers),
                       pair_probes(hashes + 2 * sizeof(uint64_t), multipliers)};
}

/* ---- Blocks of hashes and their lines ---- */

/* Where the lines of eight hashes are. */
static inline __attribute__((always_inline)) void locate_eight(struct block *block, size_t i,
                                                               uint32x4_t nlines,
                                                               const uint8_t *payload,
                                                               const bool prefetch)
{
  const uint8_t *hashes = block->hashes + i * sizeof(uint64_t);
  store_offsets(block->offsets + i, lines_of(hashes, nlines));
  store_offsets(block->offsets + i + 4, lines_of(hashes + 4 * sizeof(uint64_t), nlines));
  if (prefetch)
    prefetch_eight(payload, block->offsets + i);
}

/* ---- Probing ---- */

/* Bit i: hash i finds all bits of a pass. In a loop of two, because all eight lines at once are
 * twice what registers hold, and gcc 12 would begin by loading them. */
static inline __attribute__((always_inline)) uint8_t probe_eight(uint32x4x2_t multipliers,
                                                                 const uint8_t *payload,
                                                                 const uint64_t *offsets,
                                                                 const uint8_t *hashes)
{
  uint8x16_t fours[2];
  for (size_t i = 0; i < 2; i++)
    fours[i] =
        found(probes_of(hashes + i * 4 * sizeof(uint64_t), multipliers), payload, offsets + i * 4);
  return hits_of(fours[0], fours[1]);
}

/* A pass after the first is for eights of which a hash is left. */
static inline void probe_blocks(const struct filter_shape *shape, const uint8_t *payload,
                                struct hash_source *source, uint8_t *bitmap, const uint32_t npasses,
                                const bool prefetch)
{
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const uint32x4_t nlines = vdupq_n_u32(shape->nlines);
  uint8_t padded[NEXT_NKEYS * sizeof(uint64_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint64_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, nlines, payload, prefetch);
  while (block->n > 0) {
    next_block(source, sizeof(uint64_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, nlines, payload, prefetch);
      bitmap[i / 8] =
          probe_eight(multipliers.passes[0], payload, block->offsets + i, block->hashes + i * 8);
    }
    for (uint32_t pass = 1; pass < npasses; pass++)
      for (size_t i = 0; i < block->n; i += 8)
        if (bitmap[i / 8] != 0)
          bitmap[i / 8] &= probe_eight(multipliers.passes[pass], payload, block->offsets + i,
                                       block->hashes + i * 8);
    bitmap += (block->n + 7) / 8;
    if (block->n % 8 != 0)
      bitmap[-1] &= (uint8_t)((1 << block->n % 8) - 1);
    struct block *const done = block;
    block = next;
    next = done;
  }
}

void lanebloom_rocksdb_local_probe_neon(const struct filter_shape *shape, const uint8_t *payload,
                                        struct hash_source *source, uint8_t *bitmap)
{
  if (source->n < FEW_NKEYS) {
    lanebloom_rocksdb_local_probe_scalar(shape, payload, source, bitmap);
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
      store_four(&places, i, probes_of(hashes + i * sizeof(uint64_t), multipliers->passes[pass]));
    for (size_t i = 0; i < n; i++)
      set_bits(payload + offsets[i], places.bytes[i], places.bits[i]);
  }
}

void lanebloom_rocksdb_local_add_neon(const struct filter_shape *shape, uint8_t *payload,
                                      struct hash_source *source)
{
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const uint32_t npasses = npasses_of(shape->nprobes);
  const uint32x4_t nlines = vdupq_n_u32(shape->nlines);
  const bool prefetch = shape->nbytes > NEAR_NBYTES;
  uint8_t padded[NEXT_NKEYS * sizeof(uint64_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint64_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, nlines, payload, prefetch);
  while (block->n > 0) {
    next_block(source, sizeof(uint64_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, nlines, payload, prefetch);
      const size_t left = block->n - i;
      add_eight(&multipliers, npasses, payload, block->offsets + i, block->hashes + i * 8,
                left < 8 ? left : 8);
    }
    struct block *const done = block;
    block = next;
    next = done;
  }
}
