/* Counts and checks characters of UTF-8 text.
 * SPDX-License-Identifier: MIT */
#include "characters.h"

#include <stdint.h>

#include "../../src/common/characters.h"

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
