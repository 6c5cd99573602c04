/* Reads characters of UTF-8 text.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CHARACTERS_H
#define LANEBLOOM_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the character with which the bytes begin. Returns how many bytes it has, or 0 if they begin
 * with no character of Unicode. */
static inline size_t read_character(const char *bytes, size_t nbytes, uint32_t *character)
{
  /* the least character of 1 to 4 bytes, and the bits that the first byte has of it */
  static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  static const uint8_t bits[] = {0x7f, 0x1f, 0x0f, 0x07};
  *character = 0;
  if (nbytes == 0)
    return 0;
  const uint8_t first = (uint8_t)*bytes;
  const size_t n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || n > nbytes)
    return 0;
  *character = first & bits[n - 1];
  for (size_t i = 1; i < n; i++) {
    if (((uint8_t)bytes[i] & 0xc0) != 0x80)
      return 0;
    *character = *character << 6 | ((uint8_t)bytes[i] & 0x3f);
  }
  const bool is_surrogate = *character >> 11 == 0x1b;
  return *character < least[n - 1] || is_surrogate || *character > 0x10ffff ? 0 : n;
}

#endif
