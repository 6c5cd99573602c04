/* Prints bounds of Parquet columns: the smallest and the largest value of a row group.
 * SPDX-License-Identifier: MIT */
#include "parquet_bounds.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../src/common/bytes.h"
#include "../base/memory.h"
#include "../base/report.h"

enum { BOUND_NCHARS = 24 };

static uint64_t load_number(lanebloom_slice value)
{
  uint64_t number = 0;
  memcpy(&number, value.data, value.size);
  return little64(number);
}

char *print_hex(lanebloom_slice value)
{
  char *text = resize(NULL, 2 * value.size + sizeof "0x");
  strcpy(text, "0x");
  for (size_t i = 0; i < value.size; i++)
    sprintf(text + 2 + 2 * i, "%02x", ((const uint8_t *)value.data)[i]);
  return text;
}

struct date {
  int year, month, day;
};

/* Converts days since 1970-01-01 to a date of the years 1 to 9999, the years that --decode can
 * read. The Gregorian calendar is used for all years. Returns false if the date is outside these
 * years; the caller then prints a number. */
static bool find_date(int64_t days, struct date *date)
{
  /* Years begin in March here, so that a leap day is the last day of its year. BEFORE_1970 is the
   * number of days from 0000-03-01 to 1969-12-31. */
  enum { BEFORE_1970 = 719468 };
  enum { FIRST = -719162, LAST = 2932896, IN_400_YEARS = 146097 };
  if (days < FIRST || days > LAST)
    return false;
  const int since = (int)days + BEFORE_1970, centuries = since / IN_400_YEARS,
            day = since % IN_400_YEARS;
  const int year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  const int day_of_year = day - (365 * year + year / 4 - year / 100);
  const int month = (5 * day_of_year + 2) / 153; /* from March: five months have 153 days */
  date->day = day_of_year - (153 * month + 2) / 5 + 1;
  date->month = month < 10 ? month + 3 : month - 9;
  date->year = 400 * centuries + year + (month >= 10);
  return true;
}

/* Prints a time. `units' is the number of units in a second, which is 10 to the power of
 * ndigits. */
static char *print_time(int64_t value, int64_t units, int ndigits)
{
  const bool borrows = value % units < 0;
  const int64_t seconds = value / units - borrows, fraction = value % units + (borrows ? units : 0);
  const int64_t of_day = (seconds % 86400 + 86400) % 86400;
  struct date date;
  if (!find_date((seconds - of_day) / 86400, &date))
    return format_text("%" PRId64, value);
  return format_text("%04d-%02d-%02dT%02d:%02d:%02d.%0*" PRId64 "Z", date.year, date.month,
                     date.day, (int)(of_day / 3600), (int)(of_day / 60 % 60), (int)(of_day % 60),
                     ndigits, fraction);
}

/* Prints hh:mm:ss and a fraction. If the value is not within a day, prints it as a number. */
static char *print_time_of_day(int64_t value, int64_t units)
{
  const int64_t seconds = value / units;
  int ndigits = 0;
  for (int64_t left = units; left > 1; left /= 10)
    ndigits++;
  if (value < 0 || seconds >= 86400)
    return format_text("%" PRId64, value);
  return format_text("%02d:%02d:%02d.%0*" PRId64, (int)(seconds / 3600), (int)(seconds / 60 % 60),
                     (int)(seconds % 60), ndigits, value % units);
}

static char *print_date(int32_t days)
{
  struct date date;
  if (!find_date(days, &date))
    return format_text("%" PRId32, days);
  return format_text("%04d-%02d-%02d", date.year, date.month, date.day);
}

static char *print_uuid(const uint8_t *bytes)
{
  static const uint8_t ends[] = {4, 6, 8, 10, 16};
  char *text = resize(NULL, sizeof "123e4567-e89b-12d3-a456-426614174000"), *at = text;
  for (size_t group = 0, i = 0; group < sizeof ends; group++) {
    for (; i < ends[group]; i++)
      at += sprintf(at, "%02x", bytes[i]);
    strcpy(at++, group + 1 < sizeof ends ? "-" : "");
  }
  return text;
}

