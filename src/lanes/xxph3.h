/* Definitions that all variants of XXPH3 in lanes share. A lane holds a key. Keys of one size take
 * the same steps; keys of many sizes are grouped into lists, so that the keys of a list take the
 * same steps.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_XXPH3_H
#define LANEBLOOM_LANES_XXPH3_H

#include "../scalar/scalar.h"
#include "../scalar/xxph3.h"

enum { MIXED_NKEYS = 256 /* their lists, keys and hashes stay in the first-level cache */ };

/* Hashes n keys, from key `first` on, with the scalar kernel. The functions of the scalar kernel
 * are called and not inlined here: if clang 14 compiled them for AVX-512, keys above 128 bytes
 * would take three times as long. */
static inline void hash_in_scalar(const lanebloom_keys *keys, size_t first, size_t n, void *hashes)
{
  const lanebloom_keys part = lanebloom_keys_part(keys, first, n);
  lanebloom_xxph3_hash_scalar(&part, (uint8_t *)hashes + first * sizeof(uint64_t));
}

/* ---- A key above 240 bytes: its words are in lanes, 64 bytes at a time ---- */

/* The operations that hash_above_240() needs. An instruction set defines them as inline functions
 * and lists them in a constant of this type. */
struct xxph3_stripe_steps {
  /* Adds n stripes of 64 bytes to the lanes. The first stripe is combined with the secret from the
   * offset `secret` on, and each following stripe with the secret eight bytes later. */
  void (*add)(uint64_t lanes[XXPH3_NLANES], const uint8_t *stripes, size_t n, size_t secret);

  void (*scramble)(uint64_t lanes[XXPH3_NLANES]);
};

static inline __attribute__((always_inline)) uint64_t
hash_above_240(const uint8_t *key, size_t size, const struct xxph3_stripe_steps *stripes)
{
  _Alignas(64) uint64_t lanes[XXPH3_NLANES];
  memcpy(lanes, xxph3_first_lanes, sizeof lanes);
  const size_t nstripes = size / XXPH3_STRIPE_NBYTES;
  for (size_t i = 0, n; i < nstripes; i += n) {
    n = nstripes - i < XXPH3_STRIPES_PER_BLOCK ? nstripes - i : XXPH3_STRIPES_PER_BLOCK;
    stripes->add(lanes, key + i * XXPH3_STRIPE_NBYTES, n, 0);
    if (n == XXPH3_STRIPES_PER_BLOCK)
      stripes->scramble(lanes);
  }
  if (size % XXPH3_STRIPE_NBYTES != 0)
    stripes->add(lanes, key + size - XXPH3_STRIPE_NBYTES, 1, XXPH3_LAST_SECRET);
  return xxph3_merge(lanes, size);
}

/* Hashes keys of one width, which must be above 240 bytes. */
static inline __attribute__((always_inline)) void
hash_wide(const uint8_t *keys, size_t width, size_t stride, size_t n,
          const struct xxph3_stripe_steps *stripes, void *hashes)
{
  for (size_t i = 0; i < n; i++)
    hash64_store(hashes, i, hash_above_240(keys + i * stride, width, stripes));
}

/* ---- Batches ---- */

/* The operations that xxph3_hash() needs. An instruction set defines them as inline functions and
 * lists them in a constant of this type. */
struct xxph3_steps {
  /* Hashes keys of one width, from the first key on. Returns the number of hashed keys. */
  size_t (*hash_fixed)(const uint8_t *keys, size_t width, size_t stride, size_t n, void *hashes);

  /* Hashes at most MIXED_NKEYS keys of any sizes. */
  void (*hash_mixed)(const lanebloom_keys *keys, void *hashes);

  const struct xxph3_stripe_steps *stripes;
};

/* Checks whether the keys are long on average. If they are, lists cost more than the mispredicted
 * branches they save. (On a Xeon with AVX-512, a key of 129 to 240 bytes takes 25.0 ns if lists are
 * used, and 22.5 ns if keys are hashed one after another. With AVX2, it takes 24.0 ns if lists are
 * used, and 21.7 ns if not.) Returns false for slices, because their average is unknown without a
 * pass over them. */
static inline __attribute__((always_inline)) bool are_long(const lanebloom_keys *keys,
                                                           enum keys_layout layout)
{
  enum { LONG_NBYTES = 160 };
  const uint32_t *offsets32 = keys->index;
  const uint64_t *offsets64 = keys->index;
  if (layout == KEYS_OFFSETS32)
    return offsets32[keys->n] - offsets32[0] >= LONG_NBYTES * keys->n;
  if (layout == KEYS_OFFSETS64)
    return offsets64[keys->n] - offsets64[0] >= LONG_NBYTES * keys->n;
  return false;
}

/* Hashes keys one after another, in their order in memory: keys above 240 bytes in lanes, other
 * keys with scalar code. */
static __attribute__((noinline)) void
hash_in_turn(const lanebloom_keys *keys, const struct xxph3_stripe_steps *stripes, void *hashes)
{
  size_t first = 0;
  for (size_t i = 0; i < keys->n; i++) {
    const lanebloom_slice key = keys_at(keys, i);
    if (key.size <= 240)
      continue;
    if (first < i)
      hash_in_scalar(keys, first, i - first, hashes);
    hash64_store(hashes, i, hash_above_240(key.data, key.size, stripes));
    first = i + 1;
  }
  if (first < keys->n)
    hash_in_scalar(keys, first, keys->n - first, hashes);
}

/* Hashes blocks of keys. The layout is a constant, so that each layout gets its own loops. */
static inline __attribute__((always_inline)) void hash_blocks(const lanebloom_keys *batch,
                                                              enum keys_layout layout,
                                                              const struct xxph3_steps *steps,
                                                              void *hashes)
{
  for (size_t i = 0; i < batch->n; i += MIXED_NKEYS) {
    lanebloom_keys keys = lanebloom_keys_part(batch, i, MIXED_NKEYS);
    keys.layout = layout;
    uint8_t *const to = (uint8_t *)hashes + i * sizeof(uint64_t);
    if (are_long(&keys, layout))
      hash_in_turn(&keys, steps->stripes, to);
    else
      steps->hash_mixed(&keys, to);
  }
}

/* Hashes keys of many sizes. It is not inlined, so that keys of one width do not need stack for the
 * lists. */
static __attribute__((noinline)) void hash_sizes(const lanebloom_keys *keys,
                                                 const struct xxph3_steps *steps, void *hashes)
{
  if (keys->layout == KEYS_OFFSETS32)
    hash_blocks(keys, KEYS_OFFSETS32, steps, hashes);
  else if (keys->layout == KEYS_OFFSETS64)
    hash_blocks(keys, KEYS_OFFSETS64, steps, hashes);
  else
    hash_blocks(keys, KEYS_SLICES, steps, hashes);
}

/* Hashes any batch. The scalar kernel hashes the keys that hash_fixed() leaves. */
static inline __attribute__((always_inline)) void
xxph3_hash(const lanebloom_keys *keys, const struct xxph3_steps *steps, void *hashes)
{
  if (keys->layout != KEYS_FIXED) {
    hash_sizes(keys, steps, hashes);
    return;
  }
  const size_t done = steps->hash_fixed(keys->data, keys->width, keys->stride, keys->n, hashes);
  if (done < keys->n)
    hash_in_scalar(keys, done, keys->n - done, hashes);
}

#endif
