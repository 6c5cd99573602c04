/* LevelDB's filter: k probes by double hashing on 32 bits, anywhere in the bits. The specification.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "scalar.h"

static inline bool leveldb_may_match(const struct filter_shape *shape, const uint8_t *payload,
                                     uint32_t probe)
{
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t i = 0; i < shape->nprobes; i++, probe += stride) {
    uint64_t position = probe % shape->nbits;
    if (!(payload[position / 8] >> position % 8 & 1))
      return false;
  }
  return true;
}

void lanebloom_leveldb_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                    struct hash_source *source, uint8_t *bitmap)
{
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t n, first = 0; first < source->n; first += n) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i++)
      bitmap[(first + i) / 8] |=
          (uint8_t)(leveldb_may_match(shape, payload, hash32_at(hashes, i)) << i % 8);
  }
}

static inline void leveldb_set(const struct filter_shape *shape, uint8_t *payload, uint32_t probe)
{
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t i = 0; i < shape->nprobes; i++, probe += stride) {
    uint64_t position = probe % shape->nbits;
    payload[position / 8] |= (uint8_t)(1 << position % 8);
  }
}

void lanebloom_leveldb_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                  struct hash_source *source)
{
  for (size_t n; source->next < source->n;) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i++)
      leveldb_set(shape, payload, hash32_at(hashes, i));
  }
}
