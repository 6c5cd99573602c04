/* Dates and times in the bounds of Parquet columns are those of the system's calendar.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cli/verbs/parquet_bounds.h"
#include "common/bytes.h"

enum { SECONDS_PER_DAY = 86400, FIRST = -719162, LAST = 2932896 }; /* the years 1 to 9999 */

static char *print_days(int32_t days)
{
  uint8_t bytes[4];
  store_le32(bytes, (uint32_t)days);
  return print_bound(&(lanebloom_parquet_column_info){.has_keys = true,
                                                      .encoding = LANEBLOOM_DATE32,
                                                      .key_size = sizeof bytes},
                     (lanebloom_slice){bytes, sizeof bytes});
}

static char *print_milliseconds(int64_t milliseconds)
{
  uint8_t bytes[8];
  store_le64(bytes, (uint64_t)milliseconds);
  return print_bound(&(lanebloom_parquet_column_info){.has_keys = true,
                                                      .encoding = LANEBLOOM_TIMESTAMP_MS,
                                                      .key_size = sizeof bytes},
                     (lanebloom_slice){bytes, sizeof bytes});
}

static struct tm system_time(int64_t seconds)
{
  struct tm found;
  const time_t time = (time_t)seconds;
  cr_assert(gmtime_r(&time, &found));
  return found;
}

/* Checks the text of a bound, and frees it. */
static void check(char *found, const char *expected)
{
  cr_assert(strcmp(found, expected) == 0, "expected %s, found %s", expected, found);
  free(found);
}

Test(dates, each_day)
{
  char text[40];
  for (int32_t days = FIRST; days <= LAST; days++) {
    const struct tm at = system_time((int64_t)days * SECONDS_PER_DAY);
    snprintf(text, sizeof text, "%04d-%02d-%02d", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday);
    check(print_days(days), text);
  }
}

Test(dates, the_last_millisecond_before_a_day)
{
  char text[60];
  for (int32_t days = FIRST + 1; days <= LAST; days += 97) {
    const int64_t seconds = (int64_t)days * SECONDS_PER_DAY;
    const struct tm at = system_time(seconds - 1);
    snprintf(text, sizeof text, "%04d-%02d-%02dT23:59:59.999Z", at.tm_year + 1900, at.tm_mon + 1,
             at.tm_mday);
    check(print_milliseconds(seconds * 1000 - 1), text);
  }
}

Test(dates, years_that_cannot_be_read_are_numbers)
{
  char text[40];
  const int32_t days[] = {INT32_MIN, FIRST - 1, LAST + 1, INT32_MAX};
  for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
    snprintf(text, sizeof text, "%d", days[i]);
    check(print_days(days[i]), text);
  }
  check(print_milliseconds(INT64_MIN), "-9223372036854775808");
  check(print_milliseconds(INT64_MAX), "9223372036854775807");
}
