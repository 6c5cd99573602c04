/* Hashes keys of many sizes by BloomHash, for instruction sets that can move the lanes of a mask
 * together. All keys of a block are in a queue. In each round a stripe of each key in the queue is
 * hashed, and the keys that have more bytes are moved together, so that lanes are full again in the
 * next round. So no branch depends on the end of a single key. The CPU would often mispredict such
 * a branch.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_BLOOMHASH_QUEUE_H
#define LANEBLOOM_LANES_BLOOMHASH_QUEUE_H

#include "bloomhash.h"
#include "vector.h"

enum {
  /* The number of keys in a block. The queue of a block stays in the first-level cache. (On a
   * Zen 4, keys of 0 to 100 bytes take 5.16 ns each in blocks of 256 keys, and 5.10 ns in blocks of
   * 512 keys.) */
  QUEUED_BLOCK_NKEYS = 512,
  MIN_QUEUE = 4, /* if fewer keys are left, hashing them one by one is faster */
};

/* The keys of a block that have not ended. For each key, the queue has the address of its next
 * byte, the number of bytes left, the hash so far, and the index of the key in the block. The
 * arrays have room for one more register, because stores write whole registers. */
struct queue {
  _Alignas(64) uint64_t at[QUEUED_BLOCK_NKEYS + LANES32];
  uint32_t left[QUEUED_BLOCK_NKEYS + LANES32];
  uint32_t hash[QUEUED_BLOCK_NKEYS + LANES32];
  uint32_t key[QUEUED_BLOCK_NKEYS + LANES32];
  size_t n;
};

/* Returns an address from which a stripe can be loaded, for lanes whose keys have no bytes left. */
static inline uint64_t anywhere(void)
{
  return (uint64_t)(uintptr_t)tail_shifts;
}

/* For each lane in the mask, copies the remaining bytes of its key into a stripe of `copies`, and
 * makes `at` point to the copy. */
static inline void copy_stripes(unsigned lanes, const uint32_t *left,
                                uint8_t (*copies)[STRIPE_NBYTES], const uint8_t **at)
{
  for (; lanes; lanes &= lanes - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(lanes);
    memcpy(copies[lane], at[lane], left[lane]);
    at[lane] = copies[lane];
  }
}

/* ---- One vector of keys: bloomhash.c ---- */

/* Puts LANES32 keys of a block, from key i on, into the queue from element `to` on, in the state
 * before their first byte is hashed. Empty keys get the address anywhere(). */
static inline void enter(const lanebloom_keys *keys, size_t i, struct queue *queue, size_t to);

/* Hashes one stripe of each of the n keys that are in the queue from element i on; n is at most
 * LANES32. Appends the keys that have bytes left to the queue again; the end of the queue,
 * queue->n, is never after i. For each of the n keys, stores the hash so far at the index of the
 * key. If `first` is set, the keys are adjacent, and a single store writes all hashes. */
static inline void take(struct queue *queue, size_t i, size_t n, struct load_bound bound,
                        bool signed_tails, bool first, uint8_t *hashes);

/* ---- Blocks ---- */

/* Checks whether all keys of a block are shorter than 2^31 bytes, because the sizes in lanes are
 * signed. The check may fail for a block of many bytes although each key is shorter. The block must
 * not be empty. */
static inline bool fits_lanes(const lanebloom_keys *keys)
{
  uint64_t bound = 0;
  switch ((enum keys_layout)keys->layout) {
  case KEYS_FIXED:
    bound = keys->width;
    break;
  case KEYS_OFFSETS32: {
    const uint32_t *offsets = keys->index;
    bound = offsets[keys->n] - offsets[0];
    break;
  }
  case KEYS_OFFSETS64: {
    const uint64_t *offsets = keys->index;
    bound = offsets[keys->n] - offsets[0];
    break;
  }
  case KEYS_SLICES: {
    const lanebloom_slice *slices = keys->index;
    for (size_t i = 0; i < keys->n; i++)
      bound |= slices[i].size;
    break;
  }
  }
  return bound <= INT32_MAX;
}

/* Does a round: hashes a stripe of every key of the queue. */
static inline __attribute__((always_inline)) void take_round(struct queue *queue,
                                                             struct load_bound bound,
                                                             bool signed_tails, bool first,
                                                             uint8_t *hashes)
{
  const size_t n = queue->n;
  for (size_t lane = 0; lane < LANES32; lane++)
    queue->at[n + lane] = anywhere();
  queue->n = 0;
  for (size_t i = 0; i < n; i += LANES32)
    take(queue, i, n - i < LANES32 ? n - i : LANES32, bound, signed_tails, first, hashes);
}

/* Hashes a block of at least LANES32 keys. The keys enter the queue in groups of LANES32; the last
 * group may overlap the group before, and then some keys are hashed twice. The function is not
 * inlined, so that calls with few keys do not need stack for the queue. */
static __attribute__((noinline)) void
hash_block(const lanebloom_keys *keys, struct load_bound bound, bool signed_tails, uint8_t *hashes)
{
  struct queue queue;
  for (queue.n = 0; queue.n < keys->n; queue.n += LANES32)
    enter(keys, queue.n + LANES32 <= keys->n ? queue.n : keys->n - LANES32, &queue, queue.n);
  take_round(&queue, bound, signed_tails, true, hashes);
  while (queue.n >= MIN_QUEUE)
    take_round(&queue, bound, signed_tails, false, hashes);
  /* the few keys that are left are hashed again, from their start */
  for (size_t i = 0; i < queue.n; i++) {
    const lanebloom_keys one = lanebloom_keys_part(keys, queue.key[i], 1);
    hash_in_scalar(&one, signed_tails, hashes + 4 * (size_t)queue.key[i]);
  }
}

#endif
