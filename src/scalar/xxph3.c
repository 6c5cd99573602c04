/* XXPH3, the 64-bit hash of RocksDB's newer filters: the preview of XXH3 in xxHash 0.7.2, with seed 0 and one change
 * for the empty key. No library has it any more, and final XXH3 gives other hashes at every length. The specification.
 * Source: RocksDB 7.8.3 util/xxph3.h.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "../bytes.h"
#include "../keys.h"
#include "scalar.h"

__extension__ typedef unsigned __int128 uint128;

const uint8_t lanebloom_xxph3_secret[192] = {
    /* clang-format off */
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
    /* clang-format on */
};

static inline uint64_t secret64(size_t at)
{
  return load_le64(lanebloom_xxph3_secret + at);
}

/* The 128-bit product, folded to 64 bits. */
static inline uint64_t multiply_fold(uint64_t a, uint64_t b)
{
  uint128 product = (uint128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t avalanche(uint64_t h)
{
  h ^= h >> 37;
  h *= XXPH3_PRIME64_3;
  return h ^ h >> 32;
}

/* 16 bytes of the key under 16 bytes of the secret. */
static inline uint64_t mix16(const uint8_t *key, size_t secret)
{
  return multiply_fold(load_le64(key) ^ secret64(secret), load_le64(key + 8) ^ secret64(secret + 8));
}

static inline uint64_t hash_1_to_3(const uint8_t *key, size_t size)
{
  uint32_t combined = key[0] | (uint32_t)key[size / 2] << 8 | (uint32_t)key[size - 1] << 16 | (uint32_t)size << 24;
  return avalanche((combined ^ (uint64_t)load_le32(lanebloom_xxph3_secret)) * XXPH3_PRIME64_1);
}

static inline uint64_t hash_4_to_8(const uint8_t *key, size_t size)
{
  uint64_t words = (load_le32(key) | (uint64_t)load_le32(key + size - 4) << 32) ^ secret64(0);
  uint64_t mixed = size + (words ^ words >> 51) * XXPH3_PRIME32_1;
  return avalanche((mixed ^ mixed >> 47) * XXPH3_PRIME64_2);
}

static inline uint64_t hash_9_to_16(const uint8_t *key, size_t size)
{
  uint64_t low = load_le64(key) ^ secret64(0);
  uint64_t high = load_le64(key + size - 8) ^ secret64(8);
  return avalanche(size + low + high + multiply_fold(low, high));
}

/* From both ends to the middle, 32 bytes a step. */
static inline uint64_t hash_17_to_128(const uint8_t *key, size_t size)
{
  uint64_t h = size * XXPH3_PRIME64_1;
  for (size_t i = 0; i <= (size - 1) / 32; i++)
    h += mix16(key + 16 * i, 32 * i) + mix16(key + size - 16 - 16 * i, 32 * i + 16);
  return avalanche(h);
}

static uint64_t hash_129_to_240(const uint8_t *key, size_t size)
{
  uint64_t h = size * XXPH3_PRIME64_1;
  for (size_t i = 0; i < 8; i++)
    h += mix16(key + 16 * i, 16 * i);
  h = avalanche(h);
  for (size_t i = 8; i < size / 16; i++)
    h += mix16(key + 16 * i, 16 * (i - 8) + 3);
  return avalanche(h + mix16(key + size - 16, 119));
}

enum { STRIPE_NBYTES = 64, STRIPES_PER_BLOCK = 16, NLANES = 8 };

static inline void add_stripe(uint64_t lanes[NLANES], const uint8_t *stripe, size_t secret)
{
  for (size_t i = 0; i < NLANES; i++) {
    uint64_t word = load_le64(stripe + 8 * i);
    uint64_t keyed = word ^ secret64(secret + 8 * i);
    lanes[i] += word + (uint32_t)keyed * (keyed >> 32);
  }
}

static inline void scramble(uint64_t lanes[NLANES])
{
  for (size_t i = 0; i < NLANES; i++)
    lanes[i] = ((lanes[i] ^ lanes[i] >> 47) ^ secret64(128 + 8 * i)) * XXPH3_PRIME32_1;
}

static uint64_t hash_above_240(const uint8_t *key, size_t size)
{
  uint64_t lanes[NLANES] = {XXPH3_PRIME32_3, XXPH3_PRIME64_1, XXPH3_PRIME64_2, XXPH3_PRIME64_3,
                            XXPH3_PRIME64_4, XXPH3_PRIME32_2, XXPH3_PRIME64_5, XXPH3_PRIME32_1};
  const size_t nstripes = size / STRIPE_NBYTES;
  for (size_t i = 0; i < nstripes; i++) {
    add_stripe(lanes, key + i * STRIPE_NBYTES, i % STRIPES_PER_BLOCK * 8);
    if (i % STRIPES_PER_BLOCK == STRIPES_PER_BLOCK - 1)
      scramble(lanes);
  }
  if (size % STRIPE_NBYTES != 0)
    add_stripe(lanes, key + size - STRIPE_NBYTES, 121);

  uint64_t h = size * XXPH3_PRIME64_1;
  for (size_t i = 0; i < NLANES; i += 2)
    h += multiply_fold(lanes[i] ^ secret64(11 + 8 * i), lanes[i + 1] ^ secret64(19 + 8 * i));
  return avalanche(h);
}

static inline uint64_t xxph3(const uint8_t *key, size_t size)
{
  if (size == 0)
    return multiply_fold(secret64(0), XXPH3_PRIME64_2);
  if (size <= 3)
    return hash_1_to_3(key, size);
  if (size <= 8)
    return hash_4_to_8(key, size);
  if (size <= 16)
    return hash_9_to_16(key, size);
  if (size <= 128)
    return hash_17_to_128(key, size);
  if (size <= 240)
    return hash_129_to_240(key, size);
  return hash_above_240(key, size);
}

void lanebloom_xxph3_hash_scalar(const lanebloom_keys *keys, void *hashes)
{
  for (size_t i = 0; i < keys->n; i++) {
    lanebloom_slice key = keys_at(keys, i);
    uint64_t hash = xxph3(key.data, key.size);
    memcpy((uint8_t *)hashes + i * sizeof hash, &hash, sizeof hash);
  }
}
