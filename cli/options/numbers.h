/* Numbers, as people write them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_NUMBERS_H
#define LANEBLOOM_CLI_NUMBERS_H

#include <argp.h>
#include <stdint.h>

/* Parses a whole number from 1 to `most`, without rounding: 1000000, 1e6, 1M, 1.5k, 64Ki. */
uint64_t parse_count(const struct argp_state *state, const char *option, const char *text,
                     uint64_t most);

/* Parses a number of bytes, in the same forms or with a unit: 64MiB, 1GB. */
uint64_t parse_size(const struct argp_state *state, const char *option, const char *text);

/* Parses a finite decimal number. */
double parse_number(const struct argp_state *state, const char *option, const char *text);

/* Parses a false-positive rate between 0 and 1, both excluded: 0.01, 1%. */
double parse_rate(const struct argp_state *state, const char *option, const char *text);

#endif
