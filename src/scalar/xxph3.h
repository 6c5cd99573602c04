/* Hashes one key by XXPH3, which has a different algorithm for each class of sizes. This is the
 * specification. It is in a header so that vector kernels can use it for keys that they do not hash
 * in lanes. Source: RocksDB 7.8.3 util/xxph3.h.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_XXPH3_H
#define LANEBLOOM_SCALAR_XXPH3_H

#include "../common/bytes.h"
#include "../kernels.h"
#include "../keys.h"

/* XXPH3 has the primes and the secret of xxHash 0.7.2 (RocksDB 7.8.3 util/xxph3.h). The final XXH3
 * has the same primes and secret, but its avalanche multiplies by another number than PRIME64_3. */
static const uint32_t XXPH3_PRIME32_1 = 0x9e3779b1, XXPH3_PRIME32_2 = 0x85ebca77,
                      XXPH3_PRIME32_3 = 0xc2b2ae3d;
static const uint64_t XXPH3_PRIME64_1 = 0x9e3779b185ebca87, XXPH3_PRIME64_2 = 0xc2b2ae3d27d4eb4f,
                      XXPH3_PRIME64_3 = 0x165667b19e3779f9, XXPH3_PRIME64_4 = 0x85ebca77c2b2ae63,
                      XXPH3_PRIME64_5 = 0x27d4eb2f165667c5;
extern const uint8_t lanebloom_xxph3_secret[192];

__extension__ typedef unsigned __int128 xxph3_uint128;

static inline uint64_t xxph3_secret64(size_t at)
{
  return load_le64(lanebloom_xxph3_secret + at);
}

