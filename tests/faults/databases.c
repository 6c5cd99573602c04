/* A whole database while memory or the file system fails: it is found, opened, screened and
 * updated. Its files are frozen ones, and no fault cuts them.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"

enum { MAX_NKEYS = 100000, MAX_TABLES = 64, PROBLEM_NBYTES = 200 };

static char folder[512];
static struct {
  char text[MAX_NKEYS * 40];
  lanebloom_slice keys[MAX_NKEYS];
  size_t n;
} engine_keys; /* the keys that the engine's iterator returns */
static uint8_t any[MAX_NKEYS / 8 + 1];

static void read_keys(const char *name)
{
  char path[600];
  snprintf(folder, sizeof folder, "%s/databases/%s", LANEBLOOM_TEST_VECTORS, name);
  snprintf(path, sizeof path, "%s.keys", folder);
  size_t nbytes;
  uint8_t *bytes = test_read_file(path, &nbytes);
  cr_assert(nbytes < sizeof engine_keys.text);
  memcpy(engine_keys.text, bytes, nbytes);
  free(bytes);
  engine_keys.n = 0;
  for (char *key = engine_keys.text; key < engine_keys.text + nbytes;) {
    const size_t size = strcspn(key, "\n");
    cr_assert(engine_keys.n < MAX_NKEYS);
    engine_keys.keys[engine_keys.n++] = (lanebloom_slice){key, size};
    key += size + 1;
  }
}

/* Opens the database's tables, and the table of the keys in its logs. */
static lanebloom_status open_tables(lanebloom_database *database, lanebloom_table **tables,
                                    size_t *n)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_status status = LANEBLOOM_OK;
  for (*n = 0; !status && *n < lanebloom_database_table_count(database); *n += !status) {
    const lanebloom_database_table table = lanebloom_database_table_at(database, *n);
    cr_assert(*n < MAX_TABLES - 1);
    INSIST_ON(tables[*n], status,
              lanebloom_table_open(table.path, LANEBLOOM_WRITER_UNKNOWN, &tables[*n], problem,
                                   sizeof problem));
  }
  if (status)
    return status;
  INSIST_ON(tables[*n], status,
            lanebloom_database_logs(database, &tables[*n], problem, sizeof problem));
  *n += !status;
  return status;
}

static lanebloom_status screen_tables(lanebloom_database *database)
{
  lanebloom_table *tables[MAX_TABLES];
  size_t ntables;
  lanebloom_status status = open_tables(database, tables, &ntables);
  const lanebloom_keys keys = lanebloom_keys_slices(engine_keys.keys, engine_keys.n);
  if (!status) {
    const size_t nfound = lanebloom_tables_screen((const lanebloom_table *const *)tables, ntables,
                                                  &keys, any, NULL, NULL);
    if (nfound != engine_keys.n && lanebloom_database_damage_count(database) == 0)
      test_fatal("%zu of %zu keys are lost, and nothing says so", engine_keys.n - nfound,
                 engine_keys.n);
  }
  for (size_t i = 0; i < ntables; i++)
    lanebloom_table_free(tables[i]);
  return status;
}

static lanebloom_status use_database(void)
{
  char problem[PROBLEM_NBYTES] = "";
  lanebloom_engine engine;
  lanebloom_database *database;
  lanebloom_status status;
  bool changed = true;
  INSIST(status, lanebloom_database_find(folder, &engine, problem, sizeof problem));
  if (status)
    return status;
  INSIST_ON(database, status,
            lanebloom_database_open(folder, NULL, &database, problem, sizeof problem));
  if (status) {
    cr_assert(*problem);
    return status;
  }
  INSIST(status, lanebloom_database_update(database, &changed, problem, sizeof problem));
  if (!status)
    status = screen_tables(database);
  /* A log that cannot be read is reported by name, but is no error. */
  if (!status && lanebloom_database_damage_count(database) > 0)
    status = fault.function <= TRIM ? LANEBLOOM_ERR_MEMORY : LANEBLOOM_ERR_IO;
  lanebloom_database_free(database);
  return status;
}

Test(faults, databases)
{
  static const char *const names[] = {"pebble_v1", "pebble_v2", "pebble_30"};
  for (size_t i = 0; i < COUNT(names); i++) {
    read_keys(names[i]);
    survive(&(struct scenario){.name = names[i],
                               .run = use_database,
                               .tolerates =
                                   1 << ALLOCATE | 1 << TRIM | 1 << CLOSE | 1 << READ | 1 << STAT,
                               .of_pipe = true});
  }
  report(100);
}
