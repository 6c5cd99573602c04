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
static void (*before_attempt)(unsigned attempt); /* to read the MANIFEST */
static unsigned nattempts;
static bool has_no_memory;

lanebloom_status __real_lanebloom_folder_current(const char *path, lanebloom_engine engine,
                                                 char **manifest, const struct problem *problem);
lanebloom_status __wrap_lanebloom_folder_current(const char *path, lanebloom_engine engine,
                                                 char **manifest, const struct problem *problem);
lanebloom_status __wrap_lanebloom_folder_current(const char *path, lanebloom_engine engine,
                                                 char **manifest, const struct problem *problem)
{
  if (before_attempt)
    before_attempt(nattempts++);
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
#define TABLE(number) "\7\0" number "\144" BOUNDS
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

static void write_database(void)
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
  cr_assert(!lanebloom_database_table_at(database, n).path &&
            !lanebloom_database_damage_at(database, lanebloom_database_damage_count(database)));
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
  write_database();
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
  lanebloom_database_free(database);
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
  write_database();
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
  lanebloom_database_free(database);
  folder_free(folder);
}

/* ---- OPTIONS ---- */

/* A link to a missing file is not retried again and again. */
Test(tables, options_that_are_not_there)
{
  char path[2 * PATH_NBYTES], problem[PROBLEM_NBYTES];
  lanebloom_database *database;
  write_database();
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

/* After the first attempt, replaces the first family by another. */
static void replace_family(unsigned attempt)
{
  ADD(NUMBERS);
  add_with_times(attempt == 0 ? 1 : 2);
  write_manifest();
}

Test(tables, times_of_another_family)
{
  const lanebloom_slice key = text("k");
  const lanebloom_keys keys = lanebloom_keys_slices(&key, 1);
  lanebloom_database *database;
  lanebloom_table *logs;
  write_database();
  write_log();
  before_attempt = replace_family;
  cr_assert(lanebloom_database_open(folder, NULL, &database, NULL, 0) == LANEBLOOM_OK);
  cr_assert(lanebloom_database_logs(database, &logs, NULL, 0) == LANEBLOOM_OK);
  cr_assert(lanebloom_table_screen(logs, &keys, NULL) == 1, "the key is lost");
  lanebloom_table_free(logs);
  lanebloom_database_free(database);
  folder_free(folder);
}

/* Each attempt finds one more family, up to 100. Family 2 is the last. */
static void add_families(unsigned attempt)
{
  enum { NFAMILIES = 100 };
  ADD(NUMBERS);
  for (unsigned i = 0; i <= attempt && i < NFAMILIES; i++)
    add_with_times((char)(2 + NFAMILIES - i));
  write_manifest();
}

Test(tables, times_of_ever_more_families)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_database *database;
  write_database();
  write_log();
  before_attempt = add_families;
  cr_assert(lanebloom_database_open(folder, NULL, &database, problem, sizeof problem) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(!database && strstr(problem, "try again"), "%s", problem);
  folder_free(folder);
}

/* ---- Opening all tables ---- */

/* Writes a real table with this number. */
static void write_table(unsigned number)
{
  static uint8_t bytes[1 << 20];
  char name[32];
  FILE *file = fopen(LANEBLOOM_TEST_VECTORS "/tables/rocksdb_fv5_xxh3_flb10.sst", "rb");
  cr_assert(file);
  const size_t nbytes = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  snprintf(name, sizeof name, "%06u.sst", number);
  file_write(folder, name, bytes, nbytes);
}

/* Counts the results of one test, and the calls of each function. */
struct visits {
  size_t nresults, nopened, nfailed, nstop_checks;
  bool has_no_memory, continues;
  size_t stop_at; /* is_stopped() returns true at this call; 0: never */
  char problem[PROBLEM_NBYTES];
};

static void *visit_opened(void *context, const lanebloom_database_table *live,
                          lanebloom_table *table)
{
  struct visits *visits = context;
  lanebloom_table_free(table);
  visits->nopened++;
  if (visits->has_no_memory)
    return NULL;
  visits->nresults++;
  return strdup(live->path);
}

static void visit_dropped(void *context, void *result)
{
  struct visits *visits = context;
  visits->nresults--;
  free(result);
}

static bool visit_failed(void *context, const lanebloom_database_table *live,
                         lanebloom_status status, const char *problem)
{
  struct visits *visits = context;
  cr_assert(status && strstr(live->path, ".sst"));
  visits->nfailed++;
  snprintf(visits->problem, sizeof visits->problem, "%s", problem);
  return visits->continues;
}

static bool visit_is_stopped(void *context)
{
  struct visits *visits = context;
  return ++visits->nstop_checks == visits->stop_at;
}

static lanebloom_status open_all(lanebloom_database *database, struct visits *visits,
                                 char problem[PROBLEM_NBYTES])
{
  const lanebloom_table_visitor visitor = {visits, visit_opened, visit_dropped, visit_failed,
                                           visit_is_stopped};
  return lanebloom_database_open_tables(database, LANEBLOOM_WRITER_UNKNOWN, &visitor, problem,
                                        PROBLEM_NBYTES);
}

static void drop_results(const lanebloom_database *database, struct visits *visits)
{
  for (size_t i = 0; i < lanebloom_database_table_count(database); i++) {
    void *result = lanebloom_database_table_at(database, i).opened;
    if (result)
      visit_dropped(visits, result);
  }
  cr_assert(visits->nresults == 0);
}

static lanebloom_database *open_folder(void)
{
  lanebloom_database *database;
  before_attempt = NULL;
  write_database();
  write_table(6);
  cr_assert(lanebloom_database_open(folder, NULL, &database, NULL, 0) == LANEBLOOM_OK);
  return database;
}

static void close_folder(lanebloom_database *database)
{
  before_attempt = NULL;
  lanebloom_database_free(database);
  folder_free(folder);
}

Test(tables, all_tables_are_open)
{
  lanebloom_database *database = open_folder();
  struct visits visits = {0};
  char problem[PROBLEM_NBYTES];
  bool changed;
  write_table(7);
  cr_assert(lanebloom_database_table_at(database, 0).opened == NULL);
  cr_assert(open_all(database, &visits, problem) == LANEBLOOM_OK && visits.nresults == 2);
  for (size_t i = 0; i < 2; i++) {
    const lanebloom_database_table table = lanebloom_database_table_at(database, i);
    cr_assert_str_eq(table.opened, table.path);
  }

  begin_manifest(); /* an update keeps the results of tables that stay */
  ADD(TABLE("\10"));
  write_manifest();
  cr_assert(lanebloom_database_update(database, &changed, NULL, 0) == LANEBLOOM_OK && changed);
  cr_assert(lanebloom_database_table_at(database, 1).opened &&
            !lanebloom_database_table_at(database, 2).opened);
  write_table(8);
  cr_assert(open_all(database, &visits, problem) == LANEBLOOM_OK && visits.nresults == 3);
  cr_assert(visits.nopened == 3 && visits.nfailed == 0);
  drop_results(database, &visits);
  close_folder(database);
}

Test(tables, tables_without_a_visitor)
{
  lanebloom_database *database = open_folder();
  write_table(7);
  cr_assert(lanebloom_database_open_tables(database, LANEBLOOM_WRITER_UNKNOWN, NULL, NULL, 0) ==
            LANEBLOOM_OK);
  for (size_t i = 0; i < 2; i++) {
    lanebloom_table_info info;
    lanebloom_table *table = lanebloom_database_table_at(database, i).opened;
    lanebloom_table_describe(table, &info, sizeof info);
    cr_assert(info.engine == LANEBLOOM_ENGINE_ROCKSDB);
    lanebloom_table_free(table);
  }
  close_folder(database);
}

Test(tables, a_table_is_missing)
{
  lanebloom_database *database = open_folder();
  struct visits visits = {0};
  char problem[PROBLEM_NBYTES];
  cr_assert(open_all(database, &visits, problem) == LANEBLOOM_ERR_IO);
  cr_assert(strcmp(problem, "000007.sst: expected a table of the database, found none") == 0, "%s",
            problem);
  cr_assert(visits.nresults == 0 && visits.nopened == 1 && visits.nfailed == 1);
  cr_assert(!lanebloom_database_table_at(database, 0).opened);

  visits.continues = true;
  cr_assert(open_all(database, &visits, problem) == LANEBLOOM_OK && visits.nresults == 1);
  cr_assert(strncmp(visits.problem, "expected a table", 16) == 0 && !*problem);
  cr_assert(!lanebloom_database_table_at(database, 1).opened);
  drop_results(database, &visits);
  close_folder(database);
}

Test(tables, memory_and_the_caller_end_the_opening)
{
  lanebloom_database *database = open_folder();
  char problem[PROBLEM_NBYTES];
  write_table(7);
  for (size_t at = 1; at <= 2; at++) {
    struct visits visits = {.stop_at = at};
    cr_assert(open_all(database, &visits, problem) == LANEBLOOM_ERR_ARGUMENT && *problem);
    cr_assert(visits.nopened == at - 1 && visits.nresults == 0);
  }
  struct visits visits = {.has_no_memory = true};
  cr_assert(open_all(database, &visits, problem) == LANEBLOOM_ERR_MEMORY);
  cr_assert(visits.nresults == 0);
  close_folder(database);
}

/* The engine replaces table 7 by the next one each time that the MANIFEST is read. */
static unsigned nreplaced, last_replaced;

static void replace_table(unsigned attempt)
{
  (void)attempt;
  if (nreplaced < last_replaced)
    nreplaced++;
  begin_manifest();
  for (unsigned i = 1; i <= nreplaced; i++) {
    char edit[] = "\6\0?" TABLE("?");
    edit[2] = (char)(7 + i - 1); /* is removed */
    edit[3 + 2] = (char)(7 + i);
    log_add(&manifest, edit, sizeof edit - 1);
  }
  write_manifest();
}

Test(tables, tables_that_are_replaced_meanwhile)
{
  lanebloom_database *database = open_folder();
  struct visits visits = {0};
  char problem[PROBLEM_NBYTES];
  nreplaced = 0;
  last_replaced = 9;
  write_table(7 + last_replaced);
  before_attempt = replace_table;
  cr_assert(open_all(database, &visits, problem) == LANEBLOOM_OK, "%s", problem);
  cr_assert(visits.nresults == 2 && visits.nopened == 2 && visits.nfailed == 0);
  cr_assert(lanebloom_database_table_at(database, 1).number == 7 + last_replaced);
  drop_results(database, &visits);
  close_folder(database);
}

Test(tables, tables_that_are_always_replaced)
{
  lanebloom_database *database = open_folder();
  struct visits visits = {0};
  char problem[PROBLEM_NBYTES];
  nreplaced = 0;
  last_replaced = 120;
  before_attempt = replace_table;
  cr_assert(open_all(database, &visits, problem) == LANEBLOOM_ERR_LIMIT);
  cr_assert(strstr(problem, "being written") && strstr(problem, "100 times"), "%s", problem);
  cr_assert(visits.nresults == 0 && visits.nopened == 1 && nreplaced == 100);
  close_folder(database);
}
