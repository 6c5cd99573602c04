/* Answers of the real LevelDB and RocksDB, frozen in files (vectors/README.md) and in the tables
 * below, asked of every kernel. They pin the scalar kernels, so that all kernels cannot drift
 * together.
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
  struct key_list list = {.slices = test_alloc((length + 1) * sizeof *list.slices),
                          .bytes = test_alloc(length)};
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
  cr_assert(n == EXPECTED_NROWS,
            "%s: used %zu rows of %d; %zu others have seeds that no filter uses", name, n,
            EXPECTED_NROWS, nother);

  lanebloom_keys keys = lanebloom_keys_slices(slices, n);
  cr_assert(lanebloom_hash(format, &keys, hashes) == LANEBLOOM_OK, "%s: hash", kernel);
  for (size_t i = 0; i < n; i++)
    cr_assert(hashes[i] == expected[i],
              "%s, %s: key %zu of %zu bytes hashes to %08x, expected %08x", kernel, name, i,
              slices[i].size, hashes[i], expected[i]);
}

/* Byte i of the keys that files do not spell out. */
static void fill_generated(uint8_t *key, size_t size)
{
  for (size_t i = 0; i < size; i++)
    key[i] = (uint8_t)(i * 167 + size * 13 + (i >> 8) * 31 + 59);
}

static void check_xxph3_file(const char *kernel)
{
  enum { EXPECTED_NROWS = 477, EXPECTED_NGENERATED = 25, MAX_SIZE = 1 << 20 };
  struct rows rows = rows_open("rocksdb_xxph3.txt");
  uint8_t *key = test_alloc(MAX_SIZE);
  size_t n = 0, ngenerated = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3); n++) {
    const size_t size = strtoul(columns[0], NULL, 10);
    if (size > MAX_SIZE)
      test_fatal("a key of %zu bytes", size);
    if (strcmp(columns[1], "gen") == 0) {
      fill_generated(key, size);
      ngenerated++;
    } else if (hex_decode(columns[1], key, MAX_SIZE) != size) {
      test_fatal("the key is not of %zu bytes", size);
    }
    const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
    uint64_t hash = 0;
    cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, &keys, &hash) == LANEBLOOM_OK, "%s: hash",
              kernel);
    if (hash != strtoull(columns[2], NULL, 16))
      test_fatal("a key of %zu bytes hashes to %016llx, expected %s", size,
                 (unsigned long long)hash, columns[2]);
  }
  rows_close(&rows);
  free(key);
  cr_assert(n == EXPECTED_NROWS && ngenerated == EXPECTED_NGENERATED,
            "rocksdb_xxph3.txt: used %zu rows, %zu generated", n, ngenerated);
}

static void check_hash_files(const char *kernel)
{
  check_hashes(kernel, "leveldb_hash32.txt", LANEBLOOM_LEVELDB);
  check_hashes(kernel, "rocksdb_hash32.txt", LANEBLOOM_LEVELDB_SIGNED);
  check_hashes(kernel, "rocksdb_hash32.txt", LANEBLOOM_ROCKSDB_LEGACY);
  check_xxph3_file(kernel);
}

Test(vectors, hash_files)
{
  for_each_kernel(check_hash_files);
}

/* leveldb::Hash, rocksdb::Hash and rocksdb::Hash64 of `hex`, written so many times. The first two
 * differ where the last (size mod 4) bytes hold one of 0x80 or more. */
