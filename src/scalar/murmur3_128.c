/* Hashes keys by Murmur3 with 128 bits, the hash of Guava's and Cassandra's filters. This scalar
 * code is the specification.
 * SPDX-License-Identifier: MIT */
#include "murmur3_128.h"
#include "../keys.h"
#include "scalar.h"

struct key_hash lanebloom_murmur3_128_hash_key_scalar(const uint8_t *key, size_t size)
{
  return murmur3_128(key, size, false);
}

struct key_hash lanebloom_murmur3_128_signed_hash_key_scalar(const uint8_t *key, size_t size)
{
  return murmur3_128(key, size, true);
}

__attribute__((always_inline)) static inline void
hash_fixed(const lanebloom_keys *keys, size_t width, bool is_signed, void *hashes)
{
  const uint8_t *key = keys->data;
  for (size_t i = 0; i < keys->n; i++, key += keys->stride)
    hash128_store(hashes, i, murmur3_128(key, width, is_signed));
}

/* Keys of 8 and 16 bytes, such as numbers and UUIDs, are common, and have a loop in which the width
 * is constant. */
__attribute__((always_inline)) static inline void hash_each(const lanebloom_keys *keys,
                                                            bool is_signed, void *hashes)
{
  if (keys->layout == KEYS_FIXED) {
    if (keys->width == 8)
      hash_fixed(keys, 8, is_signed, hashes);
    else if (keys->width == 16)
      hash_fixed(keys, 16, is_signed, hashes);
    else
      hash_fixed(keys, keys->width, is_signed, hashes);
    return;
  }
  for (size_t i = 0; i < keys->n; i++) {
    const lanebloom_slice key = keys_at(keys, i);
    hash128_store(hashes, i, murmur3_128(key.data, key.size, is_signed));
  }
}

void lanebloom_murmur3_128_hash_scalar(const lanebloom_keys *keys, void *hashes)
{
  hash_each(keys, false, hashes);
}

void lanebloom_murmur3_128_signed_hash_scalar(const lanebloom_keys *keys, void *hashes)
{
  hash_each(keys, true, hashes);
}
