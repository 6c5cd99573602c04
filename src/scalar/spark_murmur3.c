/* Hashes keys as Spark does: the hash of a key is two 32-bit Murmur3 hashes, and the first is the
 * seed of the second. This scalar code is the specification. Source: Spark 4.1 Murmur3_x86_32.java,
 * hashUnsafeBytes, and BloomFilterBase.java.
 * SPDX-License-Identifier: MIT */
#include "../common/bytes.h"
#include "../keys.h"
#include "scalar.h"

static const uint32_t MULTIPLIER_1 = 0xcc9e2d51, MULTIPLIER_2 = 0x1b873593, ADDEND = 0xe6546b64,
                      LAST_MULTIPLIER_1 = 0x85ebca6b, LAST_MULTIPLIER_2 = 0xc2b2ae35;

static inline uint32_t rotate(uint32_t value, unsigned nbits)
{
  return value << nbits | value >> (32 - nbits);
}

static inline uint32_t mix(uint32_t h, uint32_t word)
{
  word *= MULTIPLIER_1;
  h ^= rotate(word, 15) * MULTIPLIER_2;
  return rotate(h, 13) * 5 + ADDEND;
}

/* Widens one of the last bytes of a key. The byte is signed, as all bytes are in Java. */
static inline uint32_t signed_byte(uint8_t byte)
{
  return byte >= 0x80 ? byte | 0xffffff00 : byte;
}

/* Hashes a key. Spark's Murmur3 differs from the original one: each byte after the last whole word
 * is mixed as a separate word. */
static inline uint32_t murmur3(const uint8_t *key, size_t size, uint32_t seed)
{
  const size_t nwhole = size - size % 4;
  uint32_t h = seed;
  for (size_t i = 0; i < nwhole; i += 4)
    h = mix(h, load_le32(key + i));
  for (size_t i = nwhole; i < size; i++)
    h = mix(h, signed_byte(key[i]));

  h ^= (uint32_t)size;
  h = (h ^ h >> 16) * LAST_MULTIPLIER_1;
  h = (h ^ h >> 13) * LAST_MULTIPLIER_2;
  return h ^ h >> 16;
}

static inline uint64_t spark_murmur3(const uint8_t *key, size_t size)
{
  const uint32_t first = murmur3(key, size, 0);
  return first | (uint64_t)murmur3(key, size, first) << 32;
}

struct key_hash lanebloom_spark_murmur3_hash_key_scalar(const uint8_t *key, size_t size)
{
  return (struct key_hash){spark_murmur3(key, size), 0};
}

__attribute__((always_inline)) static inline void hash_fixed(const lanebloom_keys *keys,
                                                             size_t width, void *hashes)
{
  const uint8_t *key = keys->data;
  for (size_t i = 0; i < keys->n; i++, key += keys->stride)
    hash64_store(hashes, i, spark_murmur3(key, width));
}

/* Hashes keys. Spark hashes every integer as 8 bytes, so keys of this width are common and have a
 * loop of their own, in which the width is constant. */
void lanebloom_spark_murmur3_hash_scalar(const lanebloom_keys *keys, void *hashes)
{
  if (keys->layout == KEYS_FIXED && keys->width == 8) {
    hash_fixed(keys, 8, hashes);
    return;
  }
  for (size_t i = 0; i < keys->n; i++) {
    const lanebloom_slice key = keys_at(keys, i);
    hash64_store(hashes, i, spark_murmur3(key.data, key.size));
  }
}
