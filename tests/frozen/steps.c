/* Guava's and Cassandra's hashes, filters, answers and refusals.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "batch.h"
#include "common/bytes.h"
#include "format.h"
#include "frozen.h"

/* ---- Hashes ---- */

static void check_hash(lanebloom_format format, const char *key_hex, const uint64_t expected[2])
{
  uint8_t key[1024];
  const lanebloom_keys keys = lanebloom_keys_fixed(key, hex_decode(key_hex, key, sizeof key), 1);
  uint64_t hash[2];
  cr_assert(lanebloom_hash(format, &keys, hash) == LANEBLOOM_OK, "hash");
  test_same_bytes("hash", hash, expected, sizeof hash);
}

/* In Guava's file, hashes are bytes in little-endian order. */
static void check_guava_hashes(const char *kernel)
{
  enum { EXPECTED_NROWS = 50 };
  struct rows rows = rows_open("guava/hashes.txt");
  size_t n = 0;
  for (char *columns[4]; rows_next(&rows, kernel, columns, 4); n++) {
    uint8_t bytes[16];
    cr_assert(hex_decode(columns[3], bytes, sizeof bytes) == sizeof bytes);
    const uint64_t expected[] = {load_le64(bytes), load_le64(bytes + 8)};
    check_hash(LANEBLOOM_GUAVA_32, columns[2], expected);
    check_hash(LANEBLOOM_GUAVA_64, columns[2], expected);
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS, "%s: used %zu rows of %d", kernel, n, EXPECTED_NROWS);
}

static void check_cassandra_hashes(const char *kernel)
{
  enum { EXPECTED_NROWS = 80 };
  struct rows rows = rows_open("cassandra/hashes.txt");
  size_t n = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3); n++) {
    const uint64_t expected[] = {strtoull(columns[1], NULL, 16), strtoull(columns[2], NULL, 16)};
    check_hash(LANEBLOOM_CASSANDRA, columns[0], expected);
    check_hash(LANEBLOOM_CASSANDRA_3, columns[0], expected);
    check_hash(LANEBLOOM_CASSANDRA_2, columns[0], expected);
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS, "%s: used %zu rows of %d", kernel, n, EXPECTED_NROWS);
}

/* Hashes all keys of a file in one call, so that a kernel gets groups of keys of different
 * sizes. */
static void check_mixed_hashes(const char *kernel)
{
  enum { EXPECTED_NROWS = 80, MAX_SIZE = 512 };
  static uint8_t bytes[EXPECTED_NROWS][MAX_SIZE];
  lanebloom_slice slices[EXPECTED_NROWS];
  uint64_t expected[EXPECTED_NROWS][2], hashes[EXPECTED_NROWS][2];
  struct rows rows = rows_open("cassandra/hashes.txt");
  size_t n = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3) && n < EXPECTED_NROWS; n++) {
    slices[n] = (lanebloom_slice){bytes[n], hex_decode(columns[0], bytes[n], MAX_SIZE)};
    expected[n][0] = strtoull(columns[1], NULL, 16);
    expected[n][1] = strtoull(columns[2], NULL, 16);
  }
  rows_close(&rows);
  const lanebloom_keys keys = lanebloom_keys_slices(slices, n);
  cr_assert(lanebloom_hash(LANEBLOOM_CASSANDRA, &keys, hashes) == LANEBLOOM_OK);
  test_same_bytes("hashes of one call", hashes, expected, sizeof hashes);
}

static void check_hash_files(const char *kernel)
{
  check_guava_hashes(kernel);
  check_cassandra_hashes(kernel);
  check_mixed_hashes(kernel);
}

Test(vectors, guava_and_cassandra_hashes)
{
  for_each_kernel(check_hash_files);
}

/* ---- Filters ---- */

/* Adds keys to an empty filter of this size, without a plan, and compares the bytes. */
static void check_built(lanebloom_format format, uint32_t nprobes, uint64_t nwords,
                        const lanebloom_keys *keys, const uint8_t *expected, size_t size)
{
  const struct format_table *table = lanebloom_format_table(format);
  const struct filter_shape shape = table->shape(table, 8 * nwords, table->line_nbytes, nprobes);
  cr_assert(format_nbytes(table, &shape) == size, "%zu bytes", size);
  uint8_t *bytes = test_alloc(size);
  struct hash_source source;
  hash_source_of_keys(&source, keys, lanebloom_kernels_current()->hash[table->hash],
                      HASH_NBYTES[table->hash]);
  lanebloom_kernels_current()->layout[table->layout].add(&shape, bytes + table->header_nbytes,
                                                         &source);
  table->write_frame(table, &shape, bytes);
  test_same_bytes("filter", bytes, expected, size);
  free(bytes);
}

