/* Repetitions are hashes that equal the hash before them. Some engines do not count them when they
 * choose the size of a filter (format_table.drops_equal_neighbours).
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_REPETITIONS_H
#define LANEBLOOM_REPETITIONS_H

#include <stddef.h>
#include <stdint.h>

/* Counts the repetitions among n hashes of `size` bytes, 4 or 8. There must be a hash before
 * `hashes`, with which the first one is compared. */
size_t lanebloom_repetitions_count(const uint8_t *hashes, size_t n, size_t size);

/* Removes the repetitions and returns how many of the n hashes are left. There must be a hash
 * before `hashes`. */
size_t lanebloom_repetitions_drop(uint8_t *hashes, size_t n, size_t size);

#endif
