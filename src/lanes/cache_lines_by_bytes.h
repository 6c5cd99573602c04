/* Tests bits in cache lines, in vectors of 16 bytes. Four vectors hold a line, and a byte shuffle
 * looks up bytes in one of the four. A vector of bytes has the probes of two keys.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_CACHE_LINES_BY_BYTES_H
#define LANEBLOOM_LANES_CACHE_LINES_BY_BYTES_H

#include "cache_lines.h"
#include "vector.h"

/* Returns eight probes of hash i. A probe is a word of 16 bits, whose top 9 bits are the number of
 * a bit in the line. The file of a layout defines this function and struct lookup. */
static inline vector probes_of(const struct lookup *lookup, uint32_t pass, const uint8_t *hashes,
                               size_t i);

/* The probes of two keys, with the probes of the first key in the lower half. For each probe,
 * `bytes` has the number of a byte in the line of its key, and `bits` has this byte's bit as a
 * mask. */
struct pair {
  vector bytes, bits;
};

static inline struct pair pair_of(vector first, vector second)
{
  const vector seven = splat16(7);
  const vector numbers = narrow_unsigned16(bit_and(shift_right16(first, 7), seven),
                                           bit_and(shift_right16(second, 7), seven));
  return (struct pair){
      .bytes = narrow_unsigned16(shift_right16(first, 10), shift_right16(second, 10)),
      .bits = bit_masks8(numbers),
  };
}

/* Returns the bytes of a line that have these numbers, 0 to 63. A byte is found in one quarter of
 * the line, and the look-ups in the other quarters return 0. */
static inline vector look_up(const uint8_t *line, vector bytes)
{
  return bit_or(bit_or(look_up_quarter(load(line), bytes, 0),
                       look_up_quarter(load(line + VECTOR_NBYTES), bytes, 1)),
                bit_or(look_up_quarter(load(line + 2 * VECTOR_NBYTES), bytes, 2),
                       look_up_quarter(load(line + 3 * VECTOR_NBYTES), bytes, 3)));
}

/* Returns a byte for each probe, with all bits set if the probe finds a set bit, and 0
 * otherwise. */
static inline vector pair_found(struct pair probes, const uint8_t *first_line,
                                const uint8_t *second_line)
{
  const vector bytes =
      join_halves(look_up(first_line, probes.bytes), look_up(second_line, probes.bytes));
  return equal8(bit_and(bytes, probes.bits), probes.bits);
}

/* Returns a byte in which bit i is set if all eight bytes of key i have all bits set. The eight
 * bytes of a key are compared as one lane of 64 bits, which is then narrowed to 32 bits, to 16 and
 * to 8. */
static inline uint8_t hits_of(const vector pairs[4])
{
  const vector ones = splat32(UINT32_MAX);
  const vector keys03 = narrow_signed32(equal64(pairs[0], ones), equal64(pairs[1], ones));
  const vector keys47 = narrow_signed32(equal64(pairs[2], ones), equal64(pairs[3], ones));
  const vector words = narrow_signed32(keys03, keys47);
  return (uint8_t)mask_bits8(narrow_signed16(words, words));
}

static inline __attribute__((always_inline)) uint8_t
probe_pass(const struct lookup *lookup, uint32_t pass, const uint8_t *payload,
           const uint64_t *offsets, const uint8_t *hashes)
{
  vector pairs[4];
  for (size_t i = 0; i < 8; i += 2)
    pairs[i / 2] = pair_found(
        pair_of(probes_of(lookup, pass, hashes, i), probes_of(lookup, pass, hashes, i + 1)),
        payload + offsets[i], payload + offsets[i + 1]);
  return hits_of(pairs);
}

static inline __attribute__((always_inline)) uint8_t
probe_eight(const struct lookup *lookup, uint32_t npasses, const uint8_t *payload,
            const uint64_t *offsets, const uint8_t *hashes, bool far)
{
  (void)far;
  uint8_t hits = probe_pass(lookup, 0, payload, offsets, hashes);
  for (uint32_t pass = 1; pass < npasses && hits; pass++)
    hits &= probe_pass(lookup, pass, payload, offsets, hashes);
  return hits;
}

#endif
