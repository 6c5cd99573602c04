/* Functions that the tests of container files share: a folder, filters, and bytes of files.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_FILTER_FILES_H
#define LANEBLOOM_TESTS_FILTER_FILES_H

#include <lanebloom.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes an empty folder, and makes it the current folder of this test's process. */
void enter_empty_folder(void);
void leave_folder(void);

lanebloom_filter *build(double bits_per_key, size_t nkeys, uint64_t seed);
void save(const lanebloom_filter *filter, const char *path);
bool equal(const lanebloom_filter *a, const lanebloom_filter *b);

/* Returns the number of files in the current folder. */
size_t files_here(void);

size_t read_file(const char *path, uint8_t *bytes, size_t room);

#endif
