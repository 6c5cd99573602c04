/* Defines sorted hashes: a batch of hashes in the order of the lines that they select, for layouts
 * in which all probes of a hash are in one line, and one half of the hash, called the selector, is
 * scaled to the number of lines. The order is the same for every number of lines. So the hashes of
 * a line are next to each other in every filter, and what depends on the other half of a hash, the
 * positions of its probes in a line, is computed once for all filters.
 *
 * Positions are stored in groups of 32 hashes. A group has rows of 32 bytes, one byte per hash. The
 * byte that a probe tests has a number in its line, or in its word of a Parquet block, and the bit
 * has a number in this byte. A row of bits has the numbers of the bits of two probes: bits 0 to 2
 * are for the first probe, bits 4 to 6 for the second; bits 3 and 7 are 0. The rows are:
 *
 *   parquet         for each four words of a block, a row with the numbers of four bytes, two bits
 *                   each, and two rows of bits
 *   rocksdb-local   for each two of the first six probes, a row with the number of the byte for
 *                   each of both, and a row of bits
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_SORTED_H
#define LANEBLOOM_LAYOUTS_SORTED_H

#include "parquet.h"
#include "rocksdb_local.h"

enum {
  SORTED_GROUP_NKEYS = 32,
  PARQUET_SORTED_NROWS = PARQUET_BLOCK_NWORDS / 4 * 3,
  /* The probes whose positions are stored. Few hashes that are absent pass all six, so further
   * probes are computed from the hash. */
  ROCKSDB_LOCAL_SORTED_NPROBES = 6,
  ROCKSDB_LOCAL_SORTED_NROWS = ROCKSDB_LOCAL_SORTED_NPROBES / 2 * 3,
};

struct sorted_hashes {
  size_t n; /* at most UINT32_MAX */

  /* The selectors, ascending. Their top bits are flipped, because vectors compare signed numbers.
   * After the last one, there are SORTED_GROUP_NKEYS numbers INT32_MAX. */
  const int32_t *selectors;

  /* starts[s >> starts_shift] is at most the number of selectors below s, and close to it. */
  const uint32_t *starts;
  unsigned starts_shift; /* at most 32 */

  const uint32_t *order; /* order[i]: the caller's index of hash i */
  uint8_t *positions;    /* whole groups */
  const uint8_t *hashes; /* the caller's hashes, in the caller's order, 8 bytes each */
};

/* The following functions compute the positions of a hash, and write its byte of each row. `rows`
 * points to its byte of the first row. */
static inline void sorted_store(const uint8_t *positions, size_t nrows, uint8_t *rows)
{
  for (size_t row = 0; row < nrows; row++)
    rows[row * SORTED_GROUP_NKEYS] = positions[row];
}

static inline void parquet_sorted_store(uint64_t hash, uint8_t *rows)
{
  uint8_t positions[PARQUET_SORTED_NROWS] = {0};
#pragma GCC unroll 8
  for (uint32_t word = 0; word < PARQUET_BLOCK_NWORDS; word++) {
    const uint32_t bit = parquet_bit((uint32_t)hash, word);
    uint8_t *four = positions + word / 4 * 3;
    four[0] |= (uint8_t)(bit / 8 << word % 4 * 2);
    four[1 + word % 4 / 2] |= (uint8_t)(bit % 8 << word % 2 * 4);
  }
  sorted_store(positions, PARQUET_SORTED_NROWS, rows);
}

static inline void rocksdb_local_sorted_store(uint64_t hash, uint8_t *rows)
{
  uint8_t positions[ROCKSDB_LOCAL_SORTED_NROWS] = {0};
  uint32_t probe = (uint32_t)(hash >> 32);
#pragma GCC unroll 6
  for (uint32_t i = 0; i < ROCKSDB_LOCAL_SORTED_NPROBES; i++) {
    const uint32_t bit = rocksdb_local_bit(probe);
    uint8_t *pair = positions + i / 2 * 3;
    pair[i % 2] = (uint8_t)(bit / 8);
    pair[2] |= (uint8_t)(bit % 8 << i % 2 * 4);
    probe *= ROCKSDB_LOCAL_MULTIPLIER;
  }
  sorted_store(positions, ROCKSDB_LOCAL_SORTED_NROWS, rows);
}

#endif
