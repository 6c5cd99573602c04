/* rocksdb_legacy in lanes of NEON: as rocksdb_local, but for where the line is and which bits of
 * it. Lines of other sizes than 64 bytes are left to scalar.
 * SPDX-License-Identifier: MIT */
#include "../scalar/scalar.h"
#include "cache_lines.h"
#include "neon.h"

/* ---- Vocabulary ---- */

/* Of probes 16 bits are enough, as their lowest 9 are their position. */
struct lookup {
  uint32x4_t nlines, multiplier; /* see divide.h */
  uint64x2_t addend;
  int32x4_t shift; /* of upper halves, and to the right: 0 or less */
  uint16x8_t strides[ROCKSDB_LEGACY_MAX_NPASSES];
};

static inline struct lookup lookup_in(const struct filter_shape *shape)
{
  struct lookup lookup = {
      .nlines = vdupq_n_u32(shape->nlines),
      .multiplier = vdupq_n_u32(shape->reciprocal.multiplier),
      .addend = vdupq_n_u64(shape->reciprocal.addend),
      .shift = vdupq_n_s32(32 - (int32_t)shape->reciprocal.shift),
  };
  uint32_t lanes[ROCKSDB_LEGACY_MAX_NPASSES * PASS_NPROBES];
  rocksdb_legacy_multipliers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++) {
    const uint32_t *const eight = &lanes[pass * PASS_NPROBES];
    lookup.strides[pass] =
        vcombine_u16(vmovn_u32(vld1q_u32(eight)), vmovn_u32(vld1q_u32(eight + 4)));
  }
  return lookup;
}

static inline uint32x4_t four_hashes(const uint8_t *hashes, size_t i)
{
  return vreinterpretq_u32_u8(vld1q_u8(hashes + i * sizeof(uint32_t)));
}

/* Quotients lie in the upper halves of 64-bit products, but for a shift:
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

/* A probe's lowest 9 bits are moved to the top of the lower half of a lane. */
static inline struct four probes_of(const struct lookup *lookup, uint32_t pass,
                                    const uint8_t *hashes, size_t i)
{
  const uint32x4_t four = four_hashes(hashes, i);
  const uint16x8_t strides = lookup->strides[pass];
  const uint16x8_t first = vreinterpretq_u16_u32(vshlq_n_u32(four, 7));
  const uint16x8_t stride = vreinterpretq_u16_u32(vshlq_n_u32(strides_of(four), 7));
  return (struct four){
      pair_of(vmlaq_u16(vdupq_laneq_u16(first, 0), strides, vdupq_laneq_u16(stride, 0)),
              vmlaq_u16(vdupq_laneq_u16(first, 2), strides, vdupq_laneq_u16(stride, 2))),
      pair_of(vmlaq_u16(vdupq_laneq_u16(first, 4), strides, vdupq_laneq_u16(stride, 4)),
              vmlaq_u16(vdupq_laneq_u16(first, 6), strides, vdupq_laneq_u16(stride, 6))),
  };
}

static const struct cache_line_vocabulary vocabulary = {
    .hash_nbytes = sizeof(uint32_t),
    .locate = locate_eight,
    .probe = probe_eight,
    .add = add_eight,
};

/* ---- Kernels ---- */

void lanebloom_rocksdb_legacy_probe_neon(const struct filter_shape *shape, const uint8_t *payload,
                                         struct hash_source *source, uint8_t *bitmap)
{
  if (source->n < FEW_NKEYS || shape->line_nbytes != CACHE_LINE_NBYTES) {
    lanebloom_rocksdb_legacy_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const struct lookup lookup = lookup_in(shape);
  cache_lines_probe(shape, payload, source, bitmap, &lookup, &vocabulary);
}

void lanebloom_rocksdb_legacy_add_neon(const struct filter_shape *shape, uint8_t *payload,
                                       struct hash_source *source)
{
  if (shape->line_nbytes != CACHE_LINE_NBYTES) {
    lanebloom_rocksdb_legacy_add_scalar(shape, payload, source);
    return;
  }
  const struct lookup lookup = lookup_in(shape);
  cache_lines_add(shape, payload, source, &lookup, &vocabulary);
}
