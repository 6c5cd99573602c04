/* Ranks and sorts the keys of a part; part.h explains ranks.
 * SPDX-License-Identifier: MIT */
#include "part.h"
#include "../hits.h"
#include "../keys.h"
#include "index.h"
#include "window.h"

enum {
  /* The size of ranks. A radix sort of two passes orders ranks of 22 bits, and the counts of a pass
   * still fit into the first-level cache. Different keys may have the same rank, so a key that has
   * the same rank as a bound is compared with the bound itself. */
  RANK_NBITS = 22,
  PASS_NBITS = RANK_NBITS / 2,
  PASS_NVALUES = 1 << PASS_NBITS,
};

/* ---- Ranks ---- */

static uint32_t rank_of(const struct ranking *ranking, lanebloom_slice key)
{
  uint64_t window = window_of(ranking->common, key);
  window = window < ranking->min ? ranking->min : window > ranking->max ? ranking->max : window;
  return (uint32_t)((window - ranking->min) >> ranking->shift);
}

struct ranking lanebloom_ranking_make(const lanebloom_slice *smallest,
                                      const lanebloom_slice *largest)
{
  struct ranking ranking = {.max = UINT64_MAX};
  if (smallest) {
    ranking.common = window_common(*smallest, *largest);
    ranking.min = window_of(ranking.common, *smallest);
    ranking.max = window_of(ranking.common, *largest);
  }
  const uint64_t distance = ranking.max - ranking.min;
  const int nbits = distance ? 64 - __builtin_clzll(distance) : 0;
  ranking.shift = nbits > RANK_NBITS ? (unsigned)(nbits - RANK_NBITS) : 0;
  return ranking;
}

struct key_range lanebloom_key_range_make(const struct ranking *ranking, lanebloom_slice smallest,
                                          lanebloom_slice largest)
{
  return (struct key_range){.is_known = true,
                            .smallest = smallest,
                            .largest = largest,
                            .smallest_rank = rank_of(ranking, smallest),
                            .largest_rank = rank_of(ranking, largest)};
}

void lanebloom_part_begin(struct part *part, const lanebloom_keys *keys)
{
  part->keys = *keys;
  part->is_ranked = part->is_listed = part->is_sorted = false;
}

static void rank_keys(struct part *part)
{
  if (part->is_ranked)
    return;
  part->is_ranked = true;
  part->min_rank = UINT32_MAX;
  part->max_rank = 0;
  for (size_t i = 0; i < part->keys.n; i++) {
    const uint32_t rank = rank_of(part->ranking, keys_at(&part->keys, i));
    part->ranks[i] = rank;
    part->min_rank = rank < part->min_rank ? rank : part->min_rank;
    part->max_rank = rank > part->max_rank ? rank : part->max_rank;
  }
}

bool lanebloom_part_is_inside(struct part *part, const struct key_range *range)
{
  if (!range->is_known)
    return true;
  rank_keys(part);
  return part->min_rank > range->smallest_rank && part->max_rank < range->largest_rank;
}

bool lanebloom_part_is_outside(struct part *part, const struct key_range *range)
{
  if (!range->is_known)
    return false;
  rank_keys(part);
  return part->max_rank < range->smallest_rank || part->min_rank > range->largest_rank;
}

/* ---- Order ---- */

/* Makes one pass of a radix sort that begins with the lowest digit. The pass is a stable counting
 * sort by the digit at `shift`. */
static void sort_pass(const struct ranked_key *from, size_t n, unsigned shift,
                      struct ranked_key *to)
{
  uint32_t begins[PASS_NVALUES + 1] = {0};
  for (size_t i = 0; i < n; i++)
    begins[(from[i].rank >> shift) % PASS_NVALUES + 1]++;
  for (size_t i = 0; i < PASS_NVALUES; i++)
    begins[i + 1] += begins[i];
  for (size_t i = 0; i < n; i++)
    to[begins[(from[i].rank >> shift) % PASS_NVALUES]++] = from[i];
}

void lanebloom_part_list(struct part *part, bool sort)
{
  const size_t n = part->keys.n;
  if (!part->is_listed) {
    rank_keys(part);
    part->is_listed = true;
    for (size_t i = 0; i < n; i++)
      part->order[i] = (struct ranked_key){part->ranks[i], (uint32_t)i};
  }
  if (sort && !part->is_sorted) {
    part->is_sorted = true;
    sort_pass(part->order, n, 0, part->half_sorted);
    sort_pass(part->half_sorted, n, PASS_NBITS, part->order);
  }
}

/* Counts the keys whose rank is below `rank`. The part must be sorted. */
static size_t count_below(const struct part *part, uint32_t rank)
{
  size_t first = 0, end = part->keys.n;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (part->order[middle].rank < rank)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

struct span lanebloom_part_span(const struct part *part, const struct key_range *range)
{
  if (!range->is_known || !part->is_sorted)
    return (struct span){0, part->keys.n};
  return (struct span){count_below(part, range->smallest_rank),
                       count_below(part, range->largest_rank + 1)};
}

static bool is_in_range(const struct part *part, const struct key_range *range,
                        const struct ranked_key *ranked)
{
  if (!range->is_known ||
      (ranked->rank > range->smallest_rank && ranked->rank < range->largest_rank))
    return true;
  if (ranked->rank < range->smallest_rank || ranked->rank > range->largest_rank)
    return false;
  const lanebloom_slice key = keys_at(&part->keys, ranked->key);
  return lanebloom_key_compare(key, range->smallest) >= 0 &&
         lanebloom_key_compare(key, range->largest) <= 0;
}

size_t lanebloom_part_select(const struct part *part, const struct key_range *range,
                             struct span span, uint32_t *selected)
{
  size_t n = 0;
  for (size_t i = span.first; i < span.end; i++)
    if (is_in_range(part, range, &part->order[i]))
      selected[n++] = part->order[i].key;
  return n;
}

void lanebloom_part_clear_outside(const struct part *part, const struct key_range *range,
                                  struct span span, uint8_t *hits)
{
  const struct ranked_key *order = part->order;
  for (size_t i = 0; i < span.first; i++)
    hits_clear_bit(hits, order[i].key);
  for (size_t i = span.end; i < part->keys.n; i++)
    hits_clear_bit(hits, order[i].key);
  for (size_t i = span.first; i < span.end && order[i].rank <= range->smallest_rank; i++)
    if (!is_in_range(part, range, &order[i]))
      hits_clear_bit(hits, order[i].key);
  for (size_t i = span.end; i > span.first && order[i - 1].rank >= range->largest_rank; i--)
    if (!is_in_range(part, range, &order[i - 1]))
      hits_clear_bit(hits, order[i - 1].key);
}
