/* Counts the steps that opening a database takes. A MANIFEST, logs and options can have many things
 * of each kind. Twice as many things may take only about twice the steps, in every order.
 *
 * The compiler makes each basic block of src/tables/ call __sanitizer_cov_trace_pc(), which counts
 * it. Bytes that are moved count, too.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/bytes.h"
#include "log_files.h"
#include "tables.h"
#include "tables/table.h"

/* ---- Counting ---- */

static uint64_t nsteps;
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
  nsteps++;
}

void *__real_memmove(void *to, const void *from, size_t nbytes);
void *__wrap_memmove(void *to, const void *from, size_t nbytes);
void *__wrap_memmove(void *to, const void *from, size_t nbytes)
{
  nsteps += nbytes;
  return __real_memmove(to, from, nbytes);
}

void *__real_realloc(void *memory, size_t nbytes);
void *__wrap_realloc(void *memory, size_t nbytes);
void *__wrap_realloc(void *memory, size_t nbytes)
{
  nsteps += nbytes;
  return __real_realloc(memory, nbytes);
}

/* ---- Kinds of edits ---- */

static char folder[PATH_NBYTES];
static struct log_file manifest, write_log;

static void add_numbers(void)
{
  log_add(&manifest, NUMBERS, sizeof NUMBERS - 1);
}

/* Adds an edit that consists of a tag, numbers, and the bytes `behind`. */
static void add_edit(uint64_t tag, const uint64_t *numbers, size_t nnumbers, const char *behind,
                     size_t nbytes)
{
  uint8_t edit[200], *to = put_varint(edit, tag);
  for (size_t i = 0; i < nnumbers; i++)
    to = put_varint(to, numbers[i]);
  memcpy(to, behind, nbytes);
  log_add(&manifest, edit, (size_t)(to - edit) + nbytes);
}
#define ADD_EDIT(tag, behind, ...)                                                                 \
  add_edit(tag, (const uint64_t[]){__VA_ARGS__},                                                   \
           sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), behind, sizeof(behind) - 1)

enum { FAMILY = 200, LOG_ADDED = 8196, LOG_DELETED = 8197, DELETED = 6, ADDED = 7 };
#define NAMED "\311\1\4name"
#define WITH_TIMES NAMED "\1\7x.u64ts"
#define END_OF_LOG "\1"

static void add_families(size_t n)
{
  for (size_t i = n; i > 0; i--)
    ADD_EDIT(FAMILY, NAMED, i);
}

static void add_families_that_are_dropped(size_t n)
{
  add_families(n);
  for (size_t i = 1; i <= n; i++)
    ADD_EDIT(FAMILY, "\312\1", i);
}

static void add_logs(size_t n)
{
  for (size_t i = n; i > 0; i--)
    ADD_EDIT(LOG_ADDED, END_OF_LOG, i);
}

static void add_logs_that_are_deleted(size_t n)
{
  add_logs(n);
  for (size_t i = 1; i <= n; i++)
    ADD_EDIT(LOG_DELETED, "", i);
}

/* Adds logs in a group of edits, which is complete. */
static void add_group_of_logs(size_t n)
{
  for (size_t i = n; i > 0; i--) {
    uint8_t edit[40];
    const uint8_t *end = put_varint(put_varint(edit, LOG_ADDED), i + 10);
    end = put_varint(put_varint(put_varint(edit + (end - edit), 1), 300), i - 1);
    log_add(&manifest, edit, (size_t)(end - edit));
  }
}

static void add_tables(size_t n)
{
  for (size_t i = n; i > 0; i--)
    ADD_EDIT(ADDED, BOUNDS, i % 7, i, 100);
}

static void add_tables_that_move(size_t n)
{
  add_tables(n);
  for (size_t i = 1; i <= n; i++) {
    ADD_EDIT(DELETED, "", i % 7, i);
    ADD_EDIT(ADDED, BOUNDS, i % 7 + 1, i, 100);
  }
}

/* Adds table 100 to each family. */
static void add_tables_of_families(size_t n)
{
  add_families(n);
  for (size_t i = n; i > 0; i--)
    ADD_EDIT(FAMILY, "\7\1\100\144" BOUNDS, i);
}

