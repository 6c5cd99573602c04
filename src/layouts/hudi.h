/* Defines the hashes and the bits of Hudi's filters. A key has no hash apart from a filter: the
 * first hash has the seed 0, and each hash is the seed of the next one. Each hash selects one bit.
 * Sources: Hudi 1.0.2 HashFunction.java and MurmurHash.java.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_HUDI_H
#define LANEBLOOM_LAYOUTS_HUDI_H

#include "../common/bytes.h"
#include "shape.h"

/* The constants of Murmur2. The inverse undoes a product with the multiplier. */
static const uint32_t HUDI_MULTIPLIER = 0x5bd1e995, HUDI_INVERSE = 0xe59b19bd;
enum { HUDI_WORD_SHIFT = 24, HUDI_FIRST_LAST_SHIFT = 13, HUDI_LAST_SHIFT = 15 };

/* Hudi's readers accept any number of probes. This limit makes sure that a damaged number does not
 * cost minutes of probing. */
enum { HUDI_MAX_NPROBES = 255 };

/* Joins the last 1 to 3 bytes of a key. Unlike the original Murmur2, Hudi's takes the last of these
 * bytes as the lowest one, and its bytes are signed, as all bytes are in Java. */
static inline uint32_t hudi_tail(const uint8_t *bytes, size_t n)
{
  uint32_t tail = 0;
  for (size_t i = 0; i < n; i++) {
    const uint8_t byte = bytes[n - 1 - i];
    tail ^= (byte >= 0x80 ? byte | 0xffffff00 : byte) << 8 * i;
  }
  return tail;
}

/* Returns the absolute value of a signed hash, which is at most 2^31. The bit of the hash is this
 * value modulo the number of bits. */
static inline uint32_t hudi_magnitude(uint32_t hash)
{
  return hash >> 31 ? -hash : hash;
}

#endif
