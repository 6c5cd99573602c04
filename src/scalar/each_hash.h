/* The loops of the scalar kernels: one hash after another.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_EACH_HASH_H
#define LANEBLOOM_SCALAR_EACH_HASH_H

#include "scalar.h"

/* Byte OTHER_BITS[b] has all bits but b: a byte of a filter has bit b set if its bitwise or with
 * OTHER_BITS[b] is 0xff. If the filter is in a cache, a test reads all probes of a key, and no
 * branch depends on a bit: the CPU predicts those of absent keys badly. A table is used because
 * Intel's CPUs shift by a variable in two operations, and on two of their ports only (Xeon,
 * rocksdb-local, 256 KiB, ns per hash: 4.7; by shifts 6.2; with branches 5, absent keys 13). */
static const uint8_t OTHER_BITS[8] = {0xfe, 0xfd, 0xfb, 0xf7, 0xef, 0xdf, 0xbf, 0x7f};

enum {
  NEAR_NBYTES = 1024 << 10, /* up to this size batches are tested without branches */
  /* Single keys are tested without branches up to this size. If the filter is in memory, a branch
   * saves loads (Xeon, LevelDB's format, 256 MiB, absent keys, a batch: 66 ns per key, without
   * branches 117; 16 MiB, single keys: 55 and 35). */
  SINGLE_NEAR_NBYTES = 32 << 20,
};

/* Checks whether all probes of hash i find set bits. */
typedef bool test_function(const struct filter_shape *shape, const uint8_t *payload,
                           const void *hashes, size_t i);

static inline __attribute__((always_inline)) void
probe_each_hash(const struct filter_shape *shape, const uint8_t *payload,
                struct hash_source *source, uint8_t *bitmap, test_function *may_match)
{
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t n, first = 0; first < source->n; first += n) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i++)
      bitmap[(first + i) / 8] |= (uint8_t)(may_match(shape, payload, hashes, i) << i % 8);
  }
}

/* The number of keys between prefetching and testing (Xeon, 256 MiB, absent and present keys: 18.5
 * and 27 ns per key; 64: 20 and 28, 128 into L2: 21 and 25). */
enum { LINES_AHEAD = 32 };

/* Probes each hash of a layout in which a hash needs one line, or adjacent lines. In large payloads
 * `fetch` prefetches them. It must be always inlined, see hash_source_fetch(). */
static inline __attribute__((always_inline)) void
probe_each_line(const struct filter_shape *shape, const uint8_t *payload,
                struct hash_source *source, uint8_t *bitmap,
                void (*fetch)(const struct filter_shape *shape, const uint8_t *payload,
                              const void *hashes, size_t i),
                test_function *may_match_near, test_function *may_match)
{
  if (shape->nbytes <= NEAR_NBYTES) {
    probe_each_hash(shape, payload, source, bitmap, may_match_near);
    return;
  }
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t n, first = 0; first < source->n; first += n) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0, next = 0; i < n; i++) {
      for (; next < n && next < i + LINES_AHEAD; next++)
        fetch(shape, payload, hashes, next);
      bitmap[(first + i) / 8] |= (uint8_t)(may_match(shape, payload, hashes, i) << i % 8);
    }
  }
}

static inline __attribute__((always_inline)) void add_each_hash(
    const struct filter_shape *shape, uint8_t *payload, struct hash_source *source,
    void (*set)(const struct filter_shape *shape, uint8_t *payload, const void *hashes, size_t i))
{
  for (size_t n; source->next < source->n;) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i++)
      set(shape, payload, hashes, i);
  }
}

#endif