static const struct {
  const char *hex;
  size_t times;
  uint32_t leveldb, rocksdb;
  uint64_t xxph3;
} hash_rows[] = {
    {"-", 1, 0xbc9f1d34, 0xbc9f1d34, 0x5342c3010fe1dd04},
    {"61", 1, 0x286e9db0, 0x286e9db0, 0x88d868bf607681c7},
    {"62", 1, 0xef1345c4, 0xef1345c4,
     0x0199d38c4971ad1d}, /* this, c397, e299a5 and e180b932: from LevelDB's own hash_test.cc */
    {"7f", 1, 0x6fba40bd, 0x6fba40bd, 0x82f15ac56cf61e8e},
    {"80", 1, 0x365ee853, 0x91b755f4, 0xe5835ef65b4ab985},
    {"ff", 1, 0xc20e0a90, 0x1d66774f, 0x9b5cd4aa7bd8ec28},
    {"6162", 1, 0x39aca330, 0x39aca330, 0x885ddfe7af6310e5},
    {"8061", 1, 0xa2f55a74, 0xfe4dc728, 0x5d829eab453e85d6},
    {"6180", 1, 0x854fdd8c, 0xddbcddd4, 0x0231bfff77ab5193},
    {"ffff", 1, 0xce11360d, 0x81d6a342, 0x34cc3157a0ec1dc0},
    {"616263", 1, 0x855d012f, 0x855d012f, 0xd39eeb71bb5342e8},
    {"806263", 1, 0x934d4ce4, 0xeea5b999, 0xf43c2d7f6916a786},
    {"618063", 1, 0xd1003b7b, 0x296d3b83, 0x21d4bc2e06cc49b9},
    {"616280", 1, 0x8104012b, 0xee040144, 0x9639629c6cfe7e69},
    {"ffffff", 1, 0x37559553, 0x581b023c, 0xf862f39f9e1f1056},
    {"61626364", 1, 0xb9c83353, 0xb9c83353, 0x97a5ba1d02e8378c},
    {"80818283", 1, 0xcfd06db8, 0xcfd06db8, 0xcbb3704d48380f87},
    {"6162636465", 1, 0x41d2c26d, 0x41d2c26d, 0x203a3ebc4ec540b6},
    {"6162636480", 1, 0x35306e98, 0x9088db3d, 0x15b94abcbdd24307},
    {"61626364ff", 1, 0xc0df905a, 0x1c37fd86, 0x39b9662b6fe65965},
    {"616263646566", 1, 0x919eb3e1, 0x919eb3e1, 0xb730894297b833e7},
    {"6162636465ff", 1, 0xf9c58e89, 0x52328e22, 0x0a28186692838d7d},
    {"61626364656667", 1, 0x8e0b1532, 0x8e0b1532, 0x225fd8b927ff3669},
    {"616263646566ff", 1, 0x0d5315b1, 0x7a5315c6, 0xf4ba624647cb9029},
    {"6162636465666768", 1, 0xb2ce35dd, 0xb2ce35dd, 0x591716e1ea463467},
    {"68656c6c6f", 1, 0xf795964e, 0xf795964e, 0xa0bbc238c97657b5},
    {"00", 1, 0xe40b1e01, 0xe40b1e01, 0x7198d737cfe7f386},
    {"00", 3, 0x6afa3c9d, 0x6afa3c9d, 0x347018d79458e921},
    {"00", 4, 0x3365f68d, 0x3365f68d, 0x6872e1d07866ff3d},
    {"ff", 5, 0x7f83495b, 0xdadbb6fe, 0x452cce3d457063c1},
    {"78", 16, 0x18cfd6ed, 0x18cfd6ed, 0xdde4f7a8acacaa3a},
    {"9c", 17, 0xa2b12095, 0xfe098dc9, 0xce75142c9488575a},
    {"e2", 31, 0xcbf7f65f, 0xecbd6378, 0x741b793b48a2d77f},
    {"ab", 255, 0x827bd018, 0xa3413d39, 0xe89287f0dff05096},
};

static void check_hash_rows(const char *kernel)
{
  for (size_t i = 0; i < COUNT(hash_rows); i++) {
    uint8_t bytes[300];
    size_t size = 0;
    for (size_t time = 0; time < hash_rows[i].times; time++)
      size += hex_decode(hash_rows[i].hex, bytes + size, sizeof bytes - size);
    const lanebloom_keys key = lanebloom_keys_fixed(bytes, size, 1);
    uint32_t leveldb = 0, rocksdb = 0, legacy = 0;
    uint64_t xxph3 = 0;
    cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &key, &leveldb) == LANEBLOOM_OK);
    cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB_SIGNED, &key, &rocksdb) == LANEBLOOM_OK);
    cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LEGACY, &key, &legacy) == LANEBLOOM_OK);
    cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, &key, &xxph3) == LANEBLOOM_OK);
    cr_assert(leveldb == hash_rows[i].leveldb, "%s: %s hashes to %08x", kernel, hash_rows[i].hex,
              leveldb);
    cr_assert(rocksdb == hash_rows[i].rocksdb, "%s: %s, signed, hashes to %08x", kernel,
              hash_rows[i].hex, rocksdb);
    cr_assert(legacy == hash_rows[i].rocksdb, "%s: %s, legacy, hashes to %08x", kernel,
              hash_rows[i].hex, legacy);
    cr_assert(xxph3 == hash_rows[i].xxph3, "%s: %s, XXPH3, hashes to %016llx", kernel,
              hash_rows[i].hex, (unsigned long long)xxph3);
  }
}

