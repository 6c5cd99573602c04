/* Loads and stores little-endian and big-endian numbers at any alignment, on hosts of either byte
 * order.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BYTES_H
#define LANEBLOOM_BYTES_H

#include <stdint.h>
#include <string.h>

/* These exchange a number of this host and one whose bytes are in little-endian or big-endian
 * order, in both directions. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static inline uint32_t little32(uint32_t value)
{
  return __builtin_bswap32(value);
}

static inline uint64_t little64(uint64_t value)
{
  return __builtin_bswap64(value);
}

static inline uint32_t big32(uint32_t value)
{
  return value;
}

static inline uint64_t big64(uint64_t value)
{
  return value;
}
#else
static inline uint32_t little32(uint32_t value)
{
  return value;
}

static inline uint64_t little64(uint64_t value)
{
  return value;
}

static inline uint32_t big32(uint32_t value)
{
  return __builtin_bswap32(value);
}

static inline uint64_t big64(uint64_t value)
{
  return __builtin_bswap64(value);
}
#endif

static inline uint32_t load_le32(const void *from)
{
  uint32_t value;
  memcpy(&value, from, sizeof value);
  return little32(value);
}

static inline uint64_t load_le64(const void *from)
{
  uint64_t value;
  memcpy(&value, from, sizeof value);
  return little64(value);
}

static inline uint32_t load_be32(const void *from)
{
  uint32_t value;
  memcpy(&value, from, sizeof value);
  return big32(value);
}

static inline void store_le32(void *to, uint32_t value)
{
  value = little32(value);
  memcpy(to, &value, sizeof value);
}

static inline void store_be32(void *to, uint32_t value)
{
  value = big32(value);
  memcpy(to, &value, sizeof value);
}

static inline void store_le64(void *to, uint64_t value)
{
  value = little64(value);
  memcpy(to, &value, sizeof value);
}

#endif
