/* Decodes text to the bytes of floating-point numbers, dates, times, decimals and UUIDs.
 * SPDX-License-Identifier: MIT */
#include "typed_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/decimals.h"
#include "../base/report.h"
#include "encoded_bytes.h"

/* ---- Reading ---- */

/* The rest of a text, which was not read yet. The functions whose names begin with take read an
 * element of the text, such as a number. They return false if the rest does not begin with this
 * element. */
struct reader {
  const char *at, *end;
};

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static bool take(struct reader *reader, char wanted)
{
  if (reader->at == reader->end || *reader->at != wanted)
    return false;
  reader->at++;
  return true;
}

/* Reads a number of exactly ndigits digits. Returns false if the number is not from `least' to
 * `most'. */
static bool take_number(struct reader *reader, int ndigits, int least, int most, int *number)
{
  *number = 0;
  for (int i = 0; i < ndigits; i++) {
    if (reader->at == reader->end || !is_digit(*reader->at))
      return false;
    *number = 10 * *number + (*reader->at++ - '0');
  }
  return *number >= least && *number <= most;
}

static uint8_t *store(uint64_t value, size_t nbytes, uint8_t *to)
{
  for (size_t i = 0; i < nbytes; i++)
    to[i] = (uint8_t)(value >> 8 * i);
  return to + nbytes;
}

static uint8_t *store_wide(unsigned __int128 value, uint8_t *to)
{
  return store((uint64_t)(value >> 64), 8, store((uint64_t)value, 8, to));
}

/* ---- Floating-point numbers ---- */

/* Is the text a decimal number or an infinity? Hexadecimal numbers are refused, because columns of
 * numbers are not written in this way. NaN is refused, because it equals no key. */
static bool is_number(const char *text)
{
  text += *text == '-' || *text == '+';
  if (strcasecmp(text, "inf") == 0 || strcasecmp(text, "infinity") == 0)
    return true;
  return (is_digit(*text) || *text == '.') && !strpbrk(text, "xX");
}

/* Stores the floating-point number that is nearest to the text. A finite number that would be
 * rounded to infinity is refused. The command never sets the numeric locale, so the decimal point
 * is always a point. */
static uint8_t *decode_float(lanebloom_encoding encoding, lanebloom_slice text, uint8_t *to)
{
  enum { MOST_NBYTES = 1100 }; /* enough for all digits of the smallest number */
  char copy[MOST_NBYTES + 1], *end;
  if (text.size == 0 || text.size > MOST_NBYTES)
    return NULL;
  memcpy(copy, text.data, text.size);
  copy[text.size] = '\0';
  if (!is_number(copy))
    return NULL;
  union {
    float value;
    uint32_t bits;
  } single = {.bits = 0};
  union {
    double value;
    uint64_t bits;
  } wide = {.bits = 0};
  const bool is_single = encoding == LANEBLOOM_FLOAT32;
  errno = 0;
  if (is_single)
    single.value = strtof(copy, &end);
  else
    wide.value = strtod(copy, &end);
  const bool is_infinite = is_single ? isinf(single.value) : isinf(wide.value);
  if (end != copy + text.size || (errno == ERANGE && is_infinite))
    return NULL;
  return is_single ? store(single.bits, 4, to) : store(wide.bits, 8, to);
}

/* ---- Dates and times ---- */

