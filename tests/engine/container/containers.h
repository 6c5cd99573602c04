/* Checks of container files that several tests share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_CONTAINERS_H
#define LANEBLOOM_TESTS_CONTAINERS_H

#include <lanebloom.h>

/* Saves the filter to f.lbf and writes it to memory, reads both in every way, and compares. */
void assert_round_trip(const lanebloom_filter *filter);

/* Asserts that loading these bytes fails with LANEBLOOM_ERR_FORMAT and reports this part of a
 * problem. */
void assert_refused(const void *bytes, size_t size, const char *what, const char *part_of_why);

/* Corrects both checksums, so that readers check the fields that the checksums protect. */
void seal(uint8_t *bytes, size_t size);

#endif