Test(vectors, hash_table)
{
  for_each_kernel(check_hash_rows);
}

/* rocksdb::Hash64 of generated keys, around each length at which XXPH3 changes its ways. */
static const struct {
  size_t size;
  uint64_t hash;
} length_rows[] = {
    {0, 0x5342c3010fe1dd04},    {1, 0x87de1f32edd57c4a},    {2, 0xebeccc2ad7277f64},
    {3, 0x15311ed1360537b0},    {4, 0xf7b182f65693bd9f},    {5, 0x58ce55804a508cfa},
    {7, 0xeeff17a34ef47312},    {8, 0x33be4d5f714b789a},    {9, 0xbeecac9a92f56f3e},
    {12, 0x7d07d885daf8d956},   {15, 0xb2147d89000aa191},   {16, 0xb9ad67b078252a7d},
    {17, 0x2c898b118897fb1a},   {31, 0x3e8b5498371159c4},   {32, 0x8360d5c0bdcd54eb},
    {33, 0x4112acbd08a1f2c5},   {63, 0x2d1a5927bd66d096},   {64, 0xc65c8183936a80f4},
    {65, 0x312ae1d32d69e18e},   {95, 0x0c448151cc59875e},   {96, 0xc85ef4afaf466ca6},
    {97, 0x09a1ec7995839f66},   {127, 0xaf08123d4cb7aa6c},  {128, 0x1414efffeeda9b15},
    {129, 0x5e0e9eebe4681147},  {143, 0xa395d547286a98d6},  {144, 0x1de0429a13aa5223},
    {159, 0x6b35fb344df81c93},  {160, 0xdbf53d12fbc3be9c},  {239, 0x5b557c1f08485bb4},
    {240, 0x28b7a8b59f1d4ac5},  {241, 0x836accb91f81fa83},  {255, 0x2c0ac8e11a9eedae},
    {256, 0x326a4f3fa98c3f8d},  {257, 0xefc30598b737ff80},  {300, 0x9a81222f6c775d31},
    {320, 0x963b7e993f746d28},  {512, 0xfb845a47f1b6fc87},  {1023, 0xf3de82e75bc8bcac},
    {1024, 0x2c4771a520b2597d}, {1025, 0x7e6fd5af2df8ce8c}, {1088, 0xc94f9b444967d467},
    {2048, 0x91fd97137914b26e}, {2049, 0x9046be51ace8158f}, {4096, 0x4b719dbf47fbf2ae},
};

static void check_length_rows(const char *kernel)
{
  uint8_t key[4096];
  for (size_t i = 0; i < COUNT(length_rows); i++) {
    const size_t size = length_rows[i].size;
    fill_generated(key, size);
    const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
    uint64_t hash = 0;
    cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, &keys, &hash) == LANEBLOOM_OK, "%s: hash",
              kernel);
    cr_assert(hash == length_rows[i].hash, "%s: a key of %zu bytes hashes to %016llx", kernel, size,
              (unsigned long long)hash);
  }
}

Test(vectors, xxph3_by_length)
{
  for_each_kernel(check_length_rows);
}

/* ---- Filters ---- */

static void check_bytes(const char *how, lanebloom_filter *filter, const uint8_t *expected,
                        size_t nexpected)
{
  size_t size;
  const void *bytes = lanebloom_filter_bytes(filter, &size);
  if (size != nexpected)
    test_fatal("%s: filter of %zu bytes, expected %zu", how, size, nexpected);
  test_same_bytes(how, bytes, expected, size);
  lanebloom_filter_close(filter);
}

static lanebloom_filter *stream(lanebloom_format format, double bits_per_key,
                                uint64_t expected_keys, const lanebloom_keys *keys)
{
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create(format, bits_per_key, expected_keys, &builder) == LANEBLOOM_OK,
            "builder_create");
  for (size_t at = 0; at < keys->n; at += 3) {
    const lanebloom_keys piece = lanebloom_keys_part(keys, at, 3);
    cr_assert(lanebloom_builder_add(builder, &piece) == LANEBLOOM_OK, "builder_add");
  }
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "builder_finish");
  lanebloom_builder_destroy(builder);
  return filter;
}

