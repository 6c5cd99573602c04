/* Computes CRC-32C by the instructions crc32cx and crc32cb.
 * SPDX-License-Identifier: MIT */
#include <arm_acle.h>

#include "../common/bytes.h"
#include "../system/system.h"
#include "crc32c.h"

static bool has_instructions(void)
{
  enum { HWCAP_CRC32 = 1 << 7 }; /* of Linux, asm/hwcap.h */
  return (lanebloom_system_cpu_bits(1) & HWCAP_CRC32) != 0;
}

static uint32_t add_by_instructions(uint32_t crc, const uint8_t *bytes, size_t nbytes)
{
  for (; nbytes >= sizeof(uint64_t); nbytes -= sizeof(uint64_t), bytes += sizeof(uint64_t))
    crc = __crc32cd(crc, load_le64(bytes));
  for (size_t i = 0; i < nbytes; i++)
    crc = __crc32cb(crc, bytes[i]);
  return crc;
}

const struct crc32c_method lanebloom_crc32c_instructions = {"crc32", has_instructions,
                                                            add_by_instructions};
