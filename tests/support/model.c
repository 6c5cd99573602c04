/* The filters written a second time, straight from their definitions.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "model.h"

static const uint64_t TWO_TO_32 = (uint64_t)1 << 32;

/* Returns the number in ndigits bytes, the lowest digit first. */
static uint64_t number(const uint8_t *bytes, size_t ndigits)
{
  uint64_t value = 0;
  while (ndigits-- > 0)
    value = value * 256 + bytes[ndigits];
  return value;
}

/* ---- BloomHash ---- */

static const uint64_t MULTIPLIER = 0xc6a4a793;

/* Computes in 64 bits, and reduces to 32 bits after each step. */
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

/* As specifications print it; the library stores it as bytes. */
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

/* Returns the high half of a 128-bit product, by long multiplication with digits of 32 bits. */
static uint64_t high_half(uint64_t a, uint64_t b)
{
  const uint64_t a0 = a % TWO_TO_32, a1 = a / TWO_TO_32, b0 = b % TWO_TO_32, b1 = b / TWO_TO_32;
  const uint64_t units = a0 * b0;
  const uint64_t crossed = a1 * b0 + units / TWO_TO_32; /* at most (2^32 - 1) * 2^32 */
  const uint64_t second = a0 * b1 + crossed % TWO_TO_32;
  return a1 * b1 + crossed / TWO_TO_32 + second / TWO_TO_32;
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

/* Computes one of eight lanes on its own. A stripe is 64 bytes, and a block is sixteen stripes. */
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

/* Computed by the xxHash library. */
uint64_t model_xxh64(const void *key, size_t size)
{
  return XXH64(key, size, 0);
}

/* ---- Spark's Murmur3 ---- */

static uint64_t rotated(uint64_t value, unsigned nbits)
{
  const uint64_t power = (uint64_t)1 << nbits;
  return value * power % TWO_TO_32 + value / (TWO_TO_32 / power);
}

/* Computes in 64 bits, and reduces to 32 bits after each step. */
static uint64_t murmur3(const uint8_t *bytes, size_t size, uint64_t h)
{
  const size_t ntail = size % 4, nwords = size / 4;
  for (size_t i = 0; i < nwords + ntail; i++) {
    uint64_t word = i < nwords ? number(bytes + 4 * i, 4) : bytes[size - ntail + i - nwords];
    if (i >= nwords && word > 127)
      word += TWO_TO_32 - 256; /* a byte below 0 */
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

/* ---- Positions of probes ---- */

/* Double hashing on 32 bits. */
static uint64_t nth_probe(uint32_t hash, unsigned i)
{
  const uint64_t rotated = hash / 131072 + hash % 131072 * (uint64_t)32768; /* right by 17 bits */
  return (hash + i * rotated) % TWO_TO_32;
}

uint64_t model_position(uint32_t hash, unsigned i, uint64_t nbytes)
{
  return nth_probe(hash, i) % (nbytes * 8);
}

uint64_t model_legacy_position(uint32_t hash, unsigned i, uint64_t nbytes, uint64_t nlines)
{
  const uint64_t line_nbits = nbytes * 8 / nlines;
  return hash % nlines * line_nbits + nth_probe(hash, i) % line_nbits;
}

/* The low half of the hash selects the line, as a share of all lines. The high half, times the i-th
 * power of a constant, selects the bit in the line. */
uint64_t model_local_position(uint64_t hash, unsigned i, uint64_t nbytes)
{
  const uint64_t nlines = nbytes / 64, line = hash % TWO_TO_32 * nlines / TWO_TO_32;
  uint64_t share = hash / TWO_TO_32;
  while (i-- > 0)
    share = share * 2654435769 % TWO_TO_32;
  return line * 512 + share * 512 / TWO_TO_32;
}

/* The high half selects the block of eight words, as a share of all blocks. In word i, the low half
 * times an odd number selects the bit. */
uint64_t model_parquet_position(uint64_t hash, unsigned i, uint64_t nbytes)
{
  static const uint64_t salts[] = {1203114875, 1150766481, 2284105051, 2729912477,
                                   1884591559, 770785867,  2667333959, 1550580529};
  const uint64_t block = hash / TWO_TO_32 * (nbytes / 32) / TWO_TO_32;
  const uint64_t share = hash % TWO_TO_32 * salts[i] % TWO_TO_32;
  return block * 256 + i * 32 + share * 32 / TWO_TO_32;
}

/* Converts a position to that of the same bit in Spark's words of eight bytes, the highest byte
 * first. */
static uint64_t in_big_endian_words(uint64_t bit)
{
  const uint64_t word = bit / 64, byte = 7 - bit % 64 / 8;
  return (word * 8 + byte) * 8 + bit % 8;
}

/* Reads 32 bits as a signed number. */
static int64_t with_sign(uint64_t value)
{
  return (int64_t)value - (value >= TWO_TO_32 / 2 ? (int64_t)TWO_TO_32 : 0);
}

/* In version 1 sums wrap, as in Java's int; in version 2 they are of Java's long, which they never
 * exceed. */
uint64_t model_spark_v1_position(uint64_t hash, unsigned i, uint64_t nbytes)
{
  const uint64_t sum = hash % TWO_TO_32 + hash / TWO_TO_32 * (i + 1);
  const int64_t probe = with_sign(sum % TWO_TO_32);
  return in_big_endian_words((uint64_t)(probe < 0 ? -1 - probe : probe) % (nbytes * 8));
}

uint64_t model_spark_v2_position(uint64_t hash, unsigned i, uint64_t nbytes)
{
  const int64_t first = with_sign(hash % TWO_TO_32), second = with_sign(hash / TWO_TO_32);
  const int64_t probe = first * 2147483647 + second * (int64_t)(i + 1);
  return in_big_endian_words((uint64_t)(probe < 0 ? -1 - probe : probe) % (nbytes * 8));
}

/* ---- Ribbon ---- */

static bool is_set(const uint8_t *payload, uint64_t position)
{
  return payload[position / 8] & 1 << position % 8;
}

/* Segments of 128 bits are distributed to the blocks, so that the last ones have at most one more.
 * Each segment is a column of its block. */
static uint64_t ribbon_ncolumns(const struct filter_shape *shape, uint64_t block)
{
  const uint64_t nsegments = shape->nbytes / 16, nblocks = shape->ribbon.nblocks;
  const uint64_t least = nsegments / nblocks, nmore = nsegments % nblocks;
  const uint64_t ncolumns = block >= nblocks - nmore ? least + 1 : least;
  return least >= 32 ? 32 : ncolumns;
}

static uint64_t ribbon_segment(const struct filter_shape *shape, uint64_t block)
{
  const uint64_t least = ribbon_ncolumns(shape, 0), nblocks = shape->ribbon.nblocks;
  const uint64_t nmore = least < 32 ? shape->nbytes / 16 % nblocks : 0;
  return block * least + (block > nblocks - nmore ? block - (nblocks - nmore) : 0);
}

/* Returns the position of the bit of a slot and a column. */
static uint64_t ribbon_position(const struct filter_shape *shape, uint64_t slot, uint64_t column)
{
  return (ribbon_segment(shape, slot / 128) + column) * 128 + slot % 128;
}

static uint64_t ribbon_mixed(const struct filter_shape *shape, uint64_t hash)
{
  return (hash ^ shape->ribbon.seed) * 7031196922566818317u;
}

static uint64_t ribbon_start(const struct filter_shape *shape, uint64_t hash)
{
  return high_half(ribbon_mixed(shape, hash), (uint64_t)shape->ribbon.nblocks * 128 - 127);
}

/* Does the sum, modulo 2, of the slots that the hash selects equal the bit that it expects in this
 * column? The first slot is always selected. The bytes of expected bits are numbered from the
 * highest. */
static bool ribbon_fulfils(const struct filter_shape *shape, const uint8_t *payload, uint64_t hash,
                           unsigned column)
{
  const uint64_t high = ribbon_mixed(shape, hash) * 14019567660613045229u;
  const uint64_t low = high ^ 14080368215210488605u, start = ribbon_start(shape, hash);
  unsigned sum = 0;
  for (unsigned i = 0; i < 128; i++) {
    const bool chosen = i == 0 || ((i < 64 ? low : high) >> i % 64) % 2;
    if (chosen)
      sum += is_set(payload, ribbon_position(shape, start + i, column));
  }
  const unsigned expected = (unsigned)(high >> (56 - column / 8 * 8) >> column % 8) % 2;
  return sum % 2 == expected;
}

bool model_ribbon_may_match(const struct filter_shape *shape, const uint8_t *payload, uint64_t hash)
{
  const uint64_t ncolumns = ribbon_ncolumns(shape, ribbon_start(shape, hash) / 128);
  unsigned nfulfilled = 0;
  for (unsigned column = 0; column < ncolumns; column++)
    nfulfilled += ribbon_fulfils(shape, payload, hash, column);
  return nfulfilled == ncolumns;
}

/* Works from the last slot to the first: the slot changed for one hash is not used by those before
 * it. */
void model_ribbon_fit(const struct filter_shape *shape, uint8_t *payload, uint64_t *hashes,
                      size_t n)
{
  for (size_t i = 1; i < n; i++) /* insertion sort */
    for (size_t at = i;
         at > 0 && ribbon_start(shape, hashes[at - 1]) < ribbon_start(shape, hashes[at]); at--) {
      const uint64_t hash = hashes[at];
      hashes[at] = hashes[at - 1];
      hashes[at - 1] = hash;
    }
  for (size_t i = 0; i < n; i++) {
    const uint64_t start = ribbon_start(shape, hashes[i]);
    for (unsigned column = 0; column < ribbon_ncolumns(shape, start / 128); column++)
      if (!ribbon_fulfils(shape, payload, hashes[i], column)) {
        const uint64_t at = ribbon_position(shape, start, column);
        payload[at / 8] = (uint8_t)(payload[at / 8] ^ 1 << at % 8);
      }
  }
}

/* ---- Sizes ---- */

/* 0.69 probes per bit, computed in hundredths. Up to the limit of 30 probes, a double product
 * rounds down to the same number. */
unsigned model_nprobes(unsigned bits_per_key)
{
  const uint64_t nprobes = (uint64_t)bits_per_key * 69 / 100;
  return nprobes == 0 ? 1 : nprobes > 30 ? 30 : (unsigned)nprobes;
}

/* The last row of the definition's table that applies. The table is not monotone. */
unsigned model_local_nprobes(uint64_t millibits_per_key)
{
  static const struct {
    uint64_t above;
    unsigned nprobes;
  } rows[] = {{0, 1},      {2080, 2},   {3580, 3},   {5100, 4},   {6640, 5},   {8300, 6},
              {10070, 7},  {11720, 8},  {14001, 9},  {16050, 10}, {18300, 11}, {22001, 12},
              {25501, 11}, {26000, 12}, {28000, 13}, {30000, 14}, {32000, 15}, {34000, 16},
              {36000, 17}, {38000, 18}, {40000, 19}, {42000, 20}, {44000, 21}, {46000, 22},
              {48000, 23}, {50000, 24}};
  size_t row = sizeof rows / sizeof *rows;
  while (millibits_per_key <= rows[--row].above)
    ;
  return rows[row].nprobes;
}

/* As many lines of 512 bits as the bits need, and one more if their number is even. */
uint64_t model_legacy_nbytes(uint64_t bits_per_key, uint64_t nentries)
{
  const uint64_t nbits = nentries * bits_per_key, nlines = nbits / 512 + (nbits % 512 > 0);
  return nlines == 0 ? 0 : 64 * (nlines % 2 == 0 ? nlines + 1 : nlines);
}

uint64_t model_local_nbytes(uint64_t millibits_per_key, uint64_t nentries)
{
  const uint64_t nmillibits = nentries * millibits_per_key, per_line = 512000;
  return 64 * (nmillibits / per_line + (nmillibits % per_line > 0));
}

/* ---- LevelDB's answer on any bytes ---- */

bool model_may_match(const uint8_t *bytes, size_t size, uint32_t hash)
{
  if (size < 2)
    return false;
  const unsigned nprobes = bytes[size - 1];
  if (nprobes > 30)
    return true;
  unsigned nset = 0;
  for (unsigned i = 0; i < nprobes; i++)
    nset += is_set(bytes, model_position(hash, i, size - 1));
  return nset == nprobes;
}

/* ---- Operations of a kernel table ---- */

typedef uint64_t position_function(const struct filter_shape *shape, const void *hash, unsigned i);

static uint64_t leveldb_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint32_t value;
  memcpy(&value, hash, sizeof value);
  return model_position(value, i, shape->nbytes);
}

static uint64_t legacy_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint32_t value;
  memcpy(&value, hash, sizeof value);
  return model_legacy_position(value, i, shape->nbytes, shape->lines.n);
}

static uint64_t local_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value;
  memcpy(&value, hash, sizeof value);
  return model_local_position(value, i, shape->nbytes);
}

