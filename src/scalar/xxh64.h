/* Hashes one key by XXH64, with seed 0. Source: xxHash, doc/xxhash_spec.md 0.1.1, XXH64.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_XXH64_H
#define LANEBLOOM_SCALAR_XXH64_H

#include "../common/bytes.h"
#include "../kernels.h"

/* XXH64's primes (xxHash, doc/xxhash_spec.md 0.1.1). */
static const uint64_t XXH64_PRIME_1 = 0x9e3779b185ebca87, XXH64_PRIME_2 = 0xc2b2ae3d27d4eb4f,
                      XXH64_PRIME_3 = 0x165667b19e3779f9, XXH64_PRIME_4 = 0x85ebca77c2b2ae63,
                      XXH64_PRIME_5 = 0x27d4eb2f165667c5;

enum { UUID_TEXT_NBYTES = 36 }; /* a common width of keys, for which there is a separate loop */

static inline uint64_t xxh64_rotate(uint64_t value, unsigned nbits)
{
  return value << nbits | value >> (64 - nbits);
}

/* Adds a word to one of the four sums. */
static inline uint64_t xxh64_round(uint64_t sum, uint64_t word)
{
  return xxh64_rotate(sum + word * XXH64_PRIME_2, 31) * XXH64_PRIME_1;
}

static inline uint64_t xxh64_merge(uint64_t hash, uint64_t sum)
{
  return (hash ^ xxh64_round(0, sum)) * XXH64_PRIME_1 + XXH64_PRIME_4;
}

/* These three functions add the last bytes of a key to the hash: a word of 8 bytes, a word of 4
 * bytes, and a single byte. */
static inline uint64_t xxh64_take_8(uint64_t hash, uint64_t word)
{
  return xxh64_rotate(hash ^ xxh64_round(0, word), 27) * XXH64_PRIME_1 + XXH64_PRIME_4;
}

static inline uint64_t xxh64_take_4(uint64_t hash, uint32_t word)
{
  return xxh64_rotate(hash ^ word * XXH64_PRIME_1, 23) * XXH64_PRIME_2 + XXH64_PRIME_3;
}

static inline uint64_t xxh64_take_1(uint64_t hash, uint8_t byte)
{
  return xxh64_rotate(hash ^ byte * XXH64_PRIME_5, 11) * XXH64_PRIME_1;
}

static inline uint64_t xxh64_finish(uint64_t hash)
{
  hash = (hash ^ hash >> 33) * XXH64_PRIME_2;
  hash = (hash ^ hash >> 29) * XXH64_PRIME_3;
  return hash ^ hash >> 32;
}

/* Hashes the whole stripes of 32 bytes of a key with four sums, and merges the sums. */
static inline uint64_t xxh64_stripes(const uint8_t *key, size_t nstripes)
{
  uint64_t a = XXH64_PRIME_1 + XXH64_PRIME_2, b = XXH64_PRIME_2, c = 0, d = -XXH64_PRIME_1;
  for (size_t i = 0; i < nstripes; i++, key += 32) {
    a = xxh64_round(a, load_le64(key));
    b = xxh64_round(b, load_le64(key + 8));
    c = xxh64_round(c, load_le64(key + 16));
    d = xxh64_round(d, load_le64(key + 24));
  }
  uint64_t hash =
      xxh64_rotate(a, 1) + xxh64_rotate(b, 7) + xxh64_rotate(c, 12) + xxh64_rotate(d, 18);
  hash = xxh64_merge(hash, a);
  hash = xxh64_merge(hash, b);
  hash = xxh64_merge(hash, c);
  return xxh64_merge(hash, d);
}

/* Returns the hash of a key. The function is always inlined, so that the compiler removes the code
 * for other sizes if the size is constant. */
__attribute__((always_inline)) static inline uint64_t xxh64(const uint8_t *key, size_t size)
{
  uint64_t hash = (size >= 32 ? xxh64_stripes(key, size / 32) : XXH64_PRIME_5) + size;
  const uint8_t *const end = key + size;
  for (key += size / 32 * 32; end - key >= 8; key += 8)
    hash = xxh64_take_8(hash, load_le64(key));
  if (end - key >= 4) {
    hash = xxh64_take_4(hash, load_le32(key));
    key += 4;
  }
  for (; key < end; key++)
    hash = xxh64_take_1(hash, *key);
  return xxh64_finish(hash);
}

#endif
