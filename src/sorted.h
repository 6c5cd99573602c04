/* Makes sorted hashes, which layouts/sorted.h defines.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SORTED_H
#define LANEBLOOM_SORTED_H

#include "common/memory.h"
#include "kernels.h"

struct sorting {
  struct sorted_hashes sorted;
  struct memory memory; /* of the arrays of `sorted` */
};

/* Returns the layout for which hashes of this function are sorted, or LAYOUT_END if there is
 * none. */
enum layout lanebloom_layout_to_sort(enum hash hash);

/* Sorts n hashes, at most UINT32_MAX, for a layout that lanebloom_layout_to_sort() returned. The
 * hashes are borrowed. Returns false, and changes nothing, if memory ran out. */
bool lanebloom_hashes_sort(enum layout layout, const void *hashes, size_t n,
                           struct sorting *sorting);

#endif
