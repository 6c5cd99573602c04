/* Answers of the real LevelDB and RocksDB, frozen in files (vectors/README.md) and in the tables below, asked of every
 * kernel. They pin the scalar kernels, so that all kernels cannot drift together.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lanebloom.h>

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void for_each_kernel(void (*check)(const char *kernel))
{
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    const char *kernel = lanebloom_kernel_name(i);
    cr_assert(kernel, "kernel %zu has no name", i);
    cr_assert(lanebloom_kernel_use(kernel) == LANEBLOOM_OK, "kernel %s cannot be used", kernel);
    check(kernel);
  }
}

/* ---- Reading the files ---- */

struct rows {
  const char *name;
  FILE *file;
  char *line;
  size_t room, number;
};

static struct rows rows_open(const char *name)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", LANEBLOOM_TEST_VECTORS, name);
  struct rows rows = {.name = name, .file = fopen(path, "r")};
  if (!rows.file)
    test_fatal("cannot open %s", path);
  return rows;
}

/* The next row's columns, which stay until the row after it; false at the end. */
static bool rows_next(struct rows *rows, const char *kernel, char *columns[], size_t ncolumns)
{
  do {
    if (getline(&rows->line, &rows->room, rows->file) < 0)
      return false;
    rows->number++;
  } while (rows->line[0] == '#');
  test_context("%s, %s line %zu", kernel, rows->name, rows->number);
  char *rest = rows->line;
  for (size_t i = 0; i < ncolumns; i++)
    if (!(columns[i] = strtok_r(rest, " \n", &rest)))
      test_fatal("fewer than %zu columns", ncolumns);
  return true;
}

static void rows_close(struct rows *rows)
{
  fclose(rows->file);
  free(rows->line);
}

/* A list of keys in hex, "-" the empty one, between commas; "." is no keys. */
struct key_list {
  lanebloom_slice *slices;
  size_t n;
  uint8_t *bytes;
};

static struct key_list parse_keys(char *text)
{
  const size_t length = strlen(text);
  struct key_list list = {.slices = test_alloc((length + 1) * sizeof *list.slices), .bytes = test_alloc(length)};
  if (strcmp(text, ".") == 0)
    return list;
  uint8_t *at = list.bytes;
  for (char *key; (key = strtok_r(text, ",", &text)); list.n++) {
    const size_t size = hex_decode(key, at, length);
    list.slices[list.n] = (lanebloom_slice){at, size};
    at += size;
  }
  return list;
}

static void free_keys(struct key_list *list)
{
  free(list->slices);
  free(list->bytes);
}

/* ---- Hashes ---- */

static void check_hashes(const char *kernel, const char *name, lanebloom_format format)
{
  enum { EXPECTED_NROWS = 466 };
  struct rows rows = rows_open(name);
  lanebloom_slice slices[EXPECTED_NROWS];
  uint32_t expected[EXPECTED_NROWS], hashes[EXPECTED_NROWS];
  uint8_t bytes[EXPECTED_NROWS][300];
  size_t n = 0, nother = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3);) {
    if (strcmp(columns[0], "bc9f1d34") != 0) {
      nother++; /* no filter hashes with another seed */
      continue;
    }
    cr_assert(n < EXPECTED_NROWS, "more than %d rows", EXPECTED_NROWS);
    slices[n] = (lanebloom_slice){bytes[n], hex_decode(columns[1], bytes[n], sizeof bytes[n])};
    expected[n] = (uint32_t)strtoul(columns[2], NULL, 16);
    n++;
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS, "%s: used %zu rows of %d; %zu others have seeds that no filter uses", name, n,
            EXPECTED_NROWS, nother);

  lanebloom_keys keys = lanebloom_keys_slices(slices, n);
  cr_assert(lanebloom_hash(format, &keys, hashes) == LANEBLOOM_OK, "%s: hash", kernel);
  for (size_t i = 0; i < n; i++)
    cr_assert(hashes[i] == expected[i], "%s, %s: key %zu of %zu bytes hashes to %08x, expected %08x", kernel, name, i,
              slices[i].size, hashes[i], expected[i]);
}

static void check_hash_files(const char *kernel)
{
  check_hashes(kernel, "leveldb_hash32.txt", LANEBLOOM_LEVELDB);
  check_hashes(kernel, "rocksdb_hash32.txt", LANEBLOOM_LEVELDB_SIGNED);
}

Test(vectors, hash_files)
{
  for_each_kernel(check_hash_files);
}

