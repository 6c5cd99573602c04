/* Computes CRC-32C: by an instruction of the CPU if it has one, otherwise by a table.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_CRC32C_H
#define LANEBLOOM_TABLES_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the CRC of these bytes. */
uint32_t lanebloom_crc32c(const uint8_t *bytes, size_t nbytes);

/* A method to compute the CRC. `add` appends bytes to those that `crc` was computed of. It inverts
 * `crc` neither before nor after; lanebloom_crc32c() does. */
struct crc32c_method {
  const char *name;
  bool (*is_usable)(void); /* Can it run on this CPU? */
  uint32_t (*add)(uint32_t crc, const uint8_t *bytes, size_t nbytes);
};

/* The method for every CPU. It is the specification: tests compare the other method with it. */
extern const struct crc32c_method lanebloom_crc32c_table;

/* The method by the CPU's instructions, in the file of this CPU type. */
extern const struct crc32c_method lanebloom_crc32c_instructions;

/* Returns the method that lanebloom_crc32c() uses. */
const struct crc32c_method *lanebloom_crc32c_method(void);

#endif
