/* The text of floating-point numbers, dates, times, decimals and UUIDs.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_TYPED_TEXT_H
#define LANEBLOOM_CLI_TYPED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

/* The most bytes of a value. */
enum { TYPED_NBYTES = 16 };

/* Is text of this encoding decoded here? */
static inline bool is_typed(lanebloom_encoding encoding)
{
  return encoding >= LANEBLOOM_FLOAT32 && encoding <= LANEBLOOM_UUID;
}

/* Tells how the text of a column's values is read, beside their encoding. Zeros: that tells all. */
struct text_units {
  /* LANEBLOOM_DECIMAL128: how many digits of the value stand after the point; not negative. */
  int32_t decimal_scale;
  /* Integers that may be given as times of day: units of a second, a power of ten. 0: they may
   * not. */
  int64_t per_second;
  bool is_int96; /* LANEBLOOM_TIMESTAMP_NS: the value has 16 bytes, which hold any year */
};

/* Writes the value of a text and returns its end, or NULL if the text is malformed or the encoding
 * cannot hold it. to: TYPED_NBYTES; it may be the text. */
uint8_t *decode_typed(lanebloom_encoding encoding, const struct text_units *units,
                      lanebloom_slice text, uint8_t *to);

/* Does the same for a time of day, as 12:34 or 12:34:56.789. The value has nbytes, and counts units
 * of a second since midnight. */
uint8_t *decode_time_of_day(lanebloom_slice text, int64_t units, size_t nbytes, uint8_t *to);

/* For people: what text should be. */
const char *describe_typed(lanebloom_encoding encoding, const struct text_units *units);

#endif
