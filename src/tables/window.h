/* Windows make comparing keys fast. The window of a key is the 8 bytes after a prefix that many
 * keys have in common, as a big-endian number. If the window of key A is below the window of key B,
 * then A is below B. Different keys may have equal windows.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_WINDOW_H
#define LANEBLOOM_TABLES_WINDOW_H

#include <lanebloom.h>
#include <string.h>

#include "../common/bytes.h"

/* Returns the window of a key. Missing bytes count as 0. For a key that does not begin with the
 * common prefix, returns 0 if the key is below all keys that do, and UINT64_MAX if it is above
 * them. */
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
  return big64(window);
}

/* Returns the common prefix of two keys, borrowed from `a`. All keys between `a` and `b` have the
 * same prefix. */
static inline lanebloom_slice window_common(lanebloom_slice a, lanebloom_slice b)
{
  size_t n = 0;
  while (n < a.size && n < b.size && ((const uint8_t *)a.data)[n] == ((const uint8_t *)b.data)[n])
    n++;
  return (lanebloom_slice){a.data, n};
}

#endif
