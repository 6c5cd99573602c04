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
