/* Hashes for kernels, block by block. A block of keys is hashed when a kernel requests it, while
 * cache lines of the block before are being loaded.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BATCH_H
#define LANEBLOOM_BATCH_H

#include "keys.h"

enum {
  MAX_HASH_NBYTES = 8,
  BLOCK_NBYTES = 8 << 10, /* the size of a block of hashes: it stays in the first-level cache */
  BLOCK_NKEYS = BLOCK_NBYTES / MAX_HASH_NBYTES, /* for hashes of any size */

  /* The most bytes of keys of one width that are prefetched, one block ahead. The CPU's own
   * prefetching is too late for kernels of a few cycles per key; more bytes would evict lines in
   * use. Zen 4, LevelDB format, 256 KiB, ns per key, absent and present keys: 2.00 and 3.59;
   * without prefetching 2.36 and 3.91. The bytes go into the second-level cache (AVX-512 on Xeon,
   * rocksdb-local, 16 KiB: 8 KiB into the first 1.43 ns, 16 KiB into the second 1.36). */
  MAX_FETCHED_NBYTES = 16 << 10,
};

/* ---- Hashes at any alignment ---- */

/* Returns hash i of an array at any alignment. */
static inline uint32_t hash32_at(const void *hashes, size_t i)
{
  uint32_t hash;
  memcpy(&hash, (const uint8_t *)hashes + i * sizeof hash, sizeof hash);
  return hash;
}

static inline uint64_t hash64_at(const void *hashes, size_t i)
{
  uint64_t hash;
  memcpy(&hash, (const uint8_t *)hashes + i * sizeof hash, sizeof hash);
  return hash;
}

static inline void hash64_store(void *hashes, size_t i, uint64_t hash)
{
  memcpy((uint8_t *)hashes + i * sizeof hash, &hash, sizeof hash);
}

/* Calls of at most so many keys are run by scalar code, because preparing lanes, or filling them,
 * costs more. */
enum {
  /* When screening (AVX-512 on an Intel Xeon, a filter of 256 KiB, one key: leveldb 39 ns by lanes
   * and 12 by scalar, rocksdb-local 50 and 10; with 8 keys rocksdb-local takes 6.2 ns each by lanes
   * and 9.6 by scalar). */
  FEW_SCREENED = 4,
  /* When screening a filter of cache lines (Zen 4: one key takes 44 to 50 ns by scalar, 80 to 98 by
   * lanes). */
  FEW_SCREENED_IN_LINES = 5,
  /* When screening a far filter of LevelDB's layout: a CPU overlaps calls of few instructions
   * (AVX-512 on Xeon, 16 MiB, no key passes, calls of 8 keys: scalar 42 ns, lanes 50). */
  FEW_SCREENED_FAR = 11,
  /* When adding (AVX-512 on Zen 4, LevelDB's format, with the hash and the plan: one key by lanes
   * 147 ns, by scalar 50). */
  FEW_ADDED = 8,
};

/* Writes the hashes of keys->n keys, 4 or 8 bytes each at any alignment, in the host's byte order.
 * The layout must be one that kernels read. */
typedef void hash_function(const lanebloom_keys *keys, void *hashes);

/* Hashes keys of the other layouts: copies them block by block to a layout that kernels read
 * (hash.c). */
void lanebloom_hash_gathered(hash_function *hash, const lanebloom_keys *keys, size_t hash_nbytes,
                             void *hashes);

/* Hashes keys of any layout. */
static inline void hash_keys(hash_function *hash, const lanebloom_keys *keys, size_t hash_nbytes,
                             void *hashes)
{
  if (keys->layout <= KEYS_SLICES)
    hash(keys, hashes);
  else
    lanebloom_hash_gathered(hash, keys, hash_nbytes, hashes);
}

/* Yields the hashes of a batch, block by block. It belongs to one call. */
struct hash_source {
  /* The keys and the function that hashes them; or, if keys is NULL, the hashes. All are
   * borrowed. */
  const lanebloom_keys *keys;
  hash_function *hash;
  const uint8_t *hashes;

  size_t hash_nbytes;
  size_t next, n; /* index of the next key, number of keys */

  /* For adding: layout_kernels.scratch_nbytes bytes with any contents, aligned to a cache line; or
   * NULL. */
  void *scratch;

  /* The index of the block that the next hashes go to. Blocks are aligned, because an unaligned
   * access of 64 bytes touches two cache lines. */
  unsigned next_block;
  _Alignas(64) uint8_t blocks[2][BLOCK_NBYTES];
};

/* Begins a source. This function and the next do not initialise the blocks, which would take
 * time. */
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
      hashes ? hashes : (const void *)""; /* may be NULL if n is 0: NULL + 0 is undefined */
  source->hash_nbytes = hash_nbytes;
  source->next = 0;
  source->n = n;
  source->scratch = NULL;
}

