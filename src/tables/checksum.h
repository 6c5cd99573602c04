/* Checksums of blocks and footers, as RocksDB numbers them.
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

/* The checksum of a payload and its compression type: nbytes in all, at least 1. NONE: 0. */
__attribute__((nonnull)) uint32_t lanebloom_checksum(enum checksum checksum, const uint8_t *bytes,
                                                     size_t nbytes);

/* Returns the number that RocksDB's format_version 6 and above add to the checksum of a block, so
 * that a block at a wrong offset is detected. 0 if base is 0. */
uint32_t lanebloom_checksum_context(uint32_t base, uint64_t offset);

#endif
