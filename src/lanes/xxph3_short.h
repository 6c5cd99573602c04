/* The steps of XXPH3 for keys of 4 to 16 bytes, and its lists, for instruction sets that have no
 * products of 64 bits, no rotates and no masked loads. Keys of one width are loaded in whole blocks
 * of 16 bytes. These blocks extend into the next keys, so the last keys are left to scalar code.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_XXPH3_SHORT_H
#define LANEBLOOM_LANES_XXPH3_SHORT_H

#include "xxph3_steps.h"

/* Multiplies by a number of 64 bits. Three products of halves are needed, and one instruction,
 * mul_low32, computes two of them. */
static inline vector multiply(vector a, uint64_t b)
{
  const vector crossed = mul_low32(a, splat64(b >> 32 | b << 32));
  const vector upper =
      add32(shift_left64(crossed, 32), bit_and(crossed, splat64(0xffffffff00000000)));
  return add64(mul_even32(a, splat64(b)), upper);
}

static inline vector multiply32(vector a, uint32_t b)
{
  return add64(mul_even32(a, splat64(b)), mul_low32(a, splat64((uint64_t)b << 32)));
}

static inline vector under_secret(vector words)
{
  words = bit_xor(words, splat64(xxph3_secret64(0)));
  return bit_xor(words, shift_right64(words, 51));
}

/* ---- Keys of one width ---- */

struct packing {
  vector ends;
};

static inline vector load_4_to_8(const uint8_t *keys, size_t width, const struct packing *how)
{
  return width == 8 ? load(keys) : shuffle_bytes(load_strided(keys, 2 * width), how->ends);
}

static inline size_t fixed_4_to_8(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  const struct packing how = {ends_of_two(width, width)};
  return hash_4_to_8_of(keys, width, &how, 2, n, hashes);
}

static inline size_t fixed_8(const uint8_t *keys, size_t n, void *hashes)
{
  return hash_4_to_8_of(keys, 8, NULL, 0, n, hashes);
}

static inline size_t fixed_9_to_16(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  return strided_9_to_16(keys, width, width, n, hashes);
}

static inline size_t fixed_16(const uint8_t *keys, size_t n, void *hashes)
{
  const vector size = splat64(16);
  size_t i = 0;
  for (; i + LANES64 <= n; i += LANES64) {
    const vector even = load_strided(keys + i * 16, 32), odd = load_strided(keys + i * 16 + 16, 32);
    store_hashes(hashes, i,
                 hash_9_to_16(interleave_low64(even, odd), interleave_high64(even, odd), size));
  }
  return i;
}

/* ---- Keys of many sizes ---- */

static inline mask64 not_short(vector size)
{
  return greater_signed64(splat64(MIN_SHORT), size) | greater_signed64(size, splat64(MAX_SHORT));
}

/* Shifts keys by their size, so that their ends are at the top of lanes. For each size only some of
 * the shifts matter; a shift by 64 bits or more gives 0. */
static inline struct ends ends_of(vector front, vector back, vector size)
{
  const vector nbits = shift_left64(size, 3);
  return (struct ends){shift_left_each64(front, sub64(splat64(64), nbits)),
                       bit_or(shift_right_each64(front, sub64(nbits, splat64(64))),
                              shift_left_each64(back, sub64(splat64(128), nbits)))};
}

static inline size_t leave_unlisted(mask64 chosen, vector size, size_t first,
                                    struct unlisted *unlisted, size_t n)
{
  (void)size;
  const unsigned mask = mask_bits64(chosen);
  const size_t before = n;
  for (unsigned lane = 0; lane < LANES64; lane++) {
    unlisted->indices[n] = (uint32_t)first + lane;
    n += mask >> lane & 1;
  }
  return n - before;
}

static inline void list_keys(const lanebloom_keys *keys, const struct unlisted *unlisted, size_t n,
                             struct lists *lists)
{
  for (size_t j = 0; j < n; j++) {
    const size_t size = keys_at(keys, unlisted->indices[j]).size;
    const size_t l = size < MIN_SHORT || size > 128 ? OTHERS : (size - 1) / 32;
    lists->indices[l][lists->counts[l]++] = unlisted->indices[j];
  }
}

#endif