static void add_blobs(size_t n)
{
  for (size_t i = n; i > 0; i--)
    ADD_EDIT(400, "\1x\1y\0", i, 1, 100);
}

/* ---- Logs ---- */

enum { BATCH_NBYTES = 12, PUT_IN_FAMILY = 5, INGESTED = 22 };

/* Adds a batch with one entry: a kind, a family if it is a put, and strings. */
static void add_batch(uint64_t kind, uint64_t family, const void *key, size_t nbytes)
{
  uint8_t batch[100] = {1, 0, 0, 0, 0, 0, 0, 0, 1}, *to = put_varint(batch + BATCH_NBYTES, kind);
  if (kind == PUT_IN_FAMILY)
    to = put_varint(to, family);
  to = put_varint(to, nbytes);
  memcpy(to, key, nbytes);
  to += nbytes;
  if (kind == PUT_IN_FAMILY)
    to = put_varint(to, 0);
  log_add(&write_log, batch, (size_t)(to - batch));
}

static void end_log(size_t number)
{
  char name[40];
  snprintf(name, sizeof name, "%06zu.log", number);
  log_write(&write_log, folder, name);
}

static void write_puts(size_t n)
{
  add_families(n);
  for (size_t i = n; i > 0; i--)
    add_batch(PUT_IN_FAMILY, i, &i, sizeof i);
  end_log(5);
}

/* Writes logs of one key each. The MANIFEST has as many families. */
static void write_logs(size_t n)
{
  add_families(n);
  for (size_t i = 0; i < n; i++) {
    add_batch(PUT_IN_FAMILY, i, &i, sizeof i);
    end_log(10 + i);
  }
}

static void write_logs_with_times(size_t n)
{
  for (size_t i = n; i > 0; i--)
    ADD_EDIT(FAMILY, WITH_TIMES, i);
  for (size_t i = 0; i < n; i++) {
    add_batch(PUT_IN_FAMILY, i, "k12345678", 9);
    end_log(10 + i);
  }
}

/* Each log but the last is torn. Between them, logs that the MANIFEST names are missing. */
static void write_logs_that_are_damaged(size_t n)
{
  for (size_t i = 0; i < n; i++) {
    ADD_EDIT(LOG_ADDED, END_OF_LOG, 11 + 2 * i);
    log_add_fragment(&write_log, FIRST, "torn", 4);
    end_log(10 + 2 * i);
  }
  add_batch(PUT_IN_FAMILY, 0, "key", 3);
  end_log(10 + 2 * n);
}

/* Writes a log that lists many families, each followed by a key of that family. */
static void write_times(size_t n)
{
  for (size_t i = n; i > 0; i--) {
    uint8_t item[6];
    store_le32(item, (uint32_t)i);
    memcpy(item + 4, "\10", 2);
    log_add_fragment(&write_log, TIMESTAMPS, item, sizeof item);
    add_batch(PUT_IN_FAMILY, i, "k12345678", 9);
  }
  end_log(5);
}

/* Writes logs of Pebble that name tables. */
static void write_ingested(size_t n)
{
  file_write(folder, "OPTIONS-000002", "pebble_version=1\n", 17);
  for (size_t i = n; i > 0; i--) {
    uint8_t number[10];
    add_batch(INGESTED, 0, number, (size_t)(put_varint(number, 100 + i) - number));
    if (i % 100 == 0)
      end_log(5 + i);
  }
  end_log(5);
}

/* ---- Options ---- */

enum { MAX_N = 2000, NAME_NBYTES = 16 };
static char names[MAX_N][NAME_NBYTES];
static const char *name_list[MAX_N];
static lanebloom_database_options options;

/* Names the families, and requests all of them. */
static void name_families(size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const size_t nname = (size_t)snprintf(names[i], NAME_NBYTES, "f%08zu", i);
    name_list[n - 1 - i] = names[i];
    char behind[NAME_NBYTES + 3] = "\311\1\11";
    memcpy(behind + 3, names[i], nname);
    add_edit(FAMILY, &(uint64_t){i + 1}, 1, behind, 3 + nname);
  }
  options = (lanebloom_database_options){.families = name_list, .nfamilies = n};
}

/* ---- Databases ---- */

