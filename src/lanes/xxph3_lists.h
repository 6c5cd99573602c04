/* XXPH3 in lanes: keys of many sizes, and of one width. Lanes take keys of 4 to 16 bytes where they
 * stand. Longer ones of as many steps of 32 bytes are listed together.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_XXPH3_LISTS_H
#define LANEBLOOM_LANES_XXPH3_LISTS_H

#include "xxph3.h"

enum {
  MAX_QWORDS = 8, /* 64-bit lanes of the widest registers */
  MIN_SHORT = 4,
  MAX_SHORT = 16,
  PAGE_NBYTES = 4096, /* the smallest there are */
  NLISTS = 5,         /* one to four steps, and all others that are not short */
  ONE_STEP = 0,       /* in scalar, whose two products cost less than to get into lanes */
  OTHERS = NLISTS - 1,
};

/* Indices of keys. Stores take whole registers. */
struct lists {
  uint32_t indices[NLISTS][MIXED_NKEYS + MAX_QWORDS];
  size_t counts[NLISTS];
};

/* Indices of keys that are not short, and the numbers of their lists. */
struct unlisted {
  uint32_t indices[MIXED_NKEYS + MAX_QWORDS];
  uint32_t lists[MIXED_NKEYS + MAX_QWORDS];
};

/* What an instruction set does for the driver below: inline functions, in a constant. */
struct xxph3_list_vocabulary {
  size_t nlanes;

  /* Do 16 bytes from the start of each of nlanes keys, from key i on, stay in the key's pages? Not
   * if one of them is empty. */
  bool (*stay_in_page)(const lanebloom_keys *keys, size_t i);

  /* Hashes them, of which 16 bytes can be loaded, as if all were short. Puts those that are not
   * behind n others and returns how many. Their numbers count from `first` on. */
  size_t (*hash_short)(const lanebloom_keys *keys, size_t i, size_t first,
                       struct unlisted *unlisted, size_t n, void *hashes);

  void (*list)(const lanebloom_keys *keys, const struct unlisted *unlisted, size_t n,
               struct lists *lists);

  /* Hashes keys of nsteps steps: `last` are their last 16 bytes. */
  void (*hash_steps)(const uint8_t *const *first, const uint8_t *const *last, const uint64_t *sizes,
                     size_t nsteps, uint64_t *hashes);

  const struct xxph3_stripe_vocabulary *stripes;
};

/* ---- Keys that are not short ---- */

/* Not inlined, because it would be for each list of each layout. */
static __attribute__((noinline)) void hash_list(const lanebloom_keys *keys, const uint32_t *list,
                                                size_t n, size_t nsteps,
                                                const struct xxph3_list_vocabulary *lanes,
                                                void *hashes)
{
  size_t i = 0;
  for (; i + lanes->nlanes <= n; i += lanes->nlanes) {
    const uint8_t *first[MAX_QWORDS], *last[MAX_QWORDS];
    uint64_t sizes[MAX_QWORDS], done[MAX_QWORDS];
    for (size_t lane = 0; lane < lanes->nlanes; lane++) {
      const lanebloom_slice key = keys_at(keys, list[i + lane]);
      first[lane] = key.data;
      last[lane] = first[lane] + key.size - 16;
      sizes[lane] = key.size;
    }
    lanes->hash_steps(first, last, sizes, nsteps, done);
    for (size_t lane = 0; lane < lanes->nlanes; lane++)
      hash64_store(hashes, list[i + lane], done[lane]);
  }
  for (; i < n; i++) {
    const lanebloom_slice key = keys_at(keys, list[i]);
    hash64_store(hashes, list[i], xxph3_17_to_128(key.data, key.size));
  }
}

/* Hashes all keys that are listed. */
static inline __attribute__((always_inline)) void
hash_lists(const lanebloom_keys *keys, const struct lists *lists,
           const struct xxph3_list_vocabulary *lanes, void *hashes)
{
  for (size_t j = 0; j < lists->counts[ONE_STEP]; j++) {
    const size_t i = lists->indices[ONE_STEP][j];
    const lanebloom_slice key = keys_at(keys, i);
    const uint8_t *data = key.data;
    const uint64_t h =
        key.size * XXPH3_PRIME64_1 + xxph3_mix16(data, 0) + xxph3_mix16(data + key.size - 16, 16);
    hash64_store(hashes, i, xxph3_avalanche(h));
  }
  for (size_t l = ONE_STEP + 1; l < OTHERS; l++)
    hash_list(keys, lists->indices[l], lists->counts[l], l + 1, lanes, hashes);
  for (size_t j = 0; j < lists->counts[OTHERS]; j++) {
    const size_t i = lists->indices[OTHERS][j];
    const lanebloom_slice key = keys_at(keys, i);
    if (key.size > 240)
      hash64_store(hashes, i, hash_above_240(key.data, key.size, lanes->stripes));
    else if (key.size > 0 && key.size < MIN_SHORT)
      hash64_store(hashes, i, xxph3_1_to_3(key.data, key.size));
    else if (key.size > 128)
      hash64_store(hashes, i, xxph3_129_to_240(key.data, key.size));
    else
      hash_in_scalar(keys, i, 1, hashes);
  }
}

