/* Databases whose MANIFEST changes: between two attempts of one call, or before an update, which
 * may fail.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "log_files.h"
#include "tables.h"
#include "tables/folder.h"

/* ---- Calls that the test changes ---- */

static char folder[PATH_NBYTES];
static void (*before_look)(unsigned look); /* before each look at the MANIFEST */
static unsigned nlooks;
static bool has_no_memory;

lanebloom_status __real_lanebloom_folder_current(const char *path, lanebloom_engine engine,
                                                 char **manifest, const struct problem *problem);
lanebloom_status __wrap_lanebloom_folder_current(const char *path, lanebloom_engine engine,
                                                 char **manifest, const struct problem *problem);
lanebloom_status __wrap_lanebloom_folder_current(const char *path, lanebloom_engine engine,
                                                 char **manifest, const struct problem *problem)
{
  if (before_look)
    before_look(nlooks++);
  return __real_lanebloom_folder_current(path, engine, manifest, problem);
}

/* Makes the path of a table, unless it is to fail. */
char *__real_lanebloom_folder_number(const char *path, uint64_t number, const char *end);
char *__wrap_lanebloom_folder_number(const char *path, uint64_t number, const char *end);
char *__wrap_lanebloom_folder_number(const char *path, uint64_t number, const char *end)
{
  return has_no_memory ? NULL : __real_lanebloom_folder_number(path, number, end);
}

/* ---- MANIFESTs ---- */

static struct log_file manifest;

#define ADD(edit) log_add(&manifest, edit, sizeof(edit) - 1)
#define NUMBERS "\2\5\3\11\4\144" /* log 5, next file 9, sequence 100 */
#define TABLE(number) "\7\0" number "\144\11k-1234567\11k-1234567"
#define OF_FAMILY(id) "\310\1" id
#define ADDS_F "\311\1\1f"
#define DROPS "\312\1"

static void write_manifest(void)
{
  log_write(&manifest, folder, MANIFEST_NAME);
}

/* Family f has table 6, and the default family has table 7. */
static void begin_manifest(void)
{
  ADD(NUMBERS TABLE("\7"));
  ADD(OF_FAMILY("\1") ADDS_F);
  ADD(OF_FAMILY("\1") TABLE("\6"));
}

static void begin(void)
{
  folder_make(folder);
  database_make(folder);
  begin_manifest();
  write_manifest();
}

/* ---- Updates ---- */

/* Checks that the database has the first n of tables 6 and 8, of family f. */
static void check_tables(const lanebloom_database *database, size_t n)
{
  lanebloom_database_info info;
  lanebloom_database_describe(database, &info, sizeof info);
  cr_assert(info.ntables == n && info.sequence == 100);
  cr_assert_str_eq(info.manifest, MANIFEST_NAME);
  cr_assert(lanebloom_database_table_count(database) == n);
  for (size_t i = 0; i < n; i++) {
    const lanebloom_database_table table = lanebloom_database_table_at(database, i);
    cr_assert(table.number == 6 + 2 * i && strstr(table.path, i ? "000008.sst" : "000006.sst"));
    cr_assert_str_eq(table.family, "f");
  }
}

static void check_failure(lanebloom_database *database, lanebloom_status expected)
{
  char problem[PROBLEM_NBYTES];
  bool changed = true;
  for (int time = 0; time < 2; time++) { /* a failure does not hide the next one */
    const lanebloom_status status =
        lanebloom_database_update(database, &changed, problem, sizeof problem);
    cr_assert(status == expected, "%d: %s", status, problem);
    cr_assert(!changed && *problem);
    check_tables(database, 1);
  }
}

Test(tables, updates_that_fail)
{
  static const char *const families[] = {"f"};
  const lanebloom_database_options options = {.families = families, .nfamilies = 1};
  lanebloom_database *database;
  bool changed;
  begin();
  cr_assert(lanebloom_database_open(folder, &options, &database, NULL, 0) == LANEBLOOM_OK);
  check_tables(database, 1);

  begin_manifest();
  ADD(OF_FAMILY("\1") DROPS);
  write_manifest();
  check_failure(database, LANEBLOOM_ERR_ARGUMENT);
  file_write(folder, MANIFEST_NAME, "any other bytes", 15);
  check_failure(database, LANEBLOOM_ERR_CORRUPT);

  begin_manifest();
  ADD(OF_FAMILY("\1") TABLE("\10"));
  write_manifest();
  has_no_memory = true;
  check_failure(database, LANEBLOOM_ERR_MEMORY);
  has_no_memory = false;
  cr_assert(lanebloom_database_update(database, &changed, NULL, 0) == LANEBLOOM_OK && changed);
  check_tables(database, 2);
  cr_assert(lanebloom_database_update(database, &changed, NULL, 0) == LANEBLOOM_OK && !changed);
  lanebloom_database_close(database);
  folder_free(folder);
}

