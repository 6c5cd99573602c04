/* Measures the false-positive rate of a filter.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_MEASURE_H
#define LANEBLOOM_CLI_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include <lanebloom.h>

/* The measured rate is the share of random hashes that passed. `low' and `high' are its 95 %
 * confidence interval. Rates are from 0 to 1. */
struct measurement {
  bool done; /* false: nothing was measured, and all other members are 0 */
  double rate, low, high;
};

#define MEASURE_SEED ((uint64_t)0x6c616e65) /* constant, so that two runs have the same result */

/* Queries nhashes random hashes. If nhashes is 0, or if the format has no hash, measures
 * nothing. */
struct measurement measure(const lanebloom_filter *filter, lanebloom_format format,
                           uint64_t nhashes);

#endif
