/* Loads and stores little-endian and big-endian numbers at any alignment, on hosts of either byte
 * order.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BYTES_H
#define LANEBLOOM_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t load_le32(const void *from)
{
  uint32_t value;
  memcpy(&value, from, sizeof value);
  return le32toh(value);
}

static inline uint64_t load_le64(const void *from)
{
  uint64_t value;
  memcpy(&value, from, sizeof value);
  return le64toh(value);
}

static inline uint32_t load_be32(const void *from)
{
  uint32_t value;
  memcpy(&value, from, sizeof value);
  return be32toh(value);
}

static inline void store_le32(void *to, uint32_t value)
{
  value = htole32(value);
  memcpy(to, &value, sizeof value);
}

static inline void store_be32(void *to, uint32_t value)
{
  value = htobe32(value);
  memcpy(to, &value, sizeof value);
}

static inline void store_le64(void *to, uint64_t value)
{
  value = htole64(value);
  memcpy(to, &value, sizeof value);
}

#endif
