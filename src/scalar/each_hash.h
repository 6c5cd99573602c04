/* The loops of the scalar kernels: one hash after another.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_EACH_HASH_H
#define LANEBLOOM_SCALAR_EACH_HASH_H

#include "scalar.h"

static inline __attribute__((always_inline)) void
probe_each_hash(const struct filter_shape *shape, const uint8_t *payload,
                struct hash_source *source, uint8_t *bitmap,
                bool (*may_match)(const struct filter_shape *shape, const uint8_t *payload,
                                  const void *hashes, size_t i))
{
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t n, first = 0; first < source->n; first += n) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i++)
      bitmap[(first + i) / 8] |= (uint8_t)(may_match(shape, payload, hashes, i) << i % 8);
  }
}

enum {
  LINES_NEAR_NBYTES = 1024 << 10, /* lines of larger payloads are prefetched */
  /* Keys between prefetching and testing (Xeon, 256 MiB, absent and present keys: 18.5 and 27 ns
   * per key; 64: 20 and 28, 128 into L2: 21 and 25). */
  LINES_AHEAD = 32,
};

/* The same where all probes of a hash are in one line, which begins at line_of. */
static inline __attribute__((always_inline)) void
probe_each_line(const struct filter_shape *shape, const uint8_t *payload,
                struct hash_source *source, uint8_t *bitmap,
                size_t (*line_of)(const struct filter_shape *shape, const void *hashes, size_t i),
                bool (*may_match)(const struct filter_shape *shape, const uint8_t *payload,
                                  const void *hashes, size_t i))
{
  const bool near = shape->nbytes <= LINES_NEAR_NBYTES;
  if (__builtin_expect(near, true)) { /* where gcc 12 would jump elsewhere, 4 % slower */
    probe_each_hash(shape, payload, source, bitmap, may_match);
    return;
  }
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t n, first = 0; first < source->n; first += n) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0, next = 0; i < n; i++) {
      for (; next < n && next < i + LINES_AHEAD; next++)
        __builtin_prefetch(payload + line_of(shape, hashes, next));
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
