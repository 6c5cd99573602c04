/* Lines of RocksDB's formats in NEON registers: four of them hold one, and so many a table look-up
 * takes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_NEON_LINES_H
#define LANEBLOOM_NEON_LINES_H

#include "../lines.h"
#include "isa.h"
#include "kept.h"

/* ---- Where lines are ---- */

static inline void store_offsets(uint64_t *offsets, uint32x4_t lines)
{
  vst1q_u64(offsets, vshll_n_u32(vget_low_u32(lines), 6));
  vst1q_u64(offsets + 2, vshll_n_u32(vget_high_u32(lines), 6));
}

/* Always inline, because gcc 12 takes a function that only prefetches for one without effect and
 * drops its calls. */
static inline __attribute__((always_inline)) void prefetch_line(const uint8_t *line)
{
  __builtin_prefetch(line, 0, 2); /* into L2, as by avx2 */
}

static inline __attribute__((always_inline)) void prefetch_eight(const uint8_t *payload,
                                                                 const uint64_t *offsets)
{
  prefetch_line(payload + offsets[0]);
  prefetch_line(payload + offsets[1]);
  prefetch_line(payload + offsets[2]);
  prefetch_line(payload + offsets[3]);
  prefetch_line(payload + offsets[4]);
  prefetch_line(payload + offsets[5]);
  prefetch_line(payload + offsets[6]);
  prefetch_line(payload + offsets[7]);
}

/* ---- What is in them ---- */

/* The probes of two keys, the first one's in the lower half: which bytes of their lines, and which
 * bits of these. */
struct pair {
  uint8x16_t bytes, bits;
};

/* Of probes whose top 9 bits are the number of a bit in a line: 6 bits for a byte, then 3 for a bit
 * in it.
 *
 *   first    a0 .. a7   ->   tops     a0 .. a7 b0 .. b7   the highest 8 bits
 *   second   b0 .. b7        places   a0 .. a7 b0 .. b7   the lowest 3 of 9 */
static inline struct pair pair_of(uint16x8_t first, uint16x8_t second)
{
  const uint8x16_t tops = vuzp2q_u8(vreinterpretq_u8_u16(first), vreinterpretq_u8_u16(second));
  const uint8x16_t places =
      vandq_u8(vcombine_u8(vshrn_n_u16(first, 7), vshrn_n_u16(second, 7)), vdupq_n_u8(7));
  return (struct pair){
      .bytes = vshrq_n_u8(tops, 2),
      .bits = vshlq_u8(vdupq_n_u8(1), vreinterpretq_s8_u8(places)),
  };
}

/* Of four keys. */
struct four {
  struct pair keys01, keys23;
};

/* All ones where a probe finds its bit. */
static inline uint8x16_t pair_found(struct pair probes, const uint8_t *first_line,
                                    const uint8_t *second_line)
{
  const uint8x8_t first = vqtbl4_u8(vld1q_u8_x4(first_line), vget_low_u8(probes.bytes));
  const uint8x8_t second = vqtbl4_u8(vld1q_u8_x4(second_line), vget_high_u8(probes.bytes));
  return vtstq_u8(vcombine_u8(first, second), probes.bits);
}

/* All ones where two neighbouring probes of a key find theirs: four bytes for each key. */
static inline uint8x16_t found(struct four probes, const uint8_t *payload, const uint64_t *offsets)
{
  return vpminq_u8(pair_found(probes.keys01, payload + offsets[0], payload + offsets[1]),
                   pair_found(probes.keys23, payload + offsets[2], payload + offsets[3]));
}

/* Bit i: key i of eight finds all its bits. Neighbours become their minimum until each key has one
 * byte. */
static inline uint8_t hits_of(uint8x16_t keys0123, uint8x16_t keys4567)
{
  const uint8x16_t twos = vpminq_u8(keys0123, keys4567);
  return mask_of(vget_low_u8(vpminq_u8(twos, twos)));
}

/* ---- Setting bits ---- */

/* Probes of eight keys, eight bytes each. */
struct places {
  uint64_t bytes[8], bits[8];
};

/* Of keys i to i + 3. */
static inline void store_four(struct places *places, size_t i, struct four probes)
{
  vst1q_u64(places->bytes + i, vreinterpretq_u64_u8(probes.keys01.bytes));
  vst1q_u64(places->bytes + i + 2, vreinterpretq_u64_u8(probes.keys23.bytes));
  vst1q_u64(places->bits + i, vreinterpretq_u64_u8(probes.keys01.bits));
  vst1q_u64(places->bits + i + 2, vreinterpretq_u64_u8(probes.keys23.bits));
}

/* Of one key, a byte after the other. AVX2 has the line in registers and shifts a bit out of all
 * lanes but its own, but NEON's shifts look at the lowest byte of a count alone. */
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

#endif
