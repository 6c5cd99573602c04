/* Fuzzes the decoding of keys with any text, in any key form. The following must be true: the key
 * equals the key that the decoders below give. These decoders follow the definitions digit by
 * digit. If the text is malformed, there is an error message.
 *
 *   encoding, plus 128 for upper instead of lower case, 1 byte | flags, 1 for INT96, 2 for a change
 *   of case, and 8 times the scale of decimals, 1 byte | text
 *
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <time.h>

#include "fuzz.h"
#include "input/key_form.h"

enum { MAX_NBYTES = 4096 };

/* ---- The definition: decoders return the number of bytes, or -1 if the text is malformed ---- */

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

/* Joins the bits of all characters. The bits after the last whole byte must be 0. */
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

static void store(uint64_t number, size_t nbytes, uint8_t *key)
{
  for (size_t i = 0; i < nbytes; i++)
    key[i] = (uint8_t)(number >> 8 * i);
}

/* Reads a number of digits, with or without a point and an exponent, and multiplies it by 10^scale.
 * Returns false if the text is malformed, or if the result is not a whole number of at most 38
 * digits. */
static bool read_exactly(const char *text, size_t nbytes, unsigned scale, unsigned __int128 *value)
{
  enum { MOST_NDIGITS = 38, FAR = 1000000 };
  char copy[MAX_NBYTES + 1], digits[MAX_NBYTES];
  memcpy(copy, text, nbytes);
  copy[nbytes] = 0;
  const size_t nmantissa = strcspn(copy, "eE");
  size_t n = 0;
  long long exponent = 0;
  bool any = false, after_point = false;
  if (copy[nmantissa]) {
    char *end = copy + nmantissa + 1;
    if (!isdigit((unsigned char)end[*end == '-' || *end == '+']))
      return false;
    exponent = strtoll(end, &end, 10);
    if (end != copy + nbytes)
      return false;
    exponent = exponent < -FAR ? -FAR : exponent > FAR ? FAR : exponent;
  } else if (nmantissa < nbytes) { /* the text has a NUL */
    return false;
  }
  exponent += scale;
  for (size_t i = 0; i < nmantissa; i++) {
    if (copy[i] == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (copy[i] < '0' || copy[i] > '9')
      return false;
    any = true;
    exponent -= after_point;
    if (n > 0 || copy[i] != '0')
      digits[n++] = copy[i];
  }
  for (; n > 0 && digits[n - 1] == '0'; n--)
    exponent++;
  *value = 0;
  if (n > 0 && (exponent < 0 || (long long)n + exponent > MOST_NDIGITS))
    return false;
  for (size_t i = 0; n > 0 && i < n + (size_t)exponent; i++)
    *value = *value * 10 + (i < n ? (unsigned)(digits[i] - '0') : 0u);
  return any;
}

static long decode_number(lanebloom_encoding encoding, const char *text, size_t nbytes,
                          uint8_t *key)
{
  const bool is_signed = encoding == LANEBLOOM_INT32 || encoding == LANEBLOOM_INT64;
  const bool is_short = encoding == LANEBLOOM_INT32 || encoding == LANEBLOOM_UINT32;
  const bool has_sign = is_signed && nbytes > 0 && (*text == '-' || *text == '+');
  const bool is_negative = has_sign && *text == '-';
  const unsigned nbits = (is_short ? 32u : 64u) - is_signed;
  unsigned __int128 value;
  if (!read_exactly(text + has_sign, nbytes - has_sign, 0, &value) ||
      value >= ((unsigned __int128)1 << nbits) + is_negative)
    return -1;
  store(is_negative ? -(uint64_t)value : (uint64_t)value, 8, key);
  return is_short ? 4 : 8;
}

/* If the text has only the characters of numbers or is an infinity, calls strtod() or strtof(). */
static long decode_float(const char *text, size_t nbytes, bool is_single, uint8_t *key)
{
  char copy[MAX_NBYTES + 1], *end;
  memcpy(copy, text, nbytes);
  copy[nbytes] = 0;
  const char *unsigned_text = copy + (*copy == '-' || *copy == '+');
  const bool is_infinity =
      strcasecmp(unsigned_text, "inf") == 0 || strcasecmp(unsigned_text, "infinity") == 0;
  if (nbytes > 1100 || (!is_infinity && strspn(copy, "0123456789.eE+-") != nbytes))
    return -1;
  const float single = strtof(copy, &end);
  const double value = is_single ? (double)single : strtod(copy, &end);
  if (end != copy + nbytes || (isinf(value) && !is_infinity))
    return -1;
  uint32_t low;
  uint64_t all;
  memcpy(&low, &single, sizeof low);
  memcpy(&all, &value, sizeof all);
  store(is_single ? low : all, 8, key);
  return is_single ? 4 : 8;
}

/* Reads a time field by field. timegm() defines the calendar. */
static long decode_time(const char *text, size_t nbytes, lanebloom_encoding encoding, bool is_int96,
                        uint8_t *key)
{
  static const char date[] = "dddd-dd-dd", time_of_day[] = "dd:dd";
  const bool is_date = encoding == LANEBLOOM_DATE32;
  char copy[MAX_NBYTES + 1];
  memcpy(copy, text, nbytes);
  copy[nbytes] = 0;
  for (size_t i = 0; i < nbytes; i++) /* copies the text with d for each digit */
    copy[i] = (char)(text[i] >= '0' && text[i] <= '9' ? 'd' : text[i] == 'd' ? 'x' : text[i]);
  if (strncmp(copy, date, 10) != 0)
    return -1;
  struct tm when = {.tm_year = atoi((char[]){text[0], text[1], text[2], text[3], 0}) - 1900,
                    .tm_mon = atoi((char[]){text[5], text[6], 0}) - 1,
                    .tm_mday = atoi((char[]){text[8], text[9], 0})};
  const struct tm wanted = when;
  size_t at = 10;
  __int128 fraction = 0, units = 1;
  int64_t ahead = 0;
  for (int i = LANEBLOOM_TIMESTAMP_S; i < (int)encoding; i++)
    units *= 1000;
  if (!is_date && at < nbytes && (text[at] == 'T' || text[at] == ' ')) {
    at++;
    if (strncmp(copy + at, time_of_day, 5) != 0)
      return -1;
    when.tm_hour = atoi((char[]){text[at], text[at + 1], 0});
    when.tm_min = atoi((char[]){text[at + 3], text[at + 4], 0});
    at += 5;
    if (copy[at] == ':') {
      if (strncmp(copy + at, ":dd", 3) != 0)
        return -1;
      when.tm_sec = atoi((char[]){text[at + 1], text[at + 2], 0});
      at += 3;
      if (copy[at] == '.') {
        const size_t ndigits = strspn(copy + ++at, "d");
        __int128 unit = units;
        for (size_t i = 0; i < ndigits; i++) {
          unit /= 10;
          fraction += unit * (text[at + i] - '0');
          if (unit == 0 && text[at + i] != '0')
            return -1;
        }
        if (ndigits == 0)
          return -1;
        at += ndigits;
      }
    }
    if (when.tm_hour > 23 || when.tm_min > 59 || when.tm_sec > 59)
      return -1;
    static const char *const offsets[] = {"",      "Z",     "+dd",    "-dd",
                                          "+dddd", "-dddd", "+dd:dd", "-dd:dd"};
    size_t n = 0;
    while (n < 8 && (strcmp(copy + at, offsets[n]) != 0 || nbytes - at != strlen(offsets[n])))
      n++;
    if (n == 8)
      return -1;
    if (n > 1) {
      const char *minutes = text + at + (n > 5 ? 4 : 3);
      const int hour = atoi((char[]){text[at + 1], text[at + 2], 0}),
                minute = n > 3 ? atoi((char[]){minutes[0], minutes[1], 0}) : 0;
      if (hour > 23 || minute > 59)
        return -1;
      ahead = (hour * 3600 + minute * 60) * (text[at] == '-' ? -1 : 1);
    }
    at = nbytes;
  }
  if (at != nbytes || wanted.tm_year < 1 - 1900)
    return -1;
  const time_t seconds = timegm(&when);
  if (when.tm_year != wanted.tm_year || when.tm_mon != wanted.tm_mon ||
      when.tm_mday != wanted.tm_mday) /* timegm() changed the day, so there is no such day */
    return -1;
  if (is_date) {
    store((uint64_t)(seconds / 86400), 8, key);
    return 4;
  }
  const __int128 value = ((__int128)seconds - ahead) * units + fraction;
  if (is_int96 && encoding == LANEBLOOM_TIMESTAMP_NS) {
    for (int i = 0; i < 16; i++)
      key[i] = (uint8_t)(value >> 8 * i);
    return 16;
  }
  if (value != (int64_t)value)
    return -1;
  store((uint64_t)value, 8, key);
  return 8;
}

static long decode_decimal(const char *text, size_t nbytes, unsigned scale, uint8_t *key)
{
  const bool has_sign = nbytes > 0 && (*text == '-' || *text == '+');
  unsigned __int128 value;
  if (!read_exactly(text + has_sign, nbytes - has_sign, scale, &value))
    return -1;
  if (*text == '-')
    value = -value;
  store((uint64_t)value, 8, key);
  store((uint64_t)(value >> 64), 8, key + 8);
  return 16;
}

/* Removes the hyphens, and reads the hexadecimal digits that are left. */
static long decode_uuid(const char *text, size_t nbytes, uint8_t *key)
{
  char digits[32];
  size_t n = 0;
  for (size_t i = 0; i < nbytes; i++) {
    const bool is_hyphen = nbytes == 36 && (i == 8 || i == 13 || i == 18 || i == 23);
    if (is_hyphen ? text[i] != '-' : n == sizeof digits)
      return -1;
    if (!is_hyphen)
      digits[n++] = text[i];
  }
  return n == sizeof digits ? decode_hex(digits, n, key) : -1;
}

static long decode(lanebloom_key_form form, const struct text_units *units, char *text,
                   size_t nbytes, uint8_t *key)
{
  for (size_t i = 0; i < nbytes && form.flags & LANEBLOOM_KEY_LOWERED; i++)
    if (text[i] >= 'A' && text[i] <= 'Z')
      text[i] = (char)(text[i] + ('a' - 'A'));
  for (size_t i = 0; i < nbytes && form.flags & LANEBLOOM_KEY_UPPERED; i++)
    if (text[i] >= 'a' && text[i] <= 'z')
      text[i] = (char)(text[i] - ('a' - 'A'));
  switch (form.encoding) {
  case LANEBLOOM_BYTES:
    memcpy(key, text, nbytes);
    return (long)nbytes;
  case LANEBLOOM_HEX:
    return decode_hex(text, nbytes, key);
  case LANEBLOOM_BASE64:
    return decode_base64(text, nbytes, key);
  case LANEBLOOM_FLOAT32:
  case LANEBLOOM_FLOAT64:
    return decode_float(text, nbytes, form.encoding == LANEBLOOM_FLOAT32, key);
  case LANEBLOOM_DATE32:
  case LANEBLOOM_TIMESTAMP_S:
  case LANEBLOOM_TIMESTAMP_MS:
  case LANEBLOOM_TIMESTAMP_US:
  case LANEBLOOM_TIMESTAMP_NS:
    return decode_time(text, nbytes, form.encoding, units->is_int96, key);
  case LANEBLOOM_DECIMAL128:
    return decode_decimal(text, nbytes, (unsigned)units->decimal_scale, key);
  case LANEBLOOM_UUID:
    return decode_uuid(text, nbytes, key);
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
  const uint8_t encoding = input_byte(&input), flags = input_byte(&input);
  const uint32_t change = encoding & 0x80 ? LANEBLOOM_KEY_UPPERED : LANEBLOOM_KEY_LOWERED;
  const lanebloom_key_form form = {.encoding =
                                       (lanebloom_encoding)(encoding % (LANEBLOOM_UUID + 1)),
                                   .flags = flags & 2 ? change : 0};
  const struct text_units units = {.decimal_scale = flags / 8, .is_int96 = flags & 1};
  const lanebloom_slice text = input_bytes(&input, MAX_NBYTES - TYPED_NBYTES);
  if (text.size == 0)
    return 0;
  memcpy(copy, text.data, text.size);
  const long nexpected = decode(form, &units, copy, text.size, expected);

  uint8_t *key = fuzz_alloc(max_key_nbytes(&units, text.size));
  const uint8_t *end = convert_text(form, &units, text, key);
  CHECK((end != NULL) == (nexpected >= 0));
  if (end) {
    CHECK(end - key == nexpected && memcmp(key, expected, (size_t)nexpected) == 0);
  } else {
    char problem[256 - sizeof "column 18446744073709551615: "]; /* the room that records.c has */
    CHECK(explain_text(form, &units, text, problem, sizeof problem) < text.size);
    CHECK(strlen(problem) > 0 && strlen(problem) < sizeof problem - 1);
  }
  free(key);
  return 0;
}
