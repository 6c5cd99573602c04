/* Any text as a key of any form. The key is what a decoder that follows the definition makes of it,
 * digit by digit, and malformed text is explained.
 *
 *   encoding, 1 byte | flags, 1 byte | text
 *
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>

#include "fuzz.h"
#include "key_form.h"

enum { MAX_NBYTES = 4096 };

/* ---- The definition; each returns the number of bytes, -1 if the text is malformed ---- */

static int digit_of(const char *digits, char c)
{
  const char *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

static long decode_hex(const char *text, size_t nbytes, uint8_t *key)
{
  for (size_t i = 0; i < nbytes; i++) {
    const int digit = digit_of("0123456789abcdef", (char)tolower((unsigned char)text[i]));
    if (digit < 0)
      return -1;
    key[i / 2] = (uint8_t)(i % 2 ? key[i / 2] | digit : digit << 4);
  }
  return nbytes % 2 ? -1 : (long)nbytes / 2;
}

/* The bits of all characters in a row; those that are no whole byte must be 0. */
static long decode_base64(const char *text, size_t nbytes, uint8_t *key)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t nbits = 0, npadding = 0;
  memset(key, 0, nbytes);
  while (npadding < 2 && npadding < nbytes && text[nbytes - 1 - npadding] == '=')
    npadding++;
  for (size_t i = 0; i < nbytes - npadding; i++) {
    const int digit = digit_of(digits, text[i]);
    if (digit < 0)
      return -1;
    for (int bit = 5; bit >= 0; bit--, nbits++)
      key[nbits / 8] |= (uint8_t)((digit >> bit & 1) << (7 - nbits % 8));
  }
  if (nbytes % 4 || (nbits % 8 && key[nbits / 8]))
    return -1;
  return (long)nbits / 8;
}

static bool is_number(const char *text, size_t nbytes, bool is_signed)
{
  size_t first = is_signed && nbytes > 0 && (*text == '-' || *text == '+');
  bool is_whole = nbytes > first;
  for (; first < nbytes; first++)
    is_whole &= text[first] >= '0' && text[first] <= '9';
  return is_whole;
}

static long decode_number(lanebloom_encoding encoding, const char *text, size_t nbytes,
                          uint8_t *key)
{
  const bool is_signed = encoding == LANEBLOOM_INT32 || encoding == LANEBLOOM_INT64;
  const bool is_short = encoding == LANEBLOOM_INT32 || encoding == LANEBLOOM_UINT32;
  char copy[MAX_NBYTES + 1];
  memcpy(copy, text, nbytes);
  copy[nbytes] = 0;
  if (!is_number(text, nbytes, is_signed))
    return -1;
  errno = 0;
  const uint64_t number = is_signed ? (uint64_t)strtoll(copy, NULL, 10) : strtoull(copy, NULL, 10);
  const int64_t with_sign = (int64_t)number;
  if (errno || (is_short && (is_signed ? with_sign != (int32_t)with_sign : number > UINT32_MAX)))
    return -1;
  for (size_t i = 0; i < 8; i++)
    key[i] = (uint8_t)(number >> 8 * i);
  return is_short ? 4 : 8;
}

static long decode(lanebloom_key_form form, char *text, size_t nbytes, uint8_t *key)
{
  for (size_t i = 0; i < nbytes && form.flags & LANEBLOOM_KEY_LOWERED; i++)
    if (text[i] >= 'A' && text[i] <= 'Z')
      text[i] = (char)(text[i] + ('a' - 'A'));
  switch (form.encoding) {
  case LANEBLOOM_BYTES:
    memcpy(key, text, nbytes);
    return (long)nbytes;
  case LANEBLOOM_HEX:
    return decode_hex(text, nbytes, key);
  case LANEBLOOM_BASE64:
    return decode_base64(text, nbytes, key);
  default:
    return decode_number(form.encoding, text, nbytes, key);
  }
}

/* ---- The test ---- */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  static char copy[MAX_NBYTES];
  static uint8_t expected[MAX_NBYTES];
  struct fuzz_input input = {bytes, size};
  const lanebloom_key_form form = {
      .encoding = (lanebloom_encoding)(input_byte(&input) % (LANEBLOOM_UINT64 + 1)),
      .flags = input_byte(&input) & LANEBLOOM_KEY_LOWERED};
  const lanebloom_slice text = input_bytes(&input, MAX_NBYTES - sizeof(uint64_t));
  if (text.size == 0)
    return 0;
  memcpy(copy, text.data, text.size);
  const long nexpected = decode(form, copy, text.size, expected);

  uint8_t *key = fuzz_alloc(max_key_nbytes(text.size));
  const uint8_t *end = convert_text(form, text, key);
  CHECK((end != NULL) == (nexpected >= 0));
  if (end) {
    CHECK(end - key == nexpected && memcmp(key, expected, (size_t)nexpected) == 0);
  } else {
    char problem[200];
    CHECK(explain_text(form, text, problem, sizeof problem) < text.size);
    CHECK(strlen(problem) > 0 && strlen(problem) < sizeof problem - 1);
  }
  free(key);
  return 0;
}
