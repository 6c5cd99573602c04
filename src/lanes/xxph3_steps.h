/* The steps of XXPH3 in lanes. They are the steps of scalar/xxph3.h, with a key in each lane of 64
 * bits. Functions that are only declared here have two implementations: one in xxph3_short.h, and
 * one for AVX-512 in xxph3_packed.h.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_XXPH3_STEPS_H
#define LANEBLOOM_LANES_XXPH3_STEPS_H

#include "vector.h"
#include "xxph3.h"

enum {
  /* the number of registers of keys that are hashed side by side: a quarter of all registers */
  NREGISTERS = LANES64,
  MIN_SHORT = 4,
  MAX_SHORT = 16,
};

/* Return the products, modulo 2^64, of lanes and a number of 64 or of 32 bits. */
static inline vector multiply(vector a, uint64_t b);
static inline vector multiply32(vector a, uint32_t b);

/* Returns x ^ x >> 51, where x is words ^ secret. */
static inline vector under_secret(vector words);

/* Returns the 128-bit products, folded to 64 bits. The products are added up from four products of
 * halves, as in multiplication on paper. The sum of the two middle products may have 65 bits. So
 * only the lower half of the first middle product is added to the second one; its upper half is
 * added to the top product.
 *
 *                   a.low  * b.low
 *           a.high * b.low
 *           a.low  * b.high
 *   a.high * b.high */
static inline vector multiply_fold(vector a, vector b)
{
  const vector low_half = splat64(0xffffffff);
  const vector a_high = shift_right64(a, 32), b_high = shift_right64(b, 32);
  const vector bottom = mul_even32(a, b), top = mul_even32(a_high, b_high);
  const vector middle = add64(mul_even32(a_high, b), shift_right64(bottom, 32));
  const vector other = add64(mul_even32(a, b_high), bit_and(middle, low_half));
  const vector low = merge_even32(bottom, other);
  const vector high = add64(add64(top, shift_right64(middle, 32)), shift_right64(other, 32));
  return bit_xor(low, high);
}

static inline vector avalanche(vector h)
{
  h = bit_xor(h, shift_right64(h, 37));
  h = multiply(h, XXPH3_PRIME64_3);
  return bit_xor(h, shift_right64(h, 32));
}

/* Hashes n registers of words. A word has the last four bytes of a key in its upper half, and the
 * first four in its lower half. All registers take a step before the next step begins: in AVX-512 a
 * product takes 15 cycles, and meanwhile the products of the other registers can begin. (On a
 * Granite Rapids, a key of 8 bytes takes 0.39 ns with AVX-512 and 0.79 ns with AVX2. Without this
 * order of steps, it takes 0.42 ns with AVX-512 and 0.88 ns with AVX2.) */
static inline __attribute__((always_inline)) void hash_4_to_8(vector *words, size_t n, vector size)
{
  for (size_t r = 0; r < n; r++)
    words[r] = under_secret(words[r]);
  for (size_t r = 0; r < n; r++)
    words[r] = add64(size, multiply32(words[r], XXPH3_PRIME32_1));
  for (size_t r = 0; r < n; r++)
    words[r] = bit_xor(words[r], shift_right64(words[r], 47));
  for (size_t r = 0; r < n; r++)
    words[r] = multiply(words[r], XXPH3_PRIME64_2);
  for (size_t r = 0; r < n; r++)
    words[r] = bit_xor(words[r], shift_right64(words[r], 37));
  for (size_t r = 0; r < n; r++)
    words[r] = multiply(words[r], XXPH3_PRIME64_3);
  for (size_t r = 0; r < n; r++)
    words[r] = bit_xor(words[r], shift_right64(words[r], 32));
}

/* Returns the hash of keys of 9 to 16 bytes before the avalanche. `low` and `high` have the first
 * and the last eight bytes of each key. */
static inline vector sum_9_to_16(vector low, vector high, vector size)
{
  low = bit_xor(low, splat64(xxph3_secret64(0)));
  high = bit_xor(high, splat64(xxph3_secret64(8)));
  return add64(add64(add64(size, low), high), multiply_fold(low, high));
}

static inline vector hash_9_to_16(vector low, vector high, vector size)
{
  return avalanche(sum_9_to_16(low, high, size));
}

/* Mixes 16 bytes of each key with 16 bytes of the secret. `even` and `odd` have the bytes of the
 * even and of the odd keys, a block for each key. */
