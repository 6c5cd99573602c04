/* Defines the loops of the scalar kernels. A loop tests or adds one hash after another.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_EACH_HASH_H
#define LANEBLOOM_SCALAR_EACH_HASH_H

#include "scalar.h"

/* OTHER_BITS[b] has all bits set but bit b. So a byte of a filter has bit b set if its bitwise or
 * with OTHER_BITS[b] is 0xff. Tests without branches use this table. Such tests are for filters in
 * a cache: a test reads all probes of a key, and no branch depends on a bit, because the CPU would
 * predict the branches of absent keys badly. The table replaces shifts, because Intel's CPUs need
 * two operations to shift by a variable, and can do these on only two of their ports. (Xeon,
 * rocksdb-local, filter of 256 KiB: a hash takes 4.7 ns with the table and 6.2 ns with shifts. With
 * branches, the hash of a present key takes 5 ns, and the hash of an absent key takes 13 ns.) */
static const uint8_t OTHER_BITS[8] = {0xfe, 0xfd, 0xfb, 0xf7, 0xef, 0xdf, 0xbf, 0x7f};

enum {
  NEAR_NBYTES = 1024 << 10, /* the size up to which batches are tested without branches */
  /* The size up to which single keys are tested without branches. If the filter is not in a cache
   * but in memory, branches save loads. (Xeon, LevelDB's format, absent keys: in a batch, with a
   * filter of 256 MiB, a key takes 66 ns with branches and 117 ns without; a single key, with a
   * filter of 16 MiB, takes 55 ns with branches and 35 ns without.) */
  SINGLE_NEAR_NBYTES = 32 << 20,
};

/* A test function checks whether all probes of hash i find set bits. */
typedef bool test_function(const struct filter_shape *shape, const uint8_t *payload,
                           const void *hashes, size_t i);

static inline __attribute__((always_inline)) void
probe_each_hash(const struct filter_shape *shape, const uint8_t *payload,
                struct hash_source *source, uint8_t *bitmap, test_function *may_match)
{
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t n, first = 0; first < source->n; first += n) {
    const void *hashes = hash_source_next(source, hash_source_block_nkeys(source), &n);
    for (size_t i = 0; i < n; i++)
      bitmap[(first + i) / 8] |= (uint8_t)(may_match(shape, payload, hashes, i) << i % 8);
  }
}

/* A line is prefetched this many keys before it is tested. Times per key on a Xeon, filter of 256
 * MiB, in ns:
 *
 *                                             absent key   present key
 *   32 keys ahead                                18.5           27
 *   64 keys ahead                                  20           28
 *   128 keys ahead, to the second-level cache      21           25 */
enum { LINES_AHEAD = 32 };

/* Probes each hash, in a layout in which a hash needs only one line, or a few adjacent lines. If
 * the payload is large, `fetch` prefetches these lines. `fetch` must be always inlined;
 * hash_source_fetch() says why. */
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
    const void *hashes = hash_source_next(source, hash_source_block_nkeys(source), &n);
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
    const void *hashes = hash_source_next(source, hash_source_block_nkeys(source), &n);
    for (size_t i = 0; i < n; i++)
      set(shape, payload, hashes, i);
  }
}

#endif
