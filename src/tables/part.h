/* A part: the keys of a batch that are screened at once. Keys are sorted once, by ranks; the keys
 * in a table's range are then a span of that order. A part belongs to one call.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_PART_H
#define LANEBLOOM_TABLES_PART_H

#include <lanebloom.h>

/* Maps keys to ranks: small numbers that never descend when keys ascend. A rank is made from the
 * key's window (window.h), as the high bits of its distance from `min`. */
struct ranking {
  lanebloom_slice common; /* the prefix before the window */
  uint64_t min, max;      /* the windows of the least and the greatest bound of all tables */
  unsigned shift;         /* bits of the distance that are dropped */
};

/* The keys from smallest to largest, both included, and the ranks of these two. */
struct key_range {
  bool is_known; /* false: all keys are in range */
  lanebloom_slice smallest, largest;
  uint32_t smallest_rank, largest_rank;
};

/* Makes a ranking of the keys from smallest to largest. Keys outside get the rank of the nearer
 * bound. NULL, NULL: a ranking of all keys. */
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

  /* The caller's memory, room for all keys. */
  uint32_t *ranks;
  struct ranked_key *order;
  struct ranked_key *half_sorted; /* scratch */
};

/* order[first .. end): all keys of a range, and perhaps some at either end that tie in rank. */
struct span {
  size_t first, end;
};

/* Begins a part with these keys, which are borrowed. */
void lanebloom_part_begin(struct part *part, const lanebloom_keys *keys);

/* Are all keys certainly inside the range; are all certainly outside? */
bool lanebloom_part_is_inside(struct part *part, const struct key_range *range);
bool lanebloom_part_is_outside(struct part *part, const struct key_range *range);

/* Fills `order` with all keys, sorted by rank if `sort`. Only the first call with each value of
 * `sort` takes time. */
void lanebloom_part_list(struct part *part, bool sort);

/* Returns the span of a range; if the keys are not sorted, the span of all. The part must have been
 * listed. */
struct span lanebloom_part_span(const struct part *part, const struct key_range *range);

/* Writes the indices of the span's keys that are in the range, and returns how many. */
size_t lanebloom_part_select(const struct part *part, const struct key_range *range,
                             struct span span, uint32_t *selected);

/* Clears the hits of all keys outside the range. span: that of the range. The part must have been
 * sorted. */
void lanebloom_part_clear_outside(const struct part *part, const struct key_range *range,
                                  struct span span, uint8_t *hits);

#endif
