/* Hashes keys by BloomHash, the 32-bit hash of LevelDB's filters and of RocksDB's legacy filters.
 * This scalar code is the specification: all other kernels must give the same hashes.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "../common/bytes.h"
#include "../keys.h"
#include "../layouts/bloomhash.h"
#include "scalar.h"

/* Widens one of the bytes after the last whole word of a key, as the engine does. LevelDB since
 * 1.18 treats the byte as unsigned; LevelDB before 1.18 on x86, and RocksDB, treat it as signed. */
static inline uint32_t tail_byte(uint8_t byte, bool is_signed)
{
  return is_signed && byte >= 0x80 ? byte | 0xffffff00 : byte;
}

static inline uint32_t bloomhash(const uint8_t *key, size_t size, bool signed_tail)
{
  uint32_t h = BLOOMHASH_SEED ^ (uint32_t)size * BLOOMHASH_MULTIPLIER;

  for (; size >= 4; key += 4, size -= 4) {
    h += load_le32(key);
    h *= BLOOMHASH_MULTIPLIER;
    h ^= h >> 16;
  }

  if (size > 0) {
    for (size_t i = 0; i < size; i++)
      h += tail_byte(key[i], signed_tail) << 8 * i;
    h *= BLOOMHASH_MULTIPLIER;
    h ^= h >> 24;
  }
  return h;
}

static inline void hash_all(const lanebloom_keys *keys, uint8_t *hashes, bool signed_tail)
{
  for (size_t i = 0; i < keys->n; i++) {
    lanebloom_slice key = keys_at(keys, i);
    uint32_t hash = bloomhash(key.data, key.size, signed_tail);
    memcpy(hashes + i * sizeof hash, &hash, sizeof hash);
  }
}

struct key_hash lanebloom_bloomhash_hash_key_scalar(const uint8_t *key, size_t size)
{
  return (struct key_hash){bloomhash(key, size, false), 0};
}

struct key_hash lanebloom_bloomhash_signed_hash_key_scalar(const uint8_t *key, size_t size)
{
  return (struct key_hash){bloomhash(key, size, true), 0};
}

void lanebloom_bloomhash_hash_scalar(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, hashes, false);
}

void lanebloom_bloomhash_signed_hash_scalar(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, hashes, true);
}
