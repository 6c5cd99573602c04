/* Functions for bitmaps. Bit i of a bitmap is bit i % 8 of byte i / 8, counted from the least
 * significant bit.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_BITS_H
#define LANEBLOOM_CLI_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../src/common/bytes.h"

/* Returns the position of the first bit in [i, n) that equals `wanted`, or n if there is none.
 * Reads whole words of 8 bytes, so at least ceil(n / 64) * 8 bytes of the bitmap must be
 * readable. */
static inline size_t find_bit(const uint8_t *bitmap, size_t i, size_t n, bool wanted)
{
  while (i < n) {
    uint64_t word;
    memcpy(&word, bitmap + i / 64 * 8, sizeof word);
    uint64_t rest = (wanted ? little64(word) : ~little64(word)) >> i % 64;
    if (rest) {
      i += (size_t)__builtin_ctzll(rest);
      return i < n ? i : n;
    }
    i = (i / 64 + 1) * 64;
  }
  return n;
}

/* Sets each bit of `bitmap` that is set in `more`. */
static inline void add_bits(uint8_t *bitmap, const uint8_t *more, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    bitmap[i] |= more[i];
}

/* Returns how many bits are set in the bitmap. */
static inline size_t count_bits(const uint8_t *bitmap, size_t nbytes)
{
  size_t n = 0;
  for (size_t i = 0; i < nbytes; i++)
    n += (size_t)__builtin_popcount(bitmap[i]);
  return n;
}

#endif
