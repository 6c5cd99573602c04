/* Filters must equal those of the real engines, byte for byte.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "frozen.h"

static lanebloom_filter *stream(lanebloom_format format, double bits_per_key,
                                uint64_t expected_keys, const lanebloom_keys *keys)
{
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create(format, bits_per_key, expected_keys, &builder) == LANEBLOOM_OK,
            "builder_create");
  for (size_t at = 0; at < keys->n; at += 3) {
    const lanebloom_keys part = lanebloom_keys_part(keys, at, 3);
    cr_assert(lanebloom_builder_add(builder, &part) == LANEBLOOM_OK, "builder_add");
  }
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "builder_finish");
  lanebloom_builder_free(builder);
  return filter;
}

/* Returns how many keys count in the size of a filter. RocksDB skips a key if its hash equals the
 * hash of the key before it. */
static uint64_t count_entries(lanebloom_format format, const lanebloom_keys *keys)
{
  const size_t hash_nbytes = lanebloom_format_hash_size(format);
  if (format != LANEBLOOM_ROCKSDB_LEGACY && format != LANEBLOOM_ROCKSDB_LOCAL)
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

/* Builds the filter in three ways: in one call, by a builder that stores hashes, and by a builder
 * for the right number of keys. If that number is 0, the last builder stores hashes, too. */
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
  test_filter_bytes("build", filter, expected, size);
  test_filter_bytes("builder that keeps hashes", stream(format, bits_per_key, 0, keys), expected,
                    size);
  test_filter_bytes("builder that knows its number of keys",
                    stream(format, bits_per_key, count_entries(format, keys), keys), expected,
                    size);
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
  check_filter_rows_of(kernel, "spark/v1_filters.txt", LANEBLOOM_SPARK_V1, 126);
  check_filter_rows_of(kernel, "spark/v2_filters.txt", LANEBLOOM_SPARK_V2, 126);
}

Test(vectors, filter_files)
{
  for_each_kernel(check_filter_files);
}

/* The filters of the first n of the keys "hello", "world" and ff fe fd. */
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
