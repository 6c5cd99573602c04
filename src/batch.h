/* The struct hash_source gives kernels the hashes of a batch of keys, one block at a time. A kernel
 * requests the next block while the cache lines for the previous block are still being loaded, so
 * that hashing fills the wait.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BATCH_H
#define LANEBLOOM_BATCH_H

#include "keys.h"

enum {
  MAX_HASH_NBYTES = LANEBLOOM_MAX_HASH_SIZE,
  BLOCK_NBYTES = 8 << 10, /* the size of a block of hashes, which stays in the first-level cache */
  BLOCK_NKEYS = BLOCK_NBYTES / sizeof(uint64_t), /* the most hashes of 4 or 8 bytes in a block */
  WIDE_BLOCK_NKEYS = BLOCK_NBYTES / MAX_HASH_NBYTES, /* the most hashes of 16 bytes in a block */

  /* At most this many bytes of keys are prefetched at a time, one block ahead. The CPU's own
   * prefetching is too late for kernels that need only a few cycles per key. Prefetching more bytes
   * would evict lines that are in use. (Zen 4, LevelDB format, filter of 256 KiB: an absent key
   * takes 2.00 ns with prefetching and 2.36 ns without it; a present key takes 3.59 ns with
   * prefetching and 3.91 ns without it.) The bytes go into the second-level cache. (AVX-512 on
   * Xeon, rocksdb-local, filter of 16 KiB: a key takes 1.43 ns if 8 KiB are prefetched into the
   * first level, and 1.36 ns if 16 KiB are prefetched into the second level.) */
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

/* The hash of a single key, in a form that fits into two registers. A hash of 4 or 8 bytes is in
 * `low`, and `high` is 0. */
struct key_hash {
  uint64_t low, high;
};

/* Returns hash i of an array of hashes of hash_nbytes bytes, which is 4, 8 or 16. */
static inline struct key_hash hash_at(const void *hashes, size_t i, size_t hash_nbytes)
{
  if (hash_nbytes == sizeof(uint32_t))
    return (struct key_hash){hash32_at(hashes, i), 0};
  if (hash_nbytes == sizeof(uint64_t))
    return (struct key_hash){hash64_at(hashes, i), 0};
  struct key_hash hash;
  memcpy(&hash, (const uint8_t *)hashes + i * sizeof hash, sizeof hash);
  return hash;
}

static inline void hash64_store(void *hashes, size_t i, uint64_t hash)
{
  memcpy((uint8_t *)hashes + i * sizeof hash, &hash, sizeof hash);
}

static inline void hash128_store(void *hashes, size_t i, struct key_hash hash)
{
  memcpy((uint8_t *)hashes + i * sizeof hash, &hash, sizeof hash);
}

/* Calls with at most this many keys are run key by key, most of them by scalar code, because
 * preparing lanes for many keys, or filling them, would cost more. */
enum {
  /* The limit for screening. Times per key with AVX-512 on an Intel Xeon, filter of 256 KiB, in ns:
   *
   *                             by lanes   by scalar code
   *   leveldb, 1 key               39            12
   *   rocksdb-local, 1 key         50            10
   *   rocksdb-local, 8 keys        6.2           9.6 */
  FEW_SCREENED = 4,
  /* The limit for screening a filter that consists of cache lines. (Zen 4: one key takes 44 to 50
   * ns by scalar code and 80 to 98 ns by lanes.) */
  FEW_SCREENED_IN_LINES = 5,
  /* The limit for screening a far filter of LevelDB's layout. A filter is far if it is so large
   * that kernels prefetch its cache lines. The limit for far filters is higher, because a CPU
   * overlaps the cache misses of several calls if the calls have few instructions. (AVX-512 on
   * Xeon, filter of 16 MiB, calls of 8 keys of which none passes: scalar code takes 42 ns, and
   * lanes take 50 ns.) */
  FEW_SCREENED_FAR = 11,
  /* The limit for adding. (AVX-512 on Zen 4, LevelDB's format: adding one key, including its hash
   * and the plan of the filter, takes 147 ns by lanes and 50 ns by scalar code.) */
  FEW_ADDED = 8,
};