/* How many keys count in a filter's size: RocksDB leaves out those whose hash is that of the key
 * before. */
static uint64_t count_entries(lanebloom_format format, const lanebloom_keys *keys)
{
  const size_t hash_nbytes = lanebloom_format_hash_size(format);
  if (format == LANEBLOOM_LEVELDB)
    return keys->n;
  uint8_t *hashes = test_alloc(keys->n * hash_nbytes);
  cr_assert(lanebloom_hash(format, keys, hashes) == LANEBLOOM_OK, "hash");
  uint64_t n = 0;
  for (size_t i = 0; i < keys->n; i++)
    n += i == 0 ||
         memcmp(hashes + (i - 1) * hash_nbytes, hashes + i * hash_nbytes, hash_nbytes) != 0;
  free(hashes);
  return n;
}

/* Builds in each of the three ways. A builder that expects no keys keeps hashes: with no keys it is
 * the same way. */
static void check_filter(lanebloom_format format, double bits_per_key, const lanebloom_keys *keys,
                         const char *hex)
{
  const size_t room = strlen(hex) / 2;
  uint8_t *expected = test_alloc(room);
  const size_t size = hex_decode(hex, expected, room);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(format, bits_per_key, keys, &filter) == LANEBLOOM_OK, "build");
  for (size_t i = 0; i < keys->n; i++) {
    const lanebloom_keys key = lanebloom_keys_part(keys, i, 1);
    cr_assert(lanebloom_filter_screen(filter, &key, NULL) == 1, "key %zu is in the filter", i);
  }
  check_bytes("build", filter, expected, size);
  check_bytes("builder that keeps hashes", stream(format, bits_per_key, 0, keys), expected, size);
  check_bytes("builder that knows its number of keys",
              stream(format, bits_per_key, count_entries(format, keys), keys), expected, size);
  free(expected);
}

static void check_filter_rows_of(const char *kernel, const char *name, lanebloom_format format,
                                 size_t expected_nrows)
{
  struct rows rows = rows_open(name);
  size_t n = 0;
  for (char *columns[4]; rows_next(&rows, kernel, columns, 4); n++) {
    struct key_list list = parse_keys(columns[3]);
    cr_assert(list.n == strtoul(columns[1], NULL, 10), "line %zu: %zu keys", rows.number, list.n);
    const lanebloom_keys keys = lanebloom_keys_slices(list.slices, list.n);
    check_filter(format, strtod(columns[0], NULL), &keys, columns[2]);
    free_keys(&list);
  }
  rows_close(&rows);
  cr_assert(n == expected_nrows, "%s: used %zu rows of %zu", name, n, expected_nrows);
}

static void check_filter_files(const char *kernel)
{
  check_filter_rows_of(kernel, "leveldb_filters.txt", LANEBLOOM_LEVELDB, 350);
  check_filter_rows_of(kernel, "rocksdb_legacy_filters.txt", LANEBLOOM_ROCKSDB_LEGACY, 225);
  check_filter_rows_of(kernel, "rocksdb_fastlocal_filters.txt", LANEBLOOM_ROCKSDB_LOCAL, 225);
}

Test(vectors, filter_files)
{
  for_each_kernel(check_filter_files);
}

