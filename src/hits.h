/* Hits: a bitmap in which bit i is set if key i may be in the filter. Least significant bit first;
 * bits past the last key are 0.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_HITS_H
#define LANEBLOOM_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline size_t hits_nbytes(size_t n)
{
  return (n + 7) / 8;
}

/* Sets the bits of n keys. */
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

/* Adds the hits of `more`. */
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
  for (size_t i = 0; i < nbytes; i++)
    n += (unsigned)__builtin_popcount(hits[i]);
  return n;
}

#endif
