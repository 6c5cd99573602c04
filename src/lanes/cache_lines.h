/* The pipeline for layouts in which all probes of a key are in one cache line (RocksDB's) or in
 * half of one (Parquet's). Every instruction set uses this pipeline: while the lines of one block
 * of hashes are tested, the lines of the next block are being loaded.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_CACHE_LINES_H
#define LANEBLOOM_LANES_CACHE_LINES_H

#include "../layouts/bloomhash.h"
#include "../layouts/parquet.h"
#include "../layouts/rocksdb_local.h"
#include "../scalar/scalar.h"
#include "partitions.h"

_Static_assert((int)ROCKSDB_LOCAL_LINE_NBYTES == CACHE_LINE_NBYTES, "a key has one cache line");
_Static_assert(2 * (int)PARQUET_BLOCK_NBYTES == CACHE_LINE_NBYTES, "a key has half of one");

enum {
  /* the number of probes of a key that are tested at once, each in a lane */
  PASS_NPROBES = 8,
  ROCKSDB_LOCAL_MAX_NPASSES = 4,   /* readers accept up to 30 probes */
  ROCKSDB_LEGACY_MAX_NPASSES = 16, /* readers accept up to 127 probes */
  MAX_NPASSES = ROCKSDB_LEGACY_MAX_NPASSES,

  /* The number of keys in a block, whose lines are loaded together. With AVX2, a key takes these
   * times in ns:
   *
   *   keys in a block           64    128   256
   *   a filter of 16 MiB        3.1   2.5   2.4
   *   a filter of 256 MiB       7.4   7.6   8.5 */
  IN_FLIGHT_NKEYS = 128,
  /* A filter is far, and its lines are prefetched, if its payload is larger than this. At 1 MiB,
   * prefetching would cost 0.2 ns of the 1.2 ns per key. */
  NEAR_NBYTES = 1024 << 10,
};

static inline uint32_t npasses_for(uint32_t nprobes)
{
  return (nprobes + PASS_NPROBES - 1) / PASS_NPROBES;
}

/* ---- Probes in lanes ---- */

/* The next two functions fill the lanes of all passes that nprobes probes take. Lane i is for probe
 * i, and the lanes after the last probe repeat the first probe. */

/* Writes the numbers by which the high half of a rocksdb-local hash is multiplied to get its
 * probes. */
static inline void rocksdb_local_powers(uint32_t nprobes, uint32_t *lanes)
{
  uint32_t power = 1;
  for (uint32_t i = 0; i < npasses_for(nprobes) * PASS_NPROBES; i++) {
    lanes[i] = i < nprobes ? power : 1;
    power *= ROCKSDB_LOCAL_MULTIPLIER;
  }
}

/* Writes the factors of the stride for rocksdb-legacy: probe i is the hash plus factor i times the
 * stride of the hash. */
static inline void rocksdb_legacy_numbers(uint32_t nprobes, uint32_t *lanes)
{
  for (uint32_t i = 0; i < npasses_for(nprobes) * PASS_NPROBES; i++)
    lanes[i] = i < nprobes ? i : 0;
}

/* ---- Steps ---- */

/* The constants of a filter that kernels need. The file of each layout defines this struct. */
struct lookup;

/* The operations that the drivers below need, each for eight hashes at a time. The file of a layout
 * defines them as inline functions and lists them in a constant of this type, so that they are
 * inlined into the drivers. `far` says whether the lines were prefetched. */
struct cache_line_steps {
  size_t hash_nbytes;

  void (*prepare)(const struct filter_shape *shape, struct lookup *lookup);

  /* Writes the offsets in the payload at which the lines of eight hashes start. `offsets` is
   * aligned to a cache line. */
  void (*locate)(const struct lookup *lookup, const uint8_t *hashes, uint64_t *offsets);

  /* Returns a byte in which bit i is set if all probes of hash i find set bits. */
  uint8_t (*probe)(const struct lookup *lookup, uint32_t npasses, const uint8_t *payload,
                   const uint64_t *offsets, const uint8_t *hashes, bool far);

  /* Sets the bits of the first n hashes. The hashes are added one after another, because two of
   * them may have the same line. */
  void (*add)(const struct lookup *lookup, uint32_t nprobes, uint8_t *payload,
              const uint64_t *offsets, const uint8_t *hashes, size_t n, bool far);

  stream_function *stream; /* NULL if adding does not use partitions */
};

/* ---- Blocks of hashes in flight ---- */

