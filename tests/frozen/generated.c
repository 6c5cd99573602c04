/* Filters of thousands of generated keys: the digest of a filter's bytes, and the digest of the
 * answers for 10,000 absent keys. tests/vectors/README.md says how the keys are made.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "common/bytes.h"
#include "frozen.h"
#include "model.h"

/* ---- SHA-256 ---- */

enum { SHA_BLOCK_NBYTES = 64, DIGEST_NBYTES = 32 };

static uint32_t rotated(uint32_t word, unsigned nbits)
{
  return word >> nbits | word << (32 - nbits);
}

/* Returns the first 32 bits of the fraction of a number. */
static uint32_t fraction(double number)
{
  return (uint32_t)((number - floor(number)) * 4294967296);
}

/* The constants are square roots of the first 8 prime numbers, and cube roots of the first 64. */
static void find_constants(uint32_t state[8], uint32_t steps[64])
{
  unsigned n = 0;
  for (unsigned number = 2; n < 64; number++) {
    unsigned divisor = 2;
    while (number % divisor != 0)
      divisor++;
    if (divisor < number)
      continue;
    if (n < 8)
      state[n] = fraction(sqrt(number));
    steps[n++] = fraction(cbrt(number));
  }
}

static void mix_block(uint32_t state[8], const uint32_t steps[64], const uint8_t *block)
{
  uint32_t words[64], s[8];
  for (size_t i = 0; i < 16; i++)
    words[i] = load_be32(block + 4 * i);
  for (size_t i = 16; i < 64; i++) {
    const uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) +
               (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
  }
  memcpy(s, state, sizeof s);
  for (size_t i = 0; i < 64; i++) {
    const uint32_t a = s[0], b = s[1], c = s[2], e = s[4],
                   sum = s[7] + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                         ((e & s[5]) | (~e & s[6])) + steps[i] + words[i];
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += sum;
    s[0] = sum + (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) | (a & c) | (b & c));
  }
  for (size_t i = 0; i < 8; i++)
    state[i] += s[i];
}

static void check_digest(const char *what, const void *bytes, size_t size, const char *expected_hex)
{
  const size_t padded_size =
      (size + 9 + SHA_BLOCK_NBYTES - 1) / SHA_BLOCK_NBYTES * SHA_BLOCK_NBYTES;
  uint8_t *padded = test_alloc(padded_size), digest[DIGEST_NBYTES], expected[DIGEST_NBYTES];
  uint32_t state[8], steps[64];
  memcpy(padded, bytes, size);
  padded[size] = 0x80;
  store_be32(padded + padded_size - 4, (uint32_t)(8 * size));
  find_constants(state, steps);
  for (size_t at = 0; at < padded_size; at += SHA_BLOCK_NBYTES)
    mix_block(state, steps, padded + at);
  for (size_t i = 0; i < 8; i++)
    store_be32(digest + 4 * i, state[i]);
  cr_assert(hex_decode(expected_hex, expected, sizeof expected) == sizeof expected);
  test_same_bytes(what, digest, expected, sizeof digest);
  free(padded);
}

/* ---- Keys ---- */

enum { NABSENT = 10000, MAX_NKEYS = NABSENT, MAX_KEY_NBYTES = 64 };

/* Key i has the first shortest + i % nsizes bytes of numbers of splitmix64, as hex if there are
 * digits. */
struct kind {
  const char *digits;
  size_t shortest, nsizes;
};

