/* How batches are cut: kernels see blocks of keys, and a block's hashes and hit bits stay in the first-level cache.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BATCH_H
#define LANEBLOOM_BATCH_H

#include <stdint.h>

enum {
  BLOCK_NKEYS = 1024, /* a multiple of 8: a block's hit bits start at a byte. Hashes of 8 bytes: 8 KiB */
  BLOCK_HIT_NBYTES = BLOCK_NKEYS / 8,
};

/* The hashes of one block, of either size. */
typedef uint64_t block_hashes[BLOCK_NKEYS];

#endif
