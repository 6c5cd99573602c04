/* How many probes the real engines choose, and the positions of the first ones.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "format.h"
#include "frozen.h"

/* XXPH3("hello") is a0bbc238c97657b5. In a filter of one line, its first six probes are
 * these bits. */
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
  lanebloom_filter_free(filter);
  cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LEGACY, &keys, &hash32) == LANEBLOOM_OK, "hash");
  cr_assert(hash32 == 0xf795964e, "%08x", hash32);
}

/* LevelDB chooses these numbers of probes for 0, 1, 2, ... 45 bits per key, and 30 for all more. */
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

/* FastLocalBloom changes its number of probes at certain numbers of bits per key. The file has the
 * number of probes before and after each change. */
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

/* RocksDB's legacy filters round bits per key to a whole number, and have these numbers of
 * probes. */
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

/* ---- Spark ---- */

static const struct {
  lanebloom_format format;
  const char *plans, *large;
  size_t header_nbytes;
} spark_files[] = {
    {LANEBLOOM_SPARK_V1, "spark/v1_plans.txt", "spark/v1_large.txt", 12},
    {LANEBLOOM_SPARK_V2, "spark/v2_plans.txt", "spark/v2_large.txt", 16},
};

Test(vectors, spark_plans)
{
  enum { EXPECTED_NROWS = 231 };
  for (size_t i = 0; i < COUNT(spark_files); i++) {
    struct rows rows = rows_open(spark_files[i].plans);
    size_t n = 0;
    for (char *columns[4]; rows_next(&rows, "planning", columns, 4); n++) {
      unsigned nprobes;
      uint64_t nbytes;
      cr_assert(lanebloom_plan_size(spark_files[i].format, strtod(columns[0], NULL),
                                    strtoull(columns[1], NULL, 10), &nbytes,
                                    &nprobes) == LANEBLOOM_OK,
                "plan_size");
      if (nprobes != strtoul(columns[3], NULL, 10) ||
          nbytes != spark_files[i].header_nbytes + 8 * strtoull(columns[2], NULL, 10))
        test_fatal("%s bits, %s keys: %u probes, %llu bytes", columns[0], columns[1], nprobes,
                   (unsigned long long)nbytes);
    }
    rows_close(&rows);
    cr_assert(n == EXPECTED_NROWS, "%s: used %zu rows of %d", spark_files[i].plans, n,
              EXPECTED_NROWS);
  }
}

/* Converts a bit's position in the payload to its position in Spark's words. */
static uint64_t spark_bit_at(uint64_t position)
{
  return position / 64 * 64 + (7 - position % 64 / 8) * 8 + position % 8;
}

/* Checks positions in filters with about 2^31 bits, the limit of version 1, and with more. No
 * payload is allocated. */
Test(vectors, spark_positions_in_large_filters)
{
  enum { EXPECTED_NROWS = 20, MAX_NPROBES = 7 };
  for (size_t i = 0; i < COUNT(spark_files); i++) {
    const struct format_table *table = lanebloom_format_table(spark_files[i].format);
    struct rows rows = rows_open(spark_files[i].large);
    size_t n = 0;
    for (char *columns[4]; rows_next(&rows, "positions", columns, 4); n++) {
      const uint32_t nprobes = (uint32_t)strtoul(columns[1], NULL, 10);
      const struct filter_shape shape =
          table->shape(table, 8 * strtoull(columns[0], NULL, 10), table->line_nbytes, nprobes);
      uint8_t key[256];
      uint64_t hash, positions[MAX_NPROBES];
      const lanebloom_keys keys =
          lanebloom_keys_fixed(key, hex_decode(columns[2], key, sizeof key), 1);
      cr_assert(nprobes <= MAX_NPROBES && lanebloom_hash(table->id, &keys, &hash) == LANEBLOOM_OK);
      table->positions(&shape, &hash, positions);
      bool is_found[MAX_NPROBES] = {false};
      for (char *bit; (bit = strtok_r(columns[3], ",\n", &columns[3]));) {
        bool is_probed = false;
        for (uint32_t p = 0; p < nprobes; p++)
          if (spark_bit_at(positions[p]) == strtoull(bit, NULL, 10))
            is_probed = is_found[p] = true;
        if (!is_probed)
          test_fatal("%s words: bit %s is not probed", columns[0], bit);
      }
      for (uint32_t p = 0; p < nprobes; p++)
        if (!is_found[p])
          test_fatal("%s words: Spark does not set the bit of probe %u", columns[0], p);
    }
    rows_close(&rows);
    cr_assert(n == EXPECTED_NROWS, "%s: used %zu rows of %d", spark_files[i].large, n,
              EXPECTED_NROWS);
  }
}