static lanebloom_keys make_keys(struct kind kind, uint64_t seed, size_t n)
{
  static uint8_t bytes[MAX_NKEYS][MAX_KEY_NBYTES];
  static lanebloom_slice slices[MAX_NKEYS];
  cr_assert(n <= MAX_NKEYS);
  for (uint64_t i = 0; i < n; i++) {
    const size_t size = kind.shortest + (size_t)(i % kind.nsizes);
    uint64_t state = seed ^ i * 0xd1b54a32d192ed03, output = 0;
    for (size_t j = 0; j < size; j++, output >>= 8) {
      if (j % 8 == 0) {
        output = state += 0x9e3779b97f4a7c15;
        output = (output ^ output >> 30) * 0xbf58476d1ce4e5b9;
        output = (output ^ output >> 27) * 0x94d049bb133111eb;
        output ^= output >> 31;
      }
      if (kind.digits) {
        bytes[i][2 * j] = (uint8_t)kind.digits[output / 16 % 16];
        bytes[i][2 * j + 1] = (uint8_t)kind.digits[output % 16];
      } else {
        bytes[i][j] = (uint8_t)output;
      }
    }
    slices[i] = (lanebloom_slice){bytes[i], kind.digits ? 2 * size : size};
  }
  return lanebloom_keys_slices(slices, n);
}

/* ---- Filters ---- */

static lanebloom_filter *build(lanebloom_format format, double rate, const lanebloom_keys *keys,
                               const char *digest)
{
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  size_t size;
  cr_assert(lanebloom_builder_create_for_rate(format, rate, keys->n, &builder) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_add(builder, keys) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
  lanebloom_builder_free(builder);
  const void *bytes = lanebloom_filter_bytes(filter, &size);
  check_digest("the filter's digest", bytes, size, digest);
  return filter;
}

/* Writes bytes in Base64. Returns the length of the text. */
static size_t encode(const uint8_t *bytes, size_t size, char *text)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t length = 0;
  for (size_t at = 0; at < size; at += 3) {
    uint32_t word = 0;
    for (size_t i = 0; i < 3; i++)
      word = word << 8 | (at + i < size ? bytes[at + i] : 0);
    for (size_t i = 0; i < 4; i++)
      text[length++] = (char)(at + i <= size ? digits[word >> (18 - 6 * i) & 63] : '=');
  }
  return length;
}

/* lanebloom does not build Hudi's filters, so the model does. A DYNAMIC filter gets a new row when
 * the last one is full, while its rows are for fewer than max_nkeys. After that, keys are added to
 * the rows by turns, after one more key in the first row. */
static lanebloom_filter *build_hudi(bool is_dynamic, double rate, uint32_t row_nkeys,
                                    uint32_t max_nkeys, const lanebloom_keys *keys,
                                    const char *digest)
{
  const double per_key = -log(rate) / (log(2) * log(2));
  const uint32_t nbits = (uint32_t)ceil(row_nkeys * per_key),
                 nprobes = (uint32_t)ceil(log(2) * nbits / row_nkeys),
                 nrows = is_dynamic ? (max_nkeys + row_nkeys - 1) / row_nkeys : 0;
  const size_t size = model_hudi_nbytes(nrows, nbits);
  uint8_t *record = test_alloc(size);
  model_hudi_write_headers(record, nrows, nprobes, nbits);
  const lanebloom_slice *slices = keys->index;
  uint32_t newest = 0, nadded = 0, turn = 0;
  bool is_whole = false;
  for (size_t i = 0; i < keys->n; i++) {
    uint32_t row = newest;
    if (is_whole) {
      row = turn++ % nrows;
    } else if (nrows && nadded == row_nkeys && newest + 1 < nrows) {
      row = ++newest;
      nadded = 0;
    } else if (nrows && nadded == row_nkeys) {
      is_whole = true;
      row = 0;
    }
    model_hudi_add(model_hudi_row(record, nrows, row, nbits), nbits, nprobes, slices[i]);
    nadded++;
  }
  if (nrows) {
    store_be32(record + 13, row_nkeys);
    store_be32(record + 17, nadded);
  }
  char *text = test_alloc(size / 3 * 4 + 4);
  const size_t length = encode(record, size, text);
  check_digest("the text's digest", text, length, digest);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_HUDI, text, length, NULL, &filter, NULL, 0) ==
            LANEBLOOM_OK);
  free(text);
  free(record);
  return filter;
}

