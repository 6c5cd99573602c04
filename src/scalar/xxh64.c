/* Hashes keys by XXH64 with seed 0, the 64-bit hash of Parquet's filters. This scalar code is the
 * specification.
 * SPDX-License-Identifier: MIT */
#include "xxh64.h"
#include "../keys.h"
#include "scalar.h"

struct key_hash lanebloom_xxh64_hash_key_scalar(const uint8_t *key, size_t size)
{
  return (struct key_hash){xxh64(key, size), 0};
}

__attribute__((always_inline)) static inline void hash_fixed(const lanebloom_keys *keys,
                                                             size_t width, void *hashes)
{
  const uint8_t *key = keys->data;
  for (size_t i = 0; i < keys->n; i++, key += keys->stride)
    hash64_store(hashes, i, xxh64(key, width));
}

void lanebloom_xxh64_hash_scalar(const lanebloom_keys *keys, void *hashes)
{
  if (keys->layout == KEYS_FIXED) {
    switch (keys->width) {
    case 4:
      hash_fixed(keys, 4, hashes);
      return;
    case 8:
      hash_fixed(keys, 8, hashes);
      return;
    case 16:
      hash_fixed(keys, 16, hashes);
      return;
    case UUID_TEXT_NBYTES:
      hash_fixed(keys, UUID_TEXT_NBYTES, hashes);
      return;
    default:
      hash_fixed(keys, keys->width, hashes);
      return;
    }
  }
  for (size_t i = 0; i < keys->n; i++) {
    const lanebloom_slice key = keys_at(keys, i);
    hash64_store(hashes, i, xxh64(key.data, key.size));
  }
}