/* Of the first n of the keys "hello", "world", ff fe fd. */
static const struct {
  lanebloom_format format;
  double bits_per_key;
  size_t n;
  const char *hex;
} filter_rows[] = {
    {LANEBLOOM_LEVELDB, 0, 0, "000000000000000001"},
    {LANEBLOOM_LEVELDB, 0, 1, "004000000000000001"},
    {LANEBLOOM_LEVELDB, 0, 2, "004000000000001001"},
    {LANEBLOOM_LEVELDB, 0, 3, "004000008000001001"},
    {LANEBLOOM_LEVELDB, 1, 0, "000000000000000001"},
    {LANEBLOOM_LEVELDB, 1, 1, "004000000000000001"},
    {LANEBLOOM_LEVELDB, 1, 2, "004000000000001001"},
    {LANEBLOOM_LEVELDB, 1, 3, "004000008000001001"},
    {LANEBLOOM_LEVELDB, 10, 0, "000000000000000006"},
    {LANEBLOOM_LEVELDB, 10, 1, "014000010410400006"},
    {LANEBLOOM_LEVELDB, 10, 2, "114000414410401006"},
    {LANEBLOOM_LEVELDB, 10, 3, "11400041c498c81806"},
    {LANEBLOOM_LEVELDB, 16, 0, "00000000000000000b"},
    {LANEBLOOM_LEVELDB, 16, 1, "01441041041144000b"},
    {LANEBLOOM_LEVELDB, 16, 2, "11551141445544100b"},
    {LANEBLOOM_LEVELDB, 16, 3, "99dd1141c4ddcc980b"},
    {LANEBLOOM_ROCKSDB_LEGACY, 1, 1,
     "000000000000000000400000000000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000000000000000000000000101000000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 1, 3,
     "000000000000000000400000000000000000000000000000000000000000001001000000"
     "000000000000000000000000000000000000000000000000000000000101000000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 10, 1,
     "000000010000000000400000000000000000000000000000000000000000000000000000"
     "000000000100000000004000000000000010000000000000040000000601000000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 10, 3,
     "000000010000000000400040000000001000000000000000000000000000001001000000"
     "440000000110000000004400000000010010004001000000440000000601000000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 16, 1,
     "000000010000040000400000000100000000004000000000000010000000000000040000"
     "000000000100000000004000000000000010000000000000040000000b01000000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 16, 3,
     "001400010000050000404040000100101000004000040000000011000000001001040000"
     "440000000111000000404400000000010010004001000000540000000b01000000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 30, 1,
     "000000010000040000500000000100000400004000000001000010000040000000040000"
     "100000000100000400004000000001000010000040000000040000101401000000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 30, 3,
     "001400010000050000504041000100501400004004040001000111000040401001041010"
     "540000040511000401404400400011010010004441000400550000101401000000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 1, 1,
     "000000000000000000000000000000000000000000000000000000000000000000000000"
     "00000000020000000000000000000000000000000000000000000000ff00010000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 1, 3,
     "000000000000000000000000000000000000000080000000000000000002000000000000"
     "00000000020000000000000000000000000000000000000000000000ff00010000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 10, 1,
     "000000010001000000000000020000000002000000000000000000000000000000000000"
     "00000000020800000000000000000000000000000000000000000000ff00060000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 10, 3,
     "000000010041000010000008020000220002000080000000000000000002000010000000"
     "00000000020800000000400000000000000040000000080000000800ff00060000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 16, 1,
     "000000010001000000000000020000000002000000000000000000000000000000000000"
     "00000002020800000000040000000000000000000000000020000000ff00090000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 16, 3,
     "000000010041000010000008020000220002000080000000000000000082000010000010"
     "00000802220800000000440000200000800040000000080020000800ff00090000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 30, 1,
     "000000010001000000000000020000000002000000000000104000000000000000000000"
     "00000002020800000000040008004000000000000000000020000000ff000d0000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 30, 3,
     "000000010041000010000008020000220002000080100000104000000082000010000010"
     "00000802260a00800000c40009204000800840000000080020000800ff000d0000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 1, 0, "0100000000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 10, 0, "0600000000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 16, 0, "0b00000000"},
    {LANEBLOOM_ROCKSDB_LEGACY, 30, 0, "1400000000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 1, 0, "ff00010000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 10, 0, "ff00060000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 16, 0, "ff00090000"},
    {LANEBLOOM_ROCKSDB_LOCAL, 30, 0, "ff000d0000"},
};

static void check_filter_rows(const char *kernel)
{
  static const lanebloom_slice few[] = {{"hello", 5}, {"world", 5}, {"\xff\xfe\xfd", 3}};
  for (size_t i = 0; i < COUNT(filter_rows); i++) {
    test_context("%s, row %zu of filter_rows", kernel, i);
    const lanebloom_keys keys = lanebloom_keys_slices(few, filter_rows[i].n);
    check_filter(filter_rows[i].format, filter_rows[i].bits_per_key, &keys, filter_rows[i].hex);
  }

  test_context("%s, key0 to key15", kernel);
  char text[16][8];
  lanebloom_slice many[16];
  for (size_t i = 0; i < COUNT(many); i++)
    many[i] = (lanebloom_slice){text[i], (size_t)snprintf(text[i], sizeof text[i], "key%zu", i)};
  const lanebloom_keys keys = lanebloom_keys_slices(many, COUNT(many));
  check_filter(LANEBLOOM_LEVELDB, 10, &keys, "1345402e981ae422500445a200496c22d40844cb06");
}

Test(vectors, filter_table)
{
  for_each_kernel(check_filter_rows);
}

/* ---- Queries ---- */

/* One key asked for in every way, alone and in every place of a batch. */
static void check_query(lanebloom_format format, const uint8_t *bytes, size_t size,
                        lanebloom_slice key, bool expected)
{
  enum { N = 19 };
  lanebloom_slice slices[N];
  uint64_t hashes[N] = {0}; /* of either size */
  uint32_t indices[N];
  uint8_t bitmap[(N + 7) / 8], expected_bitmap[(N + 7) / 8] = {0};
  for (size_t i = 0; i < N; i++) {
    slices[i] = key;
    expected_bitmap[i / 8] |= (uint8_t)(expected << i % 8);
  }
  const size_t count = expected ? N : 0;
  const lanebloom_keys keys = lanebloom_keys_slices(slices, N);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(format, bytes, size, &filter) == LANEBLOOM_OK, "open");

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
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  if (lanebloom_format_hash_size(info.format) > 0)
    cr_assert(lanebloom_hash(info.format, &keys, hashes) == LANEBLOOM_OK, "hash");
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
    check_query(LANEBLOOM_LEVELDB, bytes, size, (lanebloom_slice){key, key_size},
                columns[2][0] == '1');
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS, "leveldb_queries.txt: used %zu rows of %d", n, EXPECTED_NROWS);
}

