/* Finds the last byte of a kind, for systems without memrchr().
 * SPDX-License-Identifier: MIT */
#include "find_last.h"

#include <string.h>

/* memchr() searches one block after the other, from the last one on, because it is much faster than
 * a loop over bytes, and records may be long. */
const char *find_last(const char *bytes, char byte, size_t n)
{
  enum { BLOCK_NBYTES = 256 };
  while (n > 0) {
    const size_t begin = n > BLOCK_NBYTES ? n - BLOCK_NBYTES : 0;
    if (memchr(bytes + begin, byte, n - begin))
      break;
    n = begin;
  }
  while (n > 0)
    if (bytes[--n] == byte)
      return bytes + n;
  return NULL;
}
