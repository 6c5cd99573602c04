/* Decodes the text of floating-point numbers, dates, times, decimals and UUIDs.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_TYPED_TEXT_H
#define LANEBLOOM_CLI_TYPED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

/* The most bytes that a value takes. */
enum { TYPED_NBYTES = 16 };

/* Is text of this encoding decoded by this file? */
static inline bool is_typed(lanebloom_encoding encoding)
{
  return encoding >= LANEBLOOM_FLOAT32 && encoding <= LANEBLOOM_UUID;
}

/* Says how to read the text of a column's values, in addition to their encoding. Zeros mean that
 * the encoding says everything. */
struct text_units {
  /* For LANEBLOOM_DECIMAL128: the number of digits of the value after the point; not negative. */
  int32_t decimal_scale;
  /* For integers that may be given as times of day: the number of units per second, a power of ten.
   * 0: they may not. */
  int64_t per_second;
  bool is_int96; /* for LANEBLOOM_TIMESTAMP_NS: the value has 16 bytes, which hold any year */
};

/* Writes the value of a text and returns the value's end, or NULL if the text is malformed or the
 * encoding cannot hold it. to: TYPED_NBYTES; may be the text. */
uint8_t *decode_typed(lanebloom_encoding encoding, const struct text_units *units,
                      lanebloom_slice text, uint8_t *to);

/* Decodes a time of day in the same way, such as 12:34 or 12:34:56.789. The value has nbytes, and
 * counts units since midnight. units: per second. */
uint8_t *decode_time_of_day(lanebloom_slice text, int64_t units, size_t nbytes, uint8_t *to);

/* Describes for people how the text should look. */
const char *describe_typed(lanebloom_encoding encoding, const struct text_units *units);

#endif
