/* Answers must equal those of the real engines' readers, for any key and any trailer.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "frozen.h"

/* Queries one key in every way, alone and at every index of a batch. */
static void check_query(lanebloom_format format, const uint8_t *bytes, size_t size,
                        lanebloom_slice key, bool expected)
{
  enum { N = 19 };
  lanebloom_slice slices[N];
  uint8_t hashes[N * LANEBLOOM_MAX_HASH_SIZE] = {0};
  uint32_t indices[N];
  uint8_t bitmap[(N + 7) / 8], expected_bitmap[(N + 7) / 8] = {0};
  for (size_t i = 0; i < N; i++) {
    slices[i] = key;
    expected_bitmap[i / 8] |= (uint8_t)(expected << i % 8);
  }
  const size_t count = expected ? N : 0;
  const lanebloom_keys keys = lanebloom_keys_slices(slices, N);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(format, bytes, size, NULL, &filter, NULL, 0) == LANEBLOOM_OK,
            "open");

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
  lanebloom_filter_free(filter);
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

/* Returns the kind of filter that the first byte after the payload states, as RocksDB's
 * GetBuiltinFilterBitsReader reads it. */
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

/* Checks that opening the bytes as this format, which the trailer does not state, fails with
 * FORMAT. */
static void check_refused(lanebloom_format format, const uint8_t *bytes, size_t size)
{
  static char nothing;
  lanebloom_filter *filter = (void *)&nothing; /* an error sets filter to NULL */
  const lanebloom_status status =
      lanebloom_filter_parse_raw(format, bytes, size, NULL, &filter, NULL, 0);
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

/* Checks the calls that fail because a Ribbon filter has no bits. */
static void check_no_bits(const uint8_t *bytes, size_t size)
{
  lanebloom_filter *filter, *merged;
  lanebloom_filter_info info;
  uint64_t positions[32];
  const uint64_t hash = 1;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes, size, NULL, &filter, NULL, 0) ==
            LANEBLOOM_OK);
  lanebloom_filter_describe(filter, &info, sizeof info);
  cr_assert(info.format == LANEBLOOM_ROCKSDB_RIBBON && info.nprobes > 0 && info.nprobes <= 32 &&
            info.nbits <= 8 * (uint64_t)size && info.nkeys_estimate == LANEBLOOM_UNKNOWN);
  cr_assert(lanebloom_filter_positions(filter, &hash, positions) == 0);
  cr_assert(lanebloom_filter_merge((const lanebloom_filter *[]){filter, filter}, 2, &merged, NULL,
                                   NULL, 0) == LANEBLOOM_ERR_MISMATCH &&
            !merged);
  lanebloom_filter_free(filter);
}

/* For few keys, RocksDB's policy for Ribbon filters writes FastLocalBloom filters. The file has the
 * answers of these filters, too. */
