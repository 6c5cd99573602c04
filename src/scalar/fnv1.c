/* Hashes keys by FNV-1 with 64 bits. This scalar code is the specification. Source: G. Fowler, L.
 * C. Noll, K.-P. Vo, D. Eastlake, The FNV non-cryptographic hash algorithm, IETF draft, section 2.
 * fleur, a program in C, hashes bytes as the type char, which is signed on x86: a byte of 0x80 or
 * more then changes all higher bits of the hash, too.
 * SPDX-License-Identifier: MIT */
#include "../layouts/fnv1.h"
#include "../keys.h"
#include "scalar.h"

__attribute__((always_inline)) static inline uint64_t fnv1(const uint8_t *key, size_t size,
                                                           bool is_signed)
{
  uint64_t h = FNV1_OFFSET_BASIS;
  for (size_t i = 0; i < size; i++)
    h = h * FNV1_PRIME ^ (is_signed ? (uint64_t)(int8_t)key[i] : key[i]);
  return h;
}

__attribute__((always_inline)) static inline void hash_all(const lanebloom_keys *keys,
                                                           bool is_signed, void *hashes)
{
  for (size_t i = 0; i < keys->n; i++) {
    const lanebloom_slice key = keys_at(keys, i);
    hash64_store(hashes, i, fnv1(key.data, key.size, is_signed));
  }
}

struct key_hash lanebloom_fnv1_hash_key_scalar(const uint8_t *key, size_t size)
{
  return (struct key_hash){fnv1(key, size, false), 0};
}

struct key_hash lanebloom_fnv1_signed_hash_key_scalar(const uint8_t *key, size_t size)
{
  return (struct key_hash){fnv1(key, size, true), 0};
}

void lanebloom_fnv1_hash_scalar(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, false, hashes);
}

void lanebloom_fnv1_signed_hash_scalar(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, true, hashes);
}
