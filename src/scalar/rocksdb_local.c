/* Probes and adds to RocksDB's FastLocalBloom filters: the low half of a 64-bit hash selects a
 * cache line, and the high half selects k bits in this line. This scalar code is the specification.
 * Source: RocksDB 7.8.3 util/bloom_impl.h, FastLocalBloomImpl.
 * SPDX-License-Identifier: MIT */
#include "../layouts/rocksdb_local.h"
#include "each_hash.h"

static inline size_t line_of(const struct filter_shape *shape, const void *hashes, size_t i)
{
  return rocksdb_local_line(hash64_at(hashes, i), shape->lines.n);
}

__attribute__((always_inline)) static inline void
fetch_line(const struct filter_shape *shape, const uint8_t *payload, const void *hashes, size_t i)
{
  __builtin_prefetch(payload + line_of(shape, hashes, i));
}

static inline bool rocksdb_local_may_match(const struct filter_shape *shape, const uint8_t *payload,
                                           const void *hashes, size_t i)
{
  const uint64_t hash = hash64_at(hashes, i);
  const uint8_t *line = payload + line_of(shape, hashes, i);
  uint32_t probe = (uint32_t)(hash >> 32);
  for (uint32_t k = 0; k < shape->nprobes; k++, probe *= ROCKSDB_LOCAL_MULTIPLIER) {
    uint32_t bit = rocksdb_local_bit(probe);
    if (!(line[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

/* Probes without branches; see OTHER_BITS. */
static inline bool rocksdb_local_may_match_near(const struct filter_shape *shape,
                                                const uint8_t *payload, const void *hashes,
                                                size_t i)
{
  const uint8_t *line = payload + line_of(shape, hashes, i);
  uint32_t probe = (uint32_t)(hash64_at(hashes, i) >> 32), all = 0xff;
  for (uint32_t k = 0; k < shape->nprobes; k++, probe *= ROCKSDB_LOCAL_MULTIPLIER) {
    const uint32_t bit = rocksdb_local_bit(probe);
    all &= line[bit / 8] | OTHER_BITS[bit % 8];
  }
  return all == 0xff;
}

static inline void rocksdb_local_set(const struct filter_shape *shape, uint8_t *payload,
                                     const void *hashes, size_t i)
{
  const uint64_t hash = hash64_at(hashes, i);
  uint8_t *line = payload + line_of(shape, hashes, i);
  uint32_t probe = (uint32_t)(hash >> 32);
  for (uint32_t k = 0; k < shape->nprobes; k++, probe *= ROCKSDB_LOCAL_MULTIPLIER) {
    uint32_t bit = rocksdb_local_bit(probe);
    line[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
}

bool lanebloom_rocksdb_local_may_match_scalar(const struct filter_shape *shape,
                                              const uint8_t *payload, struct key_hash hash)
{
  if (shape->nbytes <= SINGLE_NEAR_NBYTES)
    return rocksdb_local_may_match_near(shape, payload, &hash, 0);
  return rocksdb_local_may_match(shape, payload, &hash.low, 0);
}

void lanebloom_rocksdb_local_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                          struct hash_source *source, uint8_t *bitmap)
{
  probe_each_line(shape, payload, source, bitmap, fetch_line, rocksdb_local_may_match_near,
                  rocksdb_local_may_match);
}

void lanebloom_rocksdb_local_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                        struct hash_source *source)
{
  add_each_hash(shape, payload, source, rocksdb_local_set);
}