static void check_ribbon_file(const char *kernel)
{
  enum { EXPECTED_NRIBBON = 13, EXPECTED_NLOCAL = 2, EXPECTED_NQUERIES = 4029, MAX_SIZE = 4096 };
  struct rows rows = rows_open("rocksdb_ribbon.txt");
  uint8_t bytes[MAX_SIZE], key[256];
  size_t size = 0, nribbon = 0, nlocal = 0, nqueries = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3);) {
    if (columns[0][0] == 'F') { /* the filter is the fourth column */
      char *hex = columns[2] + strlen(columns[2]) + 1;
      hex[strcspn(hex, "\n")] = '\0';
      size = hex_decode(hex, bytes, sizeof bytes);
      if (kind_of(bytes, size) == RIBBON) {
        check_refused(LANEBLOOM_ROCKSDB_LEGACY, bytes, size);
        check_refused(LANEBLOOM_ROCKSDB_LOCAL, bytes, size);
        check_no_bits(bytes, size);
      } else {
        check_refused(LANEBLOOM_ROCKSDB_RIBBON, bytes, size);
      }
      *(kind_of(bytes, size) == RIBBON ? &nribbon : &nlocal) += 1;
      continue;
    }
    nqueries++;
    const lanebloom_slice asked = {key, hex_decode(columns[1], key, sizeof key)};
    check_query(LANEBLOOM_ROCKSDB, bytes, size, asked, columns[2][0] == '1');
    if (kind_of(bytes, size) == RIBBON)
      check_query(LANEBLOOM_ROCKSDB_RIBBON, bytes, size, asked, columns[2][0] == '1');
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

/* ---- Pebble's binary fuse filters ---- */

/* Checks that a filter is refused if a byte is missing, if there is one more, and if its trailer
 * has another width, no segments, other segments, or more slots than 32 bits can number. */
static void check_damaged_trailers(const uint8_t *filter, size_t size)
{
  enum { MAX_SIZE = 2048, NSEGMENTS = 6, LOG_NSLOTS = 2, WIDTH = 1 }; /* distances from the end */
  static const struct {
    size_t at, n;
    uint8_t value;
  } rows[] = {{WIDTH, 1, 0},      {WIDTH, 1, 5},       {WIDTH, 1, 11},      {WIDTH, 1, 32},
              {WIDTH, 1, 0xff},   {NSEGMENTS, 4, 0},   {NSEGMENTS, 4, 77},  {NSEGMENTS, 4, 0xff},
              {LOG_NSLOTS, 1, 1}, {LOG_NSLOTS, 1, 31}, {LOG_NSLOTS, 1, 32}, {LOG_NSLOTS, 1, 0xff}};
  uint8_t bytes[MAX_SIZE + 1] = {0};
  memcpy(bytes + 1, filter, size);
  check_refused(LANEBLOOM_PEBBLE_BINARYFUSE, bytes, size + 1);
  check_refused(LANEBLOOM_PEBBLE_BINARYFUSE, bytes + 2, size - 1);
  for (size_t r = 0; r < COUNT(rows); r++) {
    memcpy(bytes, filter, size);
    memset(bytes + size - rows[r].at, rows[r].value, rows[r].n);
    check_refused(LANEBLOOM_PEBBLE_BINARYFUSE, bytes, size);
  }
}

static void check_fuse_facts(const uint8_t *bytes, size_t size, unsigned width)
{
  lanebloom_filter *filter, *merged;
  lanebloom_filter_info info;
  uint64_t positions[16];
  const uint64_t hash = 1;
  cr_assert(!lanebloom_filter_parse_raw(LANEBLOOM_PEBBLE_BINARYFUSE, bytes, size, NULL, &filter,
                                        NULL, 0));
  lanebloom_filter_describe(filter, &info, sizeof info);
  cr_assert(info.nprobes == width && info.nbits <= 8 * (uint64_t)(size - 14) &&
            info.nkeys_estimate == LANEBLOOM_UNKNOWN && info.model_rate == 1.0 / (1u << width));
  cr_assert(lanebloom_filter_positions(filter, &hash, positions) == 0);
  cr_assert(lanebloom_filter_merge((const lanebloom_filter *[]){filter, filter}, 2, &merged, NULL,
                                   NULL, 0) == LANEBLOOM_ERR_MISMATCH &&
            !merged);
  lanebloom_filter_free(filter);
}

/* Queries the keys of a list, which are separated by commas. Each has its answer after a colon, or
 * is present. Returns the number of keys. */
static size_t check_fuse_list(const uint8_t *bytes, size_t size, char *list)
{
  size_t n = 0;
  for (char *key; (key = strsep(&list, ",")); n++) {
    uint8_t decoded[1024];
    char *answer = strchr(key, ':');
    if (answer)
      *answer++ = '\0';
    const lanebloom_slice asked = {decoded, hex_decode(key, decoded, sizeof decoded)};
    check_query(LANEBLOOM_PEBBLE_BINARYFUSE, bytes, size, asked, !answer || *answer == '1');
  }
  return n;
}

static void check_fuse_file(const char *kernel)
{
  enum { EXPECTED_NFILTERS = 60, EXPECTED_NKEYS = 2470, EXPECTED_NPROBES = 6000, MAX_SIZE = 2048 };
  struct rows rows = rows_open("pebble_binaryfuse.txt");
  size_t nfilters = 0, nkeys = 0, nprobes = 0;
  for (char *columns[6]; rows_next(&rows, kernel, columns, 6); nfilters++) {
    static const char keys[] = "keys=", filter[] = "filter=", probes[] = "probes=";
    uint8_t bytes[MAX_SIZE];
    const size_t size = hex_decode(columns[4] + strlen(filter), bytes, sizeof bytes);
    check_fuse_facts(bytes, size, (unsigned)strtoul(strchr(columns[1], '(') + 1, NULL, 10));
    check_damaged_trailers(bytes, size);
    nkeys += check_fuse_list(bytes, size, columns[3] + strlen(keys));
    nprobes += check_fuse_list(bytes, size, columns[5] + strlen(probes));
  }
  rows_close(&rows);
  check_query(LANEBLOOM_PEBBLE_BINARYFUSE, (const uint8_t *)"", 0, (lanebloom_slice){"a", 1},
              false);
  check_query(LANEBLOOM_PEBBLE_BINARYFUSE, (const uint8_t *)"12345678901234", 14,
              (lanebloom_slice){"a", 1}, false);
  cr_assert(nfilters == EXPECTED_NFILTERS && nkeys == EXPECTED_NKEYS && nprobes == EXPECTED_NPROBES,
            "pebble_binaryfuse.txt: used %zu filters, %zu keys, %zu probes", nfilters, nkeys,
            nprobes);
}

Test(vectors, fuse_file)
{
  for_each_kernel(check_fuse_file);
}

/* ---- Spark ---- */

static void check_spark_queries(const char *kernel, const char *name, lanebloom_format format)
{
  enum { EXPECTED_NROWS = 600, MAX_SIZE = 256 };
  struct rows rows = rows_open(name);
  size_t n = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3); n++) {
    uint8_t bytes[MAX_SIZE], key[MAX_SIZE];
    const size_t size = hex_decode(columns[0], bytes, sizeof bytes);
    const lanebloom_slice asked = {key, hex_decode(columns[1], key, sizeof key)};
    check_query(format, bytes, size, asked, columns[2][0] == '1');
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS, "%s: used %zu rows of %d", name, n, EXPECTED_NROWS);
}

