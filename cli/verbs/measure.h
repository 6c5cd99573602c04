/* The false-positive rate of a filter, measured.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_MEASURE_H
#define LANEBLOOM_CLI_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include <lanebloom.h>

/* The share of random hashes that pass, with its 95 % confidence interval. Rates are from 0 to
 * 1. */
struct measurement {
  bool done; /* false: all other members are 0 */
  double rate, low, high;
};

#define MEASURE_SEED ((uint64_t)0x6c616e65) /* constant, so that two runs agree */

/* Queries nhashes random hashes. `done` stays false if nhashes is 0 or the format has no hash. */
struct measurement measure(const lanebloom_filter *filter, lanebloom_format format,
                           uint64_t nhashes);

#endif
