/* Arithmetic that several files of the model use.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_MODEL_PARTS_H
#define LANEBLOOM_TESTS_MODEL_PARTS_H

#include "model.h"

static const uint64_t TWO_TO_32 = (uint64_t)1 << 32;

/* Returns the high half of a 128-bit product. Multiplies by hand, with digits of 32 bits. */
static inline uint64_t high_half(uint64_t a, uint64_t b)
{
  const uint64_t a0 = a % TWO_TO_32, a1 = a / TWO_TO_32, b0 = b % TWO_TO_32, b1 = b / TWO_TO_32;
  const uint64_t units = a0 * b0;
  const uint64_t crossed = a1 * b0 + units / TWO_TO_32; /* at most (2^32 - 1) * 2^32 */
  const uint64_t second = a0 * b1 + crossed % TWO_TO_32;
  return a1 * b1 + crossed / TWO_TO_32 + second / TWO_TO_32;
}

static inline bool is_set(const uint8_t *payload, uint64_t position)
{
  return payload[position / 8] & 1 << position % 8;
}

#endif
