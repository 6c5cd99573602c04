/* A cursor is a position in a range of bytes. Its functions parse the bytes from first to last, and
 * never read past the end.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CURSOR_H
#define LANEBLOOM_CURSOR_H

#include <lanebloom.h>
#include <string.h>

struct cursor {
  const uint8_t *at, *end;
};

/* Returns how many bytes are left. */
static inline size_t cursor_left(const struct cursor *cursor)
{
  return (size_t)(cursor->end - cursor->at);
}

/* Parses a varint: seven bits per byte, lowest first; the eighth bit is set in all bytes but the
 * last. Returns false if the varint has no last byte before the end of the bytes, or is longer than
 * 10 bytes. */
static inline bool cursor_varint(struct cursor *cursor, uint64_t *value)
{
  *value = 0;
  for (unsigned shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
    const uint8_t byte = *cursor->at++;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

/* Points *bytes to the next nbytes bytes, which are borrowed, and moves the cursor past them.
 * Returns false if fewer are left. */
static inline bool cursor_bytes(struct cursor *cursor, uint64_t nbytes, const uint8_t **bytes)
{
  if (nbytes > cursor_left(cursor))
    return false;
  *bytes = cursor->at;
  cursor->at += nbytes;
  return true;
}

static inline bool slice_is(lanebloom_slice slice, const char *text)
{
  return slice.size == strlen(text) && memcmp(slice.data, text, slice.size) == 0;
}

#endif
