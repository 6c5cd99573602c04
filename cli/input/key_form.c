/* Makes keys from text: trims it, changes its case, decodes it or computes its digest.
 * SPDX-License-Identifier: MIT */
#include "key_form.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/decimals.h"
#include "encoded_bytes.h"

/* ---- Trimming and case ---- */

static bool is_blank(uint8_t c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

lanebloom_slice trim_text(lanebloom_slice text)
{
  const uint8_t *begin = text.data, *end = begin + text.size;
  while (begin < end && is_blank(*begin))
    begin++;
  while (begin < end && is_blank(end[-1]))
    end--;
  return (lanebloom_slice){begin, (size_t)(end - begin)};
}

/* Copies the text of joined fields and trims each field. `to` may be the beginning of the text. */
static size_t trim_joined(lanebloom_slice text, uint8_t *to)
{
  const uint8_t *field = text.data, *end = field + text.size;
  uint8_t *at = to;
  for (;;) {
    const uint8_t *tab = field < end ? memchr(field, '\t', (size_t)(end - field)) : NULL;
    const lanebloom_slice trimmed =
        trim_text((lanebloom_slice){field, (size_t)((tab ? tab : end) - field)});
    memmove(at, trimmed.data, trimmed.size);
    at += trimmed.size;
    if (!tab)
      return (size_t)(at - to);
    *at++ = '\t';
    field = tab + 1;
  }
}

/* Copies the text and changes the case of the 26 letters from `first` on. `to` may be the beginning
 * of the text. */
static void change_case(lanebloom_slice text, uint8_t first, uint8_t *to)
{
  const uint8_t *from = text.data;
  for (size_t i = 0; i < text.size; i++)
    to[i] = from[i] ^ (uint8_t)((uint8_t)(from[i] - first) < 26 ? 0x20 : 0);
}

/* ---- Whole numbers ---- */

struct integer {
  const char *range; /* the smallest and the largest number, for messages */
  uint64_t max, max_negative;
  bool is_signed;
  size_t nbytes;
};

static const struct integer *find_integer(lanebloom_encoding encoding)
{
  static const struct integer integers[] = {
      [LANEBLOOM_INT32] = {"-2147483648 to 2147483647", INT32_MAX, (uint64_t)INT32_MAX + 1, true,
                           4},
      [LANEBLOOM_INT64] = {"-9223372036854775808 to 9223372036854775807", INT64_MAX,
                           (uint64_t)INT64_MAX + 1, true, 8},
      [LANEBLOOM_UINT32] = {"0 to 4294967295", UINT32_MAX, 0, false, 4},
      [LANEBLOOM_UINT64] = {"0 to 18446744073709551615", UINT64_MAX, 0, false, 8},
  };
  return &integers[encoding];
}

/* Reads a number that consists of digits only. Returns false if there is no digit, if another byte
 * follows, or if the number is too large. */
static bool read_digits(const char *at, const char *end, uint64_t *number)
{
  *number = 0;
  if (at == end)
    return false;
  for (; at < end; at++) {
    const uint8_t digit = (uint8_t)(*at - '0');
    if (digit > 9 || __builtin_mul_overflow(*number, 10, number) ||
        __builtin_add_overflow(*number, digit, number))
      return false;
  }
  return true;
}

/* Reads a whole number that is written like 5.0 or 1e3. Programs print whole numbers in this way if
 * they store them as floating-point numbers. */
static bool read_decimal(const char *at, const char *end, uint64_t *number)
{
  struct decimal decimal;
  unsigned __int128 value;
  if (decimal_read(at, end, &decimal) != end || !decimal_compute(decimal, &value))
    return false;
  *number = (uint64_t)value;
  return value <= UINT64_MAX;
}

static uint8_t *decode_integer(const struct integer *integer, lanebloom_slice text, uint8_t *to)
{
  const char *at = text.data, *end = at + text.size;
  const bool has_sign = integer->is_signed && at < end && (*at == '-' || *at == '+');
  const bool is_negative = has_sign && *at == '-';
  uint64_t number;
  at += has_sign;
  if (!read_digits(at, end, &number) && !read_decimal(at, end, &number))
    return NULL;
  if (number > (is_negative ? integer->max_negative : integer->max))
    return NULL;
  if (is_negative)
    number = -number;
  for (size_t i = 0; i < integer->nbytes; i++)
    to[i] = (uint8_t)(number >> 8 * i);
  return to + integer->nbytes;
}

/* Reads a whole number. If the units allow a time of day, the text may be a time of day instead. */
static uint8_t *decode_number(lanebloom_encoding encoding, const struct text_units *units,
                              lanebloom_slice text, uint8_t *to)
{
  const struct integer *integer = find_integer(encoding);
  uint8_t *end = decode_integer(integer, text, to);
  return end || !units->per_second
             ? end
             : decode_time_of_day(text, units->per_second, integer->nbytes, to);
}

/* ---- All encodings ---- */

bool form_has_text(lanebloom_key_form form)
{
  return form.encoding == LANEBLOOM_BYTES ||
         (form.encoding <= LANEBLOOM_UUID && !(form.flags & LANEBLOOM_KEY_JOINED));
}

uint8_t *convert_text(lanebloom_key_form form, const struct text_units *units, lanebloom_slice text,
                      uint8_t *to)
{
  if (units->partition_key)
    return encode_partition_key(units->partition_key, text, to);
  if (form.flags & (LANEBLOOM_KEY_LOWERED | LANEBLOOM_KEY_UPPERED)) {
    change_case(text, form.flags & LANEBLOOM_KEY_LOWERED ? 'A' : 'a', to);
    text.data = to;
  }
  if (form.flags & LANEBLOOM_KEY_JOINED && form.flags & LANEBLOOM_KEY_TRIMMED)
    text = (lanebloom_slice){to, trim_joined(text, to)};
  if (form.flags & LANEBLOOM_KEY_DIGEST)
    return digest_text(form.flags, text, to);
  switch (form.encoding) {
  case LANEBLOOM_HEX:
    return decode_hex(text.data, text.size, to);
  case LANEBLOOM_BASE64:
    return decode_base64(text.data, text.size, to);
  case LANEBLOOM_INT32:
  case LANEBLOOM_INT64:
  case LANEBLOOM_UINT32:
  case LANEBLOOM_UINT64:
    return decode_number(form.encoding, units, text, to);
  case LANEBLOOM_BYTES:
    if (text.data != to && text.size > 0)
      memcpy(to, text.data, text.size);
    return to + text.size;
  default:
    return decode_typed(form.encoding, units, text, to);
  }
}

/* ---- Explanations ---- */

/* Returns the first 24 bytes of the text, or fewer, in quotes. Spaces and bytes that are not
 * printable ASCII are escaped as in C. */
static const char *quote(lanebloom_slice text, char quoted[128])
{
  enum { MOST_NBYTES = 24 };
  const uint8_t *bytes = text.data;
  char *end = quoted;
  *end++ = '\'';
  for (size_t i = 0; i < text.size && i < MOST_NBYTES; i++)
    end += sprintf(end, bytes[i] > ' ' && bytes[i] < 0x7f ? "%c" : "\\%03o", bytes[i]);
  strcpy(end, text.size > MOST_NBYTES ? "...'" : "'");
  return quoted;
}

/* Examines and quotes the text before its case is changed. */
size_t explain_text(lanebloom_key_form form, const struct text_units *units, lanebloom_slice text,
                    char *problem, size_t problem_size)
{
  char quoted[128];
  const bool is_hex = form.encoding == LANEBLOOM_HEX;
  if (units->partition_key)
    return explain_partition_key(units->partition_key, text, problem, problem_size);
  if (form.flags & LANEBLOOM_KEY_DIGEST) {
    const size_t at = count_utf8(text);
    snprintf(problem, problem_size, "expected UTF-8, found %s",
             quote((lanebloom_slice){(const uint8_t *)text.data + at, 1}, quoted));
    return at;
  }
  if (is_typed(form.encoding)) {
    snprintf(problem, problem_size, "expected %s, found %s", describe_typed(form.encoding, units),
             quote(text, quoted));
    return 0;
  }
  if (!is_hex && form.encoding != LANEBLOOM_BASE64) {
    snprintf(problem, problem_size, "expected %sa whole number from %s, found %s",
             units->per_second ? "a time of day, as 12:34:56.789, or " : "",
             find_integer(form.encoding)->range, quote(text, quoted));
    return 0;
  }
  const size_t at = is_hex ? count_hex_digits(text) : count_base64_characters(text);
  if (at < text.size) {
    snprintf(problem, problem_size, "expected a %s, found %s",
             is_hex ? "hexadecimal digit" : "base64 character",
             quote((lanebloom_slice){(const uint8_t *)text.data + at, 1}, quoted));
    return at;
  }
  if (is_hex)
    snprintf(problem, problem_size, "expected an even number of hexadecimal digits, found %zu",
             text.size);
  else if (text.size % 4)
    snprintf(problem, problem_size,
             "expected a multiple of 4 base64 characters, padding (=) included, found %zu",
             text.size);
  else
    snprintf(problem, problem_size, "expected base64 whose unused last bits are 0, found %s",
             quote(text, quoted));
  return 0;
}
