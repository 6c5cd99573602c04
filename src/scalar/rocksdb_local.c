/* RocksDB's FastLocalBloom: the low half of a 64-bit hash picks a cache line, the high half k bits
 * in it. The specification. Source: RocksDB 7.8.3 util/bloom_impl.h, FastLocalBloomImpl.
 * SPDX-License-Identifier: MIT */

#include <string.h>

#include "scalar.h"

static inline bool rocksdb_local_may_match(const struct filter_shape *shape, const uint8_t *payload,
                                           uint64_t hash)
{
  const uint8_t *line = payload + rocksdb_local_line(hash, shape->nlines);
  uint32_t probe = (uint32_t)(hash >> 32);
  for (uint32_t i = 0; i < shape->nprobes; i++, probe *= ROCKSDB_LOCAL_MULTIPLIER) {
    uint32_t bit = rocksdb_local_bit(probe);
    if (!(line[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

void lanebloom_rocksdb_local_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                          struct hash_source *source, uint8_t *bitmap)
{
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t n, first = 0; first < source->n; first += n) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i++)
      bitmap[(first + i) / 8] |=
          (uint8_t)(rocksdb_local_may_match(shape, payload, hash64_at(hashes, i)) << i % 8);
  }
}

static inline void rocksdb_local_set(const struct filter_shape *shape, uint8_t *payload,
                                     uint64_t hash)
{
  uint8_t *line = payload + rocksdb_local_line(hash, shape->nlines);
  uint32_t probe = (uint32_t)(hash >> 32);
  for (uint32_t i = 0; i < shape->nprobes; i++, probe *= ROCKSDB_LOCAL_MULTIPLIER) {
    uint32_t bit = rocksdb_local_bit(probe);
    line[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
}

void lanebloom_rocksdb_local_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                        struct hash_source *source)
{
  for (size_t n; source->next < source->n;) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i++)
      rocksdb_local_set(shape, payload, hash64_at(hashes, i));
  }
}