struct block {
  const uint8_t *hashes; /* readable up to the next multiple of eight hashes */
  size_t n;
  _Alignas(64) uint64_t offsets[IN_FLIGHT_NKEYS];
  uint8_t padded[IN_FLIGHT_NKEYS * sizeof(uint64_t)];
};

static inline __attribute__((always_inline)) void block_locate(struct block *block, size_t i,
                                                               const struct lookup *lookup,
                                                               const struct cache_line_steps *steps)
{
  steps->locate(lookup, block->hashes + i * steps->hash_nbytes, block->offsets + i);
}

/* Gets the next block. If lines are far, all hashes of the block are located here, before any line
 * is prefetched. There are two reasons. First, a prefetch that loads an offset just after it was
 * stored would wait for the store. Second, if the caller passed the hashes, they may not be in the
 * cache; here all of them are requested together. */
static inline __attribute__((always_inline)) void
block_next(struct block *block, struct hash_source *source, const bool far,
           const struct lookup *lookup, const struct cache_line_steps *steps)
{
  const size_t hash_nbytes = steps->hash_nbytes;
  block->hashes = hash_source_hash_next(source, IN_FLIGHT_NKEYS, &block->n);
  const size_t rest = block->n % 8;
  if (rest != 0) {
    memcpy(block->padded, block->hashes, block->n * hash_nbytes);
    memset(block->padded + block->n * hash_nbytes, 0, (8 - rest) * hash_nbytes);
    block->hashes = block->padded;
  }
  for (size_t i = 0; far && i < block->n; i += 8)
    block_locate(block, i, lookup, steps);
}

/* Prepares eight hashes of the next block, while eight hashes of the current block are tested:
 * locates near lines, and prefetches far lines. Lines are prefetched into the second-level cache,
 * because more lines can be on their way to it than to the first level. On a Zen 4 with a filter of
 * 16 MiB, a key takes 3.1 ns, and 3.9 ns if lines are prefetched into the first level. With a
 * filter of 256 MiB, a key takes 7.4 ns, and 9.5 ns if lines are prefetched into the first
 * level. */
static inline __attribute__((always_inline)) void
block_prepare(struct block *block, size_t i, const uint8_t *payload, const bool far,
              const struct lookup *lookup, const struct cache_line_steps *steps)
{
  if (i >= block->n)
    return;
  if (!far)
    block_locate(block, i, lookup, steps);
  for (size_t j = i; far && j < i + 8; j++)
    __builtin_prefetch(payload + block->offsets[j], 0, 2);
}

static inline __attribute__((always_inline)) void
block_first(struct block *block, struct hash_source *source, const uint8_t *payload, const bool far,
            const struct lookup *lookup, const struct cache_line_steps *steps)
{
  block_next(block, source, far, lookup, steps);
  for (size_t i = 0; i < block->n; i += 8)
    block_prepare(block, i, payload, far, lookup, steps);
}

static inline void blocks_swap(struct block **block, struct block **next)
{
  struct block *const done = *block;
  *block = *next;
  *next = done;
}

/* ---- Probing ---- */

static inline __attribute__((always_inline)) void
probe_blocks(const uint8_t *payload, struct hash_source *source, uint8_t *bitmap,
             const uint32_t npasses, const bool far, const struct lookup *lookup,
             const struct cache_line_steps *steps)
{
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];
  block_first(block, source, payload, far, lookup, steps);
  for (; block->n > 0; blocks_swap(&block, &next)) {
    block_next(next, source, far, lookup, steps);
    struct fetch fetch = hash_source_ahead(source, IN_FLIGHT_NKEYS);
    for (size_t i = 0; i < block->n; i += 8) {
      block_prepare(next, i, payload, far, lookup, steps);
      fetch_eight(&fetch);
      *bitmap++ = steps->probe(lookup, npasses, payload, block->offsets + i,
                               block->hashes + i * steps->hash_nbytes, far);
    }
    if (block->n % 8 != 0)
      bitmap[-1] &= (uint8_t)((1 << block->n % 8) - 1);
  }
}

/* Probes hashes that fit into one block and take one pass, so that no other block is being loaded
 * meanwhile. The function is not inlined, because the loops of larger batches would then take 3 %
 * longer. */
