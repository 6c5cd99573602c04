/* The library for tables, while memory or the file system fails.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"

static lanebloom_status make_filter_block(void)
{
  enum { NBLOCKS = 40, BLOCK_NBYTES = 1500, NPER_BLOCK = NFEW / NBLOCKS };
  static uint64_t offsets[NFEW];
  lanebloom_filter_block_builder *builder;
  lanebloom_filter_block *block = NULL;
  lanebloom_status status;
  const void *bytes;
  size_t nbytes;
  INSIST_ON(builder, status,
            lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 11, &builder));
  for (size_t i = 0; !status && i < NBLOCKS; i++) {
    const lanebloom_keys keys = keys_from(i * NPER_BLOCK, NPER_BLOCK);
    for (size_t key = i * NPER_BLOCK; key < (i + 1) * NPER_BLOCK; key++)
      offsets[key] = i * BLOCK_NBYTES;
    INSIST(status, lanebloom_filter_block_builder_start_block(builder, i * BLOCK_NBYTES));
    if (!status)
      INSIST(status, lanebloom_filter_block_builder_add(builder, &keys));
  }
  if (!status)
    INSIST_ON(bytes, status, lanebloom_filter_block_builder_finish(builder, &bytes, &nbytes));
  if (!status)
    INSIST_ON(block, status,
              lanebloom_filter_block_parse(LANEBLOOM_LEVELDB, bytes, nbytes, &block, NULL, 0));
  const lanebloom_keys all = keys_from(0, NFEW);
  if (!status && lanebloom_filter_block_screen(block, offsets, &all, NULL) != NFEW)
    test_fatal("a key is lost");
  lanebloom_filter_block_free(block);
  lanebloom_filter_block_builder_free(builder);
  return status;
}

Test(faults, filter_blocks)
{
  make_filters(LANEBLOOM_LEVELDB, NFEW, NFEW);
  survive(&(struct scenario){.name = "filter block",
                             .run = make_filter_block,
                             .tolerates = 1 << ALLOCATE}); /* screening can do without memory */
  free_filters();
  report(30);
}

/* Frozen tables, some of which need a codec that this build may lack. The folder of the last one
 * has the other files of a database. */
enum { MAX_TABLES = 20, NQUERIES = 4000, BITMAP_NBYTES = (NQUERIES + 7) / 8 };
static const char *const table_names[] = {
    "tables/leveldb_bloom10.ldb",
    "tables/goleveldb_bloom10.ldb",
    "tables/rocksdb_fv2_crc32c_legacy10.sst",
    "tables/rocksdb_fv4_crc32c_legacy10_partitioned.sst",
    "tables/rocksdb_fv4_xxh64_legacy10_prefix3.sst",
    "tables/rocksdb_fv5_crc32c_flb10_prefixonly3.sst",
    "tables/rocksdb_fv5_xxh3_flb10.sst",
    "tables/rocksdb_fv5_xxh3_flb10_partitioned.sst",
    "tables_odd/other_order.ldb",
    "tables_odd/pebble_v4.sst",
    "tables_odd/other_kinds/000009.ldb",
};

static struct guarded table_bytes;
static bool in_database, from_memory;
static uint8_t
    clean_hits[MAX_TABLES]
              [BITMAP_NBYTES]; /* hits without a fault; the last row has the hits in any table */
static bool are_clean;
static struct guarded current_bytes, manifest_bytes;

static struct guarded frozen_file(const char *name)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s", LANEBLOOM_TEST_VECTORS, name);
  size_t nbytes;
  uint8_t *bytes = test_read_file(path, &nbytes);
  struct guarded frozen = guarded_copy(bytes, nbytes, AT_END);
  guarded_freeze(&frozen);
  free(bytes);
  return frozen;
}

/* Keys, some of which are in tables: keys.txt has RocksDB's keys in hex. */
static struct {
  uint8_t bytes[NQUERIES * 64];
  uint64_t offsets[NQUERIES + 1];
} queries;

static lanebloom_keys all_queries(void)
{
  return lanebloom_keys_offsets64(queries.bytes, queries.offsets, NQUERIES);
}

static void make_queries(void)
{
  struct rng rng = rng_start(2);
  char line[1024];
  FILE *file = fopen(LANEBLOOM_TEST_VECTORS "/tables/keys.txt", "r");
  cr_assert(file);
  for (size_t i = 0; i < NQUERIES; i++) {
    uint8_t key[32];
    size_t n = 1 + rng_below(&rng, sizeof key - 1);
    if (file && fgets(line, sizeof line, file)) {
      line[strcspn(line, "\n")] = 0;
      n = *line == '#' ? 0 : hex_decode(line, key, sizeof key);
    } else
      rng_fill(&rng, key, n / 8 * 8);
    memcpy(queries.bytes + queries.offsets[i], key, n);
    queries.offsets[i + 1] = queries.offsets[i] + n;
  }
  fclose(file);
}

/* In the run without faults, stores the hits. Later, checks that no hit is lost and, unless a fault
 * struck, that none is added. */
