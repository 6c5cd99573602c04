/* Frozen tables of every engine: every key is found, and the descriptions stay the same.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "tables.h"

Test(tables, frozen)
{
  for (size_t i = 0; i < NFROZEN; i++) {
    char path[PATH_NBYTES];
    frozen_path(i, path);
    test_context("%s", path);
    size_t size;
    uint8_t *bytes = test_read_file(path, &size);
    struct key_list keys = {0}, absent = {0};
    frozen_keys(i, &keys);
    draw_absent(&absent, 20000, i);
    cr_assert(keys.n >= 100);
    lanebloom_table *tables[2] = {must_open(path)};
    cr_assert(lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &tables[1], NULL, 0) ==
              LANEBLOOM_OK);
    for (size_t t = 0; t < 2; t++) {
      lanebloom_table_info info;
      lanebloom_table_describe(tables[t], &info, sizeof info);
      cr_assert((info.engine == LANEBLOOM_ENGINE_LEVELDB) == frozen[i].is_leveldb &&
                info.file_nbytes == size);
      cr_assert(info.version == frozen[i].version && info.checksum == frozen[i].checksum);
      cr_assert(info.filter == frozen[i].filter && info.filter_format == frozen[i].format);
      cr_assert(info.has_whole_keys == frozen[i].has_whole_keys &&
                info.has_prefixes == frozen[i].has_prefixes);
      cr_assert(info.has_range == frozen[i].has_range && !info.warning[0] == frozen[i].has_range,
                "%s", info.warning);
      if (info.has_range && !frozen[i].is_leveldb) {
        cr_assert(info.nentries == keys.n);
        cr_assert(compare_slices(info.smallest, list_key(&keys, 0)) == 0);
        cr_assert(compare_slices(info.largest, list_key(&keys, keys.n - 1)) == 0);
      }
      check_keys(tables[t], &keys, path);
      const struct oracle_set set = {.name = path,
                                     .uses_filter =
                                         frozen[i].has_whole_keys || frozen[i].has_prefixes,
                                     .has_whole_keys = frozen[i].has_whole_keys};
      check_absent(tables[t], &info, &set, &absent);
      lanebloom_table_free(tables[t]);
    }
    list_free(&keys);
    list_free(&absent);
    free(bytes);
  }
}

/* One call screens tables of all engines, with all filters and hashes. There are more keys than
 * screening takes at once. */
Test(tables, mixed)
{
  lanebloom_table *tables[NFROZEN];
  const lanebloom_table *const *all = (const lanebloom_table *const *)tables;
  struct key_list absent = {0}, keys = {0};
  for (size_t i = 0; i < NFROZEN; i++) {
    char path[PATH_NBYTES];
    frozen_path(i, path);
    tables[i] = must_open(path);
    frozen_keys(i, &keys);
  }
  draw_absent(&absent, 70000, 5);
  check_together(all, NFROZEN, &keys, true, "mixed");
  check_together(all, NFROZEN, &absent, false, "mixed");
  for (size_t i = 0; i < NFROZEN; i++)
    lanebloom_table_free(tables[i]);
  list_free(&absent);
  list_free(&keys);
}

/* So many filters are screened with so many keys that the keys are screened in large parts, and
 * that their hashes are sorted. Each table is screened several times in one call. */
Test(tables, many)
{
  enum { NMANY = 12 * NFROZEN };
  lanebloom_table *tables[NFROZEN];
  const lanebloom_table *all[NMANY];
  struct key_list keys = {0};
  draw_absent(&keys, 270000, 7);
  for (size_t i = 0; i < NFROZEN; i++) {
    char path[PATH_NBYTES];
    frozen_path(i, path);
    tables[i] = must_open(path);
    frozen_keys(i, &keys);
  }
  for (size_t i = 0; i < NMANY; i++)
    all[i] = tables[i % NFROZEN];
  check_together(all, NMANY, &keys, false, "many");
  for (size_t i = 0; i < NFROZEN; i++)
    lanebloom_table_free(tables[i]);
  list_free(&keys);
}

