/* Tests and sets bits in cache lines with NEON. Four registers hold a line, and one table look-up
 * reads bytes from all four. The probes of a key are eight lanes of 16 bits. The top 9 bits of a
 * lane are the position of a bit in the line: 6 bits for the byte, and 3 bits for the bit in this
 * byte.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_NEON_CACHE_LINES_H
#define LANEBLOOM_NEON_CACHE_LINES_H

#include "../lanes/cache_lines.h"
#include "vector.h"

/* The probes of two keys, with the probes of the first key in the lower half. For each probe,
 * `bytes` has the number of a byte in the line of its key, and `bits` has this byte's bit as a
 * mask. */
struct pair {
  uint8x16_t bytes, bits;
};

struct four {
  struct pair keys01, keys23;
};

/* Return the numbers of the lines of hashes i to i + 3, and eight probes of each hash. The file of
 * a layout defines these functions and struct lookup. */
static inline uint32x4_t lines_of(const struct lookup *lookup, const uint8_t *hashes, size_t i);
static inline struct four probes_of(const struct lookup *lookup, uint32_t pass,
                                    const uint8_t *hashes, size_t i);

static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += 4) {
    const uint32x4_t lines = lines_of(lookup, hashes, i);
    vst1q_u64(offsets + i, vshll_n_u32(vget_low_u32(lines), 6));
    vst1q_u64(offsets + i + 2, vshll_n_u32(vget_high_u32(lines), 6));
  }
}

/* ---- Probing ---- */

/* Returns the probes of two keys. The figure shows how the two parts of a position are made:
 *
 *   first    a0 .. a7   ->   tops     a0 .. a7 b0 .. b7   the highest 8 bits
 *   second   b0 .. b7        bits     a0 .. a7 b0 .. b7   the lowest 3 of 9 */
static inline struct pair pair_of(uint16x8_t first, uint16x8_t second)
{
  const uint8x16_t tops = vuzp2q_u8(vreinterpretq_u8_u16(first), vreinterpretq_u8_u16(second));
  const uint8x16_t bits =
      vandq_u8(vcombine_u8(vshrn_n_u16(first, 7), vshrn_n_u16(second, 7)), vdupq_n_u8(7));
  return (struct pair){
      .bytes = vshrq_n_u8(tops, 2),
      .bits = vshlq_u8(vdupq_n_u8(1), vreinterpretq_s8_u8(bits)),
  };
}

/* Returns a byte for each probe, with all bits set if the probe finds a set bit, and 0
 * otherwise. */
static inline uint8x16_t pair_passes(struct pair probes, const uint8_t *first_line,
                                     const uint8_t *second_line)
{
  const uint8x8_t first = vqtbl4_u8(vld1q_u8_x4(first_line), vget_low_u8(probes.bytes));
  const uint8x8_t second = vqtbl4_u8(vld1q_u8_x4(second_line), vget_high_u8(probes.bytes));
  return vtstq_u8(vcombine_u8(first, second), probes.bits);
}

/* Returns four bytes for each of four keys. Each byte is for two adjacent probes of the key, and
 * has all bits set if both probes find set bits. */
static inline uint8x16_t four_pass(struct four probes, const uint8_t *payload,
                                   const uint64_t *offsets)
{
  return vpminq_u8(pair_passes(probes.keys01, payload + offsets[0], payload + offsets[1]),
                   pair_passes(probes.keys23, payload + offsets[2], payload + offsets[3]));
}

/* Returns a byte in which bit i is set if all eight probes of hash i in this pass find set bits.
 * Adjacent bytes are replaced by their minimum until each key has one byte. The loop handles four
 * keys at a time. Without the loop, gcc 12 would first load all eight lines, for which there are
 * not enough registers. */
static inline uint8_t pass_eight(const struct lookup *lookup, uint32_t pass, const uint8_t *payload,
                                 const uint64_t *offsets, const uint8_t *hashes)
{
  uint8x16_t fours[2];
  for (size_t i = 0; i < 2; i++)
    fours[i] = four_pass(probes_of(lookup, pass, hashes, 4 * i), payload, offsets + 4 * i);
  const uint8x16_t twos = vpminq_u8(fours[0], fours[1]);
  return mask_of(vget_low_u8(vpminq_u8(twos, twos)));
}

static inline uint8_t probe_eight(const struct lookup *lookup, uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets,
                                  const uint8_t *hashes, bool far)
{
  (void)far;
  uint8_t hits = pass_eight(lookup, 0, payload, offsets, hashes);
  for (uint32_t pass = 1; pass < npasses && hits != 0; pass++)
    hits &= pass_eight(lookup, pass, payload, offsets, hashes);
  return hits;
}

/* ---- Adding ---- */

/* Sets eight bits, one byte after another. lanes/lines.h sets bits by shifts that leave a bit only
 * in its own lane. That does not work here, because NEON's shifts use only the lowest byte of a
 * count. */
static inline void set_bits(uint8_t *line, uint64_t bytes, uint64_t bits)
{
  line[bytes & 0xff] |= (uint8_t)bits;
  line[bytes >> 8 & 0xff] |= (uint8_t)(bits >> 8);
  line[bytes >> 16 & 0xff] |= (uint8_t)(bits >> 16);
  line[bytes >> 24 & 0xff] |= (uint8_t)(bits >> 24);
  line[bytes >> 32 & 0xff] |= (uint8_t)(bits >> 32);
  line[bytes >> 40 & 0xff] |= (uint8_t)(bits >> 40);
  line[bytes >> 48 & 0xff] |= (uint8_t)(bits >> 48);
  line[bytes >> 56] |= (uint8_t)(bits >> 56);
}

static inline void add_eight(const struct lookup *lookup, uint32_t nprobes, uint8_t *payload,
                             const uint64_t *offsets, const uint8_t *hashes, size_t n, bool far)
{
  (void)far;
  for (uint32_t pass = 0; pass < npasses_for(nprobes); pass++) {
    uint64_t bytes[8], bits[8]; /* eight bytes of each key */
    for (size_t i = 0; i < 8; i += 4) {
      const struct four probes = probes_of(lookup, pass, hashes, i);
      vst1q_u64(bytes + i, vreinterpretq_u64_u8(probes.keys01.bytes));
      vst1q_u64(bytes + i + 2, vreinterpretq_u64_u8(probes.keys23.bytes));
      vst1q_u64(bits + i, vreinterpretq_u64_u8(probes.keys01.bits));
      vst1q_u64(bits + i + 2, vreinterpretq_u64_u8(probes.keys23.bits));
    }
    for (size_t i = 0; i < n; i++)
      set_bits(payload + offsets[i], bytes[i], bits[i]);
  }
}

#endif