static void check_hits(const uint8_t *hits, size_t table)
{
  if (!are_clean) {
    memcpy(clean_hits[table], hits, BITMAP_NBYTES);
    return;
  }
  for (size_t i = 0; i < BITMAP_NBYTES; i++)
    if (clean_hits[table][i] & ~hits[i])
      test_fatal("a key is lost, of byte %zu", i);
  if (!fault.struck)
    test_same_bytes("answers", hits, clean_hits[table], BITMAP_NBYTES);
}

static void write_table(void)
{
  empty_folder();
  test_write_file("table", table_bytes.bytes, table_bytes.nbytes);
  if (in_database) {
    test_write_file("CURRENT", current_bytes.bytes, current_bytes.nbytes);
    test_write_file("MANIFEST-000002", manifest_bytes.bytes, manifest_bytes.nbytes);
  }
}

static lanebloom_status screen_table(void)
{
  static uint8_t hits[BITMAP_NBYTES];
  char problem[200];
  const lanebloom_keys keys = all_queries();
  lanebloom_table *table;
  lanebloom_status status;
  if (from_memory)
    INSIST_ON(table, status,
              lanebloom_table_parse(table_bytes.bytes, table_bytes.nbytes, LANEBLOOM_WRITER_UNKNOWN,
                                    &table, problem, sizeof problem));
  else
    INSIST_ON(
        table, status,
        lanebloom_table_open("table", LANEBLOOM_WRITER_UNKNOWN, &table, problem, sizeof problem));
  if (status && !*problem)
    test_fatal("an error that is not explained");
  if (status)
    return status;
  const bool went_on = fault.struck && fault.function == ALLOCATE && !fault.noticed;
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  if (went_on && !*info.warning)
    test_fatal("opened without that memory, and no warning");
  lanebloom_table_screen(table, &keys, hits);
  check_hits(hits, 0);
  lanebloom_table_free(table);
  return status;
}

Test(faults, tables)
{
  /* Screening can do without memory, and without the files beside a LevelDB table. */
  const unsigned of_table = 1 << ALLOCATE | 1 << TRIM | 1 << CLOSE, of_current = 1 << OPEN,
                 of_manifest = 1 << STAT | 1 << READ;
  size_t nopened = 0;
  make_queries();
  enter_folder();
  current_bytes = frozen_file("tables_odd/other_kinds/CURRENT");
  manifest_bytes = frozen_file("tables_odd/other_kinds/MANIFEST-000002");
  for (size_t i = 0; i < COUNT(table_names); i++) {
    table_bytes = frozen_file(table_names[i]);
    lanebloom_table *table;
    const lanebloom_status status = lanebloom_table_parse(
        table_bytes.bytes, table_bytes.nbytes, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0);
    cr_assert(status == LANEBLOOM_OK || status == LANEBLOOM_ERR_LIMIT, "%s", table_names[i]);
    lanebloom_table_free(table);
    nopened += !status;
    const bool is_leveldb = strstr(table_names[i], ".ldb");
    for (int way = 0; !status && way < 3; way++) {
      from_memory = way == 0;
      in_database = way == 2;
      are_clean = false;
      write_table();
      must(screen_table());
      are_clean = true;
      survive(&(struct scenario){.name = table_names[i],
                                 .prepare = write_table,
                                 .run = screen_table,
                                 .tolerates = of_table | (is_leveldb ? of_current : 0) |
                                              (is_leveldb && in_database ? of_manifest : 0)});
    }
    guarded_free(&table_bytes);
  }
  leave_folder();
  report(1000);
  fprintf(stderr, "# %zu tables of %zu; the others need a codec\n", nopened, COUNT(table_names));
  cr_assert(nopened >= 4);
}

static const lanebloom_table *open_tables[MAX_TABLES];
static size_t ntables;

static lanebloom_status screen_tables(void)
{
  static uint8_t hits[MAX_TABLES][BITMAP_NBYTES], any[BITMAP_NBYTES];
  uint8_t *bitmaps[MAX_TABLES];
  for (size_t i = 0; i < ntables; i++)
    bitmaps[i] = hits[i];
  const lanebloom_keys keys = all_queries();
  size_t counts[MAX_TABLES];
  lanebloom_tables_screen(open_tables, ntables, &keys, any, bitmaps, counts);
  for (size_t i = 0; i < ntables; i++) {
    check_hits(hits[i], i);
    cr_assert(counts[i] == count_set_bits(hits[i], BITMAP_NBYTES));
  }
  check_hits(any, ntables);
  return LANEBLOOM_OK;
}

Test(faults, many_tables)
{
  struct guarded bytes[COUNT(table_names)];
  make_queries();
  for (size_t i = 0; i < COUNT(table_names); i++) {
    bytes[i] = frozen_file(table_names[i]);
    lanebloom_table *table;
    if (lanebloom_table_parse(bytes[i].bytes, bytes[i].nbytes, LANEBLOOM_WRITER_UNKNOWN, &table,
                              NULL, 0) == LANEBLOOM_OK)
      open_tables[ntables++] = table;
  }
  must(screen_tables());
  are_clean = true;
  survive(
      &(struct scenario){.name = "many tables", .run = screen_tables, .tolerates = 1 << ALLOCATE});
  for (size_t i = 0; i < ntables; i++)
    lanebloom_table_free((lanebloom_table *)open_tables[i]);
  for (size_t i = 0; i < COUNT(table_names); i++)
    guarded_free(&bytes[i]);
  report(4);
}
