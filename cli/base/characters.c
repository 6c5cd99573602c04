/* Reads characters of UTF-8 text.
 * SPDX-License-Identifier: MIT */
#include "characters.h"

#include <stdbool.h>

size_t read_character(const char *bytes, size_t nbytes, uint32_t *character)
{
  /* the least character of 1 to 4 bytes, and the bits that the first byte has of it */
  static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  static const uint8_t bits[] = {0x7f, 0x1f, 0x0f, 0x07};
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

size_t count_characters(const char *text)
{
  size_t n = 0;
  for (; *text; text++)
    n += ((uint8_t)*text & 0xc0) != 0x80;
  return n;
}

bool is_text(const void *bytes, size_t nbytes)
{
  const char *next = bytes;
  size_t n = 1;
  for (uint32_t character; n > 0 && nbytes > 0; nbytes -= n, next += n)
    n = read_character(next, nbytes, &character);
  return n > 0;
}
