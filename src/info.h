/* Fills a struct for a caller that may have been compiled with another version of a public header.
 * In that version, the struct may have fewer or more members at its end.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_INFO_H
#define LANEBLOOM_INFO_H

#include <string.h>

/* Copies a struct to the caller's struct. If the caller's struct is smaller, it gets the first
 * to_size bytes; if it is larger, its remaining bytes become 0. */
static inline void info_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
  const size_t both = to_size < from_size ? to_size : from_size;
  memcpy(to, from, both);
  memset((char *)to + both, 0, to_size - both);
}

#endif