static inline vector mix16(vector even, vector odd, size_t secret)
{
  const vector low = interleave_low64(even, odd), high = interleave_high64(even, odd);
  return multiply_fold(bit_xor(low, splat64(xxph3_secret64(secret))),
                       bit_xor(high, splat64(xxph3_secret64(secret + 8))));
}

static inline void store_hashes(void *hashes, size_t i, vector h)
{
  store((uint8_t *)hashes + i * sizeof(uint64_t), h);
}

/* Loads 16 bytes from each of VECTOR_NBLOCKS addresses, which are `stride` bytes apart. */
static inline vector load_strided(const uint8_t *at, size_t stride)
{
  block16 blocks[VECTOR_NBLOCKS];
  for (size_t i = 0; i < VECTOR_NBLOCKS; i++)
    blocks[i] = load_block(at + i * stride);
  return join_blocks(blocks);
}

/* ---- A key above 240 bytes ---- */

enum { NVECTORS = XXPH3_NLANES / LANES64 };

static inline void add_stripes(uint64_t lanes[XXPH3_NLANES], const uint8_t *stripes, size_t n,
                               size_t secret)
{
  vector sums[NVECTORS];
  for (size_t v = 0; v < NVECTORS; v++)
    sums[v] = load_aligned(lanes + LANES64 * v);
  for (size_t i = 0; i < n; i++)
    for (size_t v = 0; v < NVECTORS; v++) {
      const uint8_t *keys = lanebloom_xxph3_secret + secret + 8 * i;
      const vector words = load(stripes + XXPH3_STRIPE_NBYTES * i + VECTOR_NBYTES * v);
      const vector keyed = bit_xor(words, load(keys + VECTOR_NBYTES * v));
      const vector product = mul_even32(keyed, shift_right64(keyed, 32));
      sums[v] = add64(sums[v], add64(words, product));
    }
  for (size_t v = 0; v < NVECTORS; v++)
    store_aligned(lanes + LANES64 * v, sums[v]);
}

static inline void scramble(uint64_t lanes[XXPH3_NLANES])
{
  for (size_t v = 0; v < NVECTORS; v++) {
    vector h = load_aligned(lanes + LANES64 * v);
    h = bit_xor(h, shift_right64(h, 47));
    h = bit_xor(h, load(lanebloom_xxph3_secret + 128 + VECTOR_NBYTES * v));
    store_aligned(lanes + LANES64 * v, multiply32(h, XXPH3_PRIME32_1));
  }
}

static const struct xxph3_stripe_steps stripes = {add_stripes, scramble};

/* ---- Lists of keys of many sizes, by their steps of 32 bytes ---- */

enum {
  /* one for each number of steps from one to four, and one for all other keys that are not short */
  NLISTS = 5,
  /* keys of one step are hashed by scalar code: two products cost less than moving keys to lanes */
  ONE_STEP = 0,
  OTHERS = NLISTS - 1,
};

/* The indices of the keys of each list. The arrays have room for one more register, because stores
 * write whole registers. */
struct lists {
  uint32_t indices[NLISTS][MIXED_NKEYS + LANES64];
  size_t counts[NLISTS];
};

/* Keys that are not short, before they are put into lists: their indices, and the numbers of their
 * lists if lanes have computed them. */
struct unlisted {
  uint32_t indices[MIXED_NKEYS + LANES64];
  uint32_t lists[MIXED_NKEYS + LANES64];
};

/* ---- Keys of 4 to 16 bytes ---- */

/* These functions hash keys of one width, from the first key on, and return the number of hashed
 * keys. */
static inline size_t fixed_8(const uint8_t *keys, size_t n, void *hashes);
static inline size_t fixed_16(const uint8_t *keys, size_t n, void *hashes);
static inline size_t fixed_4_to_8(const uint8_t *keys, size_t width, size_t n, void *hashes);
static inline size_t fixed_9_to_16(const uint8_t *keys, size_t width, size_t n, void *hashes);

/* Loads the first four and the last four bytes of LANES64 keys of one width. `how` says how bytes
 * are moved; each implementation defines struct packing. If the width is 8, no byte has to be
 * moved, and `how` is not used. */
struct packing;
static inline vector load_4_to_8(const uint8_t *keys, size_t width, const struct packing *how);

