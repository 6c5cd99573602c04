/* Defines which bits of the payload a hash probes in Parquet's split-block filters.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_PARQUET_H
#define LANEBLOOM_LAYOUTS_PARQUET_H

#include "shape.h"

/* In Parquet's split-block filter (Apache Parquet Format 2.10, BloomFilter.md), the high half of a
 * hash, scaled to the number of blocks, selects a block. A block has eight words of 32 bits in
 * little-endian order. In each word one bit is probed. Multiply the low half of the hash by the
 * word's salt: the top 5 bits of the product are the number of this bit. */
enum {
  PARQUET_BLOCK_NWORDS = 8,
  PARQUET_BLOCK_NBYTES = PARQUET_BLOCK_NWORDS * sizeof(uint32_t),
};
static const uint32_t PARQUET_SALTS[PARQUET_BLOCK_NWORDS] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

/* Returns the offset of a hash's block in the payload, in bytes. */
static inline size_t parquet_block(uint64_t hash, uint32_t nblocks)
{
  return (size_t)((hash >> 32) * nblocks >> 32) * PARQUET_BLOCK_NBYTES;
}

/* Returns the number of the probed bit in a word. `low` is the low half of a hash. */
static inline uint32_t parquet_bit(uint32_t low, uint32_t word)
{
  return low * PARQUET_SALTS[word] >> 27;
}

#endif