static __attribute__((noinline)) void probe_one_block(const uint8_t *payload,
                                                      struct hash_source *source, uint8_t *bitmap,
                                                      bool far, const struct lookup *lookup,
                                                      const struct cache_line_steps *steps)
{
  struct block block;
  block_first(&block, source, payload, far, lookup, steps);
  for (size_t i = 0; i < block.n; i += 8)
    *bitmap++ = steps->probe(lookup, 1, payload, block.offsets + i,
                             block.hashes + i * steps->hash_nbytes, far);
  if (block.n % 8 != 0)
    bitmap[-1] &= (uint8_t)((1 << block.n % 8) - 1);
}

/* Probes all hashes. For the common case of up to eight probes, npasses and far are constants, so
 * that compilers make separate loops. */
static inline __attribute__((always_inline)) void
cache_lines_probe(const struct filter_shape *shape, const uint8_t *payload,
                  struct hash_source *source, uint8_t *bitmap, const struct lookup *lookup,
                  const struct cache_line_steps *steps)
{
  const uint32_t npasses = npasses_for(shape->nprobes);
  const bool far = shape->nbytes > NEAR_NBYTES;
  if (npasses == 1 && source->n <= IN_FLIGHT_NKEYS)
    probe_one_block(payload, source, bitmap, far, lookup, steps);
  else if (npasses == 1 && !far)
    probe_blocks(payload, source, bitmap, 1, false, lookup, steps);
  else if (npasses == 1)
    probe_blocks(payload, source, bitmap, 1, true, lookup, steps);
  else
    probe_blocks(payload, source, bitmap, npasses, far, lookup, steps);
}

/* ---- Adding ---- */

static inline __attribute__((always_inline)) void
add_blocks(uint8_t *payload, struct hash_source *source, const uint32_t nprobes, const bool far,
           const struct lookup *lookup, const struct cache_line_steps *steps)
{
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];
  block_first(block, source, payload, far, lookup, steps);
  for (; block->n > 0; blocks_swap(&block, &next)) {
    block_next(next, source, far, lookup, steps);
    struct fetch fetch = hash_source_ahead(source, IN_FLIGHT_NKEYS);
    if (!far && source->keys)
      hash_source_fetch(source, IN_FLIGHT_NKEYS);
    for (size_t i = 0; i < block->n; i += 8) {
      block_prepare(next, i, payload, far, lookup, steps);
      if (far)
        fetch_eight(&fetch);
      const size_t left = block->n - i;
      steps->add(lookup, nprobes, payload, block->offsets + i,
                 block->hashes + i * steps->hash_nbytes, left < 8 ? left : 8, far);
    }
  }
}

/* ---- Adding by partitions ---- */

/* Loads a partition of the payload into the cache, and sets the bits of the n hashes that the
 * partition has collected. */
static __attribute__((noinline)) void lines_apply(const struct filter_shape *shape,
                                                  uint8_t *payload, const struct lookup *lookup,
                                                  const struct cache_line_steps *steps,
                                                  size_t partition, const uint8_t *hashes, size_t n)
{
  partition_load(shape, payload, partition);
  struct hash_source collected;
  hash_source_of_hashes(&collected, hashes, steps->hash_nbytes, n);
  add_blocks(payload, &collected, shape->nprobes, false, lookup, steps);
}

/* Adds by partitions (see partitions.h). The scratch memory of the source must have hashes_nbytes()
 * bytes. */
static inline __attribute__((always_inline)) void
add_by_partitions(const struct filter_shape *shape, uint8_t *payload, struct hash_source *source,
                  const struct lookup *lookup, const struct cache_line_steps *steps)
{
  const struct partitions partitions = partitions_in(source->scratch, shape, &HASHES, source->n, 1);
  struct block block;
  while (source->next < source->n) {
    block_next(&block, source, true, lookup, steps);
    hash_source_fetch(source, IN_FLIGHT_NKEYS);
    for (size_t i = 0; i < block.n; i++) {
      const size_t partition = (size_t)(block.offsets[i] >> PARTITION_LOG2_NBYTES);
      const uint8_t *hash = block.hashes + i * HASHES.element_nbytes;
      if (partition_append(&partitions, &HASHES, partition, hash, steps->stream)) {
        lines_apply(shape, payload, lookup, steps, partition,
                    partition_collected(&partitions, &HASHES, partition), partitions.max_nelements);
        partitions.counts[partition] = 0;
      }
    }
  }
  for (size_t partition = 0; partition < partitions.n; partition++) {
    const size_t n = partition_fill_up(&partitions, &HASHES, partition, steps->stream);
    if (n > 0)
      lines_apply(shape, payload, lookup, steps, partition,
                  partition_collected(&partitions, &HASHES, partition), n);
  }
}

