/* LevelDB's tables in the folder of a database. The MANIFEST states the order of keys.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/bytes.h"
#include "log_files.h"
#include "tables.h"

/* Checks that a table in a database has a range if the MANIFEST names LevelDB's own order. The
 * table's keys must be found in any case. */
static void check_in_database(const char *folder, const struct key_list *keys, const char *warning,
                              const char *what)
{
  char path[2 * PATH_NBYTES];
  snprintf(path, sizeof path, "%s/000005.ldb", folder);
  test_context("MANIFEST: %s", what);
  lanebloom_table *table = must_open(path);
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  cr_assert(info.has_range == !warning &&
                (warning ? strstr(info.warning, warning) != NULL : !info.warning[0]),
            "%s: range %d, %s", what, info.has_range, info.warning);
  check_keys(table, keys, what);
  lanebloom_table_free(table);
}

/* The layout of a MANIFEST that states nothing but bytewise order. */
static const char current[] = "MANIFEST-000004\n";
enum { TAG = 1, AT_NAME = HEADER_NBYTES + 2, NNAME = sizeof bytewise - 1, NLOG = AT_NAME + NNAME };

static void manifest_make(uint8_t *log)
{
  uint8_t edit[NLOG - HEADER_NBYTES] = {TAG, NNAME};
  memcpy(edit + 2, bytewise, NNAME);
  fragment_make(log, FULL, 0, edit, sizeof edit);
}

Test(tables, manifests)
{
  static const char unreadable[] = "MANIFEST cannot be read";
  static const struct {
    const char *what;
    size_t at;
    uint8_t value;
    bool is_sealed;
    const char *warning;
  } changes[] = {
      {"nothing", AT_LENGTH, NLOG - HEADER_NBYTES, true, NULL},
      {"the first part of a record", AT_TYPE, 2, true, NULL},
      {"the middle of a record", AT_TYPE, 3, true, unreadable},
      {"longer than the file", AT_LENGTH, NLOG - HEADER_NBYTES + 1, true, unreadable},
      {"no name", AT_LENGTH, 1, true, unreadable},
      {"a name that is cut", AT_LENGTH, NLOG - HEADER_NBYTES - 1, true, unreadable},
      {"no comparator", HEADER_NBYTES, TAG + 1, true, unreadable},
      {"a 0 in the name", AT_NAME, 0, true, unreadable},
      {"a checksum", AT_NAME, 'x', false, unreadable},
      {"another name", AT_NAME, 'x', true, "order"},
  };
  char path[PATH_NBYTES], folder[PATH_NBYTES];
  size_t size;
  struct key_list keys = {0};
  frozen_path(0, path);
  frozen_keys(0, &keys);
  uint8_t *bytes = test_read_file(path, &size);
  folder_make(folder);
  file_write(folder, "000005.ldb", bytes, size);
  check_in_database(folder, &keys, NULL, "no database");
  file_write(folder, "CURRENT", "", 0);
  check_in_database(folder, &keys, unreadable, "CURRENT names none");
  file_write(folder, "CURRENT", current, sizeof current - 1);
  check_in_database(folder, &keys, unreadable, "not there");
  file_write(folder, "MANIFEST-000004", "abc", 3);
  check_in_database(folder, &keys, unreadable, "three bytes");
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    uint8_t log[NLOG];
    manifest_make(log);
    log[changes[i].at] = changes[i].value;
    const size_t nsealed =
        log[AT_LENGTH] + 1 < NLOG - AT_TYPE ? log[AT_LENGTH] + 1 : NLOG - AT_TYPE;
    if (changes[i].is_sealed)
      store_le32(log, lanebloom_checksum(CHECKSUM_CRC32C, log + AT_TYPE, nsealed));
    file_write(folder, "MANIFEST-000004", log, sizeof log);
    check_in_database(folder, &keys, changes[i].warning, changes[i].what);
  }
  folder_free(folder);
  list_free(&keys);
  free(bytes);
}

