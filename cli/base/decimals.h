/* Exact decimal numbers: 1000000, 12.50, 1e6.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DECIMALS_H
#define LANEBLOOM_CLI_DECIMALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number value * 10^exponent. */
struct decimal {
  unsigned __int128 value;
  int64_t exponent;
};

/* Reads digits, which may contain a point, and an exponent if one follows. Returns the end of the
 * number. Returns NULL if there is no number, or if it has more digits than `value` can hold;
 * leading and trailing zeros do not count. Cost: linear in the text, whatever the exponent is. */
const char *decimal_read(const char *text, const char *end, struct decimal *number);

/* Computes the number. false: it has a fraction, or is too large. */
bool decimal_compute(struct decimal number, unsigned __int128 *value);

#endif