static uint64_t count_steps(void (*make)(size_t), size_t n)
{
  lanebloom_database *database;
  lanebloom_table *logs;
  char problem[PROBLEM_NBYTES];
  folder_make(folder);
  database_make(folder);
  options = (lanebloom_database_options){0};
  add_numbers();
  make(n);
  log_write(&manifest, folder, MANIFEST_NAME);
  nsteps = 0;
  cr_assert(lanebloom_database_open(folder, &options, &database, problem, sizeof problem) ==
                LANEBLOOM_OK,
            "%s", problem);
  cr_assert(lanebloom_database_logs(database, &logs, NULL, 0) == LANEBLOOM_OK);
  const uint64_t found = nsteps;
  lanebloom_table_free(logs);
  lanebloom_database_free(database);
  folder_free(folder);
  return found;
}

Test(steps, databases)
{
  static const struct {
    const char *what;
    void (*make)(size_t n);
    size_t n;
  } kinds[] = {
      {"families", add_families, 1000},
      {"families that are dropped", add_families_that_are_dropped, 1000},
      {"names of families", name_families, 1000},
      {"logs that must exist", add_logs, 1000},
      {"logs that are deleted", add_logs_that_are_deleted, 1000},
      {"logs of a group", add_group_of_logs, 1000},
      {"tables", add_tables, 1000},
      {"tables that move", add_tables_that_move, 1000},
      {"tables of families", add_tables_of_families, 1000},
      {"blob files", add_blobs, 1000},
      {"keys of families", write_puts, 1000},
      {"logs of families", write_logs, 300},
      {"logs of families with times", write_logs_with_times, 300},
      {"logs that are damaged", write_logs_that_are_damaged, 300},
      {"times that a log names", write_times, 1000},
      {"tables that logs name", write_ingested, 1000},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    test_context("%s", kinds[i].what);
    const uint64_t once = count_steps(kinds[i].make, kinds[i].n),
                   twice = count_steps(kinds[i].make, 2 * kinds[i].n);
    cr_assert(once > kinds[i].n, "%s: nothing was counted", kinds[i].what);
    cr_assert(twice <= once * 5 / 2, "%s: %llu steps, of twice as many %llu", kinds[i].what,
              (unsigned long long)once, (unsigned long long)twice);
  }
}

/* ---- Tables ---- */

enum { MAX_TABLES = 2000, NKEYS = 8 };

/* Screens n tables, each with prefixes of a different length. */
static uint64_t count_steps_of_screening(size_t n)
{
  static const char key[] = "abcdefgh";
  static struct lanebloom_table made[MAX_TABLES];
  static const lanebloom_table *tables[MAX_TABLES];
  size_t counts[MAX_TABLES];
  lanebloom_slice slices[NKEYS];
  lanebloom_filter *filter;
  for (size_t i = 0; i < NKEYS; i++)
    slices[i] = (lanebloom_slice){key, i + 1};
  const lanebloom_keys keys = lanebloom_keys_slices(slices, NKEYS),
                       one = lanebloom_keys_slices(slices, 1);
  cr_assert(lanebloom_filter_build(LANEBLOOM_ROCKSDB_LOCAL, 20, &one, &filter) == LANEBLOOM_OK);
  for (size_t i = 0; i < n; i++) {
    made[i] = (struct lanebloom_table){.kind = LANEBLOOM_TABLE_FILTER_FULL,
                                       .uses_filter = true,
                                       .extractor = {EXTRACT_CAPPED, i + 1},
                                       .hash = LANEBLOOM_ROCKSDB_LOCAL,
                                       .nfilters = 1,
                                       .filters = &filter};
    tables[i] = &made[i];
  }
  nsteps = 0;
  lanebloom_tables_screen(tables, n, &keys, NULL, NULL, counts);
  const uint64_t found = nsteps;
  for (size_t i = 0; i < n; i++) /* all keys share the prefix of length 1 */
    cr_assert(counts[i] == (i == 0 ? NKEYS : 1), "table %zu: %zu keys", i, counts[i]);
  lanebloom_filter_free(filter);
  return found;
}

Test(steps, extractors_of_tables)
{
  const uint64_t once = count_steps_of_screening(MAX_TABLES / 2),
                 twice = count_steps_of_screening(MAX_TABLES);
  cr_assert(twice <= once * 5 / 2, "%llu steps, of twice as many %llu", (unsigned long long)once,
            (unsigned long long)twice);
}
