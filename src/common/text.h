/* Copies texts: not every system has strndup().
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TEXT_H
#define LANEBLOOM_TEXT_H

#include <stdlib.h>
#include <string.h>

/* Returns a copy of the first n bytes of a text, with a NUL after them, which the caller frees.
 * Returns NULL if memory ran out. */
static inline char *text_copy(const char *text, size_t n)
{
  char *copy = malloc(n + 1);
  if (!copy)
    return NULL;
  copy[n] = 0;
  return n > 0 ? memcpy(copy, text, n) : copy;
}

#endif
