/* Probes with registers whose length only the CPU knows. Each lane holds a key. The probes are made
 * one after another. For each probe, the bits of all keys that have passed the earlier probes are
 * gathered at once. The loop ends early if no key is left.
 *
 *   keys       a b c d e f g h
 *   1st probe  1 0 1 1 0 0 1 0   gathered for all
 *   2nd probe  0 . 1 0 . . 1 .   for a c d g
 *   3rd probe  . . 1 . . . 1 .   for c g: these may be there
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_KEY_PER_LANE_H
#define LANEBLOOM_LANES_KEY_PER_LANE_H

#include "../scalar/scalar.h"
#include "vector.h"

/* The number of keys for each word of the bitmap. mask_bits32() returns as many bits. The keys of a
 * word are tested in one register or in several. */
enum { WORD_NKEYS = 32 };

/* A function that tests the keys in the first n lanes. It returns a mask of the lanes whose keys
 * find all their bits set. */
typedef mask32 key_per_lane_function(const struct filter_shape *shape, const uint8_t *payload,
                                     const uint8_t *hashes, size_t n);

/* Returns those keys of the mask whose bit in the payload is set. The bit of a lane is in the byte
 * at the offset `bytes`, and its number in this byte is `bits` modulo 8. */
static inline mask32 probe_bits(mask32 keys, const uint8_t *payload, vector bytes, vector bits)
{
  return has_bit32(keys, gather_bytes32(keys, payload, bytes), bit_and(bits, splat32(7)));
}

static inline __attribute__((always_inline)) void
key_per_lane_probe(const struct filter_shape *shape, const uint8_t *payload,
                   struct hash_source *source, uint8_t *bitmap, const size_t hash_nbytes,
                   key_per_lane_function *probe)
{
  for (size_t n; source->next < source->n;) {
    const uint8_t *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i += WORD_NKEYS) {
      const size_t nkeys = n - i < WORD_NKEYS ? n - i : WORD_NKEYS;
      uint32_t found = 0;
      for (size_t j = 0; j < nkeys; j += LANES32) {
        const size_t left = nkeys - j, nlanes = left < LANES32 ? left : LANES32;
        found |= mask_bits32(probe(shape, payload, hashes + (i + j) * hash_nbytes, nlanes)) << j;
      }
      for (size_t j = 0; j < nkeys; j += 8)
        *bitmap++ = (uint8_t)(found >> j);
    }
  }
}

#endif
