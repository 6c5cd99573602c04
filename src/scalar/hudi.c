/* Probes Hudi's filters: each probe hashes the whole key again, with the hash before as the seed. A
 * filter has one or several rows, and a key may be in the filter if it may be in one of them. This
 * scalar code is the specification. Sources: Hudi 1.0.2 MurmurHash.java, InternalBloomFilter.java
 * and InternalDynamicBloomFilter.java.
 * SPDX-License-Identifier: MIT */
#include "../layouts/hudi.h"
#include "scalar.h"

static inline uint32_t murmur2(const uint8_t *key, size_t size, uint32_t seed)
{
  const size_t ntail = size % 4, nwhole = size - ntail;
  uint32_t h = seed ^ (uint32_t)size;
  for (size_t i = 0; i < nwhole; i += 4) {
    uint32_t word = load_le32(key + i) * HUDI_MULTIPLIER;
    word ^= word >> HUDI_WORD_SHIFT;
    h = h * HUDI_MULTIPLIER ^ word * HUDI_MULTIPLIER;
  }
  if (ntail > 0)
    h = (h ^ hudi_tail(key + nwhole, ntail)) * HUDI_MULTIPLIER;
  h = (h ^ h >> HUDI_FIRST_LAST_SHIFT) * HUDI_MULTIPLIER;
  return h ^ h >> HUDI_LAST_SHIFT;
}

static bool row_may_have(const struct filter_shape *shape, const uint8_t *bits, lanebloom_slice key)
{
  uint32_t hash = 0;
  for (uint32_t k = 0; k < shape->nprobes; k++) {
    hash = murmur2(key.data, key.size, hash);
    const uint32_t bit = hudi_magnitude(hash) % shape->hudi.row_nbits;
    if (!(bits[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

/* Hudi adds no empty key. */
bool lanebloom_hudi_may_match_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                     lanebloom_slice key)
{
  const uint8_t *bits = payload + shape->hudi.first;
  for (uint32_t row = 0; row < shape->hudi.nrows && key.size > 0; row++)
    if (row_may_have(shape, bits + row * shape->hudi.stride, key))
      return true;
  return false;
}

void lanebloom_hudi_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                 struct hash_source *source, uint8_t *bitmap)
{
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t i = 0; i < source->n; i++) {
    const bool hit = lanebloom_hudi_may_match_scalar(shape, payload, keys_at(source->keys, i));
    bitmap[i / 8] |= (uint8_t)(hit << i % 8);
  }
}
