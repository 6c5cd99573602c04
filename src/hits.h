/* Hits are a bitmap in which bit i is set if key i may be in the filter. The bits of a byte count
 * from the least significant one; bits past the last key are 0.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_HITS_H
#define LANEBLOOM_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/bytes.h"

static inline size_t hits_nbytes(size_t n)
{
  return (n + 7) / 8;
}

/* Sets the bits of n keys and clears the rest of the last byte. */
static inline void hits_set(uint8_t *hits, size_t n)
{
  memset(hits, 0xff, n / 8);
  if (n % 8)
    hits[n / 8] = (uint8_t)((1 << n % 8) - 1);
}

static inline void hits_set_bit(uint8_t *hits, size_t i)
{
  hits[i / 8] = (uint8_t)(hits[i / 8] | 1 << i % 8);
}

static inline void hits_clear_bit(uint8_t *hits, size_t i)
{
  hits[i / 8] = (uint8_t)(hits[i / 8] & ~(1 << i % 8));
}

static inline bool hits_has_bit(const uint8_t *hits, size_t i)
{
  return hits[i / 8] >> i % 8 & 1;
}

/* Adds the hits of `more` with a bitwise or. */
static inline void hits_add(uint8_t *hits, const uint8_t *more, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    hits[i] |= more[i];
}

static inline size_t hits_count(const uint8_t *hits, size_t nbytes)
{
  size_t n = 0;
  for (; nbytes >= 8; hits += 8, nbytes -= 8) {
    uint64_t eight;
    memcpy(&eight, hits, sizeof eight);
    n += (unsigned)__builtin_popcountll(eight);
  }
  uint64_t rest = 0;
  for (size_t i = 0; i < nbytes; i++)
    rest = rest << 8 | hits[i];
  return n + (unsigned)__builtin_popcountll(rest);
}

/* Expands eight hit bits to eight bytes of 0 or 1, the first bit in the least significant byte. */
static inline uint64_t hits_expand_byte(uint8_t hits)
{
  const uint64_t one_bit_each = hits * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
  return (one_bit_each + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 & UINT64_C(0x0101010101010101);
}

/* Writes the hits of n keys as n bytes of 0 or 1. */
static inline void hits_expand(const uint8_t *hits, size_t n, uint8_t *mask)
{
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    store_le64(mask + i, hits_expand_byte(hits[i / 8]));
  for (; i < n; i++)
    mask[i] = hits_has_bit(hits, i);
}

/* Writes the indices of the hits, plus `first`, and returns how many hits there are. */
static inline size_t hits_list(const uint8_t *hits, size_t n, uint32_t first, uint32_t *indices)
{
  size_t count = 0;
  for (size_t byte = 0; byte < hits_nbytes(n); byte++)
    for (unsigned left = hits[byte]; left; left &= left - 1)
      indices[count++] = first + (uint32_t)(byte * 8) + (unsigned)__builtin_ctz(left);
  return count;
}

#endif
