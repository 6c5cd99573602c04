/* Parses the numbers in option values, in the forms that people write.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_NUMBERS_H
#define LANEBLOOM_CLI_NUMBERS_H

#include <argp.h>
#include <stdint.h>

/* Parses a whole number from 1 to `most` without rounding. It may be written as 1000000, 1e6, 1M,
 * 1.5k or 64Ki. */
uint64_t parse_count(const struct argp_state *state, const char *option, const char *text,
                     uint64_t most);

/* Parses a number of bytes. It may be written in the forms of parse_count(), and "B" may follow:
 * 64MiB, 1GB. */
uint64_t parse_size(const struct argp_state *state, const char *option, const char *text);

/* Parses a finite decimal number. */
double parse_number(const struct argp_state *state, const char *option, const char *text);

/* Parses a false-positive rate, written as 0.01 or 1%. It must be greater than 0 and less than
 * 1. */
double parse_rate(const struct argp_state *state, const char *option, const char *text);

#endif