/* Returns the number at this offset of a header. */
static uint32_t spark_number(const uint8_t *bytes, size_t at)
{
  return (uint32_t)bytes[at] << 24 | (uint32_t)bytes[at + 1] << 16 | (uint32_t)bytes[at + 2] << 8 |
         bytes[at + 3];
}

/* Bytes that Spark refuses are refused. Other seeds and more than 255 probes are refused, too. All
 * other bytes must give Spark's answer. */
static void check_spark_damage(const char *kernel, const char *name, lanebloom_format format,
                               size_t expected_nrows)
{
  enum { MAX_SIZE = 256 };
  struct rows rows = rows_open(name);
  size_t n = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3); n++) {
    uint8_t bytes[MAX_SIZE], key[MAX_SIZE];
    const size_t size = hex_decode(columns[0], bytes, sizeof bytes);
    const lanebloom_slice asked = {key, hex_decode(columns[1], key, sizeof key)};
    const bool is_read = columns[2][0] != 'E';
    if (is_read && spark_number(bytes, 4) > 255 && spark_number(bytes, 4) < 0x80000000) {
      lanebloom_filter *filter;
      cr_assert(lanebloom_filter_parse_raw(format, bytes, size, NULL, &filter, NULL, 0) ==
                    LANEBLOOM_ERR_LIMIT &&
                !filter);
    } else if (!is_read || (format == LANEBLOOM_SPARK_V2 && spark_number(bytes, 8) != 0)) {
      check_refused(format, bytes, size);
    } else {
      check_query(format, bytes, size, asked, columns[2][0] == '1');
    }
  }
  rows_close(&rows);
  cr_assert(n == expected_nrows, "%s: used %zu rows of %zu", name, n, expected_nrows);
}

static void check_spark_files(const char *kernel)
{
  check_spark_queries(kernel, "spark/v1_queries.txt", LANEBLOOM_SPARK_V1);
  check_spark_queries(kernel, "spark/v2_queries.txt", LANEBLOOM_SPARK_V2);
  check_spark_damage(kernel, "spark/v1_damage.txt", LANEBLOOM_SPARK_V1, 94);
  check_spark_damage(kernel, "spark/v2_damage.txt", LANEBLOOM_SPARK_V2, 120);
}

Test(vectors, spark_queries)
{
  for_each_kernel(check_spark_files);
}

/* Spark ignores bytes after the last word, but lanebloom refuses them. It also refuses two words
 * after a header that states one. */
Test(vectors, spark_words_are_all_there_is)
{
  static const uint8_t bytes[12 + 16 + 1] = {[3] = 1, [7] = 1, [11] = 2};
  lanebloom_filter *filter;
  for (size_t size = 0; size <= sizeof bytes; size++) {
    if (size != 12 + 16)
      check_refused(LANEBLOOM_SPARK_V1, bytes, size);
    check_refused(LANEBLOOM_SPARK_V2, bytes, size);
  }
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_SPARK_V1, bytes, 12 + 16, NULL, &filter, NULL,
                                       0) == LANEBLOOM_OK);
  lanebloom_filter_free(filter);
  static const uint8_t one[12 + 16] = {[3] = 1, [7] = 1, [11] = 1}, none[12] = {[3] = 1, [7] = 1};
  check_refused(LANEBLOOM_SPARK_V1, one, sizeof one);
  check_refused(LANEBLOOM_SPARK_V1, none, sizeof none);
}

/* ---- LevelDB's small filters ---- */

/* As in LevelDB's bloom_test.cc, no key matches an empty filter, and neither "x" nor "foo" matches
 * a filter of "hello" and "world". */
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
