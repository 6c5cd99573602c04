/* Defines which bits of the payload a hash probes in RocksDB's FastLocalBloom filters.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_ROCKSDB_LOCAL_H
#define LANEBLOOM_LAYOUTS_ROCKSDB_LOCAL_H

#include "shape.h"

/* In FastLocalBloom (RocksDB 7.8.3 util/bloom_impl.h), the low half of a hash, scaled to the number
 * of cache lines, selects a line. The high half is the first probe; each following probe is the
 * previous probe times the multiplier. The top 9 bits of a probe are the number of a bit in the
 * line. */
static const uint32_t ROCKSDB_LOCAL_MULTIPLIER = 0x9e3779b9;
enum { ROCKSDB_LOCAL_LINE_NBYTES = 64 };

/* Returns the offset of a hash's line in the payload, in bytes. */
static inline size_t rocksdb_local_line(uint64_t hash, uint32_t nlines)
{
  return (size_t)((hash & 0xffffffff) * nlines >> 32) * ROCKSDB_LOCAL_LINE_NBYTES;
}

/* Returns the number of the bit that a probe tests in the line. */
static inline uint32_t rocksdb_local_bit(uint32_t probe)
{
  return probe >> 23;
}

#endif
