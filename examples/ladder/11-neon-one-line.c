/* Step 11: loads a cache line into four registers on AArch64, like step 6 on x86-64.
 *
 * `tbl` looks up bytes by their indices in a table of one to four registers. Four registers have 64
 * bytes, which is a cache line, so one instruction looks up all probes of a key. The top 9 bits of
 * a probe choose a bit in the line: 6 bits choose the byte, and 3 choose the bit in the byte:
 *
 *   probe             bbbbbb kkk .......................      b: which byte, k: which bit
 *   upper 16 bits     bbbbbb kkk .......
 *   byte              upper >> 10
 *   bit               upper >> 7 & 7
 *
 *   line              v0 v1 v2 v3                  64 bytes, one load
 *   bytes             of eight probes      tbl     the bytes that they test
 *   bits              1 << bit             cmtst   all ones where the bit is set
 *
 * A key passes if all of its bytes are all ones, that is, if the smallest of its bytes is all ones.
 * SPDX-License-Identifier: MIT */
#include "ladder.h"
#include <arm_neon.h>

static inline const uint8_t *line_of(const struct filter *filter, uint64_t hash)
{
  return filter->payload + ((hash & 0xffffffff) * filter->nlines >> 32) * LINE_NBYTES;
}

/* Returns a byte for each probe of the key: all ones if the probe meets a bit that is set. */
static inline uint8x8_t test(const struct filter *filter, uint64_t hash, uint32x4x2_t powers)
{
  const uint32_t key = (uint32_t)(hash >> 32);
  const uint32x4_t low = vmulq_n_u32(powers.val[0], key), high = vmulq_n_u32(powers.val[1], key);
  const uint16x8_t upper = vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
  const uint8x8_t bytes = vmovn_u16(vshrq_n_u16(upper, 10));
  const uint8x8_t bits = vand_u8(vshrn_n_u16(upper, 7), vdup_n_u8(7));
  const uint8x8_t found = vqtbl4_u8(vld1q_u8_x4(line_of(filter, hash)), bytes);
  return vtst_u8(found, vshl_u8(vdup_n_u8(1), vreinterpret_s8_u8(bits)));
}

/* Returns the factors from a key to each of its probes, of which there are up to eight, as in step
 * 6. */
static uint32x4x2_t powers_of(const struct filter *filter)
{
  uint32_t powers[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (uint32_t p = 1; p < filter->nprobes; p++)
    powers[p] = powers[p - 1] * LOCAL_MULTIPLIER;
  return vld1q_u32_x2(powers);
}

static inline uint8x16_t minima(uint8x8_t a, uint8x8_t b, uint8x8_t c, uint8x8_t d)
{
  return vpminq_u8(vcombine_u8(a, b), vcombine_u8(c, d));
}

/* Reduces the bytes of eight keys to one byte for each key, by taking the minima of neighbours
 * three times:
 *
 *   aaaaaaaa bbbbbbbb  cccccccc dddddddd   ->   aaaa bbbb cccc dddd
 *   aaaa bbbb cccc dddd  eeee ffff gggg hhhh   ->   aa bb cc dd ee ff gg hh   ->   abcdefgh */
static void probe(const struct filter *filter, const struct batch *batch, uint8_t *bitmap)
{
  static const uint8_t lane_bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  const uint32x4x2_t powers = powers_of(filter);
  for (size_t i = 0; i < NKEYS; i += 8) {
    const uint64_t *hashes = batch->hashes64 + i;
    uint8x16_t fours[2];
    for (size_t j = 0; j < 2; j++, hashes += 4)
      fours[j] = minima(test(filter, hashes[0], powers), test(filter, hashes[1], powers),
                        test(filter, hashes[2], powers), test(filter, hashes[3], powers));
    const uint8x16_t twos = vpminq_u8(fours[0], fours[1]);
    const uint8x8_t ones = vget_low_u8(vpminq_u8(twos, twos));
    bitmap[i / 8] = vaddv_u8(vand_u8(ones, vld1_u8(lane_bits))); /* see step 9 */
  }
}

int main(int argc, char **argv)
{
  return climb(argc, argv, "step 11: NEON, one line in four registers", local, probe);
}
