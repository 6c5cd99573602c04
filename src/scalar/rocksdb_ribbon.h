/* Prefetches the blocks of a Ribbon filter, for the scalar kernel and the vector kernels.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_ROCKSDB_RIBBON_H
#define LANEBLOOM_SCALAR_ROCKSDB_RIBBON_H

#include "../layouts/rocksdb_ribbon.h"
#include "each_hash.h"

/* Prefetches the block in which the equation of hash i begins, and the next block if the equation
 * continues there. */
__attribute__((always_inline)) static inline void
ribbon_fetch(const struct filter_shape *shape, const uint8_t *payload, const void *hashes, size_t i)
{
  const struct rocksdb_ribbon_equation equation =
      rocksdb_ribbon_equation(shape, hash64_at(hashes, i));
  const uint32_t nblocks = equation.slot > 0 ? 2 : 1;
  const uint64_t first = rocksdb_ribbon_block(shape, equation.block),
                 nbytes = (uint64_t)nblocks * ROCKSDB_RIBBON_SEGMENT_NBYTES *
                          rocksdb_ribbon_ncolumns(shape, equation.block);
  for (uint64_t at = 0; at < nbytes; at += CACHE_LINE_NBYTES)
    __builtin_prefetch(payload + first + at);
}

#endif
