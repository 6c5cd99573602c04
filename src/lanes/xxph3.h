/* XXPH3 in lanes: what is the same for all of them. A lane is a key. Keys of one size take the same
 * steps; of others those that do are listed together.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_XXPH3_H
#define LANEBLOOM_LANES_XXPH3_H

#include "../scalar/scalar.h"
#include "../scalar/xxph3.h"

enum { MIXED_NKEYS = 256 /* whose lists stay in the first-level cache beside keys and hashes */ };

/* Keys first .. first + n by scalar's loops. Not compiled here: for AVX-512 clang 14 makes keys
 * above 128 bytes three times as slow. */
static inline void hash_in_scalar(const lanebloom_keys *keys, size_t first, size_t n, void *hashes)
{
  const lanebloom_keys part = lanebloom_keys_part(keys, first, n);
  lanebloom_xxph3_hash_scalar(&part, (uint8_t *)hashes + first * sizeof(uint64_t));
}

/* What an instruction set does for the driver below: inline functions, in a constant. */
struct xxph3_vocabulary {
  /* Hashes keys of one width, from the first on. Returns how many. */
  size_t (*hash_fixed)(const uint8_t *keys, size_t width, size_t n, void *hashes);

  /* Hashes keys of any sizes: at most MIXED_NKEYS, a multiple of nlanes. */
  void (*hash_mixed)(const lanebloom_keys *keys, void *hashes);
  size_t nlanes;
};

/* A constant layout gives each its own loops. Returns how many keys are done. */
static inline __attribute__((always_inline)) size_t
hash_blocks(const lanebloom_keys *batch, enum keys_layout layout,
            const struct xxph3_vocabulary *vocabulary, void *hashes)
{
  size_t i = 0, n;
  for (; (n = (batch->n - i) / vocabulary->nlanes * vocabulary->nlanes) > 0; i += n) {
    n = n < MIXED_NKEYS ? n : MIXED_NKEYS;
    lanebloom_keys keys = lanebloom_keys_part(batch, i, n);
    keys.layout = layout;
    vocabulary->hash_mixed(&keys, (uint8_t *)hashes + i * sizeof(uint64_t));
  }
  return i;
}

/* Any batch. What lanes leave goes to scalar. */
static inline __attribute__((always_inline)) void
xxph3_hash(const lanebloom_keys *keys, const struct xxph3_vocabulary *vocabulary, void *hashes)
{
  size_t done = 0;
  switch ((enum keys_layout)keys->layout) {
  case KEYS_FIXED:
    done = vocabulary->hash_fixed(keys->data, keys->width, keys->n, hashes);
    break;
  case KEYS_OFFSETS32:
    done = hash_blocks(keys, KEYS_OFFSETS32, vocabulary, hashes);
    break;
  case KEYS_OFFSETS64:
    done = hash_blocks(keys, KEYS_OFFSETS64, vocabulary, hashes);
    break;
  case KEYS_SLICES:
    done = hash_blocks(keys, KEYS_SLICES, vocabulary, hashes);
    break;
  }
  hash_in_scalar(keys, done, keys->n - done, hashes);
}

#endif