/* Queries all keys at once, and then one by one. answers: '0' or '1' for each key. */
static void check_answers(lanebloom_format format, lanebloom_format expected, const uint8_t *bytes,
                          size_t size, const lanebloom_keys *keys, const char *answers)
{
  lanebloom_filter *filter;
  uint8_t mask[100];
  cr_assert(keys->n <= sizeof mask);
  cr_assert(lanebloom_filter_parse_raw(format, bytes, size, NULL, &filter, NULL, 0) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_filter_format(filter) == expected);
  lanebloom_filter_mask(filter, keys, mask);
  for (size_t i = 0; i < keys->n; i++) {
    const lanebloom_keys one = lanebloom_keys_part(keys, i, 1);
    if (mask[i] != answers[i] - '0' ||
        lanebloom_filter_screen(filter, &one, NULL) != (size_t)(answers[i] - '0'))
      test_fatal("key %zu: expected the answer %c", i, answers[i]);
  }
  lanebloom_filter_free(filter);
}

struct columns {
  const char *nprobes, *nwords, *hex;
  char *keys, *queries;
  const char *answers;
};

/* Checks a filter that a writer made. `any` is another format that may open it. */
static void check_filter(lanebloom_format format, lanebloom_format any,
                         const struct columns *columns)
{
  uint8_t bytes[2048];
  const size_t size = hex_decode(columns->hex, bytes, sizeof bytes);
  struct key_list added = parse_keys(columns->keys), asked = parse_keys(columns->queries);
  lanebloom_keys keys = lanebloom_keys_slices(added.slices, added.n);
  check_built(format, (uint32_t)strtoul(columns->nprobes, NULL, 10),
              strtoull(columns->nwords, NULL, 10), &keys, bytes, size);
  keys = lanebloom_keys_slices(asked.slices, asked.n);
  cr_assert(strlen(columns->answers) == keys.n);
  check_answers(format, format, bytes, size, &keys, columns->answers);
  check_answers(any, format, bytes, size, &keys, columns->answers);
  free_keys(&asked);
  free_keys(&added);
}

static void check_filter_files(const char *kernel)
{
  static const struct {
    const char *file, *name;
    lanebloom_format format, any;
    size_t nrows;
  } files[] = {
      {"guava/filters.txt", "0", LANEBLOOM_GUAVA_32, LANEBLOOM_GUAVA, 4},
      {"guava/filters.txt", "1", LANEBLOOM_GUAVA_64, LANEBLOOM_GUAVA, 4},
      {"cassandra/filters.txt", "na", LANEBLOOM_CASSANDRA, LANEBLOOM_CASSANDRA, 4},
      {"cassandra/filters.txt", "ma", LANEBLOOM_CASSANDRA_3, LANEBLOOM_CASSANDRA_3, 4},
      {"cassandra/filters.txt", "ka", LANEBLOOM_CASSANDRA_2, LANEBLOOM_CASSANDRA_2, 4},
  };
  for (size_t i = 0; i < COUNT(files); i++) {
    struct rows rows = rows_open(files[i].file);
    size_t n = 0;
    for (char *columns[9]; rows_next(&rows, kernel, columns, 9);) {
      if (strcmp(columns[0], files[i].name) != 0)
        continue;
      const struct columns made = {columns[3], columns[4], columns[5],
                                   columns[6], columns[7], columns[8]};
      check_filter(files[i].format, files[i].any, &made);
      n++;
    }
    rows_close(&rows);
    cr_assert(n == files[i].nrows, "%s, %s: used %zu rows", files[i].file, files[i].name, n);
  }
}

Test(vectors, guava_and_cassandra_filters)
{
  for_each_kernel(check_filter_files);
}

/* ---- Plans ---- */

