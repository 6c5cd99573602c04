/* Defines which bits of the payload a hash adds up in RocksDB's Ribbon filters.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_ROCKSDB_RIBBON_H
#define LANEBLOOM_LAYOUTS_ROCKSDB_RIBBON_H

#include "shape.h"

/* In a Ribbon filter (RocksDB 7.8.3 util/ribbon_impl.h, util/ribbon_alg.h), each key gives an
 * equation, and the payload is a solution of the equations of all keys that were added. The
 * solution is a matrix of bits with one row per slot. A block holds the rows of 128 slots; it has a
 * segment of 16 bytes for each of its columns. The equation of a key begins at a slot, and its 128
 * coefficients select some of the 128 slots from there on. In each column, the bits of the selected
 * slots are added modulo 2. A key may be present if the sum of each column is the bit that the
 * key's equation expects. */
static const uint64_t ROCKSDB_RIBBON_HASH_MULTIPLIER = 0x6193d459236a3a0d,
                      ROCKSDB_RIBBON_COEFFICIENT_MULTIPLIER = 0xc28f82822b650bed,
                      ROCKSDB_RIBBON_COEFFICIENT_LOW = 0xc367844a6e52731d;
enum {
  ROCKSDB_RIBBON_BLOCK_NSLOTS = 128,
  ROCKSDB_RIBBON_SEGMENT_NBYTES = ROCKSDB_RIBBON_BLOCK_NSLOTS / 8,
  ROCKSDB_RIBBON_MAX_NCOLUMNS = 32,
};

struct rocksdb_ribbon_equation {
  uint32_t block, slot; /* a block, and the slot in it where the equation begins */
  uint32_t expected;    /* bit i is for column i */
  uint64_t coefficients[2];
};

static inline struct rocksdb_ribbon_equation
rocksdb_ribbon_equation(const struct filter_shape *shape, uint64_t hash)
{
  /* nstarts is the number of slots at which an equation can begin. In the last block an equation
   * can begin only at the first slot, because the 128 coefficients from there on end with the
   * block. nstarts is below 2^31, so that two products of 64 bits are enough to compute
   * mixed * nstarts / 2^64. */
  const uint64_t nstarts = (uint64_t)(shape->ribbon.nblocks - 1) * ROCKSDB_RIBBON_BLOCK_NSLOTS + 1;
  const uint64_t mixed = (hash ^ shape->ribbon.seed) * ROCKSDB_RIBBON_HASH_MULTIPLIER;
  const uint64_t start = ((mixed >> 32) * nstarts + ((mixed & 0xffffffff) * nstarts >> 32)) >> 32;
  const uint64_t high = mixed * ROCKSDB_RIBBON_COEFFICIENT_MULTIPLIER;
  return (struct rocksdb_ribbon_equation){
      .block = (uint32_t)(start / ROCKSDB_RIBBON_BLOCK_NSLOTS),
      .slot = (uint32_t)(start % ROCKSDB_RIBBON_BLOCK_NSLOTS),
      .expected = __builtin_bswap32((uint32_t)(high >> 32)),
      .coefficients = {(high ^ ROCKSDB_RIBBON_COEFFICIENT_LOW) | 1, high},
  };
}

static inline uint32_t rocksdb_ribbon_ncolumns(const struct filter_shape *shape, uint32_t block)
{
  return shape->nprobes - (block < shape->ribbon.nnarrow);
}

/* Returns the offset of a block in the payload, in bytes. */
static inline uint64_t rocksdb_ribbon_block(const struct filter_shape *shape, uint32_t block)
{
  const uint32_t nnarrow = block < shape->ribbon.nnarrow ? block : shape->ribbon.nnarrow;
  return ((uint64_t)block * shape->nprobes - nnarrow) * ROCKSDB_RIBBON_SEGMENT_NBYTES;
}

#endif
