/* XXPH3 of keys above 16 bytes in lanes: those of as many steps of 32 bytes are listed together.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_XXPH3_LISTS_H
#define LANEBLOOM_LANES_XXPH3_LISTS_H

#include "xxph3.h"

enum {
  MAX_QWORDS = 8, /* 64-bit lanes of the widest registers */
  NLISTS = 5,     /* one to four steps, and all others */
  OTHERS = NLISTS - 1,
};

/* Indices of keys. Stores take whole registers. */
struct lists {
  uint32_t indices[NLISTS][MIXED_NKEYS + MAX_QWORDS];
  size_t counts[NLISTS];
};

/* What an instruction set does for the driver below: inline functions, in a constant. */
struct xxph3_list_vocabulary {
  /* Hashes keys of nsteps steps: `last` are their last 16 bytes. */
  void (*hash_steps)(const uint8_t *const *first, const uint8_t *const *last, const uint64_t *sizes,
                     size_t nsteps, uint64_t *hashes);
  size_t nlanes;
};

/* Not inlined, because it would be for each list of each layout. */
static __attribute__((noinline)) void hash_list(const lanebloom_keys *keys, const uint32_t *list,
                                                size_t n, size_t nsteps,
                                                const struct xxph3_list_vocabulary *listing,
                                                void *hashes)
{
  size_t i = 0;
  for (; i + listing->nlanes <= n; i += listing->nlanes) {
    const uint8_t *first[MAX_QWORDS], *last[MAX_QWORDS];
    uint64_t sizes[MAX_QWORDS], done[MAX_QWORDS];
    for (size_t lane = 0; lane < listing->nlanes; lane++) {
      const lanebloom_slice key = keys_at(keys, list[i + lane]);
      first[lane] = key.data;
      last[lane] = first[lane] + key.size - 16;
      sizes[lane] = key.size;
    }
    listing->hash_steps(first, last, sizes, nsteps, done);
    for (size_t lane = 0; lane < listing->nlanes; lane++)
      xxph3_store(hashes, list[i + lane], done[lane]);
  }
  for (; i < n; i++) {
    const lanebloom_slice key = keys_at(keys, list[i]);
    xxph3_store(hashes, list[i], xxph3_17_to_128(key.data, key.size));
  }
}

/* Hashes all keys that are listed. */
static inline __attribute__((always_inline)) void
hash_lists(const lanebloom_keys *keys, const struct lists *lists,
           const struct xxph3_list_vocabulary *listing, void *hashes)
{
  for (size_t l = 0; l < OTHERS; l++)
    hash_list(keys, lists->indices[l], lists->counts[l], l + 1, listing, hashes);
  for (size_t j = 0; j < lists->counts[OTHERS]; j++) {
    const size_t i = lists->indices[OTHERS][j];
    const lanebloom_slice key = keys_at(keys, i);
    if (key.size > 0 && key.size < 4)
      xxph3_store(hashes, i, xxph3_1_to_3(key.data, key.size));
    else
      hash_in_scalar(keys, i, 1, hashes);
  }
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
  return 0;
}

#endif