Test(vectors, query_file)
{
  for_each_kernel(check_query_file);
}

/* ---- RocksDB's trailers ---- */

enum kind { CONSTANT, LEGACY, LOCAL, RIBBON };

/* What the byte behind the payload says, as RocksDB's GetBuiltinFilterBitsReader reads it. */
static enum kind kind_of(const uint8_t *bytes, size_t size)
{
  if (size <= 5)
    return CONSTANT;
  const uint8_t *trailer = bytes + size - 5;
  const unsigned nblocks = trailer[2] + 256u * trailer[3] + 65536u * trailer[4];
  return trailer[0] == 0xff                     ? LOCAL
         : trailer[0] == 0xfe && nblocks >= 2   ? RIBBON
         : trailer[0] >= 1 && trailer[0] <= 127 ? LEGACY
                                                : CONSTANT;
}

/* As a format that the trailer does not say: FORMAT. */
static void check_refused(lanebloom_format format, const uint8_t *bytes, size_t size)
{
  static char nothing;
  lanebloom_filter *filter = (void *)&nothing; /* an error sets it to NULL */
  const lanebloom_status status = lanebloom_filter_parse_raw(format, bytes, size, &filter);
  if (status != LANEBLOOM_ERR_FORMAT || filter)
    test_fatal("%s opens with status %d", lanebloom_format_name(format), (int)status);
}

static void check_reader_file(const char *kernel)
{
  enum {
    EXPECTED_NROWS = 1453,
    EXPECTED_NCONSTANT = 198,
    EXPECTED_NLEGACY = 458,
    EXPECTED_NLOCAL = 797,
    MAX_SIZE = 2048,
  };
  struct rows rows = rows_open("rocksdb_reader_cases.txt");
  size_t n = 0, nkinds[4] = {0};
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3); n++) {
    uint8_t bytes[MAX_SIZE], key_bytes[256];
    const size_t size = hex_decode(columns[0], bytes, sizeof bytes);
    const lanebloom_slice key = {key_bytes, hex_decode(columns[1], key_bytes, sizeof key_bytes)};
    const bool expected = columns[2][0] == '1';
    const enum kind kind = kind_of(bytes, size);
    nkinds[kind]++;
    check_query(LANEBLOOM_ROCKSDB, bytes, size, key, expected);
    if (kind == LOCAL)
      check_refused(LANEBLOOM_ROCKSDB_LEGACY, bytes, size);
    else
      check_query(LANEBLOOM_ROCKSDB_LEGACY, bytes, size, key, expected);
    if (kind == LEGACY)
      check_refused(LANEBLOOM_ROCKSDB_LOCAL, bytes, size);
    else
      check_query(LANEBLOOM_ROCKSDB_LOCAL, bytes, size, key, expected);
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS, "rocksdb_reader_cases.txt: used %zu rows of %d", n,
            EXPECTED_NROWS);
  cr_assert(nkinds[CONSTANT] == EXPECTED_NCONSTANT && nkinds[LEGACY] == EXPECTED_NLEGACY &&
                nkinds[LOCAL] == EXPECTED_NLOCAL && nkinds[RIBBON] == 0,
            "kinds: %zu, %zu, %zu, %zu", nkinds[CONSTANT], nkinds[LEGACY], nkinds[LOCAL],
            nkinds[RIBBON]);
}

