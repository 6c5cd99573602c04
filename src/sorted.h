/* Makes sorted hashes, which layouts/sorted.h defines.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SORTED_H
#define LANEBLOOM_SORTED_H

#include "kernels.h"

/* Returns the layout for which hashes of this function are sorted, or LAYOUT_END if there is
 * none. */
enum layout lanebloom_layout_to_sort(enum hash hash);

/* Sorts n hashes, at most UINT32_MAX, for a layout that lanebloom_layout_to_sort() returned. The
 * hashes are borrowed. Returns false, and changes nothing, if memory ran out. */
bool lanebloom_hashes_sort(enum layout layout, const void *hashes, size_t n,
                           struct sorted_hashes *made);

/* Frees the arrays of sorted hashes, which are in one piece of memory. */
void lanebloom_sorted_free(struct sorted_hashes *sorted);

#endif