/* leveldb::Hash and rocksdb::Hash of `hex`, written so many times: they differ where the last (size mod 4) bytes hold
 * one of 0x80 or more. */
static const struct {
  const char *hex;
  size_t times;
  uint32_t leveldb, rocksdb;
} hash_rows[] = {
    {"-", 1, 0xbc9f1d34, 0xbc9f1d34},
    {"61", 1, 0x286e9db0, 0x286e9db0},
    {"62", 1, 0xef1345c4, 0xef1345c4}, /* this, c397, e299a5 and e180b932: from LevelDB's own hash_test.cc */
    {"7f", 1, 0x6fba40bd, 0x6fba40bd},
    {"80", 1, 0x365ee853, 0x91b755f4},
    {"ff", 1, 0xc20e0a90, 0x1d66774f},
    {"6162", 1, 0x39aca330, 0x39aca330},
    {"8061", 1, 0xa2f55a74, 0xfe4dc728},
    {"6180", 1, 0x854fdd8c, 0xddbcddd4},
    {"ffff", 1, 0xce11360d, 0x81d6a342},
    {"616263", 1, 0x855d012f, 0x855d012f},
    {"806263", 1, 0x934d4ce4, 0xeea5b999},
    {"618063", 1, 0xd1003b7b, 0x296d3b83},
    {"616280", 1, 0x8104012b, 0xee040144},
    {"ffffff", 1, 0x37559553, 0x581b023c},
    {"61626364", 1, 0xb9c83353, 0xb9c83353},
    {"80818283", 1, 0xcfd06db8, 0xcfd06db8},
    {"6162636465", 1, 0x41d2c26d, 0x41d2c26d},
    {"6162636480", 1, 0x35306e98, 0x9088db3d},
    {"61626364ff", 1, 0xc0df905a, 0x1c37fd86},
    {"616263646566", 1, 0x919eb3e1, 0x919eb3e1},
    {"6162636465ff", 1, 0xf9c58e89, 0x52328e22},
    {"61626364656667", 1, 0x8e0b1532, 0x8e0b1532},
    {"616263646566ff", 1, 0x0d5315b1, 0x7a5315c6},
    {"6162636465666768", 1, 0xb2ce35dd, 0xb2ce35dd},
    {"68656c6c6f", 1, 0xf795964e, 0xf795964e},
    {"00", 1, 0xe40b1e01, 0xe40b1e01},
    {"00", 3, 0x6afa3c9d, 0x6afa3c9d},
    {"00", 4, 0x3365f68d, 0x3365f68d},
    {"ff", 5, 0x7f83495b, 0xdadbb6fe},
    {"78", 16, 0x18cfd6ed, 0x18cfd6ed},
    {"9c", 17, 0xa2b12095, 0xfe098dc9},
    {"e2", 31, 0xcbf7f65f, 0xecbd6378},
    {"ab", 255, 0x827bd018, 0xa3413d39},
};

static void check_hash_rows(const char *kernel)
{
  for (size_t i = 0; i < COUNT(hash_rows); i++) {
    uint8_t bytes[300];
    size_t size = 0;
    for (size_t time = 0; time < hash_rows[i].times; time++)
      size += hex_decode(hash_rows[i].hex, bytes + size, sizeof bytes - size);
    const lanebloom_keys key = lanebloom_keys_fixed(bytes, size, 1);
    uint32_t leveldb = 0, rocksdb = 0;
    lanebloom_hash(LANEBLOOM_LEVELDB, &key, &leveldb);
    lanebloom_hash(LANEBLOOM_LEVELDB_SIGNED, &key, &rocksdb);
    cr_assert(leveldb == hash_rows[i].leveldb, "%s: %s hashes to %08x", kernel, hash_rows[i].hex, leveldb);
    cr_assert(rocksdb == hash_rows[i].rocksdb, "%s: %s, signed, hashes to %08x", kernel, hash_rows[i].hex, rocksdb);
  }
}

Test(vectors, hash_table)
{
  for_each_kernel(check_hash_rows);
}

/* ---- Filters ---- */

static void check_bytes(const char *how, lanebloom_filter *filter, const uint8_t *expected, size_t nexpected)
{
  size_t size;
  const void *bytes = lanebloom_filter_bytes(filter, &size);
  if (size != nexpected)
    test_fatal("%s: filter of %zu bytes, expected %zu", how, size, nexpected);
  test_same_bytes(how, bytes, expected, size);
  lanebloom_filter_close(filter);
}

