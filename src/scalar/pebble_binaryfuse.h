/* Queries a binary fuse filter for one hash. This is the specification. It is in a header so that
 * vector kernels can use it for the last hashes of a block.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_PEBBLE_BINARYFUSE_H
#define LANEBLOOM_SCALAR_PEBBLE_BINARYFUSE_H

#include "../layouts/pebble_binaryfuse.h"
#include "each_hash.h"

/* Returns the fingerprint at a position in the payload, and bits after it. Behind the payload is
 * the trailer, so that a second byte can always be read. */
static inline uint32_t fingerprint_at(const uint8_t *payload, uint64_t position)
{
  const uint8_t *at = payload + position / 8;
  return (uint32_t)(at[0] | at[1] << 8) >> position % 8;
}

static inline bool pebble_binaryfuse_may_match(const struct filter_shape *shape,
                                               const uint8_t *payload, const void *hashes, size_t i)
{
  const uint64_t mixed = pebble_binaryfuse_mix(shape, hash64_at(hashes, i));
  uint32_t slots[PEBBLE_BINARYFUSE_NSLOTS], differing = (uint32_t)(mixed ^ mixed >> 32);
  pebble_binaryfuse_slots(shape, mixed, slots);
  for (size_t s = 0; s < PEBBLE_BINARYFUSE_NSLOTS; s++)
    differing ^= fingerprint_at(payload, pebble_binaryfuse_position(shape, slots[s]));
  return (differing & (((uint32_t)1 << shape->nprobes) - 1)) == 0;
}

/* Prefetches the fingerprints of hash i. */
__attribute__((always_inline)) static inline void
pebble_binaryfuse_fetch(const struct filter_shape *shape, const uint8_t *payload,
                        const void *hashes, size_t i)
{
  uint32_t slots[PEBBLE_BINARYFUSE_NSLOTS];
  pebble_binaryfuse_slots(shape, pebble_binaryfuse_mix(shape, hash64_at(hashes, i)), slots);
  for (size_t s = 0; s < PEBBLE_BINARYFUSE_NSLOTS; s++)
    __builtin_prefetch(payload + pebble_binaryfuse_position(shape, slots[s]) / 8);
}

#endif