static uint64_t parquet_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value;
  memcpy(&value, hash, sizeof value);
  return model_parquet_position(value, i, shape->nbytes);
}

static uint64_t spark_v1_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value;
  memcpy(&value, hash, sizeof value);
  return model_spark_v1_position(value, i, shape->nbytes);
}

static uint64_t spark_v2_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value;
  memcpy(&value, hash, sizeof value);
  return model_spark_v2_position(value, i, shape->nbytes);
}

/* The operations work only on stored hashes, which is all that tests need. */
static void probe_at(position_function *position, size_t hash_nbytes,
                     const struct filter_shape *shape, const uint8_t *payload,
                     const struct hash_source *source, uint8_t *bitmap)
{
  for (size_t i = 0; i < source->n; i++) {
    if (i % 8 == 0)
      bitmap[i / 8] = 0;
    unsigned nset = 0;
    for (unsigned p = 0; p < shape->nprobes; p++)
      nset += is_set(payload, position(shape, source->hashes + hash_nbytes * i, p));
    if (nset == shape->nprobes)
      bitmap[i / 8] = (uint8_t)(bitmap[i / 8] | 1 << i % 8);
  }
}

static void add_at(position_function *position, size_t hash_nbytes,
                   const struct filter_shape *shape, uint8_t *payload,
                   const struct hash_source *source)
{
  for (size_t i = 0; i < source->n; i++)
    for (unsigned p = 0; p < shape->nprobes; p++) {
      const uint64_t at = position(shape, source->hashes + hash_nbytes * i, p);
      payload[at / 8] = (uint8_t)(payload[at / 8] | 1 << at % 8);
    }
}