static lanebloom_filter *stream(double bits_per_key, uint64_t expected_keys, const lanebloom_keys *keys)
{
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, bits_per_key, expected_keys, &builder) == LANEBLOOM_OK,
            "builder_create");
  for (size_t at = 0; at < keys->n; at += 3) {
    const lanebloom_keys piece = lanebloom_keys_part(keys, at, 3);
    cr_assert(lanebloom_builder_add(builder, &piece) == LANEBLOOM_OK, "builder_add");
  }
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "builder_finish");
  lanebloom_builder_destroy(builder);
  return filter;
}

/* Builds in each of the three ways. A builder that expects no keys keeps hashes: with no keys it is the same way. */
static void check_filter(double bits_per_key, const lanebloom_keys *keys, const char *hex)
{
  const size_t room = strlen(hex) / 2;
  uint8_t *expected = test_alloc(room);
  const size_t size = hex_decode(hex, expected, room);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, bits_per_key, keys, &filter) == LANEBLOOM_OK, "build");
  for (size_t i = 0; i < keys->n; i++) {
    const lanebloom_keys key = lanebloom_keys_part(keys, i, 1);
    cr_assert(lanebloom_filter_screen(filter, &key, NULL) == 1, "key %zu is in the filter", i);
  }
  check_bytes("build", filter, expected, size);
  check_bytes("builder that keeps hashes", stream(bits_per_key, 0, keys), expected, size);
  check_bytes("builder that knows its number of keys", stream(bits_per_key, keys->n, keys), expected, size);
  free(expected);
}

static void check_filter_file(const char *kernel)
{
  enum { EXPECTED_NROWS = 350 };
  struct rows rows = rows_open("leveldb_filters.txt");
  size_t n = 0;
  for (char *columns[4]; rows_next(&rows, kernel, columns, 4); n++) {
    struct key_list list = parse_keys(columns[3]);
    cr_assert(list.n == strtoul(columns[1], NULL, 10), "line %zu: %zu keys", rows.number, list.n);
    const lanebloom_keys keys = lanebloom_keys_slices(list.slices, list.n);
    check_filter(strtod(columns[0], NULL), &keys, columns[2]);
    free_keys(&list);
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS, "leveldb_filters.txt: used %zu rows of %d", n, EXPECTED_NROWS);
}

Test(vectors, filter_file)
{
  for_each_kernel(check_filter_file);
}

/* Of the first n of the keys "hello", "world", ff fe fd. */
static const struct {
  double bits_per_key;
  size_t n;
  const char *hex;
} filter_rows[] = {
    {0, 0, "000000000000000001"},  {0, 1, "004000000000000001"},  {0, 2, "004000000000001001"},
    {0, 3, "004000008000001001"},  {1, 0, "000000000000000001"},  {1, 1, "004000000000000001"},
    {1, 2, "004000000000001001"},  {1, 3, "004000008000001001"},  {10, 0, "000000000000000006"},
    {10, 1, "014000010410400006"}, {10, 2, "114000414410401006"}, {10, 3, "11400041c498c81806"},
    {16, 0, "00000000000000000b"}, {16, 1, "01441041041144000b"}, {16, 2, "11551141445544100b"},
    {16, 3, "99dd1141c4ddcc980b"},
};

static void check_filter_rows(const char *kernel)
{
  static const lanebloom_slice few[] = {{"hello", 5}, {"world", 5}, {"\xff\xfe\xfd", 3}};
  for (size_t i = 0; i < COUNT(filter_rows); i++) {
    test_context("%s, row %zu of filter_rows", kernel, i);
    const lanebloom_keys keys = lanebloom_keys_slices(few, filter_rows[i].n);
    check_filter(filter_rows[i].bits_per_key, &keys, filter_rows[i].hex);
  }

  test_context("%s, key0 to key15", kernel);
  char text[16][8];
  lanebloom_slice many[16];
  for (size_t i = 0; i < COUNT(many); i++)
    many[i] = (lanebloom_slice){text[i], (size_t)snprintf(text[i], sizeof text[i], "key%zu", i)};
  const lanebloom_keys keys = lanebloom_keys_slices(many, COUNT(many));
  check_filter(10, &keys, "1345402e981ae422500445a200496c22d40844cb06");
}

Test(vectors, filter_table)
{
  for_each_kernel(check_filter_rows);
}

/* ---- Queries ---- */

