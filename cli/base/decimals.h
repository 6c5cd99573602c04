/* Reads decimal numbers such as 1000000, 12.50 and 1e6 without rounding.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DECIMALS_H
#define LANEBLOOM_CLI_DECIMALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stands for the number value * 10^exponent. */
struct decimal {
  unsigned __int128 value;
  int64_t exponent;
};

/* Reads a number: digits, at most one point among them, and an exponent if `e` or `E` follows.
 * Returns the end of the number. Returns NULL if there is no digit, if an `e` has no digits after
 * it, or if `value` cannot hold the digits. Zeros at the beginning and at the end do not count as
 * digits that `value` must hold. Cost: linear in the length of the text, however large the exponent
 * is. */
const char *decimal_read(const char *text, const char *end, struct decimal *number);

/* Computes the number as an integer. Returns false if the number has a fraction or is too large. */
bool decimal_compute(struct decimal number, unsigned __int128 *value);

#endif
