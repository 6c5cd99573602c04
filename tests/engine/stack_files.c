/* The calls that read and write files take no more stack than lanebloom.h states. A thread of musl
 * has 128 KiB, so a call must leave room for the caller.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_parquet.h>
#include <lanebloom_tables.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "painted_stack.h"

enum { NKEYS = 20000, MAX_TABLES = 64 };
static char data[NKEYS * 8], path[4096], problem[512];
static uint8_t bitmap[NKEYS / 8 + 1];
static const char *folder; /* where filters may be written */

static lanebloom_keys keys(void)
{
  return lanebloom_keys_fixed(data, 8, NKEYS);
}

static void *use_filter_files(void *unused)
{
  const lanebloom_keys batch = keys();
  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    const lanebloom_format format = lanebloom_format_at(i);
    lanebloom_filter *filter, *loaded, *mapped;
    if (lanebloom_filter_build(format, 10, &batch, &filter) != LANEBLOOM_OK)
      continue; /* a format that is only opened */
    snprintf(path, sizeof path, "%s/stack.lbf", folder);
    for (size_t round = 0; round < 2; round++) { /* the second time the file is replaced */
      CHECK(lanebloom_filter_save_check(path) == LANEBLOOM_OK);
      CHECK(lanebloom_filter_save(filter, path) == LANEBLOOM_OK);
    }
    CHECK(lanebloom_filter_load(path, &loaded, NULL, 0) == LANEBLOOM_OK);
    CHECK(lanebloom_filter_map(path, &mapped, NULL, 0) == LANEBLOOM_OK);
    CHECK(remove(path) == 0);
    lanebloom_filter_free(loaded);
    CHECK(lanebloom_filter_load(path, &loaded, problem, sizeof problem) == LANEBLOOM_ERR_IO);
    lanebloom_filter_free(filter);
    lanebloom_filter_free(mapped);
  }
  return unused;
}

static const char *const table_names[] = {"leveldb_bloom10.ldb",
                                          "goleveldb_bloom10.ldb",
                                          "rocksdb_fv3_xxh32_legacy10.sst",
                                          "rocksdb_fv4_crc32c_legacy10_partitioned.sst",
                                          "rocksdb_fv4_xxh64_legacy10_prefix3.sst",
                                          "rocksdb_fv5_crc32c_flb10_prefixonly3.sst",
                                          "rocksdb_fv5_xxh3_flb10.sst",
                                          "rocksdb_fv5_xxh3_flb10_partitioned.sst",
                                          "rocksdb_fv5_xxh3_ribbon10.sst",
                                          "rocksdb_fv7_crc32c_flb10_partitioned.sst",
                                          "damaged_order.sst"};
enum { NTABLES = sizeof table_names / sizeof *table_names };

static void *use_tables(void *unused)
{
  const lanebloom_keys batch = keys();
  const lanebloom_table *tables[NTABLES];
  size_t ntables = 0;
  for (size_t i = 0; i < NTABLES; i++) {
    lanebloom_table *table;
    snprintf(path, sizeof path, "%s/tables/%s", LANEBLOOM_TEST_VECTORS, table_names[i]);
    /* a table may be damaged, or need a codec that this build lacks */
    if (lanebloom_table_open(path, LANEBLOOM_WRITER_UNKNOWN, &table, problem, sizeof problem))
      continue;
    lanebloom_table_screen(table, &batch, bitmap);
    tables[ntables++] = table;
  }
  CHECK(ntables >= 2);
  lanebloom_tables_screen(tables, ntables, &batch, bitmap, NULL, NULL);
  for (size_t i = 0; i < ntables; i++)
    lanebloom_table_free((lanebloom_table *)tables[i]);
  return unused;
}

static void *make_filter_block(void *unused)
{
  lanebloom_filter_block_builder *builder;
  CHECK(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 11, &builder) == LANEBLOOM_OK);
  for (uint64_t block = 0; block < 20; block++) {
    const lanebloom_keys batch = keys(), part = lanebloom_keys_part(&batch, block * 100, 100);
    CHECK(lanebloom_filter_block_builder_start_block(builder, block * 4096) == LANEBLOOM_OK);
    CHECK(lanebloom_filter_block_builder_add(builder, &part) == LANEBLOOM_OK);
  }
  const void *bytes;
  size_t nbytes;
  CHECK(lanebloom_filter_block_builder_finish(builder, &bytes, &nbytes) == LANEBLOOM_OK);
  lanebloom_filter_block_builder_free(builder);
  return unused;
}

