/* The model's positions of probes, sizes and answers.
 * SPDX-License-Identifier: MIT */
#include "model_parts.h"

/* ---- Positions of probes ---- */

/* Returns the hash of probe i: double hashing on 32 bits. */
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

/* The low half of the hash selects the line, as a share of all lines. The high half is multiplied
 * by the i-th power of a constant, and selects the bit in the line. */
uint64_t model_local_position(uint64_t hash, unsigned i, uint64_t nbytes)
{
  const uint64_t nlines = nbytes / 64, line = hash % TWO_TO_32 * nlines / TWO_TO_32;
  uint64_t share = hash / TWO_TO_32;
  while (i-- > 0)
    share = share * 2654435769 % TWO_TO_32;
  return line * 512 + share * 512 / TWO_TO_32;
}

/* The high half of the hash selects the block of eight words, as a share of all blocks. The low
 * half, multiplied by an odd number for word i, selects the bit in that word. */
uint64_t model_parquet_position(uint64_t hash, unsigned i, uint64_t nbytes)
{
  static const uint64_t salts[] = {1203114875, 1150766481, 2284105051, 2729912477,
                                   1884591559, 770785867,  2667333959, 1550580529};
  const uint64_t block = hash / TWO_TO_32 * (nbytes / 32) / TWO_TO_32;
  const uint64_t share = hash % TWO_TO_32 * salts[i] % TWO_TO_32;
  return block * 256 + i * 32 + share * 32 / TWO_TO_32;
}

/* Converts a position to the position of the same bit in Spark's words of eight bytes. In a word
 * the highest byte comes first. */
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

/* In version 1, sums wrap like Java's int. In version 2, sums have Java's type long, which they
 * never exceed. */
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

/* The multiplier is -1469 modulo 2^64, and the modulus of each step is 2^64 - 59. */
uint64_t model_dcso_position(uint64_t hash, unsigned i, uint64_t nbits)
{
  const uint64_t modulus = 18446744073709551557u;
  uint64_t step = hash % modulus;
  for (unsigned product = 0; product <= i; product++)
    step = (0 - 1469 * step) % modulus;
  return step % nbits;
}

/* The strategy of 32 bits uses the first number of the hash as Spark's version 1 does. */
uint64_t model_guava_32_position(const uint64_t hash[2], unsigned i, uint64_t nbytes)
{
  return model_spark_v1_position(hash[0], i, nbytes);
}

uint64_t model_guava_64_position(const uint64_t hash[2], unsigned i, uint64_t nbytes)
{
  uint64_t sum = hash[0];
  while (i-- > 0)
    sum += hash[1];
  return in_big_endian_words(sum % (TWO_TO_32 * (TWO_TO_32 / 2)) % (nbytes * 8));
}

/* Computes the remainder as Java does: it has the sign of the number that is divided. */
uint64_t model_cassandra_position(const uint64_t hash[2], unsigned i, uint64_t nbytes,
                                  unsigned version)
{
  const uint64_t step = hash[version == 2 ? 1 : 0];
  uint64_t sum = hash[version == 2 ? 0 : 1];
  while (i-- > 0)
    sum += step;
  const int64_t remainder = (int64_t)sum % (int64_t)(nbytes * 8);
  const uint64_t bit = (uint64_t)(remainder < 0 ? -remainder : remainder);
  return version == 4 ? bit : in_big_endian_words(bit);
}

/* ---- Ribbon ---- */

/* Distributes segments of 128 bits to the blocks. The last blocks may have one segment more than
 * the others. Each segment is a column of its block. */
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

/* Returns the position of the bit in this slot and this column. */
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

/* A hash selects slots, always including the first one. Is the sum of their bits in this column,
 * modulo 2, the bit that the hash expects? The bytes of expected bits are numbered from the
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

/* Works from the last slot to the first. The slot that is changed for one hash is not used by the
 * hashes that were fitted before. */
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

/* ---- Binary fuse ---- */

static uint64_t fuse_mixed(const struct filter_shape *shape, uint64_t hash)
{
  const uint64_t by_33_bits = 8589934592;
  uint64_t mixed = hash + shape->fuse.seed;
  mixed = (mixed ^ mixed / by_33_bits) * 18397679294719823053u;
  mixed = (mixed ^ mixed / by_33_bits) * 14181476777654086739u;
  return mixed ^ mixed / by_33_bits;
}

/* Returns slot i of a key: a share of the slots before the last two segments, or a slot in the i-th
 * segment after that. */
static uint64_t fuse_slot(const struct filter_shape *shape, uint64_t mixed, unsigned i)
{
  const uint64_t length = shape->fuse.segment_nslots, first = high_half(mixed, shape->fuse.nstarts);
  const uint64_t from = first + i * length;
  return i == 0 ? from : from ^ (i == 1 ? mixed / 262144 : mixed) % length;
}