/* One key asked for in every way, alone and in every place of a batch. */
static void check_query(const uint8_t *bytes, size_t size, lanebloom_slice key, bool expected)
{
  enum { N = 19 };
  lanebloom_slice slices[N];
  uint32_t hashes[N], indices[N];
  uint8_t bitmap[(N + 7) / 8], expected_bitmap[(N + 7) / 8] = {0};
  for (size_t i = 0; i < N; i++) {
    slices[i] = key;
    expected_bitmap[i / 8] |= (uint8_t)(expected << i % 8);
  }
  const size_t count = expected ? N : 0;
  const lanebloom_keys keys = lanebloom_keys_slices(slices, N);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_open(LANEBLOOM_LEVELDB, bytes, size, &filter) == LANEBLOOM_OK, "open");

  if (lanebloom_filter_may_contain(filter, key.data, key.size) != expected)
    test_fatal("may_contain is not %d", expected);
  memset(bitmap, 0xc5, sizeof bitmap);
  if (lanebloom_filter_screen(filter, &keys, bitmap) != count)
    test_fatal("screen is not %zu", count);
  test_same_bytes("screen", bitmap, expected_bitmap, sizeof bitmap);
  if (lanebloom_filter_select(filter, &keys, indices) != count)
    test_fatal("select is not %zu", count);
  for (uint32_t i = 0; i < count; i++)
    if (indices[i] != i)
      test_fatal("select: index %u is %u", i, indices[i]);
  lanebloom_hash(LANEBLOOM_LEVELDB, &keys, hashes);
  memset(bitmap, 0xc5, sizeof bitmap);
  if (lanebloom_filter_screen_hashes(filter, hashes, N, bitmap) != count)
    test_fatal("screen_hashes is not %zu", count);
  test_same_bytes("screen_hashes", bitmap, expected_bitmap, sizeof bitmap);
  lanebloom_filter_close(filter);
}

static void check_query_file(const char *kernel)
{
  enum { EXPECTED_NROWS = 1500 };
  struct rows rows = rows_open("leveldb_queries.txt");
  size_t n = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3); n++) {
    uint8_t bytes[256], key[256];
    const size_t size = hex_decode(columns[0], bytes, sizeof bytes);
    const size_t key_size = hex_decode(columns[1], key, sizeof key);
    check_query(bytes, size, (lanebloom_slice){key, key_size}, columns[2][0] == '1');
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS, "leveldb_queries.txt: used %zu rows of %d", n, EXPECTED_NROWS);
}

Test(vectors, query_file)
{
  for_each_kernel(check_query_file);
}

/* As LevelDB's bloom_test.cc: an empty filter matches nothing, and {hello, world} matches neither "x" nor "foo". */
static void check_query_rows(const char *kernel)
{
  static const uint8_t empty[] = {0, 0, 0, 0, 0, 0, 0, 0, 6}, two[] = {0x11, 0x40, 0, 0x41, 0x44, 0x10, 0x40, 0x10, 6};
  test_context("%s, the small filters", kernel);
  check_query(empty, sizeof empty, (lanebloom_slice){"hello", 5}, false);
  check_query(two, sizeof two, (lanebloom_slice){"hello", 5}, true);
  check_query(two, sizeof two, (lanebloom_slice){"world", 5}, true);
  check_query(two, sizeof two, (lanebloom_slice){"x", 1}, false);
  check_query(two, sizeof two, (lanebloom_slice){"foo", 3}, false);
}

Test(vectors, query_table)
{
  for_each_kernel(check_query_rows);
}

/* ---- Probes per bits per key ---- */

/* The number of probes that LevelDB chooses for 0, 1, 2, ... 45 bits per key; from there on it is 30. */
Test(vectors, probes)
{
  static const unsigned chosen[] = {1,  1,  1,  2,  2,  3,  4,  4,  5,  6,  6,  7,  8,  8,  9,  10,
                                    11, 11, 12, 13, 13, 14, 15, 15, 16, 17, 17, 18, 19, 20, 20, 21,
                                    22, 22, 23, 24, 24, 25, 26, 26, 27, 28, 28, 29, 30, 30};
  for (unsigned bits = 0; bits <= 1000; bits++) {
    const unsigned expected = bits < COUNT(chosen) ? chosen[bits] : 30;
    unsigned nprobes;
    uint64_t nbytes;
    cr_assert(lanebloom_plan_size(LANEBLOOM_LEVELDB, bits, 1000, &nbytes, &nprobes) == LANEBLOOM_OK, "plan_size");
    cr_assert(nprobes == expected, "%u bits per key: %u probes, expected %u", bits, nprobes, expected);
    cr_assert(nbytes == (bits ? 125 * bits : 8) + 1, "%u bits per key: %zu bytes", bits, (size_t)nbytes);
  }
}