/* ---- Keys of many sizes ---- */

/* May 16 bytes be loaded from the start of each of n keys from i on? Offsets ascend, so the last
 * tells of all. */
static inline __attribute__((always_inline)) bool
can_load(const lanebloom_keys *keys, size_t i, const struct xxph3_list_vocabulary *lanes)
{
  const size_t last = i + lanes->nlanes - 1;
  if (last >= keys->n)
    return false;
  const uint32_t *offsets32 = keys->index;
  const uint64_t *offsets64 = keys->index;
  if (keys->layout == KEYS_OFFSETS32 && offsets32[keys->n] - offsets32[last] >= MAX_SHORT)
    return true;
  if (keys->layout == KEYS_OFFSETS64 && offsets64[keys->n] - offsets64[last] >= MAX_SHORT)
    return true;
  return lanes->stay_in_page(keys, i);
}

/* Hashes a group whose bytes have to be copied first, or of fewer keys than lanes. */
static __attribute__((noinline)) size_t hash_copies(const lanebloom_keys *keys, size_t i,
                                                    const struct xxph3_list_vocabulary *lanes,
                                                    struct unlisted *unlisted, size_t n,
                                                    void *hashes)
{
  uint8_t copies[MAX_QWORDS][MAX_SHORT] = {{0}};
  lanebloom_slice slices[MAX_QWORDS];
  uint64_t done[MAX_QWORDS];
  for (size_t lane = 0; lane < lanes->nlanes; lane++) {
    slices[lane] = (lanebloom_slice){copies[lane], MAX_SHORT};
    if (i + lane >= keys->n)
      continue;
    const lanebloom_slice key = keys_at(keys, i + lane);
    slices[lane].size = key.size;
    if (key.size > 0)
      memcpy(copies[lane], key.data, key.size < MAX_SHORT ? key.size : MAX_SHORT);
  }
  const lanebloom_keys copied = {.index = slices, .n = lanes->nlanes, .layout = KEYS_SLICES};
  const size_t nunlisted = lanes->hash_short(&copied, 0, i, unlisted, n, done);
  const size_t left = keys->n - i;
  memcpy((uint8_t *)hashes + i * sizeof *done, done,
         (left < lanes->nlanes ? left : lanes->nlanes) * sizeof *done);
  return nunlisted;
}

static inline __attribute__((always_inline)) void
hash_many_sizes(const lanebloom_keys *keys, const struct xxph3_list_vocabulary *lanes, void *hashes)
{
  struct unlisted unlisted;
  size_t n = 0;
  for (size_t i = 0; i < keys->n; i += lanes->nlanes) {
    for (; can_load(keys, i, lanes); i += lanes->nlanes) /* without calls: constants stay */
      n += lanes->hash_short(keys, i, i, &unlisted, n, (uint8_t *)hashes + i * sizeof(uint64_t));
    if (i < keys->n)
      n += hash_copies(keys, i, lanes, &unlisted, n, hashes);
  }
  if (n == 0)
    return;
  struct lists lists;
  memset(lists.counts, 0, sizeof lists.counts);
  lanes->list(keys, &unlisted, n, &lists);
  hash_lists(keys, &lists, lanes, hashes);
}

/* ---- Keys of one width ---- */

/* What an instruction set does for the driver below: inline functions, in a constant. They hash
 * keys from the first on, and return how many. */
struct xxph3_width_vocabulary {
  size_t (*hash_8)(const uint8_t *keys, size_t n, void *hashes);
  size_t (*hash_16)(const uint8_t *keys, size_t n, void *hashes);
  size_t (*hash_4_to_8)(const uint8_t *keys, size_t width, size_t n, void *hashes);
  size_t (*hash_9_to_16)(const uint8_t *keys, size_t width, size_t n, void *hashes);
  size_t (*hash_17_to_128)(const uint8_t *keys, size_t width, size_t n, void *hashes);
  size_t (*hash_129_to_240)(const uint8_t *keys, size_t width, size_t n,
                            void *hashes); /* NULL: lanes are not faster than scalar */
  const struct xxph3_stripe_vocabulary *stripes;
};

static inline __attribute__((always_inline)) size_t
hash_width(const uint8_t *keys, size_t width, size_t n, const struct xxph3_width_vocabulary *widths,
           void *hashes)
{
  if (width == 8)
    return widths->hash_8(keys, n, hashes);
  if (width == 16)
    return widths->hash_16(keys, n, hashes);
  if (width >= 4 && width <= 8)
    return widths->hash_4_to_8(keys, width, n, hashes);
  if (width >= 9 && width <= 16)
    return widths->hash_9_to_16(keys, width, n, hashes);
  if (width >= 17 && width <= 128)
    return widths->hash_17_to_128(keys, width, n, hashes);
  if (width > 128 && width <= 240 && widths->hash_129_to_240)
    return widths->hash_129_to_240(keys, width, n, hashes);
  if (width <= 240)
    return 0;
  hash_wide(keys, width, n, widths->stripes, hashes);
  return n;
}

#endif
