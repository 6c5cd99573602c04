/* A part is a section of the caller's batch of keys. Its size is bounded (max_part_nkeys() in
 * screen.c), and larger if many filters have wide ranges. All tables are queried for a part before
 * the next part begins. The keys of a part are sorted once, by their ranks. In this order, the keys
 * in the range of a table are next to each other, and are called a span. Only the call that made a
 * part may use it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_PART_H
#define LANEBLOOM_TABLES_PART_H

#include <lanebloom.h>

/* Maps keys to ranks, which are small numbers and therefore fast to sort. If key A is below key B,
 * the rank of A is not above the rank of B. The rank of a key is made from its window (window.h):
 * it is the high bits of the window's distance from `min`. */
struct ranking {
  lanebloom_slice common; /* the prefix that windows leave out */
  uint64_t min, max;      /* the windows of the smallest and the largest bound of all tables */
  unsigned shift;         /* the number of low bits of the distance that are dropped */
};

/* The range of a table: all keys from `smallest` to `largest`, both included. */
struct key_range {
  bool is_known; /* false: the range is unknown, so every key counts as inside */
  lanebloom_slice smallest, largest;
  uint32_t smallest_rank, largest_rank;
};

/* Makes a ranking of the keys from smallest to largest. A key outside gets the rank of the nearer
 * bound. If both arguments are NULL, the ranking is of all possible keys. */
struct ranking lanebloom_ranking_make(const lanebloom_slice *smallest,
                                      const lanebloom_slice *largest);
struct key_range lanebloom_key_range_make(const struct ranking *ranking, lanebloom_slice smallest,
                                          lanebloom_slice largest);

struct ranked_key {
  uint32_t rank, key; /* key: its index in the part */
};

struct part {
  lanebloom_keys keys;
  const struct ranking *ranking;
  bool is_ranked, is_listed, is_sorted;
  uint32_t min_rank, max_rank;

  /* The caller allocates these arrays, with room for all keys of the part. */
  uint32_t *ranks;
  struct ranked_key *order;
  struct ranked_key *half_sorted; /* scratch */
};

/* The keys order[first .. end) of a part. They include all keys of a range. At either end, they may
 * also include keys outside the range that have the same rank as the bound. */
struct span {
  size_t first, end;
};

/* Begins a part of these keys, which are borrowed. Before the call, the caller must set `ranking`
 * and allocate the arrays. */
void lanebloom_part_begin(struct part *part, const lanebloom_keys *keys);

/* Are all keys of the part certainly inside the range, or certainly outside? Both functions return
 * false if the ranks cannot tell. */
bool lanebloom_part_is_inside(struct part *part, const struct key_range *range);
bool lanebloom_part_is_outside(struct part *part, const struct key_range *range);

/* Fills part->order with all keys, and sorts them by rank if `sort` is true. Repeated calls for the
 * same part cost nothing. */
void lanebloom_part_list(struct part *part, bool sort);

/* Returns the span of the keys in a range, or the span of all keys if the part is not sorted.
 * lanebloom_part_list() must have been called. */
struct span lanebloom_part_span(const struct part *part, const struct key_range *range);

/* Writes to `selected` the indices of the keys of the span that are in the range, and returns their
 * number. */
size_t lanebloom_part_select(const struct part *part, const struct key_range *range,
                             struct span span, uint32_t *selected);

/* Clears the bits in `hits` of all keys outside the range. span: the result of
 * lanebloom_part_span() for the range. The part must be sorted. */
void lanebloom_part_clear_outside(const struct part *part, const struct key_range *range,
                                  struct span span, uint8_t *hits);

#endif