/* A database does not need the options after it was opened. */
Test(tables, options_that_end)
{
  char *names[2] = {strdup("f"), strdup("f")};
  char *other = strdup("elsewhere");
  lanebloom_database_options options = {.table_folders = (const char *const *)&other,
                                        .ntable_folders = 1,
                                        .families = (const char *const *)names,
                                        .nfamilies = 2};
  lanebloom_database *database;
  bool changed;
  begin();
  cr_assert(names[0] && names[1] && other);
  cr_assert(lanebloom_database_open(folder, &options, &database, NULL, 0) == LANEBLOOM_OK);
  for (size_t i = 0; i < 2; i++) {
    names[i][0] = 'x';
    free(names[i]);
    names[i] = NULL;
  }
  free(other);
  other = NULL;
  begin_manifest();
  ADD(OF_FAMILY("\1") TABLE("\10"));
  write_manifest();
  cr_assert(lanebloom_database_update(database, &changed, NULL, 0) == LANEBLOOM_OK && changed);
  check_tables(database, 2);
  lanebloom_database_close(database);
  folder_free(folder);
}

/* ---- OPTIONS ---- */

/* A link to a missing file is not retried again and again. */
Test(tables, options_that_are_not_there)
{
  char path[2 * PATH_NBYTES], problem[PROBLEM_NBYTES];
  lanebloom_database *database;
  begin();
  snprintf(path, sizeof path, "%s/OPTIONS-000003", folder);
  cr_assert(symlink("nothing", path) == 0);
  cr_assert(lanebloom_database_open(folder, NULL, &database, problem, sizeof problem) ==
            LANEBLOOM_ERR_IO);
  cr_assert(!database && strncmp(problem, "OPTIONS-000003: ", 16) == 0, "%s", problem);
  folder_free(folder);
}

/* ---- Families whose keys end in a time ---- */

static void add_with_times(char id)
{
  char edit[] = OF_FAMILY("?") "\311\1\1x\1\7x.u64ts"; /* named x; its comparator's name */
  edit[2] = id;
  log_add(&manifest, edit, sizeof edit - 1);
}

/* Writes a log with key k of family 2, with a time. */
static void write_log(void)
{
  static const char batch[] = "\1\0\0\0\0\0\0\0\1\0\0\0\5\2\11k12345678\1v";
  struct log_file log = {0};
  log_add(&log, batch, sizeof batch - 1);
  log_write(&log, folder, "000005.log");
}

/* After the first look, replaces the first family by another. */
static void replace_family(unsigned look)
{
  ADD(NUMBERS);
  add_with_times(look == 0 ? 1 : 2);
  write_manifest();
}

Test(tables, times_of_another_family)
{
  const lanebloom_slice key = text("k");
  const lanebloom_keys keys = lanebloom_keys_slices(&key, 1);
  lanebloom_database *database;
  lanebloom_table *logs;
  begin();
  write_log();
  before_look = replace_family;
  cr_assert(lanebloom_database_open(folder, NULL, &database, NULL, 0) == LANEBLOOM_OK);
  cr_assert(lanebloom_database_logs(database, &logs, NULL, 0) == LANEBLOOM_OK);
  cr_assert(lanebloom_table_screen(logs, &keys, NULL) == 1, "the key is lost");
  lanebloom_table_close(logs);
  lanebloom_database_close(database);
  folder_free(folder);
}

/* Each look finds one more family, up to 100. Family 2 is the last. */
static void add_families(unsigned look)
{
  enum { NFAMILIES = 100 };
  ADD(NUMBERS);
  for (unsigned i = 0; i <= look && i < NFAMILIES; i++)
    add_with_times((char)(2 + NFAMILIES - i));
  write_manifest();
}

Test(tables, times_of_ever_more_families)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_database *database;
  begin();
  write_log();
  before_look = add_families;
  cr_assert(lanebloom_database_open(folder, NULL, &database, problem, sizeof problem) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(!database && strstr(problem, "try again"), "%s", problem);
  folder_free(folder);
}