/* Returns the 128-bit product, folded to 64 bits. */
static inline uint64_t xxph3_multiply_fold(uint64_t a, uint64_t b)
{
  xxph3_uint128 product = (xxph3_uint128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t xxph3_avalanche(uint64_t h)
{
  h ^= h >> 37;
  h *= XXPH3_PRIME64_3;
  return h ^ h >> 32;
}

/* Mixes 16 bytes of the key with 16 bytes of the secret. */
static inline uint64_t xxph3_mix16(const uint8_t *key, size_t secret)
{
  return xxph3_multiply_fold(load_le64(key) ^ xxph3_secret64(secret),
                             load_le64(key + 8) ^ xxph3_secret64(secret + 8));
}

static inline uint64_t xxph3_1_to_3(const uint8_t *key, size_t size)
{
  uint32_t combined =
      key[0] | (uint32_t)key[size / 2] << 8 | (uint32_t)key[size - 1] << 16 | (uint32_t)size << 24;
  return xxph3_avalanche((combined ^ (uint64_t)load_le32(lanebloom_xxph3_secret)) *
                         XXPH3_PRIME64_1);
}

static inline uint64_t xxph3_4_to_8(const uint8_t *key, size_t size)
{
  uint64_t words = (load_le32(key) | (uint64_t)load_le32(key + size - 4) << 32) ^ xxph3_secret64(0);
  uint64_t mixed = size + (words ^ words >> 51) * XXPH3_PRIME32_1;
  return xxph3_avalanche((mixed ^ mixed >> 47) * XXPH3_PRIME64_2);
}

static inline uint64_t xxph3_9_to_16(const uint8_t *key, size_t size)
{
  uint64_t low = load_le64(key) ^ xxph3_secret64(0);
  uint64_t high = load_le64(key + size - 8) ^ xxph3_secret64(8);
  return xxph3_avalanche(size + low + high + xxph3_multiply_fold(low, high));
}

/* Hashes from both ends of the key to its middle, 16 bytes from each end per step. */
static inline uint64_t xxph3_17_to_128(const uint8_t *key, size_t size)
{
  uint64_t h = size * XXPH3_PRIME64_1;
  for (size_t i = 0; i <= (size - 1) / 32; i++)
    h += xxph3_mix16(key + 16 * i, 32 * i) + xxph3_mix16(key + size - 16 - 16 * i, 32 * i + 16);
  return xxph3_avalanche(h);
}

/* This function and xxph3_above_240() are not inlined, because xxph3() would then have to save
 * registers even for a short key. */
__attribute__((noinline)) static uint64_t xxph3_129_to_240(const uint8_t *key, size_t size)
{
  uint64_t h = size * XXPH3_PRIME64_1;
  for (size_t i = 0; i < 8; i++)
    h += xxph3_mix16(key + 16 * i, 16 * i);
  h = xxph3_avalanche(h);
  for (size_t i = 8; i < size / 16; i++)
    h += xxph3_mix16(key + 16 * i, 16 * (i - 8) + 3);
  return xxph3_avalanche(h + xxph3_mix16(key + size - 16, 119));
}

enum {
  XXPH3_STRIPE_NBYTES = 64,
  XXPH3_STRIPES_PER_BLOCK = 16,
  XXPH3_NLANES = 8,
  XXPH3_LAST_SECRET = 121
};

static inline void xxph3_add_stripe(uint64_t lanes[XXPH3_NLANES], const uint8_t *stripe,
                                    size_t secret)
{
  for (size_t i = 0; i < XXPH3_NLANES; i++) {
    uint64_t word = load_le64(stripe + 8 * i);
    uint64_t keyed = word ^ xxph3_secret64(secret + 8 * i);
    lanes[i] += word + (uint32_t)keyed * (keyed >> 32);
  }
}

static inline void xxph3_scramble(uint64_t lanes[XXPH3_NLANES])
{
  for (size_t i = 0; i < XXPH3_NLANES; i++)
    lanes[i] = ((lanes[i] ^ lanes[i] >> 47) ^ xxph3_secret64(128 + 8 * i)) * XXPH3_PRIME32_1;
}

static const uint64_t xxph3_first_lanes[XXPH3_NLANES] = {
    XXPH3_PRIME32_3, XXPH3_PRIME64_1, XXPH3_PRIME64_2, XXPH3_PRIME64_3,
    XXPH3_PRIME64_4, XXPH3_PRIME32_2, XXPH3_PRIME64_5, XXPH3_PRIME32_1};

static inline uint64_t xxph3_merge(const uint64_t lanes[XXPH3_NLANES], size_t size)
{
  uint64_t h = size * XXPH3_PRIME64_1;
  for (size_t i = 0; i < XXPH3_NLANES; i += 2)
    h += xxph3_multiply_fold(lanes[i] ^ xxph3_secret64(11 + 8 * i),
                             lanes[i + 1] ^ xxph3_secret64(19 + 8 * i));
  return xxph3_avalanche(h);
}

__attribute__((noinline)) static uint64_t xxph3_above_240(const uint8_t *key, size_t size)
{
  uint64_t lanes[XXPH3_NLANES];
  memcpy(lanes, xxph3_first_lanes, sizeof lanes);
  const size_t nstripes = size / XXPH3_STRIPE_NBYTES;
  for (size_t i = 0; i < nstripes; i++) {
    xxph3_add_stripe(lanes, key + i * XXPH3_STRIPE_NBYTES, i % XXPH3_STRIPES_PER_BLOCK * 8);
    if (i % XXPH3_STRIPES_PER_BLOCK == XXPH3_STRIPES_PER_BLOCK - 1)
      xxph3_scramble(lanes);
  }
  if (size % XXPH3_STRIPE_NBYTES != 0)
    xxph3_add_stripe(lanes, key + size - XXPH3_STRIPE_NBYTES, XXPH3_LAST_SECRET);
  return xxph3_merge(lanes, size);
}

static inline uint64_t xxph3(const uint8_t *key, size_t size)
{
  if (size == 0)
    return xxph3_multiply_fold(xxph3_secret64(0), XXPH3_PRIME64_2);
  if (size <= 3)
    return xxph3_1_to_3(key, size);
  if (size <= 8)
    return xxph3_4_to_8(key, size);
  if (size <= 16)
    return xxph3_9_to_16(key, size);
  if (size <= 128)
    return xxph3_17_to_128(key, size);
  if (size <= 240)
    return xxph3_129_to_240(key, size);
  return xxph3_above_240(key, size);
}

/* ---- Keys ---- */

/* Hashes keys of one width. A branch on the size or layout of each key would cost nearly half as
 * much as its hash (Zen 4: a key of 8 bytes takes 1.75 ns without such a branch and 2.5 ns with
 * it). So the branch is outside of the loops, and each class of sizes has a loop without
 * branches. */
static inline void xxph3_hash_fixed(const uint8_t *keys, size_t width, size_t stride, size_t n,
                                    void *hashes)
{
  if (width >= 4 && width <= 8)
    for (size_t i = 0; i < n; i++)
      hash64_store(hashes, i, xxph3_4_to_8(keys + i * stride, width));
  else if (width >= 9 && width <= 16)
    for (size_t i = 0; i < n; i++)
      hash64_store(hashes, i, xxph3_9_to_16(keys + i * stride, width));
  else if (width >= 17 && width <= 128)
    for (size_t i = 0; i < n; i++)
      hash64_store(hashes, i, xxph3_17_to_128(keys + i * stride, width));
  else
    for (size_t i = 0; i < n; i++)
      hash64_store(hashes, i, xxph3(keys + i * stride, width));
}

#endif
