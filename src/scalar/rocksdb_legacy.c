/* Probes and adds to RocksDB's filters of format_version below 5: the hash selects a cache line,
 * and all k probes, which are made by double hashing, are in this line. This scalar code is the
 * specification.
 * Source: RocksDB 7.8.3 util/bloom_impl.h, LegacyLocalityBloomImpl.
 * SPDX-License-Identifier: MIT */
#include "../layouts/bloomhash.h"
#include "each_hash.h"

static inline size_t line_of(const struct filter_shape *shape, const void *hashes, size_t i)
{
  return (size_t)(hash32_at(hashes, i) % shape->lines.n) * shape->lines.nbytes;
}

__attribute__((always_inline)) static inline void
fetch_line(const struct filter_shape *shape, const uint8_t *payload, const void *hashes, size_t i)
{
  __builtin_prefetch(payload + line_of(shape, hashes, i));
}

static inline bool rocksdb_legacy_may_match(const struct filter_shape *shape,
                                            const uint8_t *payload, const void *hashes, size_t i)
{
  uint32_t probe = hash32_at(hashes, i);
  const uint8_t *line = payload + line_of(shape, hashes, i);
  const uint32_t line_mask = 8 * shape->lines.nbytes - 1;
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t k = 0; k < shape->nprobes; k++, probe += stride) {
    uint32_t bit = probe & line_mask;
    if (!(line[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

/* Probes without branches; see OTHER_BITS. */
static inline bool rocksdb_legacy_may_match_near(const struct filter_shape *shape,
                                                 const uint8_t *payload, const void *hashes,
                                                 size_t i)
{
  uint32_t probe = hash32_at(hashes, i), all = 0xff;
  const uint32_t line_number = probe - divide(probe, shape->lines.reciprocal) * shape->lines.n;
  const uint8_t *line = payload + (size_t)line_number * shape->lines.nbytes;
  const uint32_t line_mask = 8 * shape->lines.nbytes - 1;
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t k = 0; k < shape->nprobes; k++, probe += stride) {
    const uint32_t bit = probe & line_mask;
    all &= line[bit / 8] | OTHER_BITS[bit % 8];
  }
  return all == 0xff;
}

static inline void rocksdb_legacy_set(const struct filter_shape *shape, uint8_t *payload,
                                      const void *hashes, size_t i)
{
  uint32_t probe = hash32_at(hashes, i);
  uint8_t *line = payload + line_of(shape, hashes, i);
  const uint32_t line_mask = 8 * shape->lines.nbytes - 1;
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t k = 0; k < shape->nprobes; k++, probe += stride) {
    uint32_t bit = probe & line_mask;
    line[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
}

bool lanebloom_rocksdb_legacy_may_match_scalar(const struct filter_shape *shape,
                                               const uint8_t *payload, struct key_hash hash)
{
  const uint32_t hash32 = (uint32_t)hash.low;
  if (shape->nbytes <= SINGLE_NEAR_NBYTES)
    return rocksdb_legacy_may_match_near(shape, payload, &hash32, 0);
  return rocksdb_legacy_may_match(shape, payload, &hash32, 0);
}

void lanebloom_rocksdb_legacy_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                           struct hash_source *source, uint8_t *bitmap)
{
  probe_each_line(shape, payload, source, bitmap, fetch_line, rocksdb_legacy_may_match_near,
                  rocksdb_legacy_may_match);
}

void lanebloom_rocksdb_legacy_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                         struct hash_source *source)
{
  add_each_hash(shape, payload, source, rocksdb_legacy_set);
}
