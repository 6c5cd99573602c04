/* Screens a batch of keys in parts of PART_NKEYS. A kernel fills and drains its pipeline once per
 * part, so larger parts cost less per key. But parts must not be too large, because the hits of a
 * part should stay in the first-level cache until they are counted.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARTS_H
#define LANEBLOOM_PARTS_H

#include "hits.h"

enum { PART_NKEYS = 1 << 15, PART_HIT_NBYTES = PART_NKEYS / 8 };

/* The form in which hits are returned: a bit for each key (or only the count), a byte for each key,
 * or the indices of the keys that may be in the filter. */
enum answer_form { AS_BITMAP, AS_MASK, AS_INDICES };

/* Screens keys [first, first + n) of a query, and writes ceil(n / 8) bytes of hits. */
typedef void screen_function(const void *query, size_t first, size_t n, uint8_t *hits);

/* Screens n keys and returns the number of hits. `to` is an array of the form's type; with
 * AS_BITMAP it may be NULL, and then hits are only counted. */
__attribute__((always_inline)) static inline size_t screen_in_parts(screen_function *screen,
                                                                    const void *query, size_t n,
                                                                    enum answer_form form, void *to)
{
  size_t count = 0;
  for (size_t first = 0; first < n; first += PART_NKEYS) {
    uint8_t uncollected[PART_HIT_NBYTES];
    uint8_t *hits = form == AS_BITMAP && to ? (uint8_t *)to + first / 8 : uncollected;
    const size_t npart = n - first < PART_NKEYS ? n - first : PART_NKEYS;
    screen(query, first, npart, hits);
    if (form == AS_INDICES) {
      count += hits_list(hits, npart, (uint32_t)first, (uint32_t *)to + count);
      continue;
    }
    count += hits_count(hits, hits_nbytes(npart));
    if (form == AS_MASK)
      hits_expand(hits, npart, (uint8_t *)to + first);
  }
  return count;
}

#endif
