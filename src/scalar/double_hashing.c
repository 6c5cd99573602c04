/* Probes and adds to the filters of Spark, Guava and Cassandra: a hash has k probes, which are made
 * by double hashing, and each may be anywhere in the payload. This scalar code is the
 * specification. src/layouts/double_hashing.h names the sources.
 * SPDX-License-Identifier: MIT */
#include "../layouts/double_hashing.h"
#include "each_hash.h"

bool lanebloom_double_hashing_may_match_scalar(const struct filter_shape *shape,
                                               const uint8_t *payload, struct key_hash hash)
{
  struct double_hash next = double_hash_of(&shape->double_hashing, hash);
  for (uint32_t k = 0; k < shape->nprobes; k++) {
    const uint64_t position = double_hash_next(shape, &next);
    if (!(payload[position / 8] >> position % 8 & 1))
      return false;
  }
  return true;
}

/* Sets the bits of a hash. The shape is copied, because the compiler must assume that a store to
 * the payload changes the original, and would load its members again after each store. */
static inline void set(const struct filter_shape *shape, uint8_t *payload, struct key_hash hash)
{
  const struct filter_shape copy = {.nbits = shape->nbits, .double_hashing = shape->double_hashing};
  const uint32_t nprobes = shape->nprobes;
  struct double_hash next = double_hash_of(&copy.double_hashing, hash);
  for (uint32_t k = 0; k < nprobes; k++) {
    const uint64_t position = double_hash_next(&copy, &next);
    payload[position / 8] |= (uint8_t)(1 << position % 8);
  }
}

/* ---- Hashes of 8 bytes (Spark) and of 16 bytes ---- */

static inline bool may_match_8(const struct filter_shape *shape, const uint8_t *payload,
                               const void *hashes, size_t i)
{
  return lanebloom_double_hashing_may_match_scalar(shape, payload, hash_at(hashes, i, 8));
}

static inline bool may_match_16(const struct filter_shape *shape, const uint8_t *payload,
                                const void *hashes, size_t i)
{
  return lanebloom_double_hashing_may_match_scalar(shape, payload, hash_at(hashes, i, 16));
}

static inline void set_8(const struct filter_shape *shape, uint8_t *payload, const void *hashes,
                         size_t i)
{
  set(shape, payload, hash_at(hashes, i, 8));
}

static inline void set_16(const struct filter_shape *shape, uint8_t *payload, const void *hashes,
                          size_t i)
{
  set(shape, payload, hash_at(hashes, i, 16));
}

void lanebloom_double_hashing_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                           struct hash_source *source, uint8_t *bitmap)
{
  if (source->hash_nbytes == 8)
    probe_each_hash(shape, payload, source, bitmap, may_match_8);
  else
    probe_each_hash(shape, payload, source, bitmap, may_match_16);
}

void lanebloom_double_hashing_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                         struct hash_source *source)
{
  if (source->hash_nbytes == 8)
    add_each_hash(shape, payload, source, set_8);
  else
    add_each_hash(shape, payload, source, set_16);
}