static void check_plan(lanebloom_format format, double rate, uint64_t nkeys, uint64_t nwords,
                       const char *nprobes)
{
  uint64_t nbytes;
  unsigned found;
  cr_assert(lanebloom_plan_size_for_rate(format, rate, nkeys, &nbytes, &found, NULL) ==
            LANEBLOOM_OK);
  const size_t header_nbytes = lanebloom_format_table(format)->header_nbytes;
  if (nbytes != header_nbytes + 8 * nwords || found != strtoul(nprobes, NULL, 10))
    test_fatal("%s, rate %g, %llu keys: %llu bytes, %u probes", lanebloom_format_name(format), rate,
               (unsigned long long)nkeys, (unsigned long long)nbytes, found);
}

Test(vectors, guava_plans)
{
  struct rows rows = rows_open("guava/plans.txt");
  size_t n = 0;
  for (char *columns[4]; rows_next(&rows, "planning", columns, 4); n++) {
    const uint64_t nkeys = strtoull(columns[0], NULL, 10), nwords = strtoull(columns[3], NULL, 10);
    check_plan(LANEBLOOM_GUAVA_32, strtod(columns[1], NULL), nkeys, nwords, columns[2]);
    check_plan(LANEBLOOM_GUAVA_64, strtod(columns[1], NULL), nkeys, nwords, columns[2]);
  }
  rows_close(&rows);
  cr_assert(n == 120, "used %zu rows", n);
  uint64_t nbytes;
  unsigned nprobes;
  /* Guava throws: 0 bits, which are one word here, and more words than an int can count. */
  check_plan(LANEBLOOM_GUAVA_64, 0.99, 1, 1, "1");
  cr_assert(lanebloom_plan_size_for_rate(LANEBLOOM_GUAVA_64, 0.01, (uint64_t)1 << 34, &nbytes,
                                         &nprobes, NULL) == LANEBLOOM_ERR_LIMIT);
}

Test(vectors, cassandra_plans)
{
  static const lanebloom_format formats[] = {LANEBLOOM_CASSANDRA, LANEBLOOM_CASSANDRA_3,
                                             LANEBLOOM_CASSANDRA_2};
  static const uint64_t counts[] = {0, 1, 13, 1000, 123456789};
  struct rows rows = rows_open("cassandra/plans.txt");
  size_t n = 0;
  for (char *columns[3]; rows_next(&rows, "planning", columns, 3); n++)
    for (size_t f = 0; f < COUNT(formats); f++)
      for (size_t i = 0; i < COUNT(counts); i++)
        check_plan(formats[f], strtod(columns[0], NULL), counts[i],
                   (counts[i] * strtoull(columns[2], NULL, 10) + 20 + 63) / 64, columns[1]);
  rows_close(&rows);
  cr_assert(n == 13, "used %zu rows", n);
  uint64_t nbytes;
  unsigned nprobes;
  cr_assert(lanebloom_plan_size_for_rate(LANEBLOOM_CASSANDRA, nextafter(6.71e-5, 0), 1, &nbytes,
                                         &nprobes, NULL) == LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_plan_size_for_rate(LANEBLOOM_CASSANDRA, 0.01, (uint64_t)1 << 34, &nbytes,
                                         &nprobes, NULL) == LANEBLOOM_ERR_LIMIT);
}

/* Filters of a rate equal the writers' byte for byte. Guava adds keys of byteArrayFunnel(). */
static void check_rate_files(const char *kernel)
{
  static const struct {
    const char *file, *name;
    lanebloom_format format;
  } files[] = {
      {"guava/filters.txt", "0", LANEBLOOM_GUAVA_32},
      {"guava/filters.txt", "1", LANEBLOOM_GUAVA_64},
      {"cassandra/filters.txt", "na", LANEBLOOM_CASSANDRA},
      {"cassandra/filters.txt", "ma", LANEBLOOM_CASSANDRA_3},
      {"cassandra/filters.txt", "ka", LANEBLOOM_CASSANDRA_2},
  };
  for (size_t i = 0; i < COUNT(files); i++) {
    struct rows rows = rows_open(files[i].file);
    for (char *columns[9]; rows_next(&rows, kernel, columns, 9);) {
      if (strcmp(columns[0], files[i].name) != 0)
        continue;
      uint8_t bytes[2048];
      const size_t size = hex_decode(columns[5], bytes, sizeof bytes);
      struct key_list added = parse_keys(columns[6]);
      const lanebloom_keys keys = lanebloom_keys_slices(added.slices, added.n);
      lanebloom_builder *builder;
      lanebloom_filter *filter;
      cr_assert(lanebloom_builder_create_for_rate(files[i].format, strtod(columns[2], NULL),
                                                  strtoull(columns[1], NULL, 10),
                                                  &builder) == LANEBLOOM_OK);
      cr_assert(lanebloom_builder_add(builder, &keys) == LANEBLOOM_OK);
      cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
      lanebloom_builder_free(builder);
      test_filter_bytes("filter of a rate", filter, bytes, size);
      free_keys(&added);
    }
    rows_close(&rows);
  }
}