static inline __attribute__((always_inline)) void
cache_lines_add(const struct filter_shape *shape, uint8_t *payload, struct hash_source *source,
                const struct lookup *lookup, const struct cache_line_steps *steps)
{
  if (source->scratch && steps->stream)
    add_by_partitions(shape, payload, source, lookup, steps);
  else if (shape->nbytes <= NEAR_NBYTES)
    add_blocks(payload, source, shape->nprobes, false, lookup, steps);
  else
    add_blocks(payload, source, shape->nprobes, true, lookup, steps);
}

/* ---- The kernels of each layout ---- */

static inline __attribute__((always_inline)) void
rocksdb_local_probe(const struct filter_shape *shape, const uint8_t *payload,
                    struct hash_source *source, uint8_t *bitmap, struct lookup *lookup,
                    const struct cache_line_steps *steps)
{
  if (source->n <= FEW_SCREENED_IN_LINES) {
    lanebloom_rocksdb_local_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  steps->prepare(shape, lookup);
  cache_lines_probe(shape, payload, source, bitmap, lookup, steps);
}

static inline __attribute__((always_inline)) void
rocksdb_local_add(const struct filter_shape *shape, uint8_t *payload, struct hash_source *source,
                  struct lookup *lookup, const struct cache_line_steps *steps)
{
  steps->prepare(shape, lookup);
  cache_lines_add(shape, payload, source, lookup, steps);
}

/* If the lines of the filter are not cache lines of 64 bytes, scalar code probes it. Writers on x86
 * never build such filters. */
static inline __attribute__((always_inline)) void
rocksdb_legacy_probe(const struct filter_shape *shape, const uint8_t *payload,
                     struct hash_source *source, uint8_t *bitmap, struct lookup *lookup,
                     const struct cache_line_steps *steps)
{
  if (shape->lines.nbytes != CACHE_LINE_NBYTES || source->n <= FEW_SCREENED_IN_LINES) {
    lanebloom_rocksdb_legacy_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  steps->prepare(shape, lookup);
  cache_lines_probe(shape, payload, source, bitmap, lookup, steps);
}

static inline __attribute__((always_inline)) void
rocksdb_legacy_add(const struct filter_shape *shape, uint8_t *payload, struct hash_source *source,
                   struct lookup *lookup, const struct cache_line_steps *steps)
{
  if (shape->lines.nbytes != CACHE_LINE_NBYTES) {
    lanebloom_rocksdb_legacy_add_scalar(shape, payload, source);
    return;
  }
  steps->prepare(shape, lookup);
  cache_lines_add(shape, payload, source, lookup, steps);
}

static inline __attribute__((always_inline)) void
parquet_probe(const struct filter_shape *shape, const uint8_t *payload, struct hash_source *source,
              uint8_t *bitmap, struct lookup *lookup, const struct cache_line_steps *steps)
{
  if (source->n <= FEW_SCREENED_IN_LINES) {
    lanebloom_parquet_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  steps->prepare(shape, lookup);
  cache_lines_probe(shape, payload, source, bitmap, lookup, steps);
}

static inline __attribute__((always_inline)) void
parquet_add(const struct filter_shape *shape, uint8_t *payload, struct hash_source *source,
            struct lookup *lookup, const struct cache_line_steps *steps)
{
  steps->prepare(shape, lookup);
  cache_lines_add(shape, payload, source, lookup, steps);
}

/* ---- Kernels ---- */

/* These macros define the kernels of a layout from its struct lookup and its constant `steps`. The
 * file of the layout must define both first. */
#define CACHE_LINE_PROBE(layout)                                                                   \
  void KERNEL(layout##_probe)(const struct filter_shape *shape, const uint8_t *payload,            \
                              struct hash_source *source, uint8_t *bitmap)                         \
  {                                                                                                \
    struct lookup lookup;                                                                          \
    layout##_probe(shape, payload, source, bitmap, &lookup, &steps);                               \
  }

#define CACHE_LINE_KERNELS(layout)                                                                 \
  CACHE_LINE_PROBE(layout)                                                                         \
  void KERNEL(layout##_add)(const struct filter_shape *shape, uint8_t *payload,                    \
                            struct hash_source *source)                                            \
  {                                                                                                \
    struct lookup lookup;                                                                          \
    layout##_add(shape, payload, source, &lookup, &steps);                                         \
  }

#endif
