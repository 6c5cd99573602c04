/* Computes the checksums of blocks and footers.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_tables.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checksum.h"
#include "crc32c.h"

/* Masks a CRC as LevelDB does before it stores one. Without the mask, a CRC of bytes that contain
 * their own CRC would detect fewer errors. */
static uint32_t mask(uint32_t crc)
{
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

uint32_t lanebloom_checksum(enum checksum checksum, const uint8_t *bytes, size_t nbytes)
{
  switch (checksum) {
  case CHECKSUM_CRC32C:
    return mask(lanebloom_crc32c(bytes, nbytes));
  case CHECKSUM_XXH32:
    return XXH32(bytes, nbytes, 0);
  case CHECKSUM_XXH64:
    return (uint32_t)XXH64(bytes, nbytes, 0);
  case CHECKSUM_XXH3:
    return (uint32_t)XXH3_64bits(bytes, nbytes - 1) ^ bytes[nbytes - 1] * 0x6b9083d9U;
  case CHECKSUM_NONE:
  case CHECKSUM_END:
    break;
  }
  return 0;
}

uint32_t lanebloom_checksum_context(uint32_t base, uint64_t offset)
{
  return base == 0 ? 0 : base ^ ((uint32_t)offset + (uint32_t)(offset >> 32));
}

const char *lanebloom_table_checksum_name(uint32_t checksum)
{
  static const char *const names[CHECKSUM_END] = {"none", "crc32c", "xxh32", "xxh64", "xxh3"};
  return checksum < CHECKSUM_END ? names[checksum] : "unknown";
}