static bool is_leap(int year)
{
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Reads a date and computes the days since 1970-01-01. The Gregorian calendar is used for all
 * years, even before it was introduced. */
static bool take_date(struct reader *reader, int64_t *days)
{
  static const int begins[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  enum { BEFORE_1970 = 719162 }; /* the days of the years 1 to 1969 */
  int year, month, day;
  if (!take_number(reader, 4, 1, 9999, &year) || !take(reader, '-') ||
      !take_number(reader, 2, 1, 12, &month) || !take(reader, '-') ||
      !take_number(reader, 2, 1, 31, &day))
    return false;
  const int leap_day = is_leap(year), before = year - 1;
  if (day > begins[month] - begins[month - 1] + (month == 2 && leap_day))
    return false;
  *days = (int64_t)before * 365 + before / 4 - before / 100 + before / 400 + begins[month - 1] +
          (month > 2 && leap_day) + day - 1 - BEFORE_1970;
  return true;
}

static uint8_t *decode_date(lanebloom_slice text, uint8_t *to)
{
  struct reader reader = {text.data, (const char *)text.data + text.size};
  int64_t days;
  if (!take_date(&reader, &days) || reader.at != reader.end)
    return NULL;
  return store((uint64_t)days, 4, to);
}

/* If a point follows, reads the digits after it, and sets *fraction to their value. The value is in
 * units; `units' is the number of units in a second, a power of ten. Digits that mean less than a
 * unit must be 0. */
static bool take_fraction(struct reader *reader, int64_t units, int64_t *fraction)
{
  *fraction = 0;
  if (!take(reader, '.'))
    return true;
  if (reader->at == reader->end || !is_digit(*reader->at))
    return false;
  for (; reader->at < reader->end && is_digit(*reader->at); reader->at++) {
    units /= 10;
    if (units == 0 && *reader->at != '0')
      return false;
    *fraction += (*reader->at - '0') * units;
  }
  return true;
}

/* Reads hh:mm, and then :ss and a fraction if they follow. */
static bool take_time(struct reader *reader, int64_t units, int64_t *seconds, int64_t *fraction)
{
  int hour, minute, second = 0;
  *fraction = 0;
  if (!take_number(reader, 2, 0, 23, &hour) || !take(reader, ':') ||
      !take_number(reader, 2, 0, 59, &minute))
    return false;
  if (take(reader, ':') &&
      (!take_number(reader, 2, 0, 59, &second) || !take_fraction(reader, units, fraction)))
    return false;
  *seconds = hour * 3600 + minute * 60 + second;
  return true;
}

/* Reads the offset of local time from UTC, which is Z, +hh, +hhmm or +hh:mm. If the text has no
 * offset, the time is in UTC. */
static bool take_offset(struct reader *reader, int64_t *seconds)
{
  int hour, minute = 0;
  *seconds = 0;
  if (reader->at == reader->end || take(reader, 'Z'))
    return true;
  const bool is_behind = *reader->at == '-';
  if (!take(reader, is_behind ? '-' : '+') || !take_number(reader, 2, 0, 23, &hour))
    return false;
  const bool has_colon = take(reader, ':');
  if ((has_colon || reader->at < reader->end) && !take_number(reader, 2, 0, 59, &minute))
    return false;
  *seconds = (hour * 3600 + minute * 60) * (is_behind ? -1 : 1);
  return true;
}

uint8_t *decode_time_of_day(lanebloom_slice text, int64_t units, size_t nbytes, uint8_t *to)
{
  struct reader reader = {text.data, (const char *)text.data + text.size};
  int64_t seconds, fraction;
  if (!take_time(&reader, units, &seconds, &fraction) || reader.at != reader.end)
    return NULL;
  return store((uint64_t)(seconds * units + fraction), nbytes, to);
}

/* Reads a date as in ISO 8601, and a time if T or a space follows. `units' is the number of units
 * in a second. */
static uint8_t *decode_timestamp(lanebloom_slice text, int64_t units, bool is_wide, uint8_t *to)
{
  struct reader reader = {text.data, (const char *)text.data + text.size};
  int64_t days, seconds = 0, fraction = 0, offset = 0, value;
  if (!take_date(&reader, &days))
    return NULL;
  if ((take(&reader, 'T') || take(&reader, ' ')) &&
      (!take_time(&reader, units, &seconds, &fraction) || !take_offset(&reader, &offset)))
    return NULL;
  if (reader.at != reader.end)
    return NULL;
  /* The sum may fit into 64 bits although the seconds alone, in these units, do not. So it is
   * computed in 128 bits. */
  const __int128 sum = (__int128)(days * 86400 + seconds - offset) * units + fraction;
  if (is_wide)
    return store_wide((unsigned __int128)sum, to);
  value = (int64_t)sum;
  return value == sum ? store((uint64_t)value, 8, to) : NULL;
}

/* ---- Decimals ---- */

/* Reads a decimal. It may have at most 38 digits, which 16 bytes can always hold. */
static uint8_t *decode_decimal(lanebloom_slice text, int32_t scale, uint8_t *to)
{
  static const uint64_t ten_to_19 = UINT64_C(10000000000000000000);
  struct reader reader = {text.data, (const char *)text.data + text.size};
  const bool is_negative = take(&reader, '-');
  struct decimal number;
  unsigned __int128 value;
  if (!is_negative)
    take(&reader, '+');
  if (decimal_read(reader.at, reader.end, &number) != reader.end)
    return NULL;
  number.exponent += scale;
  if (!decimal_compute(number, &value) || value >= (unsigned __int128)ten_to_19 * ten_to_19)
    return NULL;
  if (is_negative)
    value = -value;
  return store_wide(value, to);
}

/* ---- All ---- */

uint8_t *decode_typed(lanebloom_encoding encoding, const struct text_units *units,
                      lanebloom_slice text, uint8_t *to)
{
  switch (encoding) {
  case LANEBLOOM_FLOAT32:
  case LANEBLOOM_FLOAT64:
    return decode_float(encoding, text, to);
  case LANEBLOOM_DATE32:
    return decode_date(text, to);
  case LANEBLOOM_TIMESTAMP_S:
    return decode_timestamp(text, 1, false, to);
  case LANEBLOOM_TIMESTAMP_MS:
    return decode_timestamp(text, 1000, false, to);
  case LANEBLOOM_TIMESTAMP_US:
    return decode_timestamp(text, 1000000, false, to);
  case LANEBLOOM_TIMESTAMP_NS:
    return decode_timestamp(text, 1000000000, units->is_int96, to);
  case LANEBLOOM_DECIMAL128:
    return decode_decimal(text, units->decimal_scale, to);
  case LANEBLOOM_UUID:
    return decode_uuid(text.data, text.size, to);
  default:
    return NULL;
  }
}

const char *describe_typed(lanebloom_encoding encoding, const struct text_units *units)
{
  switch (encoding) {
  case LANEBLOOM_FLOAT32:
    return "a number up to 3.4028235e38, or inf";
  case LANEBLOOM_FLOAT64:
    return "a number up to 1.7976931348623157e308, or inf";
  case LANEBLOOM_DATE32:
    return "a date, as 2024-02-29";
  case LANEBLOOM_TIMESTAMP_S:
    return "a time, as 2024-02-29T12:34:56Z";
  case LANEBLOOM_TIMESTAMP_MS:
    return "a time, as 2024-02-29T12:34:56.789Z";
  case LANEBLOOM_TIMESTAMP_US:
    return "a time, as 2024-02-29T12:34:56.789012Z";
  case LANEBLOOM_TIMESTAMP_NS:
    return units->is_int96 ? "a time, as 2024-02-29T12:34:56.789012345Z"
                           : "a time from 1677 to 2262, as 2024-02-29T12:34:56.789012345Z";
  case LANEBLOOM_DECIMAL128:
    return "a decimal number of 38 digits at most that needs no rounding";
  case LANEBLOOM_UUID:
    return "a UUID, as 123e4567-e89b-12d3-a456-426614174000";
  default:
    return "another text";
  }
}
