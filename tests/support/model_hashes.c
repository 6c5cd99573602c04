/* The model's hashes of keys.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "model_parts.h"

/* Returns the number in ndigits bytes. Each byte is a digit, and the lowest comes first. */
static uint64_t number(const uint8_t *bytes, size_t ndigits)
{
  uint64_t value = 0;
  while (ndigits-- > 0)
    value = value * 256 + bytes[ndigits];
  return value;
}

/* ---- BloomHash ---- */

static const uint64_t MULTIPLIER = 0xc6a4a793;

/* Computes in 64 bits, and reduces the value to 32 bits after each step. */
uint32_t model_bloomhash(const void *key, size_t size, bool signed_tail)
{
  const uint8_t *bytes = key;
  const size_t ntail = size % 4, nwords = (size - ntail) / 4;
  uint64_t h = 0xbc9f1d34 ^ size * MULTIPLIER % TWO_TO_32;

  for (size_t w = 0; w < nwords; w++) {
    h = (h + number(bytes + 4 * w, 4)) * MULTIPLIER % TWO_TO_32;
    h ^= h / 65536;
  }
  if (ntail == 0)
    return (uint32_t)h;

  int64_t tail = 0;
  for (size_t digit = ntail; digit-- > 0;) {
    int value = bytes[4 * nwords + digit];
    if (signed_tail && value > 127)
      value -= 256;
    tail = tail * 256 + value;
  }
  h = (h + (uint64_t)tail) * MULTIPLIER % TWO_TO_32;
  return (uint32_t)(h ^ h / 16777216);
}

/* ---- XXPH3 ---- */

/* The bytes in the order in which specifications print them, as text; the library stores bytes. */
static const char SECRET[] = "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e"
                             "64eccc0e578825ad07dccff7221"
                             "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644"
                             "897a20df94e3819ef46a9deacd8"
                             "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5a"
                             "c8334d3ebc3c581a0fffa1363eb"
                             "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3"
                             "a8f95160428afd7fbcabb4b407e";

static const uint64_t P32[] = {0, 2654435761, 2246822519,
                               3266489917}; /* numbered from 1, as in the definition */
static const uint64_t P64[] = {0,
                               11400714785074694791u,
                               14029467366897019727u,
                               1609587929392839161,
                               9650029242287828579u,
                               2870177450012600261};

