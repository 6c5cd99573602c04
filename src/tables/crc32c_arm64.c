/* Computes CRC-32C by the instructions crc32cx and crc32cb.
 * SPDX-License-Identifier: MIT */
#include "../common/bytes.h"
#include "../system/system.h"
#include "crc32c.h"

static bool has_instructions(void)
{
  return (lanebloom_system_cpu_bits(1) & SYSTEM_ARM64_CRC32) != 0;
}

/* Compilers differ in the option that lets a file use these instructions; their assemblers do
 * not. */
static inline uint32_t add_word(uint32_t crc, uint64_t word)
{
  __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
  return crc;
}

static inline uint32_t add_byte(uint32_t crc, uint32_t byte)
{
  __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(byte));
  return crc;
}

static uint32_t add_by_instructions(uint32_t crc, const uint8_t *bytes, size_t nbytes)
{
  for (; nbytes >= sizeof(uint64_t); nbytes -= sizeof(uint64_t), bytes += sizeof(uint64_t))
    crc = add_word(crc, load_le64(bytes));
  for (size_t i = 0; i < nbytes; i++)
    crc = add_byte(crc, bytes[i]);
  return crc;
}

const struct crc32c_method lanebloom_crc32c_instructions = {"crc32", has_instructions,
                                                            add_by_instructions};
