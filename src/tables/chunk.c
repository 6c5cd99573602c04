/* Chunks of keys in order.
 * SPDX-License-Identifier: MIT */
#include "chunk.h"
#include "../hits.h"
#include "../keys.h"
#include "index.h"
#include "window.h"

enum {
  /* Keys are put in order by so many bits, the first in which the tables' ranges differ, in two
   * rounds whose counts stay in the first-level cache. Keys that tie with a range's end are
   * compared with it. */
  RANK_NBITS = 22,
  ROUND_NBITS = RANK_NBITS / 2,
  ROUND_NVALUES = 1 << ROUND_NBITS,
};

/* ---- Ranks ---- */

static uint32_t rank_of(const struct ranking *ranking, lanebloom_slice key)
{
  uint64_t window = window_of(ranking->common, key);
  window = window < ranking->least  ? ranking->least
           : window > ranking->most ? ranking->most
                                    : window;
  return (uint32_t)((window - ranking->least) >> ranking->shift);
}

struct ranking lanebloom_ranking_make(const lanebloom_slice *smallest,
                                      const lanebloom_slice *largest)
{
  struct ranking ranking = {.most = UINT64_MAX};
  if (smallest) {
    ranking.common = window_common(*smallest, *largest);
    ranking.least = window_of(ranking.common, *smallest);
    ranking.most = window_of(ranking.common, *largest);
  }
  const uint64_t distance = ranking.most - ranking.least;
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

void lanebloom_chunk_begin(struct chunk *chunk, const lanebloom_keys *keys)
{
  chunk->keys = *keys;
  chunk->is_ranked = chunk->is_listed = chunk->is_ordered = false;
}

static void rank_keys(struct chunk *chunk)
{
  if (chunk->is_ranked)
    return;
  chunk->is_ranked = true;
  chunk->least_rank = UINT32_MAX;
  chunk->most_rank = 0;
  for (size_t i = 0; i < chunk->keys.n; i++) {
    const uint32_t rank = rank_of(chunk->ranking, keys_at(&chunk->keys, i));
    chunk->ranks[i] = rank;
    chunk->least_rank = rank < chunk->least_rank ? rank : chunk->least_rank;
    chunk->most_rank = rank > chunk->most_rank ? rank : chunk->most_rank;
  }
}

bool lanebloom_chunk_is_inside(struct chunk *chunk, const struct key_range *range)
{
  if (!range->is_known)
    return true;
  rank_keys(chunk);
  return chunk->least_rank > range->smallest_rank && chunk->most_rank < range->largest_rank;
}

bool lanebloom_chunk_is_outside(struct chunk *chunk, const struct key_range *range)
{
  if (!range->is_known)
    return false;
  rank_keys(chunk);
  return chunk->most_rank < range->smallest_rank || chunk->least_rank > range->largest_rank;
}

/* ---- Order ---- */

/* One round of sorting by counting; what has equal bits stays in the order it was in. */
static void order_round(const struct ranked_key *from, size_t n, unsigned shift,
                        struct ranked_key *to)
{
  uint32_t begins[ROUND_NVALUES + 1] = {0};
  for (size_t i = 0; i < n; i++)
    begins[(from[i].rank >> shift) % ROUND_NVALUES + 1]++;
  for (size_t i = 0; i < ROUND_NVALUES; i++)
    begins[i + 1] += begins[i];
  for (size_t i = 0; i < n; i++)
    to[begins[(from[i].rank >> shift) % ROUND_NVALUES]++] = from[i];
}

void lanebloom_chunk_list(struct chunk *chunk, bool orders)
{
  const size_t n = chunk->keys.n;
  if (!chunk->is_listed) {
    rank_keys(chunk);
    chunk->is_listed = true;
    for (size_t i = 0; i < n; i++)
      chunk->order[i] = (struct ranked_key){chunk->ranks[i], (uint32_t)i};
  }
  if (orders && !chunk->is_ordered) {
    chunk->is_ordered = true;
    order_round(chunk->order, n, 0, chunk->half_ordered);
    order_round(chunk->half_ordered, n, ROUND_NBITS, chunk->order);
  }
}

/* How many keys have a rank below this one. */
static size_t count_below(const struct chunk *chunk, uint32_t rank)
{
  size_t first = 0, end = chunk->keys.n;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (chunk->order[middle].rank < rank)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

struct span lanebloom_chunk_span(const struct chunk *chunk, const struct key_range *range)
{
  if (!range->is_known || !chunk->is_ordered)
    return (struct span){0, chunk->keys.n};
  return (struct span){count_below(chunk, range->smallest_rank),
                       count_below(chunk, range->largest_rank + 1)};
}

static bool is_in_range(const struct chunk *chunk, const struct key_range *range,
                        const struct ranked_key *ranked)
{
  if (!range->is_known ||
      (ranked->rank > range->smallest_rank && ranked->rank < range->largest_rank))
    return true;
  if (ranked->rank < range->smallest_rank || ranked->rank > range->largest_rank)
    return false;
  const lanebloom_slice key = keys_at(&chunk->keys, ranked->key);
  return lanebloom_key_compare(key, range->smallest) >= 0 &&
         lanebloom_key_compare(key, range->largest) <= 0;
}

size_t lanebloom_chunk_select(const struct chunk *chunk, const struct key_range *range,
                              struct span span, uint32_t *selected)
{
  size_t n = 0;
  for (size_t i = span.first; i < span.end; i++)
    if (is_in_range(chunk, range, &chunk->order[i]))
      selected[n++] = chunk->order[i].key;
  return n;
}

void lanebloom_chunk_clear_outside(const struct chunk *chunk, const struct key_range *range,
                                   struct span span, uint8_t *hits)
{
  const struct ranked_key *order = chunk->order;
  for (size_t i = 0; i < span.first; i++)
    hits_clear_bit(hits, order[i].key);
  for (size_t i = span.end; i < chunk->keys.n; i++)
    hits_clear_bit(hits, order[i].key);
  for (size_t i = span.first; i < span.end && order[i].rank <= range->smallest_rank; i++)
    if (!is_in_range(chunk, range, &order[i]))
      hits_clear_bit(hits, order[i].key);
  for (size_t i = span.end; i > span.first && order[i - 1].rank >= range->largest_rank; i--)
    if (!is_in_range(chunk, range, &order[i - 1]))
      hits_clear_bit(hits, order[i - 1].key);
}
