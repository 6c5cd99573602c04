/* Hashes keys by FNV-1 in lanes. Each lane holds a key. FNV-1 is a chain of one product per byte,
 * and each product must wait for the one before it. So several vectors of keys are hashed side by
 * side: while one chain waits, the CPU computes the others.
 * SPDX-License-Identifier: MIT */
#include "../layouts/fnv1.h"
#include "../keys.h"
#include "lanes.h"
#include "words.h"

enum {
  NCHAINS = 4, /* the number of vectors of keys that are hashed side by side */
  GROUP_NKEYS = NCHAINS * LANES64,
  WORD_NBYTES = 8,
  STRIPE_NBYTES = 32,
};

typedef int64_t signed_words __attribute__((vector_size(VECTOR_NBYTES)));

struct group {
  const uint8_t *keys[GROUP_NKEYS];
  size_t sizes[GROUP_NKEYS];
};

/* ---- Bytes ---- */

/* Vectors of 64 bytes have products of 64 bits. In other sets, two products of 32 bits and shifts
 * take fewer instructions, because the prime is 2^40 + 435. */
static inline words times_prime(words hash)
{
  if (VECTOR_NBYTES == 64)
    return hash * FNV1_PRIME;
  const vector factor = splat64(FNV1_PRIME & UINT32_MAX);
  const words low = (words)mul_even32((vector)hash, factor),
              high = (words)mul_even32((vector)(hash >> 32), factor);
  return low + (((hash << 8) + high) << 32);
}

/* Returns the lowest byte of each word. */
static inline words byte_of(words word, bool is_signed)
{
  const words byte = word & 0xff;
  return is_signed ? (byte ^ 0x80) - 0x80 : byte;
}

/* Hashes the first nbytes of a word of each key. */
__attribute__((always_inline)) static inline void take(words hash[NCHAINS], words word[NCHAINS],
                                                       size_t nbytes, bool is_signed)
{
  for (size_t i = 0; i < nbytes; i++)
#pragma GCC unroll 4
    for (size_t c = 0; c < NCHAINS; c++) {
      hash[c] = times_prime(hash[c]) ^ byte_of(word[c], is_signed);
      word[c] >>= 8;
    }
}

/* Does the same, but each key has its own number of bytes; it may be 8 or more. */
__attribute__((always_inline)) static inline void
take_some(words hash[NCHAINS], words word[NCHAINS], const words nbytes[NCHAINS], bool is_signed)
{
  for (size_t i = 0; i < WORD_NBYTES; i++)
#pragma GCC unroll 4
    for (size_t c = 0; c < NCHAINS; c++) {
      const words next = times_prime(hash[c]) ^ byte_of(word[c], is_signed);
      const words has_byte = (words)((signed_words)nbytes[c] > (signed_words)splat(i));
      hash[c] ^= (hash[c] ^ next) & has_byte;
      word[c] >>= 8;
    }
}

/* ---- Groups ---- */

/* Loads the bytes of a key from `at` on, at most 8, and no other memory. Bytes after the end of the
 * key become 0. */
static inline uint64_t load_rest(const uint8_t *key, size_t size, size_t at)
{
  if (size <= at)
    return 0;
  const size_t left = size - at;
  if (left >= WORD_NBYTES)
    return load_le64(key + at);
  if (size >= WORD_NBYTES)
    return load_le64(key + size - WORD_NBYTES) >> (64 - 8 * left);
  if (left >= 4)
    return load_le32(key) | (uint64_t)load_le32(key + left - 4) << 8 * (left - 4);
  return key[0] | (uint64_t)key[left / 2] << 8 * (left / 2) |
         (uint64_t)key[left - 1] << 8 * (left - 1);
}

/* Loads the rests of the keys of a chain, and the number of bytes that are left of each. */
static inline words load_rests(const struct group *group, size_t first, size_t at, words *nbytes)
{
  words loaded;
  for (size_t i = 0; i < LANES64; i++) {
    const size_t size = group->sizes[first + i];
    loaded[i] = load_rest(group->keys[first + i], size, at);
    (*nbytes)[i] = size > at ? size - at : 0;
  }
  return loaded;
}

