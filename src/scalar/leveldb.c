/* Probes and adds to LevelDB's filters: a hash has k probes, which are made by double hashing with
 * 32 bits, and each may be anywhere in the payload. This scalar code is the specification.
 * SPDX-License-Identifier: MIT */
#include "../layouts/leveldb.h"
#include "each_hash.h"

static inline bool leveldb_may_match(const struct filter_shape *shape, const uint8_t *payload,
                                     const void *hashes, size_t i)
{
  uint32_t probe = hash32_at(hashes, i);
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t k = 0; k < shape->nprobes; k++, probe += stride) {
    uint64_t position = probe % shape->nbits;
    if (!(payload[position / 8] >> position % 8 & 1))
      return false;
  }
  return true;
}

/* Probes without branches (see OTHER_BITS) and without divisions. nbits is a multiple of 8, so the
 * lowest 3 bits of a probe's position are the lowest 3 bits of the probe itself. */
static inline bool leveldb_may_match_near(const struct filter_shape *shape, const uint8_t *payload,
                                          const void *hashes, size_t i)
{
  uint32_t probe = hash32_at(hashes, i), all = 0xff;
  const uint32_t stride = bloomhash_stride(probe), nbytes = (uint32_t)(shape->nbits / 8);
  const struct reciprocal reciprocal = shape->leveldb.reciprocal;
  for (uint32_t k = 0; k < shape->nprobes; k++, probe += stride) {
    const uint32_t byte = probe / 8 - divide(probe / 8, reciprocal) * nbytes;
    all &= payload[byte] | OTHER_BITS[probe % 8];
  }
  return all == 0xff;
}

/* Sets the bits of a hash, without divisions. The members of the shape that the loop needs are
 * copied first: the compiler must assume that a store to the payload changes the shape, and would
 * load them again after each store. */
static inline void leveldb_set(const struct filter_shape *shape, uint8_t *payload,
                               const void *hashes, size_t i)
{
  uint32_t probe = hash32_at(hashes, i);
  const uint32_t stride = bloomhash_stride(probe), nbytes = (uint32_t)(shape->nbits / 8);
  const uint32_t nprobes = shape->nprobes;
  const struct reciprocal reciprocal = shape->leveldb.reciprocal;
  for (uint32_t k = 0; k < nprobes; k++, probe += stride) {
    const uint32_t byte = probe / 8 - divide(probe / 8, reciprocal) * nbytes;
    payload[byte] |= (uint8_t)(1 << probe % 8);
  }
}

bool lanebloom_leveldb_may_match_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                        struct key_hash hash)
{
  const uint32_t hash32 = (uint32_t)hash.low;
  if (shape->nbytes <= SINGLE_NEAR_NBYTES)
    return leveldb_may_match_near(shape, payload, &hash32, 0);
  return leveldb_may_match(shape, payload, &hash32, 0);
}

void lanebloom_leveldb_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                    struct hash_source *source, uint8_t *bitmap)
{
  if (shape->nbytes <= NEAR_NBYTES)
    probe_each_hash(shape, payload, source, bitmap, leveldb_may_match_near);
  else
    probe_each_hash(shape, payload, source, bitmap, leveldb_may_match);
}

void lanebloom_leveldb_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                  struct hash_source *source)
{
  add_each_hash(shape, payload, source, leveldb_set);
}
