/* Declares the functions that merging filters and merging builders share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_MERGE_H
#define LANEBLOOM_MERGE_H

#include "filter.h"

/* Sets the bits in `into` that are set in `from`. Both are whole filters of nbytes, whose frames
 * are equal or empty. If `at` is not 0, it is the offset of counts of keys, which are added. */
static inline void merge_bytes(uint8_t *into, const uint8_t *from, uint64_t nbytes, size_t at)
{
  const uint64_t count = at > 0 ? add_counts(load_le64(into + at), load_le64(from + at)) : 0;
  for (uint64_t i = 0; i < nbytes; i++)
    into[i] |= from[i];
  if (at > 0)
    store_le64(into + at, count);
}

/* Reports a difference, and returns MISMATCH. */
lanebloom_status lanebloom_differ(const struct problem *problem, const char *expected,
                                  const char *found);

/* These functions compare properties that both filters and builders have, and report the first
 * difference. Errors: MISMATCH. */
lanebloom_status lanebloom_compare_formats(const struct format_table *expected,
                                           lanebloom_key_form expected_form,
                                           const struct format_table *found,
                                           lanebloom_key_form found_form,
                                           const struct problem *problem);
lanebloom_status lanebloom_compare_shapes(const struct filter_shape *expected,
                                          uint64_t expected_nbytes,
                                          const struct filter_shape *found, uint64_t found_nbytes,
                                          const struct problem *problem);

#endif
