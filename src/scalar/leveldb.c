/* LevelDB's filter: k probes by double hashing on 32 bits, anywhere in the bits. The specification.
 * SPDX-License-Identifier: MIT */
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

static inline void leveldb_set(const struct filter_shape *shape, uint8_t *payload,
                               const void *hashes, size_t i)
{
  uint32_t probe = hash32_at(hashes, i);
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t k = 0; k < shape->nprobes; k++, probe += stride) {
    uint64_t position = probe % shape->nbits;
    payload[position / 8] |= (uint8_t)(1 << position % 8);
  }
}

bool lanebloom_leveldb_may_match_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                        const void *hashes, size_t i)
{
  return leveldb_may_match(shape, payload, hashes, i);
}

void lanebloom_leveldb_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                    struct hash_source *source, uint8_t *bitmap)
{
  probe_each_hash(shape, payload, source, bitmap, leveldb_may_match);
}

void lanebloom_leveldb_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                  struct hash_source *source)
{
  add_each_hash(shape, payload, source, leveldb_set);
}
