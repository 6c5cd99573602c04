/* RocksDB's formats, a line per key: what all lanes have in common about walking over lines.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LINES_H
#define LANEBLOOM_LINES_H

#include "kernels.h"

enum {
  LANES_PER_KEY = 8,

  /* Lines of the next block are on their way while those of this one are tested. AVX2 on Zen 4,
   * rocksdb-local, 16 and 256 MiB: 64: 3.1 and 7.4 ns, 128: 2.5 and 7.6, 256: 2.4 and 8.5. */
  NEXT_NKEYS = 128,
  /* Larger payloads are worth a prefetch of each line: at 1 MiB it costs 0.2 ns of 1.2. */
  NEAR_NBYTES = 1024 << 10,
};

static inline uint32_t npasses_of(uint32_t nprobes)
{
  return (nprobes + LANES_PER_KEY - 1) / LANES_PER_KEY;
}

struct block {
  const uint8_t *hashes; /* readable in eights */
  size_t n;
  _Alignas(64) uint64_t offsets[NEXT_NKEYS];
};

static inline void next_block(struct hash_source *source, size_t hash_nbytes, struct block *block,
                              uint8_t *padded)
{
  block->hashes = hash_source_next(source, NEXT_NKEYS, &block->n);
  if (block->n % 8 != 0) {
    memcpy(padded, block->hashes, block->n * hash_nbytes);
    block->hashes = padded;
  }
}

#endif