Test(vectors, reader_file)
{
  for_each_kernel(check_reader_file);
}

/* A Ribbon filter of two blocks and more does not open. A policy of Ribbon filters writes
 * FastLocalBloom for few keys, and those do, whose answers are in the file too. */
static void check_ribbon_file(const char *kernel)
{
  static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB, LANEBLOOM_ROCKSDB_LEGACY,
                                             LANEBLOOM_ROCKSDB_LOCAL};
  enum { EXPECTED_NRIBBON = 13, EXPECTED_NLOCAL = 2, EXPECTED_NQUERIES = 4029, MAX_SIZE = 4096 };
  struct rows rows = rows_open("rocksdb_ribbon.txt");
  uint8_t bytes[MAX_SIZE], key[256];
  size_t size = 0, nribbon = 0, nlocal = 0, nqueries = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3);) {
    if (columns[0][0] == 'F') { /* the filter is the fourth column */
      char *hex = columns[2] + strlen(columns[2]) + 1;
      hex[strcspn(hex, "\n")] = '\0';
      size = hex_decode(hex, bytes, sizeof bytes);
      if (kind_of(bytes, size) == RIBBON)
        for (size_t i = 0; i < COUNT(formats); i++)
          check_refused(formats[i], bytes, size);
      *(kind_of(bytes, size) == RIBBON ? &nribbon : &nlocal) += 1;
      continue;
    }
    nqueries++;
    const lanebloom_slice asked = {key, hex_decode(columns[1], key, sizeof key)};
    if (kind_of(bytes, size) == LOCAL)
      check_query(LANEBLOOM_ROCKSDB, bytes, size, asked, columns[2][0] == '1');
  }
  rows_close(&rows);
  cr_assert(nribbon == EXPECTED_NRIBBON && nlocal == EXPECTED_NLOCAL &&
                nqueries == EXPECTED_NQUERIES,
            "rocksdb_ribbon.txt: used %zu + %zu filters, %zu queries", nribbon, nlocal, nqueries);
}

Test(vectors, ribbon_file)
{
  for_each_kernel(check_ribbon_file);
}

/* XXPH3("hello") is a0bbc238c97657b5, and its first six probes are these bits of a filter of one
 * line. */
Test(vectors, trace)
{
  static const uint64_t expected[] = {321, 97, 331, 137, 40, 24};
  const lanebloom_keys keys = lanebloom_keys_fixed("hello", 5, 1);
  lanebloom_filter *filter;
  uint64_t hash, positions[COUNT(expected)];
  uint32_t hash32;
  cr_assert(lanebloom_filter_build(LANEBLOOM_ROCKSDB_LOCAL, 10, &keys, &filter) == LANEBLOOM_OK,
            "build");
  cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, &keys, &hash) == LANEBLOOM_OK, "hash");
  cr_assert(hash == 0xa0bbc238c97657b5, "%016llx", (unsigned long long)hash);
  cr_assert(lanebloom_filter_positions(filter, &hash, positions) == COUNT(expected), "positions");
  for (size_t i = 0; i < COUNT(expected); i++)
    cr_assert(positions[i] == expected[i], "probe %zu is at %llu", i,
              (unsigned long long)positions[i]);
  lanebloom_filter_close(filter);
  cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LEGACY, &keys, &hash32) == LANEBLOOM_OK, "hash");
  cr_assert(hash32 == 0xf795964e, "%08x", hash32);
}

/* ---- LevelDB's small filters ---- */

/* As LevelDB's bloom_test.cc: an empty filter matches nothing, and {hello, world} matches neither
 * "x" nor "foo". */