static char *print_float(uint64_t bits, bool is_single)
{
  const uint32_t low = (uint32_t)bits;
  float single;
  double value;
  memcpy(&single, &low, sizeof single);
  memcpy(&value, &bits, sizeof value);
  return is_single ? format_text("%.9g", (double)single) : format_text("%.17g", value);
}

/* Prints a number in two's complement. Its last `scale' digits follow the decimal point. */
static char *print_decimal(lanebloom_slice value, bool is_big_endian, int32_t scale)
{
  enum { MOST_NBYTES = 32, MOST_NDIGITS = 78 };
  uint8_t rest[MOST_NBYTES]; /* the absolute value, as big-endian bytes */
  char text[1 + MOST_NDIGITS + sizeof "."], *at = text + sizeof text;
  const uint8_t *bytes = value.data;
  if (value.size == 0 || value.size > MOST_NBYTES || scale >= MOST_NDIGITS)
    return print_hex(value);
  const bool is_negative = bytes[is_big_endian ? 0 : value.size - 1] & 0x80;
  unsigned carry = is_negative; /* because -x is ~x + 1 */
  for (size_t i = value.size; i-- > 0; carry >>= 8) {
    const uint8_t byte = bytes[is_big_endian ? i : value.size - 1 - i];
    carry += is_negative ? (uint8_t)~byte : byte;
    rest[i] = (uint8_t)carry;
  }
  *--at = '\0';
  bool is_any = true;
  for (int32_t ndigits = 0; is_any || ndigits <= scale; ndigits++) {
    unsigned remainder = 0;
    is_any = false;
    for (size_t i = 0; i < value.size; i++) {
      remainder = remainder << 8 | rest[i];
      rest[i] = (uint8_t)(remainder / 10);
      remainder %= 10;
      is_any |= rest[i] > 0;
    }
    if (ndigits == scale && scale > 0)
      *--at = '.';
    *--at = (char)('0' + remainder);
  }
  if (is_negative)
    *--at = '-';
  return format_text("%s", at);
}

bool is_text_type(const lanebloom_parquet_column_info *type)
{
  return type->has_keys && type->encoding == LANEBLOOM_BYTES && type->key_size == 0;
}

char *print_bound(const lanebloom_parquet_column_info *type, lanebloom_slice value)
{
  const bool has_size = type->key_size == value.size;
  if (is_text_type(type))
    return escape_word(value.data, value.size, BOUND_NCHARS);
  if (type->has_keys && type->encoding == LANEBLOOM_DECIMAL128)
    return print_decimal(value, type->is_big_endian, type->scale);
  if (type->has_keys && type->encoding == LANEBLOOM_UUID && has_size)
    return print_uuid(value.data);
  if (!type->has_keys || !has_size || value.size > sizeof(uint64_t))
    return print_hex(value);
  const uint64_t number = load_number(value);
  if (type->units_per_second)
    return print_time_of_day(value.size == 4 ? (int32_t)number : (int64_t)number,
                             type->units_per_second);
  switch (type->encoding) {
  case LANEBLOOM_INT32:
    return format_text("%" PRId32, (int32_t)number);
  case LANEBLOOM_INT64:
    return format_text("%" PRId64, (int64_t)number);
  case LANEBLOOM_UINT32:
  case LANEBLOOM_UINT64:
    return format_text("%" PRIu64, number);
  case LANEBLOOM_FLOAT32:
  case LANEBLOOM_FLOAT64:
    return print_float(number, type->encoding == LANEBLOOM_FLOAT32);
  case LANEBLOOM_DATE32:
    return print_date((int32_t)number);
  case LANEBLOOM_TIMESTAMP_MS:
    return print_time((int64_t)number, 1000, 3);
  case LANEBLOOM_TIMESTAMP_US:
    return print_time((int64_t)number, 1000000, 6);
  case LANEBLOOM_TIMESTAMP_NS:
    return print_time((int64_t)number, 1000000000, 9);
  default:
    return print_hex(value);
  }
}
