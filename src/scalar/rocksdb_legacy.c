/* RocksDB's filter of format_version below 5: the hash picks a cache line, and k probes by double
 * hashing stay in it. The specification. Source: RocksDB 7.8.3 util/bloom_impl.h,
 * LegacyLocalityBloomImpl.
 * SPDX-License-Identifier: MIT */

#include <string.h>

#include "scalar.h"

static inline size_t line_of(const struct filter_shape *shape, uint32_t hash)
{
  return (size_t)(hash % shape->nlines) * shape->line_nbytes;
}

static inline bool rocksdb_legacy_may_match(const struct filter_shape *shape,
                                            const uint8_t *payload, uint32_t probe)
{
  const uint8_t *line = payload + line_of(shape, probe);
  const uint32_t line_mask = 8 * shape->line_nbytes - 1;
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t i = 0; i < shape->nprobes; i++, probe += stride) {
    uint32_t bit = probe & line_mask;
    if (!(line[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

void lanebloom_rocksdb_legacy_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                           struct hash_source *source, uint8_t *bitmap)
{
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t n, first = 0; first < source->n; first += n) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i++)
      bitmap[(first + i) / 8] |=
          (uint8_t)(rocksdb_legacy_may_match(shape, payload, hash32_at(hashes, i)) << i % 8);
  }
}

static inline void rocksdb_legacy_set(const struct filter_shape *shape, uint8_t *payload,
                                      uint32_t probe)
{
  uint8_t *line = payload + line_of(shape, probe);
  const uint32_t line_mask = 8 * shape->line_nbytes - 1;
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t i = 0; i < shape->nprobes; i++, probe += stride) {
    uint32_t bit = probe & line_mask;
    line[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
}

void lanebloom_rocksdb_legacy_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                         struct hash_source *source)
{
  for (size_t n; source->next < source->n;) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i++)
      rocksdb_legacy_set(shape, payload, hash32_at(hashes, i));
  }
}
