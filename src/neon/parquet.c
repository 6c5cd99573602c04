/* Probes and adds to Parquet's split-block filters with NEON. The block of a key is in two
 * registers, with a word in each lane.
 * SPDX-License-Identifier: MIT */
#include "../lanes/cache_lines.h"
#include "../lanes/lanes.h"
#include "vector.h"

/* ---- Vocabulary ---- */

struct lookup {
  uint32x4_t nblocks;
  uint32x4x2_t salts;
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nblocks = vdupq_n_u32(shape->lines.n);
  lookup->salts = vld1q_u32_x2(PARQUET_SALTS);
}

static inline uint32x4_t two_hashes(const uint8_t *hashes, size_t i)
{
  return vreinterpretq_u32_u8(vld1q_u8(hashes + i * sizeof(uint64_t)));
}

/* Computes the offset of the block of each hash, as parquet_block() does, for four hashes at a
 * time. */
static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += 4) {
    const uint32x4_t high_halves = vuzp2q_u32(two_hashes(hashes, i), two_hashes(hashes, i + 2));
    const uint64x2_t scaled01 = vmull_u32(vget_low_u32(high_halves), vget_low_u32(lookup->nblocks));
    const uint64x2_t scaled23 = vmull_high_u32(high_halves, lookup->nblocks);
    vst1q_u64(offsets + i, vshlq_n_u64(vshrq_n_u64(scaled01, 32), 5));
    vst1q_u64(offsets + i + 2, vshlq_n_u64(vshrq_n_u64(scaled23, 32), 5));
  }
}

/* Returns the bits that hash i probes. Each lane has one bit set, at its position in the word. */
static inline uint32x4x2_t bits_of(const struct lookup *lookup, const uint8_t *hashes, size_t i)
{
  const uint32_t low_half = (uint32_t)hash64_at(hashes, i);
  uint32x4x2_t bits;
  for (int half = 0; half < 2; half++) {
    const uint32x4_t product = vmulq_n_u32(lookup->salts.val[half], low_half);
    bits.val[half] = vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(vshrq_n_u32(product, 27)));
  }
  return bits;
}

static inline uint32x4x2_t load_block(const uint8_t *block)
{
  return (uint32x4x2_t){
      {vreinterpretq_u32_u8(vld1q_u8(block)), vreinterpretq_u32_u8(vld1q_u8(block + 16))}};
}

/* Returns four lanes. A lane is for two words of the block, and has all bits set if the bits that
 * hash i probes in both words are set. */
static inline uint32x4_t passes_of(const struct lookup *lookup, const uint8_t *payload,
                                   const uint64_t *offsets, const uint8_t *hashes, size_t i)
{
  const uint32x4x2_t block = load_block(payload + offsets[i]), bits = bits_of(lookup, hashes, i);
  return vandq_u32(vtstq_u32(block.val[0], bits.val[0]), vtstq_u32(block.val[1], bits.val[1]));
}

/* Returns a lane for each of four hashes, with all bits set if all probes of the hash find set
 * bits. Adjacent lanes are replaced by their minimum until one lane of each hash is left. */
static inline uint32x4_t four_pass(const struct lookup *lookup, const uint8_t *payload,
                                   const uint64_t *offsets, const uint8_t *hashes, size_t i)
{
  const uint32x4_t keys01 = vpminq_u32(passes_of(lookup, payload, offsets, hashes, i),
                                       passes_of(lookup, payload, offsets, hashes, i + 1));
  const uint32x4_t keys23 = vpminq_u32(passes_of(lookup, payload, offsets, hashes, i + 2),
                                       passes_of(lookup, payload, offsets, hashes, i + 3));
  return vpminq_u32(keys01, keys23);
}

static inline uint8_t probe_eight(const struct lookup *lookup, uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets,
                                  const uint8_t *hashes, bool far)
{
  (void)npasses, (void)far;
  const uint32x4_t first = four_pass(lookup, payload, offsets, hashes, 0),
                   last = four_pass(lookup, payload, offsets, hashes, 4);
  const uint16x8_t eight = vuzp1q_u16(vreinterpretq_u16_u32(first), vreinterpretq_u16_u32(last));
  return mask_of(vmovn_u16(eight));
}

static inline void add_eight(const struct lookup *lookup, uint32_t nprobes, uint8_t *payload,
                             const uint64_t *offsets, const uint8_t *hashes, size_t n, bool far)
{
  (void)nprobes, (void)far;
  for (size_t i = 0; i < n; i++) {
    uint8_t *bytes = payload + offsets[i];
    const uint32x4x2_t block = load_block(bytes), bits = bits_of(lookup, hashes, i);
    vst1q_u8(bytes, vreinterpretq_u8_u32(vorrq_u32(block.val[0], bits.val[0])));
    vst1q_u8(bytes + 16, vreinterpretq_u8_u32(vorrq_u32(block.val[1], bits.val[1])));
  }
}

static const struct cache_line_steps steps = {
    .hash_nbytes = sizeof(uint64_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
    .add = add_eight,
};

CACHE_LINE_KERNELS(parquet)