Test(vectors, guava_and_cassandra_filters_of_a_rate)
{
  for_each_kernel(check_rate_files);
}

/* ---- Refusals ---- */

static void check_refused(lanebloom_format format, const uint8_t *bytes, size_t size,
                          lanebloom_status expected)
{
  lanebloom_filter *filter = (void *)1;
  const lanebloom_status status =
      lanebloom_filter_parse_raw(format, bytes, size, NULL, &filter, NULL, 0);
  if (status != expected || filter)
    test_fatal("%s opens with status %d", lanebloom_format_name(format), (int)status);
}

/* What Guava and Cassandra refuse is refused. The other bytes must have their answer, but for two
 * kinds: a body that is too short, which Cassandra does not notice, and one that is too long. */
static void check_damage(const char *kernel, const char *name, lanebloom_format format,
                         size_t expected_nrows)
{
  static const lanebloom_slice a = {"a", 1};
  const lanebloom_keys keys = lanebloom_keys_slices(&a, 1);
  struct rows rows = rows_open(name);
  size_t n = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3); n++) {
    uint8_t bytes[256];
    const size_t size = hex_decode(columns[1], bytes, sizeof bytes);
    lanebloom_filter *filter;
    if (strcmp(columns[2], "crash") == 0) {
      check_refused(format, bytes, size, LANEBLOOM_ERR_LIMIT);
    } else if (strcmp(columns[2], "refused") == 0 || strncmp(columns[0], "body-", 5) == 0) {
      check_refused(format, bytes, size, LANEBLOOM_ERR_FORMAT);
    } else {
      cr_assert(lanebloom_filter_parse_raw(format, bytes, size, NULL, &filter, NULL, 0) ==
                    LANEBLOOM_OK,
                "%s: %s", kernel, columns[0]);
      cr_assert(lanebloom_filter_screen(filter, &keys, NULL) == (size_t)(columns[2][0] - '0'),
                "%s: %s", kernel, columns[0]);
      lanebloom_filter_free(filter);
    }
  }
  rows_close(&rows);
  cr_assert(n == expected_nrows, "%s: used %zu rows of %zu", name, n, expected_nrows);
}

/* Every header and every body that is cut off is refused. Without any bytes, every key may be in
 * Cassandra's filters. */
static void check_cut(lanebloom_format format)
{
  const struct format_table *table = lanebloom_format_table(format);
  const struct filter_shape shape = table->shape(table, 24, table->line_nbytes, 3);
  uint8_t bytes[8 + 24 + 1] = {0};
  table->write_frame(table, &shape, bytes);
  const size_t size = (size_t)format_nbytes(table, &shape);
  for (size_t cut = 0; cut <= size + 1; cut++)
    if (cut != size && !(cut == 0 && table->double_hashing.sums == SUMS_CASSANDRA))
      check_refused(format, bytes, cut, LANEBLOOM_ERR_FORMAT);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(format, bytes, size, NULL, &filter, NULL, 0) ==
            LANEBLOOM_OK);
  cr_assert(!lanebloom_filter_may_contain(filter, "a", 1));
  lanebloom_filter_free(filter);
}

static void check_damage_files(const char *kernel)
{
  static const lanebloom_format formats[] = {LANEBLOOM_GUAVA_32, LANEBLOOM_GUAVA_64,
                                             LANEBLOOM_CASSANDRA, LANEBLOOM_CASSANDRA_3,
                                             LANEBLOOM_CASSANDRA_2};
  check_damage(kernel, "guava/damage.txt", LANEBLOOM_GUAVA, 9);
  check_damage(kernel, "cassandra/damage.txt", LANEBLOOM_CASSANDRA, 8);
  for (size_t i = 0; i < COUNT(formats); i++)
    check_cut(formats[i]);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_CASSANDRA, NULL, 0, NULL, &filter, NULL, 0) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_filter_may_contain(filter, "a", 1));
  lanebloom_filter_free(filter);
}

Test(vectors, guava_and_cassandra_damage)
{
  for_each_kernel(check_damage_files);
}