static void leveldb_probe(const struct filter_shape *shape, const uint8_t *payload,
                          struct hash_source *source, uint8_t *bitmap)
{
  probe_at(leveldb_position, 4, shape, payload, source, bitmap);
}

static void leveldb_add(const struct filter_shape *shape, uint8_t *payload,
                        struct hash_source *source)
{
  add_at(leveldb_position, 4, shape, payload, source);
}

static void legacy_probe(const struct filter_shape *shape, const uint8_t *payload,
                         struct hash_source *source, uint8_t *bitmap)
{
  probe_at(legacy_position, 4, shape, payload, source, bitmap);
}

static void legacy_add(const struct filter_shape *shape, uint8_t *payload,
                       struct hash_source *source)
{
  add_at(legacy_position, 4, shape, payload, source);
}

static void local_probe(const struct filter_shape *shape, const uint8_t *payload,
                        struct hash_source *source, uint8_t *bitmap)
{
  probe_at(local_position, 8, shape, payload, source, bitmap);
}

static void local_add(const struct filter_shape *shape, uint8_t *payload,
                      struct hash_source *source)
{
  add_at(local_position, 8, shape, payload, source);
}

static void parquet_probe(const struct filter_shape *shape, const uint8_t *payload,
                          struct hash_source *source, uint8_t *bitmap)
{
  probe_at(parquet_position, 8, shape, payload, source, bitmap);
}