/* Opens a table with goleveldb's filter as a table of each writer that uses the filter's name. */
Test(tables, writers)
{
  char path[PATH_NBYTES];
  frozen_path(1, path);
  struct key_list keys = {0}, absent = {0};
  frozen_keys(1, &keys);
  draw_absent(&absent, 20000, 1);
  const lanebloom_keys batch = list_keys(&keys), others = list_keys(&absent);
  size_t found[3], passing[3];
  for (int writer = 0; writer < 3; writer++) {
    lanebloom_table *table;
    cr_assert(lanebloom_table_open(path, (lanebloom_writer)writer, &table, NULL, 0) ==
              LANEBLOOM_OK);
    found[writer] = lanebloom_table_screen(table, &batch, NULL);
    passing[writer] = lanebloom_table_screen(table, &others, NULL);
    lanebloom_table_free(table);
  }
  cr_assert(found[LANEBLOOM_WRITER_UNKNOWN] == keys.n &&
            found[LANEBLOOM_WRITER_GOLEVELDB] == keys.n);
  /* If the wrong writer is given, the filter lacks the table's keys. The library notices that, and
   * lets keys pass. */
  cr_assert(found[LANEBLOOM_WRITER_LEVELDB] == keys.n &&
            passing[LANEBLOOM_WRITER_LEVELDB] > absent.n / 2);
  cr_assert(passing[LANEBLOOM_WRITER_GOLEVELDB] <= passing[LANEBLOOM_WRITER_UNKNOWN]);
  list_free(&keys);
  list_free(&absent);
}

/* A Pebble table of versions 1 to 4 differs from RocksDB's only in its magic number. In version 5
 * data blocks have columns, and this table does not name their schema. Later versions have another
 * footer. */
Test(tables, pebble)
{
  enum { FV2 = 2, MAGIC_NBYTES = 8, AT_VERSION = 12 /* from the end */, NVERSIONS = 8 };
  static const uint8_t magic[MAGIC_NBYTES] = {0xf0, 0x9f, 0xaa, 0xb3, 0xf0, 0x9f, 0xaa, 0xb3};
  char path[PATH_NBYTES], problem[PROBLEM_NBYTES];
  frozen_path(FV2, path);
  size_t size;
  uint8_t *bytes = test_read_file(path, &size);
  struct key_list keys = {0};
  frozen_keys(FV2, &keys);
  memcpy(bytes + size - MAGIC_NBYTES, magic, sizeof magic);
  for (uint8_t version = 0; version <= NVERSIONS; version++) {
    lanebloom_table *table;
    lanebloom_table_info info;
    bytes[size - AT_VERSION] = version;
    lanebloom_status status = lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table,
                                                    problem, sizeof problem);
    if (version == 0 || version > 5) {
      cr_assert(status, "version %u", version);
      cr_assert(version != 0 || strstr(problem, "format_version"), "%s", problem);
      continue;
    }
    cr_assert(status == LANEBLOOM_OK, "version %u: %s", version, problem);
    lanebloom_table_describe(table, &info, sizeof info);
    cr_assert(info.engine == LANEBLOOM_ENGINE_PEBBLE && info.version == version &&
              info.has_range == (version < 5));
    cr_assert(info.filter == LANEBLOOM_TABLE_FILTER_FULL && (info.model_rate < 1) == (version < 5));
    check_keys(table, &keys, "pebble");
    lanebloom_table_free(table);
  }
  list_free(&keys);
  free(bytes);
}

/* This table has no checksums, and its first key is greater than its last one. */
Test(tables, disordered)
{
  char path[PATH_NBYTES];
  snprintf(path, sizeof path, "%s/tables/damaged_order.sst", LANEBLOOM_TEST_VECTORS);
  lanebloom_table *table = must_open(path);
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  cr_assert(!info.has_range && info.smallest.size == 0 && strstr(info.warning, "bytewise order"),
            "%s", info.warning);
  lanebloom_table_free(table);
}
