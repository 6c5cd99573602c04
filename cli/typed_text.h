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

/* Writes the value of a text and returns its end, or NULL if the text is malformed or the encoding
 * cannot hold it. to: TYPED_NBYTES; it may be the text. decimal_scale: of LANEBLOOM_DECIMAL128, not
 * negative: how many digits of the value stand after the point. */
uint8_t *decode_typed(lanebloom_encoding encoding, int32_t decimal_scale, lanebloom_slice text,
                      uint8_t *to);

/* For people: what text should be. */
const char *describe_typed(lanebloom_encoding encoding);

#endif