/* Hashes keys in whole registers, as long as at least `nmore` more keys follow, because loads
 * extend into the following keys. Returns the number of hashed keys. */
static inline __attribute__((always_inline)) size_t
hash_4_to_8_of(const uint8_t *keys, size_t width, const struct packing *how, size_t nmore, size_t n,
               void *hashes)
{
  const vector size = splat64(width);
  vector words[NREGISTERS];
  size_t i = 0;
  for (; i + NREGISTERS * LANES64 + nmore <= n; i += NREGISTERS * LANES64) {
    for (size_t r = 0; r < NREGISTERS; r++)
      words[r] = load_4_to_8(keys + (i + r * LANES64) * width, width, how);
    hash_4_to_8(words, NREGISTERS, size);
    for (size_t r = 0; r < NREGISTERS; r++)
      store_hashes(hashes, i + r * LANES64, words[r]);
  }
  for (; i + LANES64 + nmore <= n; i += LANES64) {
    words[0] = load_4_to_8(keys + i * width, width, how);
    hash_4_to_8(words, 1, size);
    store_hashes(hashes, i, words[0]);
  }
  return i;
}

/* Returns indices for two keys, a and b, of w bytes each; b begins `distance` bytes after a. In
 * each block, they select the first four and the last four bytes of both keys:
 *
 *   a0-3 a(w-4)-(w-1) b0-3 b(w-4)-(w-1) */
static inline vector ends_of_two(size_t width, size_t distance)
{
  const uint32_t each = 0x01010101, first = 0x03020100;
  const uint32_t last = first + each * ((uint32_t)width - 4), second = each * (uint32_t)distance;
  const uint32_t indices[] = {first, last, second + first, second + last};
  return splat_block(indices);
}

/* Hashes keys of 4 to 8 bytes at equal distances of more bytes. Loads end up to 12 bytes after a
 * key, so three more keys must follow. Returns the number of hashed keys. */
static inline size_t strided_4_to_8(const uint8_t *keys, size_t width, size_t stride, size_t n,
                                    void *hashes)
{
  const vector size = splat64(width), ends = ends_of_two(width, 8);
  size_t i = 0;
  for (; i + LANES64 + 3 <= n; i += LANES64) {
    const uint8_t *at = keys + i * stride;
    vector words =
        interleave_low64(load_strided(at, 2 * stride), load_strided(at + stride, 2 * stride));
    words = shuffle_bytes(words, ends);
    hash_4_to_8(&words, 1, size);
    store_hashes(hashes, i, words);
  }
  return i;
}

/* Hashes keys of 9 to 16 bytes at equal distances. Loads end 8 bytes after a key, so one more key
 * must follow. Returns the number of hashed keys. */
static inline size_t strided_9_to_16(const uint8_t *keys, size_t width, size_t stride, size_t n,
                                     void *hashes)
{
  const vector size = splat64(width);
  size_t i = 0;
  for (; i + LANES64 + 1 <= n; i += LANES64) {
    const uint8_t *first = keys + i * stride, *last = first + width - 8;
    const vector low =
        interleave_low64(load_strided(first, 2 * stride), load_strided(first + stride, 2 * stride));
    const vector high =
        interleave_low64(load_strided(last, 2 * stride), load_strided(last + stride, 2 * stride));
    store_hashes(hashes, i, hash_9_to_16(low, high, size));
  }
  return i;
}

/* For keys of many sizes: returns the lanes whose keys do not have 4 to 16 bytes. */
static inline mask64 not_short(vector size);

/* The ends of short keys. For a key of 4 to 8 bytes, the upper half of its lane in `fours` has the
 * last four bytes. For a key of 9 to 16 bytes, its lane in `eights` has the last eight bytes. */
struct ends {
  vector fours, eights;
};
static inline struct ends ends_of(vector front, vector back, vector size);

/* Appends the indices of the chosen lanes' keys to `unlisted`, which already has n indices, and
 * returns the number of appended indices. `first` is the index of the key in the first lane. */
static inline size_t leave_unlisted(mask64 chosen, vector size, size_t first,
                                    struct unlisted *unlisted, size_t n);

/* Puts the n unlisted keys into the lists of their numbers of steps. */
static inline void list_keys(const lanebloom_keys *keys, const struct unlisted *unlisted, size_t n,
                             struct lists *lists);

#endif