/* Hashes a group of keys: stripes and words that all keys have, then the rests. */
__attribute__((always_inline)) static inline void hash_group(const struct group *group,
                                                             bool is_signed, void *hashes)
{
  size_t shortest = group->sizes[0], longest = shortest, at = 0;
  for (size_t i = 1; i < GROUP_NKEYS; i++) {
    shortest = group->sizes[i] < shortest ? group->sizes[i] : shortest;
    longest = group->sizes[i] > longest ? group->sizes[i] : longest;
  }
  words hash[NCHAINS], word[NCHAINS];
  for (size_t c = 0; c < NCHAINS; c++)
    hash[c] = splat(FNV1_OFFSET_BASIS);
  for (; shortest - at >= STRIPE_NBYTES; at += STRIPE_NBYTES) {
    words columns[NCHAINS][STRIPE_NBYTES / WORD_NBYTES];
    for (size_t c = 0; c < NCHAINS; c++)
      load_stripe(group->keys + c * LANES64, at, columns[c]);
    for (size_t w = 0; w < STRIPE_NBYTES / WORD_NBYTES; w++) {
      for (size_t c = 0; c < NCHAINS; c++)
        word[c] = columns[c][w];
      take(hash, word, WORD_NBYTES, is_signed);
    }
  }
  for (; shortest - at >= WORD_NBYTES; at += WORD_NBYTES) {
    for (size_t c = 0; c < NCHAINS; c++)
      word[c] = load_8(group->keys + c * LANES64, at);
    take(hash, word, WORD_NBYTES, is_signed);
  }
  for (; at < longest; at += WORD_NBYTES) {
    words nbytes[NCHAINS];
    for (size_t c = 0; c < NCHAINS; c++)
      word[c] = load_rests(group, c * LANES64, at, &nbytes[c]);
    if (shortest == longest)
      take(hash, word, longest - at, is_signed);
    else
      take_some(hash, word, nbytes, is_signed);
    if (longest - at <= WORD_NBYTES)
      break; /* so that `at` cannot overflow */
  }
  for (size_t c = 0; c < NCHAINS; c++)
    store((uint8_t *)hashes + c * VECTOR_NBYTES, (vector)hash[c]);
}

static __attribute__((noinline)) void hash_group_unsigned(const struct group *group, void *hashes)
{
  hash_group(group, false, hashes);
}

static __attribute__((noinline)) void hash_group_signed(const struct group *group, void *hashes)
{
  hash_group(group, true, hashes);
}

/* ---- Batches ---- */

typedef void hash_group_function(const struct group *group, void *hashes);

/* Hashes all keys. The last group is filled up by repeating the last key. The layout is a constant,
 * so that each layout gets its own loop. */
__attribute__((always_inline)) static inline void hash_all(const lanebloom_keys *batch,
                                                           enum keys_layout layout,
                                                           hash_group_function *hash,
                                                           uint8_t *hashes)
{
  lanebloom_keys keys = *batch;
  keys.layout = layout;
  for (size_t first = 0; first < keys.n; first += GROUP_NKEYS) {
    const size_t left = keys.n - first, n = left < GROUP_NKEYS ? left : GROUP_NKEYS;
    struct group group;
    for (size_t i = 0; i < GROUP_NKEYS; i++) {
      const lanebloom_slice key = keys_at(&keys, first + (i < n ? i : n - 1));
      group.keys[i] = key.data;
      group.sizes[i] = key.size;
    }
    if (n == GROUP_NKEYS) {
      hash(&group, hashes + first * sizeof(uint64_t));
    } else {
      uint64_t whole[GROUP_NKEYS];
      hash(&group, whole);
      memcpy(hashes + first * sizeof(uint64_t), whole, n * sizeof(uint64_t));
    }
  }
}

static inline void hash_layout(const lanebloom_keys *keys, hash_group_function *hash,
                               uint8_t *hashes)
{
  switch ((enum keys_layout)keys->layout) {
  case KEYS_FIXED:
    hash_all(keys, KEYS_FIXED, hash, hashes);
    break;
  case KEYS_OFFSETS32:
    hash_all(keys, KEYS_OFFSETS32, hash, hashes);
    break;
  case KEYS_OFFSETS64:
    hash_all(keys, KEYS_OFFSETS64, hash, hashes);
    break;
  case KEYS_SLICES:
    hash_all(keys, KEYS_SLICES, hash, hashes);
    break;
  }
}

void KERNEL(fnv1_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_layout(keys, hash_group_unsigned, hashes);
}

void KERNEL(fnv1_signed_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_layout(keys, hash_group_signed, hashes);
}
