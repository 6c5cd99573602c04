/* Calls with tables: errors, empty batches, names, and sizes of structs.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "tables.h"

Test(tables, errors)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_table *table = (lanebloom_table *)problem;
  cr_assert(lanebloom_table_open("/no/such/file", 0, &table, problem, sizeof problem) ==
            LANEBLOOM_ERR_IO);
  cr_assert(!table && strstr(problem, "No such file"), "%s", problem);
  cr_assert(lanebloom_table_open("/", 0, &table, problem, sizeof problem) == LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_table_open("/dev/null", 0, &table, problem, sizeof problem) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_table_parse(NULL, 0, 0, &table, problem, sizeof problem) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_table_parse(NULL, 9, 0, &table, problem, sizeof problem) ==
            LANEBLOOM_ERR_ARGUMENT);
  cr_assert(lanebloom_table_parse(problem, sizeof problem, 0, &table, problem, 5) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(strlen(problem) == 4);
  cr_assert(lanebloom_table_parse(NULL, 0, 3, &table, problem, sizeof problem) ==
            LANEBLOOM_ERR_ARGUMENT);
  cr_assert(!table && strstr(problem, "writer"), "%s", problem);
  lanebloom_table_free(NULL);
}

Test(tables, no_kernel)
{
  char path[PATH_NBYTES], problem[PROBLEM_NBYTES];
  frozen_path(0, path);
  cr_assert(setenv("LANEBLOOM_KERNEL", "avx1024", 1) == 0);
  lanebloom_table *table;
  cr_assert(lanebloom_table_open(path, 0, &table, problem, sizeof problem) ==
                LANEBLOOM_ERR_KERNEL &&
            !table);
  cr_assert(problem[0]);
}

Test(tables, empty_batches)
{
  char path[PATH_NBYTES];
  frozen_path(0, path);
  lanebloom_table *table = must_open(path);
  const lanebloom_keys none = lanebloom_keys_slices(NULL, 0),
                       one = lanebloom_keys_fixed(NULL, 0, 1);
  uint8_t any = 0xff;
  size_t counts[1] = {7};
  cr_assert(lanebloom_table_screen(table, &none, NULL) == 0);
  cr_assert(lanebloom_tables_screen((const lanebloom_table *const *)&table, 1, &none, NULL, NULL,
                                    counts) == 0);
  cr_assert(counts[0] == 0);
  cr_assert(lanebloom_tables_screen(NULL, 0, &one, &any, NULL, NULL) == 0 && any == 0);
  cr_assert(lanebloom_table_screen(table, &one, &any) == 1 &&
            any == 1); /* 1: the table has the empty key */
  lanebloom_table_free(table);
}

Test(tables, names_of_checksums)
{
  static const char *const names[] = {"none", "crc32c", "xxh32", "xxh64", "xxh3", "unknown"};
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
    cr_assert(strcmp(lanebloom_table_checksum_name(i), names[i]) == 0);
  cr_assert(strcmp(lanebloom_table_checksum_name(UINT32_MAX), "unknown") == 0);
}

Test(tables, names)
{
  static const char *const engines[] = {"unknown", "leveldb", "rocksdb", "pebble", "unknown"},
                           *const filters[] = {"none",  "block", "full",   "partitioned",
                                               "other", "keys",  "unknown"},
                           *const writers[] = {"unknown", "leveldb", "goleveldb", "unknown"};
  for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
    cr_assert(strcmp(lanebloom_engine_name((lanebloom_engine)i), engines[i]) == 0);
  for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
    cr_assert(strcmp(lanebloom_table_filter_name((lanebloom_table_filter)i), filters[i]) == 0);
  for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
    cr_assert(strcmp(lanebloom_writer_name((lanebloom_writer)i), writers[i]) == 0);
    lanebloom_writer found = LANEBLOOM_WRITER_UNKNOWN;
    cr_assert(lanebloom_writer_by_name(writers[i], &found) == (i % 3 != 0));
    cr_assert(found == (i % 3 ? (lanebloom_writer)i : LANEBLOOM_WRITER_UNKNOWN));
  }
  lanebloom_writer found = LANEBLOOM_WRITER_LEVELDB;
  cr_assert(!lanebloom_writer_by_name("", &found) && found == LANEBLOOM_WRITER_LEVELDB);
}

/* Callers may have structs with fewer fields than the library's, or with more. */
Test(tables, describing_into_other_sizes)
{
  struct {
    lanebloom_table_info info;
    uint8_t more[64];
  } large;
  lanebloom_table_info full, small;
  const size_t small_size = offsetof(lanebloom_table_info, nfilters);
  char path[PATH_NBYTES];
  frozen_path(8, path);
  lanebloom_table *table = must_open(path);
  memset(&full, 0xa5, sizeof full);
  memset(&small, 0xa5, sizeof small);
  memset(&large, 0xa5, sizeof large);
  lanebloom_table_describe(table, &full, sizeof full);
  lanebloom_table_describe(table, &small, small_size);
  lanebloom_table_describe(table, (lanebloom_table_info *)&large, sizeof large);
  cr_assert(small.nprobes == full.nprobes && full.nprobes > 0 && full.nfilters == 1);
  for (size_t i = small_size; i < sizeof small; i++)
    cr_assert(((const uint8_t *)&small)[i] == 0xa5, "byte %zu", i);
  cr_assert(large.info.nfilters == 1 && large.info.warning == full.warning);
  for (size_t i = 0; i < sizeof large.more; i++)
    cr_assert(large.more[i] == 0, "byte %zu", i);
  lanebloom_table_free(table);
}
