/* Random keys.
 * SPDX-License-Identifier: MIT */
#include "key_set.h"

enum { POOL_NBYTES = 64 * MAX_KEYS };

struct key_set *key_set_make(struct rng *rng)
{
  struct key_set *set = test_alloc(sizeof *set);
  set->pool = test_alloc(POOL_NBYTES);
  rng_fill(rng, set->pool, POOL_NBYTES);
  return set;
}

void key_set_free(struct key_set *set)
{
  free(set->pool);
  free(set);
}

void key_set_draw(struct key_set *set, struct rng *rng, size_t n)
{
  static const size_t longest[] = {4, 16, 40, MAX_LENGTH};
  const size_t end = longest[rng_below(rng, COUNT(longest))] + 1;
  for (size_t i = 0; i < n; i++) {
    const uint64_t at = rng_below(rng, POOL_NBYTES - MAX_LENGTH), copy = rng_below(rng, 8);
    set->slices[i] = (lanebloom_slice){set->pool + at, rng_below(rng, end)};
    if (i > 0 && copy < 2)
      set->slices[i] = set->slices[copy == 0 ? i - 1 : rng_below(rng, i)];
  }
  set->keys = lanebloom_keys_slices(set->slices, n);
}

size_t draw_nkeys(struct rng *rng, size_t i)
{
  return i < 10 * 66    ? i / 10
         : i % 100 == 0 ? MAX_KEYS
                        : rng_below(rng, MAX_KEYS + 1) >> rng_below(rng, 12);
}

size_t leveldb_bytes_draw(struct rng *rng, size_t i, uint8_t *bytes, size_t max)
{
  static const uint8_t last[] = {0, 1, 2, 6, 29, 30, 31, 32, 127, 128, 255};
  const size_t size = i % 8 == 0 ? i / 8 % 4 : rng_below(rng, max + 1);
  rng_fill(rng, bytes, size);
  for (uint64_t n = rng_below(rng, 5); n > 0; n--) /* each pass halves the share of clear bits */
    for (size_t at = 0; at < size; at++)
      bytes[at] |= (uint8_t)rng_next(rng);
  if (size > 0)
    bytes[size - 1] =
        rng_below(rng, 2) ? (uint8_t)rng_below(rng, 32) : last[rng_below(rng, sizeof last)];
  return size;
}
