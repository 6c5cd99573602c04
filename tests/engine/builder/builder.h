/* Keys for builders, and calls of builders that must succeed.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_BUILDER_H
#define LANEBLOOM_TESTS_BUILDER_H

#include <lanebloom.h>
#include <stdbool.h>

enum { NKEYS = 5000 };

/* Returns NKEYS keys of 8 bytes. Every tenth repeats the one before it. */
lanebloom_keys all_keys(void);

/* Creates a builder of the format LANEBLOOM_LEVELDB. */
lanebloom_builder *create(double bits_per_key, uint64_t expected_keys);

/* Adds n of the keys, from number `first` on. */
void add(lanebloom_builder *builder, const lanebloom_keys *keys, size_t first, size_t n);

lanebloom_filter *finish(lanebloom_builder *builder);

/* Returns the filter that one call builds of the first n keys, with 10 bits per key. */
lanebloom_filter *reference(const lanebloom_keys *keys, size_t n);

void assert_equal_and_close(lanebloom_filter *found, lanebloom_filter *expected, const char *what);

/* While this is set, the library gets no memory (memory.c). */
extern bool refuses_memory;

#endif
