/* Defines which fingerprints of the payload a hash adds up in Pebble's binary fuse filters.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_PEBBLE_BINARYFUSE_H
#define LANEBLOOM_LAYOUTS_PEBBLE_BINARYFUSE_H

#include "shape.h"

/* A binary fuse filter (Graf and Lemire 2022; xorfilter 4e5a4d9 binaryfusefilter.go) is an array of
 * fingerprints. Each key has a fingerprint, too, and a slot in each of three neighbouring segments
 * of the array. A key may be present if its fingerprint is the bitwise exclusive or of the
 * fingerprints in its slots. */
enum { PEBBLE_BINARYFUSE_NSLOTS = 3 };

/* The multipliers that mix the sum of a key's hash and the filter's seed (xorfilter 4e5a4d9
 * hashutil.go, murmur64). */
static const uint64_t PEBBLE_BINARYFUSE_MULTIPLIER_1 = 0xff51afd7ed558ccd,
                      PEBBLE_BINARYFUSE_MULTIPLIER_2 = 0xc4ceb9fe1a85ec53;

static inline uint64_t pebble_binaryfuse_mix(const struct filter_shape *shape, uint64_t hash)
{
  uint64_t mixed = hash + shape->fuse.seed;
  mixed = (mixed ^ mixed >> 33) * PEBBLE_BINARYFUSE_MULTIPLIER_1;
  mixed = (mixed ^ mixed >> 33) * PEBBLE_BINARYFUSE_MULTIPLIER_2;
  return mixed ^ mixed >> 33;
}

/* Finds the slots of a mixed hash. The first slot is mixed * nstarts / 2^64, and nstarts is below
 * 2^32, so that two products of 64 bits are enough. Other bits of the hash choose the slots in the
 * two segments after that. */
static inline void pebble_binaryfuse_slots(const struct filter_shape *shape, uint64_t mixed,
                                           uint32_t slots[PEBBLE_BINARYFUSE_NSLOTS])
{
  const uint64_t nstarts = shape->fuse.nstarts;
  const uint32_t nslots = shape->fuse.segment_nslots;
  slots[0] = (uint32_t)(((mixed >> 32) * nstarts + ((mixed & 0xffffffff) * nstarts >> 32)) >> 32);
  slots[1] = (slots[0] + nslots) ^ ((uint32_t)(mixed >> 18) & (nslots - 1));
  slots[2] = (slots[0] + 2 * nslots) ^ ((uint32_t)mixed & (nslots - 1));
}

/* Returns the position of a slot's fingerprint in the payload. The payload is a string of bits,
 * from the lowest bit of the first byte on, and filter_shape.nprobes is the number of bits of a
 * fingerprint. A fingerprint lies in at most two bytes. */
static inline uint64_t pebble_binaryfuse_position(const struct filter_shape *shape, uint32_t slot)
{
  return (uint64_t)slot * shape->nprobes;
}

#endif
