/* A part: as many keys of a batch as are screened at once. Keys get ranks, and are put in order by
 * them once; the keys within a table's range are then a span of that order.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_PART_H
#define LANEBLOOM_TABLES_PART_H

#include <lanebloom.h>

/* Ranks: numbers in the order of keys, but for ties. They are taken from the 8 bytes behind those
 * that the ends of all ranges begin with. */
struct ranking {
  lanebloom_slice common;
  uint64_t min, max;
  unsigned shift;
};

/* The keys from smallest to largest, and the ranks of both. */
struct key_range {
  bool is_known; /* else all keys */
  lanebloom_slice smallest, largest;
  uint32_t smallest_rank, largest_rank;
};

/* A ranking for keys that lie between these two; NULL: for any keys. */
struct ranking lanebloom_ranking_make(const lanebloom_slice *smallest,
                                      const lanebloom_slice *largest);
struct key_range lanebloom_key_range_make(const struct ranking *ranking, lanebloom_slice smallest,
                                          lanebloom_slice largest);

struct ranked_key {
  uint32_t rank, key;
};

struct part {
  lanebloom_keys keys;
  const struct ranking *ranking;
  bool is_ranked, is_listed, is_sorted;
  uint32_t min_rank, max_rank;

  /* Room for all keys. */
  uint32_t *ranks;
  struct ranked_key *order, *half_sorted;
};

/* Where in a part's order the keys of a range are, and some others at either end. */
struct span {
  size_t first, end;
};

/* Takes the next keys; nothing is known of them yet. */
void lanebloom_part_begin(struct part *part, const lanebloom_keys *keys);

/* Are all keys certainly within the range; or all without? */
bool lanebloom_part_is_inside(struct part *part, const struct key_range *range);
bool lanebloom_part_is_outside(struct part *part, const struct key_range *range);

/* Lists the keys with their ranks; orders them if `orders`. */
void lanebloom_part_list(struct part *part, bool sort);

/* All keys, unless they have been ordered. */
struct span lanebloom_part_span(const struct part *part, const struct key_range *range);

/* Writes the numbers of the span's keys that are in the range; returns how many. */
size_t lanebloom_part_select(const struct part *part, const struct key_range *range,
                             struct span span, uint32_t *selected);

/* Clears the hits of keys outside of the range. The part has been ordered. */
void lanebloom_part_clear_outside(const struct part *part, const struct key_range *range,
                                  struct span span, uint8_t *hits);

#endif
