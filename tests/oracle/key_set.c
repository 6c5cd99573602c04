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
