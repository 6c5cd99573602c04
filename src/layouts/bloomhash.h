/* BloomHash, and the double hashing of the layouts that use it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_BLOOMHASH_H
#define LANEBLOOM_LAYOUTS_BLOOMHASH_H

#include <stdint.h>

/* BloomHash is MurmurHash1's mixing with LevelDB's seed (LevelDB 1.23 util/hash.cc,
 * util/bloom.cc). */
static const uint32_t BLOOMHASH_SEED = 0xbc9f1d34;
static const uint32_t BLOOMHASH_MULTIPLIER = 0xc6a4a793;

/* Double hashing: probe p of hash h is at h + p * bloomhash_stride(h), modulo 2^32 (LevelDB 1.23
 * util/bloom.cc). */
static inline uint32_t bloomhash_stride(uint32_t hash)
{
  return hash >> 17 | hash << 15;
}

#endif