/* Writes the hashes of keys->n keys, 4, 8 or 16 bytes each at any alignment, in the host's byte
 * order. A hash of 16 bytes consists of two numbers of 8 bytes.
 * The layout of the keys must be one that kernels read (enum keys_layout). */
typedef void hash_function(const lanebloom_keys *keys, void *hashes);

/* Hashes keys of a layout that kernels do not read (enum gathered_layout). The function, which is
 * in hash.c, lists the keys as slices, block by block. */
void lanebloom_hash_gathered(hash_function *hash, const lanebloom_keys *keys, size_t hash_nbytes,
                             void *hashes);

/* Hashes keys of any layout. The struct is copied only if the copy may have another layout: wide
 * loads would wait for the narrow stores that wrote it. */
static inline void hash_keys(hash_function *hash, const lanebloom_keys *keys, size_t hash_nbytes,
                             void *hashes)
{
  if (keys->layout > KEYS_SLICES) {
    lanebloom_hash_gathered(hash, keys, hash_nbytes, hashes);
  } else if (keys->layout == KEYS_OFFSETS32 || keys->layout == KEYS_OFFSETS64) {
    const lanebloom_keys even = lanebloom_keys_evened(keys);
    hash(&even, hashes);
  } else {
    hash(keys, hashes);
  }
}

/* Yields the hashes of a batch, block by block. Each call has its own source. */
struct hash_source {
  /* If `keys` is not NULL, `hash` makes the hashes from them. If it is NULL, the caller has passed
   * finished hashes in `hashes`. All three are borrowed. If the format has no hash, `hash` is NULL
   * and hash_nbytes is 0, and kernels use only `keys` and `n`. */
  const lanebloom_keys *keys;
  hash_function *hash;
  const uint8_t *hashes;

  size_t hash_nbytes;
  size_t next, n; /* the index of the next key, and the number of keys */

  /* The hashes that set a new bit; see add_function in kernels.h. */
  uint64_t nnew;

  /* Scratch memory for adding. It is aligned to a cache line, has any contents, and is as large as
   * layout_kernels.scratch_nbytes() says. If it is NULL, adding is slower, and gives the same
   * result. */
  void *scratch;

  /* The index of the block that the next hashes are written to. Blocks are aligned to cache lines,
   * because an unaligned access of 64 bytes touches two cache lines. */
  unsigned next_block;
  _Alignas(64) uint8_t blocks[2][BLOCK_NBYTES];
};

/* Begins a source of keys. This function and hash_source_of_hashes() leave the blocks
 * uninitialised, because clearing them would take time. */
static inline void hash_source_of_keys(struct hash_source *source, const lanebloom_keys *keys,
                                       hash_function *hash, size_t hash_nbytes)
{
  assert(hash_nbytes <= MAX_HASH_NBYTES);
  source->keys = keys;
  source->hash = hash;
  source->hash_nbytes = hash_nbytes;
  source->next = source->next_block = 0;
  source->n = keys->n;
  source->nnew = 0;
  source->scratch = NULL;
}

static inline void hash_source_of_hashes(struct hash_source *source, const void *hashes,
                                         size_t hash_nbytes, size_t n)
{
  assert(hash_nbytes <= MAX_HASH_NBYTES);
  source->keys = NULL;
  source->hashes =
      hashes ? hashes : (const void *)""; /* an address even if n is 0: NULL + 0 is undefined */
  source->hash_nbytes = hash_nbytes;
  source->next = 0;
  source->n = n;
  source->nnew = 0;
  source->scratch = NULL;
}

/* Prefetches the keys or hashes that the next block is made from. For keys, hash_source_next()
 * calls this function. For hashes, a kernel calls this function if the filter exceeds the caches.
 * (Xeon, filter of 16 MiB, rocksdb-local: sse41 takes 5.4 ns per hash without the call and 4.7 ns
 * with it; avx512 takes 3.5 ns without the call and 3.3 ns with it. If the filter is in a cache,
 * the call costs 1 to 4 %.) The function is always inlined, because gcc 12 removes calls of a
 * function that only prefetches. */
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

