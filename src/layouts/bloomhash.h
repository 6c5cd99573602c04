/* Defines the constants of BloomHash, and the double hashing by which LevelDB's layout and
 * RocksDB's legacy layout compute all probes of a key from its BloomHash.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_BLOOMHASH_H
#define LANEBLOOM_LAYOUTS_BLOOMHASH_H

#include <stdint.h>

/* BloomHash mixes as MurmurHash1 does, with LevelDB's seed (LevelDB 1.23 util/hash.cc,
 * util/bloom.cc). */
static const uint32_t BLOOMHASH_SEED = 0xbc9f1d34;
static const uint32_t BLOOMHASH_MULTIPLIER = 0xc6a4a793;

/* Returns the stride of double hashing. Probe p of hash h is h + p * bloomhash_stride(h), modulo
 * 2^32 (LevelDB 1.23 util/bloom.cc). */
static inline uint32_t bloomhash_stride(uint32_t hash)
{
  return hash >> 17 | hash << 15;
}

#endif