static void drop_table(void *context, void *table)
{
  (void)context;
  lanebloom_table_free(table);
}

static void *keep_table(void *context, const lanebloom_database_table *live, lanebloom_table *table)
{
  (void)context;
  (void)live;
  return table;
}

static bool ignore_failure(void *context, const lanebloom_database_table *live,
                           lanebloom_status status, const char *text)
{
  (void)context;
  (void)live;
  (void)status;
  (void)text;
  return true; /* this build may lack the codec */
}

static const char *const database_names[] = {"minecraft",        "pebble_21", "pebble_25",
                                             "pebble_30",        "pebble_v1", "pebble_v2",
                                             "pebble_v1_current"};

static void *use_databases(void *unused)
{
  const lanebloom_table_visitor visitor = {
      .opened = keep_table, .dropped = drop_table, .failed = ignore_failure};
  size_t nopened = 0;
  for (size_t i = 0; i < sizeof database_names / sizeof *database_names; i++) {
    lanebloom_database *database;
    lanebloom_table *logs;
    bool changed;
    snprintf(path, sizeof path, "%s/databases/%s", LANEBLOOM_TEST_VECTORS, database_names[i]);
    if (lanebloom_database_open(path, NULL, &database, problem, sizeof problem))
      continue;
    nopened++;
    CHECK(lanebloom_database_open_tables(database, LANEBLOOM_WRITER_UNKNOWN, &visitor, problem,
                                         sizeof problem) == LANEBLOOM_OK);
    CHECK(lanebloom_database_logs(database, &logs, problem, sizeof problem) == LANEBLOOM_OK);
    const lanebloom_keys batch = keys();
    lanebloom_table_screen(logs, &batch, bitmap);
    lanebloom_table_free(logs);
    for (size_t t = 0; t < lanebloom_database_table_count(database); t++)
      lanebloom_table_free(lanebloom_database_table_at(database, t).opened);
    CHECK(lanebloom_database_update(database, &changed, problem, sizeof problem) == LANEBLOOM_OK);
    lanebloom_database_free(database);
  }
  CHECK(nopened > 0);
  return unused;
}

static void *use_parquet_files(void *unused)
{
  static const char *const names[] = {LANEBLOOM_TEST_VECTORS "/parquet"};
  const lanebloom_keys batch = keys();
  lanebloom_parquet_files *files;
  size_t nscreened = 0;
  bool is_parquet;
  CHECK(lanebloom_parquet_recognize(names[0], &is_parquet, NULL, 0) == LANEBLOOM_OK && is_parquet);
  CHECK(lanebloom_parquet_find_files(names, 1, &files, NULL, 0) == LANEBLOOM_OK);
  for (size_t i = 0; i < files->read.n; i++) {
    lanebloom_parquet *file;
    CHECK(lanebloom_parquet_open(files->read.all[i], LANEBLOOM_PARQUET_BOUNDS_ALL, &file, problem,
                                 sizeof problem) == LANEBLOOM_OK);
    lanebloom_parquet_info info;
    lanebloom_parquet_describe(file, &info, sizeof info);
    for (size_t column = 0; column < info.ncolumns; column++) {
      lanebloom_parquet_keys *prepared;
      if (lanebloom_parquet_keys_create(file, column, LANEBLOOM_INT64, &batch, &prepared, NULL,
                                        problem, sizeof problem) != LANEBLOOM_OK)
        continue; /* a column of another type */
      for (size_t group = 0; group < info.nrow_groups; group++) {
        lanebloom_filter *filter;
        size_t nmaybe;
        CHECK(lanebloom_parquet_screen(file, group, column, prepared, bitmap, &nmaybe, problem,
                                       sizeof problem) == LANEBLOOM_OK);
        if (lanebloom_parquet_load_filter(file, group, column, &filter, NULL, 0) == LANEBLOOM_OK)
          lanebloom_filter_free(filter);
        nscreened++;
      }
      lanebloom_parquet_keys_free(prepared);
    }
    lanebloom_parquet_free(file);
  }
  lanebloom_parquet_files_free(files);
  CHECK(nscreened > 0);
  return unused;
}

int main(int argc, char **argv)
{
  CHECK(argc == 2);
  folder = argv[1];
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (char)(i * 2654435761 >> 13);
  check_stack("files of filters", use_filter_files);
  check_stack("tables", use_tables);
  check_stack("filter blocks", make_filter_block);
  check_stack("databases", use_databases);
  check_stack("Parquet files", use_parquet_files);
  return EXIT_SUCCESS;
}
