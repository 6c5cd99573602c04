/* Hashes one key by Murmur3 with 128 bits for 64-bit CPUs (MurmurHash3_x64_128), with seed 0. Two
 * variants differ in the last bytes of a key: the original one, which Guava uses, and Cassandra's,
 * which reads these bytes as signed. Sources: Appleby's MurmurHash3.cpp; Cassandra 5.0
 * MurmurHash.java, hash3_x64_128.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SCALAR_MURMUR3_128_H
#define LANEBLOOM_SCALAR_MURMUR3_128_H

#include "../common/bytes.h"
#include "../kernels.h"

static const uint64_t MURMUR3_128_MULTIPLIER_1 = 0x87c37b91114253d5,
                      MURMUR3_128_MULTIPLIER_2 = 0x4cf5ad432745937f,
                      MURMUR3_128_ADDEND_1 = 0x52dce729, MURMUR3_128_ADDEND_2 = 0x38495ab5,
                      MURMUR3_128_LAST_MULTIPLIER_1 = 0xff51afd7ed558ccd,
                      MURMUR3_128_LAST_MULTIPLIER_2 = 0xc4ceb9fe1a85ec53;

enum { MURMUR3_128_BLOCK_NBYTES = 16 };

static inline uint64_t murmur3_128_rotate(uint64_t value, unsigned nbits)
{
  return value << nbits | value >> (64 - nbits);
}

/* Mixes the first or the second word of a block. */
static inline uint64_t murmur3_128_mix_1(uint64_t word)
{
  return murmur3_128_rotate(word * MURMUR3_128_MULTIPLIER_1, 31) * MURMUR3_128_MULTIPLIER_2;
}

static inline uint64_t murmur3_128_mix_2(uint64_t word)
{
  return murmur3_128_rotate(word * MURMUR3_128_MULTIPLIER_2, 33) * MURMUR3_128_MULTIPLIER_1;
}

static inline struct key_hash murmur3_128_take_block(struct key_hash hash, const uint8_t *block)
{
  hash.low ^= murmur3_128_mix_1(load_le64(block));
  hash.low = murmur3_128_rotate(hash.low, 27) + hash.high;
  hash.low = hash.low * 5 + MURMUR3_128_ADDEND_1;
  hash.high ^= murmur3_128_mix_2(load_le64(block + 8));
  hash.high = murmur3_128_rotate(hash.high, 31) + hash.low;
  hash.high = hash.high * 5 + MURMUR3_128_ADDEND_2;
  return hash;
}

/* Joins up to eight bytes to a word, the first byte lowest. Cassandra widens each byte to 64 bits
 * with its sign, and combines the bytes by an exclusive or. */
static inline uint64_t murmur3_128_word(const uint8_t *bytes, size_t n, bool is_signed)
{
  uint64_t word = 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t byte = is_signed && bytes[i] >= 0x80 ? bytes[i] | ~UINT64_C(0xff) : bytes[i];
    word ^= byte << 8 * i;
  }
  return word;
}

static inline uint64_t murmur3_128_finish_half(uint64_t half)
{
  half = (half ^ half >> 33) * MURMUR3_128_LAST_MULTIPLIER_1;
  half = (half ^ half >> 33) * MURMUR3_128_LAST_MULTIPLIER_2;
  return half ^ half >> 33;
}

static inline struct key_hash murmur3_128_finish(struct key_hash hash, size_t size)
{
  hash.low ^= size;
  hash.high ^= size;
  hash.low += hash.high;
  hash.high += hash.low;
  hash.low = murmur3_128_finish_half(hash.low);
  hash.high = murmur3_128_finish_half(hash.high);
  hash.low += hash.high;
  hash.high += hash.low;
  return hash;
}

/* Returns the hash of a key. The function is always inlined, so that the compiler removes the code
 * for other sizes if the size is constant. */
__attribute__((always_inline)) static inline struct key_hash
murmur3_128(const uint8_t *key, size_t size, bool is_signed)
{
  struct key_hash hash = {0, 0};
  const uint8_t *const end = key + size;
  for (; end - key >= MURMUR3_128_BLOCK_NBYTES; key += MURMUR3_128_BLOCK_NBYTES)
    hash = murmur3_128_take_block(hash, key);
  const size_t rest = (size_t)(end - key), first = rest < 8 ? rest : 8;
  hash.low ^= murmur3_128_mix_1(murmur3_128_word(key, first, is_signed));
  if (rest > 8)
    hash.high ^= murmur3_128_mix_2(murmur3_128_word(key + 8, rest - 8, is_signed));
  return murmur3_128_finish(hash, size);
}

#endif
