/* Computes the checksums of blocks and footers. The types of checksums have RocksDB's numbers.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_CHECKSUM_H
#define LANEBLOOM_TABLES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum checksum {
  CHECKSUM_NONE,
  CHECKSUM_CRC32C,
  CHECKSUM_XXH32,
  CHECKSUM_XXH64,
  CHECKSUM_XXH3,
  CHECKSUM_END
};

/* Returns the checksum of `bytes`: the payload of a block, then its compression type in the last
 * byte. nbytes: the size of both, at least 1. Returns 0 for CHECKSUM_NONE. */
__attribute__((nonnull)) uint32_t lanebloom_checksum(enum checksum checksum, const uint8_t *bytes,
                                                     size_t nbytes);

/* Returns the number that RocksDB, from format_version 6 on, adds to the checksum of a block. The
 * number depends on the block's offset, so a block at a wrong offset is detected. Returns 0 if base
 * is 0. */
uint32_t lanebloom_checksum_context(uint32_t base, uint64_t offset);

#endif
