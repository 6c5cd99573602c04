/* Hashes as kernels take them: block by block. Keys are hashed when a kernel takes their block, so
 * that cache lines of the block before may be on their way meanwhile.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BATCH_H
#define LANEBLOOM_BATCH_H

#include "keys.h"

enum {
  MAX_HASH_NBYTES = 8,
  BLOCK_NKEYS = 1024, /* at most. Hashes of 8 bytes: 8 KiB, which stay in the first-level cache */

  /* Keys of one width are fetched a block ahead, while kernels probe: what the CPU fetches by
   * itself comes too late for blocks of a few cycles per key. 256 KiB in the LevelDB format, Zen 4,
   * none and all of the keys there: 2.00 and 3.59 ns per key, without it 2.36 and 3.91. At most so
   * many bytes, so that wide keys do not drive out what is in use. */
  MAX_FETCHED_NBYTES = 8 << 10,
};

/* Hashes keys->n keys, in the host's byte order. */
typedef void hash_function(const lanebloom_keys *keys, void *hashes);

/* The same of layouts that kernels do not read: block by block in one that they do (hash.c). */
void lanebloom_hash_gathered(hash_function *hash, const lanebloom_keys *keys, size_t hash_nbytes,
                             void *hashes);

/* Any layout. */
static inline void hash_keys(hash_function *hash, const lanebloom_keys *keys, size_t hash_nbytes,
                             void *hashes)
{
  if (keys->layout <= KEYS_SLICES)
    hash(keys, hashes);
  else
    lanebloom_hash_gathered(hash, keys, hash_nbytes, hashes);
}

struct hash_source {
  /* Either keys and the function that hashes them, or hashes. */
  const lanebloom_keys *keys;
  hash_function *hash;
  const uint8_t *hashes;

  size_t hash_nbytes;
  size_t next, n;

  /* For adding: format_table.scratch_nbytes of memory from a cache line on, with any contents, or
   * NULL. */
  void *scratch;

  unsigned next_block; /* of the two, which hashes of keys fill in alternation */
  _Alignas(8) uint8_t blocks[2][BLOCK_NKEYS * MAX_HASH_NBYTES];
};

/* Both leave the blocks as they are, which need not be written before they are used. */
static inline void hash_source_of_keys(struct hash_source *source, const lanebloom_keys *keys,
                                       hash_function *hash, size_t hash_nbytes)
{
  assert(hash_nbytes <= MAX_HASH_NBYTES);
  source->keys = keys;
  source->hash = hash;
  source->hash_nbytes = hash_nbytes;
  source->next = source->next_block = 0;
  source->n = keys->n;
  source->scratch = NULL;
}

static inline void hash_source_of_hashes(struct hash_source *source, const void *hashes,
                                         size_t hash_nbytes, size_t n)
{
  assert(hash_nbytes <= MAX_HASH_NBYTES);
  source->keys = NULL;
  source->hashes =
      hashes ? hashes : (const void *)""; /* of none: arithmetic on NULL is undefined */
  source->hash_nbytes = hash_nbytes;
  source->next = 0;
  source->n = n;
  source->scratch = NULL;
}

/* Inlined always: gcc 12 takes a function that only fetches for one that does nothing. */
__attribute__((always_inline)) static inline void
hash_source_fetch(const struct hash_source *source, size_t max_nkeys)
{
  const size_t stride = source->keys->stride, left = source->n - source->next;
  const size_t nkeys = left < max_nkeys ? left : max_nkeys;
  size_t nbytes;
  if (__builtin_mul_overflow(nkeys, stride, &nbytes) || nbytes > MAX_FETCHED_NBYTES)
    nbytes = MAX_FETCHED_NBYTES;
  for (size_t i = 0; i < nbytes; i += 64)
    __builtin_prefetch((const uint8_t *)source->keys->data + source->next * stride + i);
}

/* The next block: max_nkeys of them, a multiple of 8 that is at most BLOCK_NKEYS, and fewer only at
 * the end; none after it. At any alignment, in the host's byte order. They stay until the next
 * block but one. */
static inline const void *hash_source_next(struct hash_source *source, size_t max_nkeys,
                                           size_t *nkeys)
{
  const size_t first = source->next, left = source->n - first;
  *nkeys = left < max_nkeys ? left : max_nkeys;
  source->next += *nkeys;
  if (!source->keys)
    return source->hashes + first * source->hash_nbytes;
  uint8_t *block = source->blocks[source->next_block];
  source->next_block ^= 1;
  const lanebloom_keys keys = lanebloom_keys_part(source->keys, first, *nkeys);
  assert(keys_ascend(&keys));
  hash_keys(source->hash, &keys, source->hash_nbytes, block);
  hash_source_fetch(source, max_nkeys);
  return block;
}

#endif