/* Returns the most hashes of the source's size that fit into a block. */
static inline size_t hash_source_block_nkeys(const struct hash_source *source)
{
  return source->hash_nbytes > sizeof(uint64_t) ? WIDE_BLOCK_NKEYS : BLOCK_NKEYS;
}

static inline void hash_source_hash(const struct hash_source *source, const lanebloom_keys *keys,
                                    void *hashes)
{
  assert(keys_ascend(keys));
  hash_keys(source->hash, keys, source->hash_nbytes, hashes);
}

/* The keys or hashes from which the block after the next one is made. They are prefetched in parts,
 * between the tests of other hashes, because the CPU waits if more lines are requested at once than
 * it has buffers for. Times per key with AVX-512 on Xeon, rocksdb-local, in ns:
 *
 *                                         filter of 256 KiB   filter of 16 MiB
 *   keys of 16 bytes, prefetched at once        2.10                4.65
 *   keys of 16 bytes, prefetched in parts       1.83                4.30
 *   keys of 8 bytes, prefetched at once         1.53                3.80
 *   keys of 8 bytes, prefetched in parts        1.52                3.45 */
struct fetch {
  const uint8_t *at;
  size_t stride; /* bytes from one prefetched key to the next */
};

/* Returns the input of the block after the next. For the last blocks, and for keys that are not at
 * equal distances, the function returns an empty input, so that fetch_eight() prefetches
 * nothing. */
static inline struct fetch hash_source_ahead(const struct hash_source *source, size_t max_nkeys)
{
  const uint8_t *const data = source->keys ? source->keys->data : source->hashes;
  const size_t stride = source->keys ? source->keys->stride : source->hash_nbytes;
  if (stride == 0 || source->n - source->next < 2 * max_nkeys)
    /* any address: NULL + 0 would be undefined */
    return (struct fetch){(const uint8_t *)source, 0};
  const size_t most = MAX_FETCHED_NBYTES / max_nkeys;
  return (struct fetch){data + (source->next + max_nkeys) * stride, stride < most ? stride : most};
}

/* Prefetches the input of the next eight keys. */
__attribute__((always_inline)) static inline void fetch_eight(struct fetch *fetch)
{
  const size_t nbytes = 8 * fetch->stride;
  for (size_t i = 0; i < nbytes; i += 64)
    __builtin_prefetch(fetch->at + i, 0, 2);
  fetch->at += nbytes;
}

/* Returns the next block of hashes, at any alignment, in the host's byte order. The block stays
 * valid while the next block is in use: only the second call after this one overwrites it.
 * max_nkeys must be a multiple of 8, and max_nkeys hashes must fit into BLOCK_NBYTES. *nkeys
 * becomes the number of hashes in the block: max_nkeys, or fewer in the last block, or 0 after the
 * last block. */
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
  if (*nkeys == source->n) { /* no part, so that the struct is not copied */
    hash_source_hash(source, source->keys, block);
  } else if (*nkeys > 0) {
    const lanebloom_keys part = lanebloom_keys_part(source->keys, first, *nkeys);
    hash_source_hash(source, &part, block);
  }
  return block;
}

/* Returns the next block as hash_source_hash_next() does, and prefetches the keys of the block
 * after it. */
static inline const void *hash_source_next(struct hash_source *source, size_t max_nkeys,
                                           size_t *nkeys)
{
  const void *block = hash_source_hash_next(source, max_nkeys, nkeys);
  if (source->keys && source->next < source->n)
    hash_source_fetch(source, max_nkeys);
  return block;
}

/* Writes the hashes of the next keys to `hashes`, at any alignment. Returns the number of hashes:
 * max_nkeys, or fewer at the end of the batch. The source must have keys. */
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