static uint64_t digit_of(char hex)
{
  return (uint64_t)(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

static uint64_t secret(size_t at, size_t nbytes)
{
  uint8_t bytes[8];
  for (size_t i = 0; i < nbytes; i++)
    bytes[i] = (uint8_t)(digit_of(SECRET[2 * (at + i)]) * 16 + digit_of(SECRET[2 * (at + i) + 1]));
  return number(bytes, nbytes);
}

static uint64_t fold(uint64_t a, uint64_t b)
{
  return a * b ^ high_half(a, b);
}

static uint64_t finish(uint64_t h)
{
  h = (h ^ h / 137438953472) * P64[3];
  return h ^ h / TWO_TO_32;
}

static uint64_t mix(const uint8_t *bytes, size_t secret_at)
{
  return fold(number(bytes, 8) ^ secret(secret_at, 8),
              number(bytes + 8, 8) ^ secret(secret_at + 8, 8));
}

/* Computes one of eight lanes by itself. A stripe has 64 bytes, and a block has sixteen stripes. */
static uint64_t lane_of(const uint8_t *key, size_t size, size_t lane, uint64_t value)
{
  size_t at = 0;
  for (size_t stripe = 0; size - at >= 64; stripe++, at += 64) {
    const uint64_t word = number(key + at + 8 * lane, 8),
                   mixed = word ^ secret(8 * (stripe % 16) + 8 * lane, 8);
    value += word + mixed % TWO_TO_32 * (mixed / TWO_TO_32);
    if (stripe % 16 == 15)
      value = (value ^ value / 140737488355328 ^ secret(128 + 8 * lane, 8)) * P32[1];
  }
  if (at < size) {
    const uint64_t word = number(key + size - 64 + 8 * lane, 8),
                   mixed = word ^ secret(121 + 8 * lane, 8);
    value += word + mixed % TWO_TO_32 * (mixed / TWO_TO_32);
  }
  return value;
}

uint64_t model_xxph3(const void *key, size_t size)
{
  const uint8_t *bytes = key;
  if (size == 0)
    return fold(secret(0, 8), P64[2]);
  if (size < 4) {
    const uint8_t four[] = {bytes[0], bytes[size / 2], bytes[size - 1], (uint8_t)size};
    return finish((number(four, 4) ^ secret(0, 4)) * P64[1]);
  }
  if (size < 9) {
    uint64_t x = (number(bytes, 4) + number(bytes + size - 4, 4) * TWO_TO_32) ^ secret(0, 8);
    x = size + (x ^ x / 2251799813685248) * P32[1];
    return finish((x ^ x / 140737488355328) * P64[2]);
  }
  if (size < 17) {
    const uint64_t first = number(bytes, 8) ^ secret(0, 8),
                   last = number(bytes + size - 8, 8) ^ secret(8, 8);
    return finish(size + first + last + fold(first, last));
  }

  uint64_t sum = size * P64[1];
  if (size <= 128) {
    for (size_t pair = 0; 32 * pair < size; pair++) {
      sum += mix(bytes + 16 * pair, 32 * pair);
      sum += mix(bytes + size - 16 * (pair + 1), 32 * pair + 16);
    }
  } else if (size <= 240) {
    for (size_t round = 0; round < 8; round++)
      sum += mix(bytes + 16 * round, 16 * round);
    sum = finish(sum);
    for (size_t round = 8; round < size / 16; round++)
      sum += mix(bytes + 16 * round, 16 * round - 125);
    sum += mix(bytes + size - 16, 119);
  } else {
    const uint64_t start[] = {P32[3], P64[1], P64[2], P64[3], P64[4], P32[2], P64[5], P32[1]};
    for (size_t lane = 0; lane < 8; lane += 2) {
      const uint64_t even = lane_of(bytes, size, lane, start[lane]);
      const uint64_t odd = lane_of(bytes, size, lane + 1, start[lane + 1]);
      sum += fold(even ^ secret(11 + 8 * lane, 8), odd ^ secret(19 + 8 * lane, 8));
    }
  }
  return finish(sum);
}

/* ---- XXH64 ---- */

/* The xxHash library computes this hash. */
uint64_t model_xxh64(const void *key, size_t size)
{
  return XXH64(key, size, 0);
}

/* ---- XXH3 ---- */

uint64_t model_xxh3(const void *key, size_t size)
{
  return XXH3_64bits(key, size);
}

/* ---- Spark's Murmur3 ---- */

static uint64_t rotated(uint64_t value, unsigned nbits)
{
  const uint64_t power = (uint64_t)1 << nbits;
  return value * power % TWO_TO_32 + value / (TWO_TO_32 / power);
}

/* Computes in 64 bits, and reduces the value to 32 bits after each step. */
static uint64_t murmur3(const uint8_t *bytes, size_t size, uint64_t h)
{
  const size_t ntail = size % 4, nwords = size / 4;
  for (size_t i = 0; i < nwords + ntail; i++) {
    uint64_t word = i < nwords ? number(bytes + 4 * i, 4) : bytes[size - ntail + i - nwords];
    if (i >= nwords && word > 127)
      word += TWO_TO_32 - 256; /* the byte is negative */
    h ^= rotated(word * 3432918353 % TWO_TO_32, 15) * 461845907 % TWO_TO_32;
    h = (rotated(h, 13) * 5 + 3864292196) % TWO_TO_32;
  }
  h ^= size % TWO_TO_32;
  h = (h ^ h / 65536) * 2246822507 % TWO_TO_32;
  h = (h ^ h / 8192) * 3266489909 % TWO_TO_32;
  return h ^ h / 65536;
}

uint64_t model_spark_murmur3(const void *key, size_t size)
{
  const uint64_t first = murmur3(key, size, 0);
  return murmur3(key, size, first) * TWO_TO_32 + first;
}

/* ---- FNV-1 ---- */

/* A signed byte that is negative changes all bits above its own. */
uint64_t model_fnv1(const void *key, size_t size, bool is_signed)
{
  const uint8_t *bytes = key;
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < size; i++) {
    h *= 1099511628211u;
    h ^= bytes[i];
    if (is_signed && bytes[i] > 127)
      h = UINT64_MAX - h / 256 * 256 - 255 + h % 256;
  }
  return h;
}

/* ---- Murmur3 with 128 bits ---- */

static uint64_t rotated_64(uint64_t value, unsigned nbits)
{
  const uint64_t power = (uint64_t)1 << nbits;
  return value * power + value / ((uint64_t)1 << (64 - nbits));
}

/* Mixes word 0 or 1 of a block into the hash. Words of 0 change nothing. */
static void mix_word(uint64_t hash[2], uint64_t word, unsigned i)
{
  static const uint64_t multipliers[] = {9782798678568883157u, 5545529020109919103u};
  hash[i] ^= rotated_64(word * multipliers[i], 31 + 2 * i) * multipliers[1 - i];
}

/* Sums the bytes as digits, or combines them bit by bit after widening each with its sign. */
static uint64_t last_word(const uint8_t *bytes, size_t n, bool signed_tail)
{
  uint64_t word = 0;
  for (size_t i = 0; i < n; i++) {
    const int64_t byte = signed_tail && bytes[i] > 127 ? bytes[i] - 256 : bytes[i];
    uint64_t shifted = (uint64_t)byte;
    for (size_t power = 0; power < i; power++)
      shifted *= 256;
    word = signed_tail ? word ^ shifted : word + shifted;
  }
  return word;
}

void model_murmur3_128(const void *key, size_t size, bool signed_tail, uint64_t hash[2])
{
  const uint8_t *bytes = key;
  const size_t ntail = size % 16, first = ntail < 8 ? ntail : 8;
  hash[0] = hash[1] = 0;
  for (size_t at = 0; at + 16 <= size; at += 16) {
    mix_word(hash, number(bytes + at, 8), 0);
    hash[0] = (rotated_64(hash[0], 27) + hash[1]) * 5 + 1390208809;
    mix_word(hash, number(bytes + at + 8, 8), 1);
    hash[1] = (rotated_64(hash[1], 31) + hash[0]) * 5 + 944331445;
  }
  if (ntail > 0) {
    mix_word(hash, last_word(bytes + size - ntail, first, signed_tail), 0);
    mix_word(hash, last_word(bytes + size - ntail + first, ntail - first, signed_tail), 1);
  }

  hash[0] ^= size;
  hash[1] ^= size;
  hash[0] += hash[1];
  hash[1] += hash[0];
  for (unsigned i = 0; i < 2; i++) {
    const uint64_t by_33_bits = 8589934592;
    hash[i] = (hash[i] ^ hash[i] / by_33_bits) * 18397679294719823053u;
    hash[i] = (hash[i] ^ hash[i] / by_33_bits) * 14181476777654086739u;
    hash[i] ^= hash[i] / by_33_bits;
  }
  hash[0] += hash[1];
  hash[1] += hash[0];
}

/* ---- Hudi ---- */

uint32_t model_hudi_hash(const void *key, size_t size, uint32_t seed)
{
  const int8_t *bytes = key; /* signed, as in Java */
  const uint32_t multiplier = 1540483477;
  const size_t nwords = size / 4, nleft = size % 4;
  uint32_t hash = seed ^ (uint32_t)size;
  for (size_t word = 0; word < nwords; word++) {
    uint32_t mixed = 0;
    for (size_t i = 4; i-- > 0;)
      mixed = mixed * 256 + (uint8_t)bytes[4 * word + i];
    mixed *= multiplier;
    mixed ^= mixed / 16777216;
    mixed *= multiplier;
    hash *= multiplier;
    hash ^= mixed;
  }
  if (nleft == 3)
    hash ^= (uint32_t)(bytes[size - 3] * 65536);
  if (nleft >= 2)
    hash ^= (uint32_t)(bytes[size - 2] * 256);
  if (nleft >= 1) {
    const int32_t last = bytes[size - 1];
    hash ^= (uint32_t)last;
    hash *= multiplier;
  }
  hash ^= hash / 8192;
  hash *= multiplier;
  return hash ^ hash / 32768;
}
