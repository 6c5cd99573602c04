/* Descriptions for callers that were compiled with another version of a public header.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_INFO_H
#define LANEBLOOM_INFO_H

#include <string.h>

/* Fills a caller's struct of to_size bytes. A smaller one, of an older header, gets its part; a
 * larger one, of a newer header, gets zeros in what this library does not know. */
static inline void info_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
  const size_t both = to_size < from_size ? to_size : from_size;
  memcpy(to, from, both);
  memset((char *)to + both, 0, to_size - both);
}

#endif
