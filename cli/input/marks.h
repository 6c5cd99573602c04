/* Finds bytes such as separators in blocks of 64 bytes. The result is a mask: a number with one bit
 * for each byte of the block.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_MARKS_H
#define LANEBLOOM_CLI_MARKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../src/common/bytes.h"

/* The size of a block, which is searched at once. */
enum { MARKED_NBYTES = 64 };

/* Transposes an 8 by 8 matrix of bits, so that bit j of byte i becomes bit i of byte j (H. S.
 * Warren, Hacker's Delight, 2nd edition, section 7-3). */
static inline uint64_t transpose_bits(uint64_t matrix)
{
  uint64_t t = (matrix ^ matrix >> 7) & 0x00aa00aa00aa00aa;
  matrix ^= t ^ t << 7;
  t = (matrix ^ matrix >> 14) & 0x0000cccc0000cccc;
  matrix ^= t ^ t << 14;
  t = (matrix ^ matrix >> 28) & 0x00000000f0f0f0f0;
  return matrix ^ t ^ t << 28;
}

/* Is c one of the n bytes? n is 1 or 2. */
static inline unsigned is_one_of(char c, const char *bytes, size_t n)
{
  return (c == bytes[0]) | (n > 1 && c == bytes[1]);
}

/* Returns a mask in which bit i is set if block[i] is one of the n bytes. n is a constant, 1 or 2.
 * The loop is written so that compilers vectorize it. It stores the bit for position 8 * word +
 * byte as bit `word` of byte `byte`. The end of the function transposes these bits into their
 * order. */
__attribute__((always_inline)) static inline uint64_t find_bytes(const char *block,
                                                                 const char *bytes, size_t n)
{
  unsigned char marks[16];
  for (size_t i = 0; i < 16; i++)
    marks[i] =
        (unsigned char)(is_one_of(block[i], bytes, n) | is_one_of(block[16 + i], bytes, n) << 2 |
                        is_one_of(block[32 + i], bytes, n) << 4 |
                        is_one_of(block[48 + i], bytes, n) << 6);
  uint64_t even, odd; /* the bits of even words, and of odd words */
  memcpy(&even, marks, sizeof even);
  memcpy(&odd, marks + 8, sizeof odd);
  return transpose_bits(little64(even) | little64(odd) << 1);
}

#endif