static void check_query_rows(const char *kernel)
{
  static const uint8_t empty[] = {0, 0, 0, 0, 0, 0, 0, 0, 6},
                       two[] = {0x11, 0x40, 0, 0x41, 0x44, 0x10, 0x40, 0x10, 6};
  test_context("%s, the small filters", kernel);
  check_query(LANEBLOOM_LEVELDB, empty, sizeof empty, (lanebloom_slice){"hello", 5}, false);
  check_query(LANEBLOOM_LEVELDB, two, sizeof two, (lanebloom_slice){"hello", 5}, true);
  check_query(LANEBLOOM_LEVELDB, two, sizeof two, (lanebloom_slice){"world", 5}, true);
  check_query(LANEBLOOM_LEVELDB, two, sizeof two, (lanebloom_slice){"x", 1}, false);
  check_query(LANEBLOOM_LEVELDB, two, sizeof two, (lanebloom_slice){"foo", 3}, false);
}

Test(vectors, query_table)
{
  for_each_kernel(check_query_rows);
}

/* ---- Probes per bits per key ---- */

/* The number of probes that LevelDB chooses for 0, 1, 2, ... 45 bits per key; from there on it is
 * 30. */
Test(vectors, probes)
{
  static const unsigned chosen[] = {1,  1,  1,  2,  2,  3,  4,  4,  5,  6,  6,  7,  8,  8,  9,  10,
                                    11, 11, 12, 13, 13, 14, 15, 15, 16, 17, 17, 18, 19, 20, 20, 21,
                                    22, 22, 23, 24, 24, 25, 26, 26, 27, 28, 28, 29, 30, 30};
  for (unsigned bits = 0; bits <= 1000; bits++) {
    const unsigned expected = bits < COUNT(chosen) ? chosen[bits] : 30;
    unsigned nprobes;
    uint64_t nbytes;
    cr_assert(lanebloom_plan_size(LANEBLOOM_LEVELDB, bits, 1000, &nbytes, &nprobes) == LANEBLOOM_OK,
              "plan_size");
    cr_assert(nprobes == expected, "%u bits per key: %u probes, expected %u", bits, nprobes,
              expected);
    cr_assert(nbytes == (bits ? 125 * bits : 8) + 1, "%u bits per key: %zu bytes", bits,
              (size_t)nbytes);
  }
}

/* The number of probes that FastLocalBloom chooses on either side of each change. */
Test(vectors, local_probes_file)
{
  enum { EXPECTED_NROWS = 52 };
  struct rows rows = rows_open("rocksdb_fastlocal_probes.txt");
  size_t n = 0;
  for (char *columns[2]; rows_next(&rows, "planning", columns, 2); n++) {
    const unsigned long millibits = strtoul(columns[0], NULL, 10),
                        expected = strtoul(columns[1], NULL, 10);
    unsigned nprobes;
    uint64_t nbytes;
    cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, (double)millibits / 1000, 1000, &nbytes,
                                  &nprobes) == LANEBLOOM_OK,
              "plan_size");
    if (nprobes != expected || nbytes != (millibits + 511) / 512 * 64 + 5)
      test_fatal("%lu millibits: %u probes, %llu bytes", millibits, nprobes,
                 (unsigned long long)nbytes);
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS, "rocksdb_fastlocal_probes.txt: used %zu rows of %d", n,
            EXPECTED_NROWS);
}

/* The number of probes that RocksDB's legacy filters take: bits per key round to whole ones. */
Test(vectors, legacy_probes)
{
  static const struct {
    double bits_per_key;
    unsigned nprobes;
  } rows[] = {{0.5, 1}, {1, 1},        {1.4994, 1},  {1.5, 1},  {2.4994, 1}, {2.4995, 2}, {2.5, 2},
              {3, 2},   {10, 6},       {10.4994, 6}, {10.5, 7}, {15, 10},    {16, 11},    {29, 20},
              {43, 29}, {43.4994, 29}, {43.5, 30},   {44, 30},  {100, 30},   {1000, 30}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    unsigned nprobes;
    uint64_t nbytes;
    cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LEGACY, rows[i].bits_per_key, 1, &nbytes,
                                  &nprobes) == LANEBLOOM_OK,
              "plan_size");
    cr_assert(nprobes == rows[i].nprobes && nbytes == 69, "%g bits per key: %u probes, %llu bytes",
              rows[i].bits_per_key, nprobes, (unsigned long long)nbytes);
  }
}
