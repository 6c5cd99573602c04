/* Decodes text to the bytes of floating-point numbers, dates, times, decimals and UUIDs.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_TYPED_TEXT_H
#define LANEBLOOM_CLI_TYPED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

/* The most bytes that a decoded value has. */
enum { TYPED_NBYTES = 16 };

/* Does this file decode the text of this encoding? */
static inline bool is_typed(lanebloom_encoding encoding)
{
  return encoding >= LANEBLOOM_FLOAT32 && encoding <= LANEBLOOM_UUID;
}

struct partition_key;

/* Says how the text of a column's values is read, if the encoding alone does not tell. If all
 * members are zeros, the encoding alone tells. */
struct text_units {
  /* For LANEBLOOM_DECIMAL128: the number of digits after the decimal point. It is not negative. */
  int32_t decimal_scale;
  /* For integers that may be written as a time of day: the number of units in a second, which is a
   * power of ten. 0: they may not be written so. */
  int64_t per_second;
  bool is_int96; /* for LANEBLOOM_TIMESTAMP_NS: the value has 16 bytes, so it can be in any year */
  /* If not NULL, the text is that of the columns of a partition key, and the encoding means
   * nothing. It is borrowed. */
  const struct partition_key *partition_key;
};

/* Decodes the text, writes the value at `to', and returns the end of the value. Returns NULL if the
 * text is malformed or the encoding cannot hold its value. There must be room for TYPED_NBYTES.
 * `to' may be the beginning of the text. */
uint8_t *decode_typed(lanebloom_encoding encoding, const struct text_units *units,
                      lanebloom_slice text, uint8_t *to);

/* Decodes a time of day, such as 12:34 or 12:34:56.789, like decode_typed(). The value has nbytes
 * and is the time since midnight, in units. `units' is the number of units in a second. */
uint8_t *decode_time_of_day(lanebloom_slice text, int64_t units, size_t nbytes, uint8_t *to);

/* Returns a description of the text that is expected, for messages. */
const char *describe_typed(lanebloom_encoding encoding, const struct text_units *units);

#endif
