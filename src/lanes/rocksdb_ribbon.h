/* RocksDB's Ribbon filter in lanes: columns of one key's equation across lanes, some in a pass. All
 * columns are looked at, so absent keys take as long as present ones, and no branch has to be
 * predicted.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_ROCKSDB_RIBBON_H
#define LANEBLOOM_LANES_ROCKSDB_RIBBON_H

#include "../scalar/rocksdb_ribbon.h"

/* Of a key's block and the next one, whole passes. */
enum { MAX_PASSES_NBYTES = 2 * ROCKSDB_RIBBON_MAX_NCOLUMNS * ROCKSDB_RIBBON_SEGMENT_NBYTES };

/* A key's equation, and where its two blocks are. Whole passes of both can be read; what is behind
 * the columns does not count. */
struct ribbon_query {
  struct rocksdb_ribbon_equation equation;
  const uint8_t *segments, *next;
  uint32_t ncolumns, npasses;
};

/* Is the equation fulfilled in every column? */
typedef bool ribbon_function(const struct ribbon_query *query);

/* Blocks at the payload's end are copied, so that passes can be read whole. */
static inline __attribute__((always_inline)) bool
ribbon_may_match(const struct filter_shape *shape, const uint8_t *payload, uint64_t hash,
                 uint32_t pass_ncolumns, ribbon_function *is_fulfilled)
{
  struct ribbon_query query = {.equation = rocksdb_ribbon_equation(shape, hash)};
  query.ncolumns = rocksdb_ribbon_ncolumns(shape, query.equation.block);
  query.npasses = (shape->nprobes + pass_ncolumns - 1) / pass_ncolumns;
  const uint64_t first = rocksdb_ribbon_block(shape, query.equation.block);
  const uint64_t left = shape->nbits / 8 - first;
  const size_t nbytes =
      (size_t)(query.ncolumns + query.npasses * pass_ncolumns) * ROCKSDB_RIBBON_SEGMENT_NBYTES;
  uint8_t copy[MAX_PASSES_NBYTES];
  query.segments = payload + first;
  if (__builtin_expect(left < nbytes, 0)) {
    memcpy(copy, payload + first, (size_t)left);
    memset(copy + left, 0, nbytes - (size_t)left);
    query.segments = copy;
  }
  query.next = query.segments + (size_t)query.ncolumns * ROCKSDB_RIBBON_SEGMENT_NBYTES;
  return is_fulfilled(&query);
}

#endif