/* ---- The files ---- */

enum { MAX_NCOLUMNS = 11 };

/* The last columns: seed of the keys, digest of the filter, seed of absent keys, how many of these
 * pass, digest of the answers. */
static void check_row(lanebloom_format format, char *columns[], size_t ncolumns)
{
  static const struct kind kinds[][2] = {
      {{NULL, 0, 41}, {NULL, 8, 33}},
      {{"0123456789ABCDEF", 20, 1}, {"0123456789ABCDEF", 20, 1}},
      {{"0123456789abcdef", 1, 24}, {"0123456789abcdef", 4, 24}}};
  const bool is_hudi = format == LANEBLOOM_HUDI;
  const struct kind *kind = kinds[is_hudi ? 2 : strcmp(columns[3], "sha1-hex") == 0];
  char **last = columns + ncolumns - 5, **plan = columns + (is_hudi ? 2 : 1);
  const size_t nkeys = strtoul(is_hudi ? columns[5] : plan[0], NULL, 10);
  const double rate = strtod(plan[1], NULL);
  lanebloom_keys keys = make_keys(kind[0], strtoull(last[0], NULL, 10), nkeys);
  lanebloom_filter *filter =
      is_hudi ? build_hudi(columns[1][0] == 'D', rate, (uint32_t)strtoul(plan[0], NULL, 10),
                           (uint32_t)strtoul(plan[2], NULL, 10), &keys, last[1])
              : build(format, rate, &keys, last[1]);
  cr_assert(lanebloom_filter_screen(filter, &keys, NULL) == nkeys, "a key is missing");
  uint8_t bitmap[NABSENT / 8];
  keys = make_keys(kind[1], strtoull(last[2], NULL, 10), NABSENT);
  const size_t found = lanebloom_filter_screen(filter, &keys, bitmap);
  cr_assert(found == strtoul(last[3], NULL, 10), "%zu absent keys pass, not %s", found, last[3]);
  check_digest("the answers' digest", bitmap, sizeof bitmap, last[4]);
  lanebloom_filter_free(filter);
}

static void check_files(const char *kernel)
{
  static const struct {
    const char *file, *name;
    lanebloom_format format;
    size_t nrows;
  } files[] = {
      {"dcso.txt", "R", LANEBLOOM_DCSO, 3},
      {"guava/digests.txt", "0", LANEBLOOM_GUAVA_32, 1},
      {"guava/digests.txt", "1", LANEBLOOM_GUAVA_64, 1},
      {"cassandra/digests.txt", "na", LANEBLOOM_CASSANDRA, 1},
      {"cassandra/digests.txt", "ma", LANEBLOOM_CASSANDRA_3, 1},
      {"cassandra/digests.txt", "ka", LANEBLOOM_CASSANDRA_2, 1},
      {"hudi.txt", "R", LANEBLOOM_HUDI, 2},
  };
  for (size_t i = 0; i < COUNT(files); i++) {
    struct rows rows = rows_open(files[i].file);
    size_t nrows = 0;
    for (char *columns[MAX_NCOLUMNS]; rows_next(&rows, kernel, columns, 1);) {
      if (strcmp(columns[0], files[i].name) != 0)
        continue;
      char *rest = columns[0] + strlen(columns[0]) + 1;
      size_t n = 1;
      while (n < MAX_NCOLUMNS && (columns[n] = strtok_r(rest, " \n", &rest)))
        n++;
      cr_assert(n >= 8);
      check_row(files[i].format, columns, n);
      nrows++;
    }
    rows_close(&rows);
    cr_assert(nrows == files[i].nrows, "%s, %s: used %zu rows", files[i].file, files[i].name,
              nrows);
  }
}

Test(vectors, filters_of_generated_keys)
{
  for_each_kernel(check_files);
}
