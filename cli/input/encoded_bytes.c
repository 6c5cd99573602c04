/* Decodes bytes that are written as hexadecimal digits, as UUIDs or as base64.
 * SPDX-License-Identifier: MIT */
#include "encoded_bytes.h"

#include <stdbool.h>
#include <string.h>

#include "../../src/common/base64.h"

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
typedef uint32_t fours4 __attribute__((vector_size(16)));
typedef uint8_t bytes8 __attribute__((vector_size(8)));

/* Decodes sixteen digits to eight bytes at `to`. If one of them is no digit, sets bits of *others.
 * Decoding 64 digits takes 6.2 ns in this way, and 19 ns with words of 8 digits (gcc 12, Zen 4). */
static void decode_hex_block(digits16 digits, uint8_t *to, digits16 *others)
{
  const digits16 decimal = digits - '0', letter = (digits | 0x20) - 'a';
  const digits16 is_decimal = (digits16)(decimal <= 9), is_letter = (digits16)(letter <= 5);
  *others |= ~(is_decimal | is_letter);
  pairs8 pairs = (pairs8)((decimal & is_decimal) | ((letter + 10) & is_letter));
  if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
    pairs = pairs * 256 | pairs / 256;
  const bytes8 bytes = __builtin_convertvector(pairs * 16 | pairs / 256, bytes8);
  memcpy(to, &bytes, sizeof bytes);
}

static bool are_zeros(digits16 digits)
{
  uint64_t words[2];
  memcpy(words, &digits, sizeof words);
  return (words[0] | words[1]) == 0;
}

uint8_t *decode_hex(const uint8_t *text, size_t nbytes, uint8_t *to)
{
  digits16 digits, others = {0};
  size_t i = 0;
  if (nbytes % 2)
    return NULL;
  for (; i + sizeof digits <= nbytes; i += sizeof digits) {
    memcpy(&digits, text + i, sizeof digits);
    decode_hex_block(digits, to + i / 2, &others);
  }
  for (; i < nbytes; i += 2) {
    const unsigned high = HEX_DIGITS[text[i]], low = HEX_DIGITS[text[i + 1]];
    if (high == 0 || low == 0)
      return NULL;
    to[i / 2] = (uint8_t)((high - 1) << 4 | (low - 1));
  }
  return are_zeros(others) ? to + nbytes / 2 : NULL;
}

size_t count_hex_digits(lanebloom_slice text)
{
  const uint8_t *bytes = text.data;
  size_t n = 0;
  while (n < text.size && HEX_DIGITS[bytes[n]])
    n++;
  return n;
}

/* ---- UUIDs ---- */

static uint32_t load_digits(const uint8_t *text)
{
  uint32_t digits;
  memcpy(&digits, text, sizeof digits);
  return digits;
}

/* Collects the digits between the hyphens in registers. Decoding a UUID takes 10 ns in this way,
 * and 17 ns by decode_hex() with a copy of the digits (gcc 12, Zen 3). */
uint8_t *decode_uuid(const uint8_t *text, size_t nbytes, uint8_t *to)
{
  if (nbytes == 32)
    return decode_hex(text, nbytes, to);
  if (nbytes != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-')
    return NULL;
  const fours4 first = {load_digits(text), load_digits(text + 4), load_digits(text + 9),
                        load_digits(text + 14)};
  const fours4 last = {load_digits(text + 19), load_digits(text + 24), load_digits(text + 28),
                       load_digits(text + 32)};
  digits16 others = {0};
  decode_hex_block((digits16)first, to, &others);
  decode_hex_block((digits16)last, to + 8, &others);
  return are_zeros(others) ? to + 16 : NULL;
}

/* ---- base64 ---- */

uint8_t *decode_base64(const uint8_t *text, size_t nbytes, uint8_t *to)
{
  return base64_decode(text, nbytes, to);
}

size_t count_base64_characters(lanebloom_slice text)
{
  const uint8_t *bytes = text.data;
  const size_t ndigits = text.size - base64_padding(bytes, text.size);
  size_t n = 0;
  while (n < ndigits && BASE64_DIGITS[bytes[n]])
    n++;
  return n == ndigits ? text.size : n;
}