/* Returns the bits in which the key's fingerprint differs from the sum of those in its slots. */
static uint32_t fuse_difference(const struct filter_shape *shape, const uint8_t *payload,
                                uint64_t mixed)
{
  uint32_t difference = 0;
  for (unsigned bit = 0; bit < shape->nprobes; bit++) {
    uint64_t sum = mixed >> bit ^ mixed >> (32 + bit);
    for (unsigned i = 0; i < 3; i++)
      sum += is_set(payload, fuse_slot(shape, mixed, i) * shape->nprobes + bit);
    difference |= (uint32_t)(sum % 2) << bit;
  }
  return difference;
}

bool model_fuse_may_match(const struct filter_shape *shape, const uint8_t *payload, uint64_t hash)
{
  return fuse_difference(shape, payload, fuse_mixed(shape, hash)) == 0;
}

void model_fuse_fit(const struct filter_shape *shape, uint8_t *payload, const uint64_t *hashes,
                    size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const uint64_t mixed = fuse_mixed(shape, hashes[i]);
    const uint64_t at = fuse_slot(shape, mixed, (unsigned)(i % 3)) * shape->nprobes;
    const uint32_t difference = fuse_difference(shape, payload, mixed);
    for (unsigned bit = 0; bit < shape->nprobes; bit++)
      if (difference & (uint32_t)1 << bit)
        payload[(at + bit) / 8] = (uint8_t)(payload[(at + bit) / 8] ^ 1 << (at + bit) % 8);
  }
}

/* ---- Sizes ---- */

/* Returns 0.69 probes per bit, computed in hundredths and rounded down. Engines compute with
 * doubles. Up to the limit of 30 probes, the results are equal. */
unsigned model_nprobes(unsigned bits_per_key)
{
  const uint64_t nprobes = (uint64_t)bits_per_key * 69 / 100;
  return nprobes == 0 ? 1 : nprobes > 30 ? 30 : (unsigned)nprobes;
}

/* Returns the number in the last row of the definition's table that applies. The table is not
 * monotone. */
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

/* The filter has as many lines of 512 bits as its bits need. If that number is even, it has one
 * line more. */
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

/* ---- Hudi ---- */

static void write_number(uint8_t *to, uint32_t number) /* big-endian */
{
  for (size_t i = 4; i-- > 0; number /= 256)
    to[i] = (uint8_t)(number % 256);
}

static size_t hudi_row_nbytes(uint32_t row_nbits)
{
  return HUDI_HEADER_NBYTES + (row_nbits + (size_t)7) / 8;
}

size_t model_hudi_nbytes(uint32_t nrows, uint32_t row_nbits)
{
  const size_t nbytes = hudi_row_nbytes(row_nbits);
  return nrows ? HUDI_DYNAMIC_NBYTES + nrows * nbytes : nbytes;
}

uint8_t *model_hudi_row(uint8_t *record, uint32_t nrows, uint32_t row, uint32_t row_nbits)
{
  uint8_t *bits = record + HUDI_HEADER_NBYTES;
  return nrows ? bits + HUDI_DYNAMIC_NBYTES + row * hudi_row_nbytes(row_nbits) : bits;
}

static void hudi_write_header(uint8_t *to, uint32_t nprobes, uint32_t row_nbits)
{
  write_number(to, 4294967295); /* the version, -1 */
  write_number(to + 4, nprobes);
  to[8] = 1; /* Murmur */
  write_number(to + 9, row_nbits);
}

void model_hudi_write_headers(uint8_t *record, uint32_t nrows, uint32_t nprobes, uint32_t row_nbits)
{
  hudi_write_header(record, nprobes, row_nbits);
  for (uint32_t row = 0; row < nrows; row++)
    hudi_write_header(model_hudi_row(record, nrows, row, row_nbits) - HUDI_HEADER_NBYTES, nprobes,
                      row_nbits);
  if (nrows)
    write_number(record + 21, nrows);
}

/* Returns the bit that a hash selects: the absolute value of a remainder that has the hash's
 * sign. */
static uint64_t hudi_position(uint32_t hash, uint32_t row_nbits)
{
  const int64_t value = hash < TWO_TO_32 / 2 ? (int64_t)hash : (int64_t)hash - (int64_t)TWO_TO_32;
  const int64_t rest = value % row_nbits;
  return (uint64_t)(rest < 0 ? -rest : rest);
}

bool model_hudi_may_have(const struct filter_shape *shape, const uint8_t *payload,
                         lanebloom_slice key)
{
  for (uint64_t row = 0; row < shape->hudi.nrows; row++) {
    const uint8_t *bits = payload + shape->hudi.first + row * shape->hudi.stride;
    uint32_t hash = 0, nset = 0;
    for (uint32_t i = 0; i < shape->nprobes; i++) {
      hash = model_hudi_hash(key.data, key.size, hash);
      nset += is_set(bits, hudi_position(hash, shape->hudi.row_nbits));
    }
    if (nset == shape->nprobes && key.size > 0)
      return true;
  }
  return false;
}

void model_hudi_add(uint8_t *row, uint32_t row_nbits, uint32_t nprobes, lanebloom_slice key)
{
  uint32_t hash = 0;
  for (uint32_t i = 0; i < nprobes; i++) {
    hash = model_hudi_hash(key.data, key.size, hash);
    const uint64_t at = hudi_position(hash, row_nbits);
    row[at / 8] = (uint8_t)(row[at / 8] | 1 << at % 8);
  }
}