static void parquet_add(const struct filter_shape *shape, uint8_t *payload,
                        struct hash_source *source)
{
  add_at(parquet_position, 8, shape, payload, source);
}

static void spark_v1_probe_each(const struct filter_shape *shape, const uint8_t *payload,
                                struct hash_source *source, uint8_t *bitmap)
{
  probe_at(spark_v1_position, 8, shape, payload, source, bitmap);
}

static void spark_v1_add(const struct filter_shape *shape, uint8_t *payload,
                         struct hash_source *source)
{
  add_at(spark_v1_position, 8, shape, payload, source);
}

static void spark_v2_probe_each(const struct filter_shape *shape, const uint8_t *payload,
                                struct hash_source *source, uint8_t *bitmap)
{
  probe_at(spark_v2_position, 8, shape, payload, source, bitmap);
}

static void spark_v2_add(const struct filter_shape *shape, uint8_t *payload,
                         struct hash_source *source)
{
  add_at(spark_v2_position, 8, shape, payload, source);
}

static void ribbon_probe(const struct filter_shape *shape, const uint8_t *payload,
                         struct hash_source *source, uint8_t *bitmap)
{
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t i = 0; i < source->n; i++) {
    uint64_t hash;
    memcpy(&hash, source->hashes + 8 * i, 8);
    if (model_ribbon_may_match(shape, payload, hash))
      bitmap[i / 8] = (uint8_t)(bitmap[i / 8] | 1 << i % 8);
  }
}