/* Prefetches the keys or hashes that the next block is made from. hash_source_next() calls it for
 * keys; for hashes, a kernel calls it if the filter exceeds the caches (Xeon, 16 MiB, sse41 and
 * avx512: rocksdb-local 5.4 and 3.5 ns per hash, with it 4.7 and 3.3; in cache it costs 1 to 4 %).
 * It is always inlined: gcc 12 removes calls of a function that only prefetches. */
__attribute__((always_inline)) static inline void
hash_source_fetch(const struct hash_source *source, size_t max_nkeys)
{
  const uint8_t *const data = source->keys ? source->keys->data : source->hashes;
  const size_t stride = source->keys ? source->keys->stride : source->hash_nbytes;
  const size_t left = source->n - source->next;
  const size_t nkeys = left < max_nkeys ? left : max_nkeys;
  size_t nbytes;
  if (__builtin_mul_overflow(nkeys, stride, &nbytes) || nbytes > MAX_FETCHED_NBYTES)
    nbytes = MAX_FETCHED_NBYTES;
  for (size_t i = 0; i < nbytes; i += 64)
    __builtin_prefetch(data + source->next * stride + i, 0, 2);
}

static inline void hash_source_hash(const struct hash_source *source, const lanebloom_keys *keys,
                                    void *hashes)
{
  assert(keys_ascend(keys));
  hash_keys(source->hash, keys, source->hash_nbytes, hashes);
}

/* The input of the block after the next. It is prefetched in parts while hashes are tested: the CPU
 * waits if more lines are requested at once than it has buffers for (AVX-512 on Xeon,
 * rocksdb-local, 16 bytes per key, 256 KiB and 16 MiB: at once 2.10 and 4.65 ns, in parts 1.83 and
 * 4.30; 8 bytes 1.53 and 3.80, in parts 1.52 and 3.45). */
struct fetch {
  const uint8_t *at;
  size_t stride; /* bytes from one prefetched key to the next */
};

/* Returns the input of the block after the next. It is empty for the last blocks, and for keys that
 * are not at equal distances. */
static inline struct fetch hash_source_ahead(const struct hash_source *source, size_t max_nkeys)
{
  const uint8_t *const data = source->keys ? source->keys->data : source->hashes;
  const size_t stride = source->keys ? source->keys->stride : source->hash_nbytes;
  if (stride == 0 || source->n - source->next < 2 * max_nkeys)
    return (struct fetch){(const uint8_t *)source, 0}; /* NULL + 0 would be undefined */
  const size_t most = MAX_FETCHED_NBYTES / max_nkeys;
  return (struct fetch){data + (source->next + max_nkeys) * stride, stride < most ? stride : most};
}

/* Prefetches the input of eight keys. */
__attribute__((always_inline)) static inline void fetch_eight(struct fetch *fetch)
{
  const size_t nbytes = 8 * fetch->stride;
  for (size_t i = 0; i < nbytes; i += 64)
    __builtin_prefetch(fetch->at + i, 0, 2);
  fetch->at += nbytes;
}

/* Returns the next block of hashes, at any alignment, in the host's byte order. It is valid until
 * the next block but one is requested. max_nkeys must be a multiple of 8, and the hashes of so many
 * keys must fit into BLOCK_NBYTES. *nkeys is less only for the last block, and 0 after it. */
static inline const void *hash_source_hash_next(struct hash_source *source, size_t max_nkeys,
                                                size_t *nkeys)
{
  const size_t first = source->next, left = source->n - first;
  assert(max_nkeys <= BLOCK_NBYTES / source->hash_nbytes);
  *nkeys = left < max_nkeys ? left : max_nkeys;
  source->next += *nkeys;
  if (!source->keys)
    return source->hashes + first * source->hash_nbytes;
  uint8_t *block = source->blocks[source->next_block];
  source->next_block ^= 1;
  if (*nkeys == source->n) { /* not copied: wider loads would wait for its writer's stores */
    hash_source_hash(source, source->keys, block);
  } else if (*nkeys > 0) {
    const lanebloom_keys part = lanebloom_keys_part(source->keys, first, *nkeys);
    hash_source_hash(source, &part, block);
  }
  return block;
}

/* Returns the next block of hashes and prefetches the keys of the block after it. */
static inline const void *hash_source_next(struct hash_source *source, size_t max_nkeys,
                                           size_t *nkeys)
{
  const void *block = hash_source_hash_next(source, max_nkeys, nkeys);
  if (source->keys && source->next < source->n)
    hash_source_fetch(source, max_nkeys);
  return block;
}

/* Writes the hashes of the next keys to `hashes`, at any alignment. Returns how many: max_nkeys, or
 * less at the end. The source must have keys. */
static inline size_t hash_source_write(struct hash_source *source, size_t max_nkeys, void *hashes)
{
  const size_t first = source->next, left = source->n - first;
  const size_t nkeys = left < max_nkeys ? left : max_nkeys;
  source->next += nkeys;
  const lanebloom_keys part = lanebloom_keys_part(source->keys, first, nkeys);
  hash_source_hash(source, &part, hashes);
  hash_source_fetch(source, max_nkeys);
  return nkeys;
}

#endif
