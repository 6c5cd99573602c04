/* Windows: keys as numbers, taken from the 8 bytes behind a prefix that the keys share. They are in
 * the order of keys, except that keys may tie.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_WINDOW_H
#define LANEBLOOM_TABLES_WINDOW_H

#include <endian.h>
#include <lanebloom.h>
#include <string.h>

/* A key without the common prefix is below or above all keys with it, or ties with the last one. */
static inline uint64_t window_of(lanebloom_slice common, lanebloom_slice key)
{
  if (common.size > 0) {
    const int order = key.size > 0 ? memcmp(key.data, common.data,
                                            key.size < common.size ? key.size : common.size)
                                   : 0;
    if (order != 0 || key.size < common.size)
      return order > 0 ? UINT64_MAX : 0;
  }
  uint64_t window = 0;
  const size_t left = key.size - common.size;
  if (left >= sizeof window)
    memcpy(&window, (const uint8_t *)key.data + common.size, sizeof window);
  else if (left > 0)
    memcpy(&window, (const uint8_t *)key.data + common.size, left);
  return be64toh(window);
}

/* The common prefix of two keys, borrowed from the first. All keys between the two have it. */
static inline lanebloom_slice window_common(lanebloom_slice a, lanebloom_slice b)
{
  size_t n = 0;
  while (n < a.size && n < b.size && ((const uint8_t *)a.data)[n] == ((const uint8_t *)b.data)[n])
    n++;
  return (lanebloom_slice){a.data, n};
}

#endif