static void bloomhash_slices(const lanebloom_keys *keys, void *hashes, bool signed_tail)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint32_t hash = model_bloomhash(slices[i].data, slices[i].size, signed_tail);
    memcpy((uint8_t *)hashes + 4 * i, &hash, 4);
  }
}

static void hash_unsigned(const lanebloom_keys *keys, void *hashes)
{
  bloomhash_slices(keys, hashes, false);
}

static void hash_signed(const lanebloom_keys *keys, void *hashes)
{
  bloomhash_slices(keys, hashes, true);
}

static void hash_xxph3(const lanebloom_keys *keys, void *hashes)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint64_t hash = model_xxph3(slices[i].data, slices[i].size);
    memcpy((uint8_t *)hashes + 8 * i, &hash, 8);
  }
}

static void hash_xxh64(const lanebloom_keys *keys, void *hashes)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint64_t hash = model_xxh64(slices[i].data, slices[i].size);
    memcpy((uint8_t *)hashes + 8 * i, &hash, 8);
  }
}

static void hash_spark_murmur3(const lanebloom_keys *keys, void *hashes)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint64_t hash = model_spark_murmur3(slices[i].data, slices[i].size);
    memcpy((uint8_t *)hashes + 8 * i, &hash, 8);
  }
}

const struct model model_leveldb = {{hash_unsigned, leveldb_probe, leveldb_add, NULL},
                                    leveldb_position};
const struct model model_leveldb_signed = {{hash_signed, leveldb_probe, leveldb_add, NULL},
                                           leveldb_position};
const struct model model_rocksdb_legacy = {{hash_signed, legacy_probe, legacy_add, NULL},
                                           legacy_position};
const struct model model_rocksdb_local = {{hash_xxph3, local_probe, local_add, NULL},
                                          local_position};
const struct model model_rocksdb_ribbon = {{hash_xxph3, ribbon_probe, NULL, NULL}, NULL};
const struct model model_parquet = {{hash_xxh64, parquet_probe, parquet_add, NULL},
                                    parquet_position};
const struct model model_spark_v1 = {{hash_spark_murmur3, spark_v1_probe_each, spark_v1_add, NULL},
                                     spark_v1_position};
const struct model model_spark_v2 = {{hash_spark_murmur3, spark_v2_probe_each, spark_v2_add, NULL},
                                     spark_v2_position};