/* LevelDB's table builder made a table that replaces one of a database, so its keys have no
 * suffix. */
Test(tables, a_foreign_table_in_a_database)
{
  enum { NKEYS = 1000 };
  size_t set = 0;
  while (strcmp(oracle_set_at(set)->name, "leveldb, a table") != 0)
    set++;
  char folder[PATH_NBYTES], path[2 * PATH_NBYTES];
  struct key_list keys = {0};
  folder_make(folder);
  oracle_write(set, folder, NKEYS, 1);
  snprintf(path, sizeof path, "%s/table.ldb", folder);
  oracle_keys_of_table(set, path, list_add, &keys);
  file_write(folder, "CURRENT", "", 0);
  lanebloom_table *table = must_open(path);
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  cr_assert(!info.has_range &&
                strstr(info.warning, "keys are not stored as LevelDB's databases store them"),
            "%s", info.warning);
  check_keys(table, &keys, path);
  lanebloom_table_free(table);
  list_free(&keys);
  folder_free(folder);
}

/* Checks a LevelDB table in the folder of a database. The MANIFEST is trusted, so no data blocks
 * are read to check the order. */
static void check_believed(struct table_file *made, struct handle data, const char *separator,
                           const char *letters, const char *warning)
{
  char folder[PATH_NBYTES];
  uint8_t log[NLOG];
  struct key_list keys = list_letters(letters);
  table_add_handle(made, separator, data);
  const struct handle index = table_end_entries(made);
  table_finish(made, true, table_end_entries(made), index);
  folder_make(folder);
  manifest_make(log);
  file_write(folder, "CURRENT", current, sizeof current - 1);
  file_write(folder, "MANIFEST-000004", log, sizeof log);
  file_write(folder, "000005.ldb", made->bytes, made->n);
  check_in_database(folder, &keys, warning, separator);
  folder_free(folder);
  list_free(&keys);
  free(made);
}

Test(tables, a_believed_order)
{
  static const struct {
    const char *letters, *separator, *warning;
  } trials[] = {
      {"abc", "c\1.......", NULL},
      {"bac", "c\1.......",
       "keys are not in bytewise order"},             /* the first key is not the smallest one */
      {"abc", "c", "keys are not in bytewise order"}, /* a separator without a suffix */
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    struct table_file *made = test_alloc(sizeof *made);
    const struct handle data = table_add_data(made, trials[i].letters, suffix);
    check_believed(made, data, trials[i].separator, trials[i].letters, trials[i].warning);
  }
}

/* The library checks at most 16 times the block's size and 64 KiB of the keys in a block. Here the
 * earlier keys take all of that, so the last key, which is too short, is not checked. */
Test(tables, a_last_key_that_is_not_judged)
{
  enum {
    KEY_NBYTES = 4096,
    NKEYS = 50,
    BLOCK_NBYTES = 5120,
    LAST_NBYTES = 3,
    RESTARTS_NBYTES = 8,
    LAST_ENTRY = 3
  };
  static const uint8_t zeros[KEY_NBYTES];
  struct table_file *made = test_alloc(sizeof *made);
  table_add_entry(made, 0, (lanebloom_slice){zeros, KEY_NBYTES}, text(""));
  for (size_t i = 1; i < NKEYS; i++)
    table_add_entry(made, KEY_NBYTES, text(""), text(""));
  const size_t header_nbytes = 5; /* the header of the entry whose value fills the block */
  const size_t left = BLOCK_NBYTES - RESTARTS_NBYTES - LAST_ENTRY - header_nbytes - made->n;
  cr_assert(left >= 128 && left < sizeof zeros);
  table_add_entry(made, KEY_NBYTES, text(""), (lanebloom_slice){zeros, left});
  table_add_entry(made, LAST_NBYTES, text(""), text(""));
  cr_assert(made->n + RESTARTS_NBYTES == BLOCK_NBYTES);
  check_believed(made, table_end_entries(made), "z\1.......", "",
                 "first or last key has no suffix");
}
