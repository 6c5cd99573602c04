/* Finds the live tables of a database: the tables that the MANIFEST names, and the tables that
 * Pebble's logs name.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../system/system.h"
#include "database_state.h"

/* Returns the path of a table in the first folder that has a file NUMBER.sst or NUMBER.ldb. If no
 * folder has such a file, returns the most likely path. */
static char *find_table(const struct lanebloom_database *database, uint64_t number)
{
  const bool is_leveldb = database->engine == LANEBLOOM_ENGINE_LEVELDB;
  const char *const ends[2] = {is_leveldb ? "ldb" : "sst", is_leveldb ? "sst" : "ldb"};
  const struct names *folders = &database->table_folders;
  for (size_t i = 0; i < 2 * (folders->n + 1); i++) {
    const char *folder = i < 2 ? database->folder : folders->list[i / 2 - 1];
    char *path = lanebloom_folder_number(folder, number, ends[i % 2]);
    if (!path || lanebloom_system_exists(path))
      return path;
    free(path);
  }
  return lanebloom_folder_number(database->folder, number, ends[0]);
}

static int compare_wanted(const void *a, const void *b)
{
  const struct wanted_table *left = a, *right = b;
  if (left->table.number != right->table.number)
    return left->table.number < right->table.number ? -1 : 1;
  return (left->is_in_log > right->is_in_log) - (left->is_in_log < right->is_in_log);
}

/* Adds the tables that live logs of Pebble name and the MANIFEST does not name yet. The list has
 * room for them. */
static void add_ingested(struct lanebloom_database *database)
{
  struct view *view = &database->view;
  struct wanted_table *wanted = view->wanted;
  size_t n = view->nwanted;
  for (size_t i = 0; i < database->nlogs; i++)
    for (size_t j = 0; is_live(database, i) && j < database->logs[i].ntables; j++)
      wanted[n++] =
          (struct wanted_table){.table.number = database->logs[i].tables[j], .is_in_log = true};
  if (n == view->nwanted || !is_wanted(database, 0))
    return;
  qsort(wanted, n, sizeof *wanted, compare_wanted);
  view->nwanted = 0;
  for (size_t i = 0; i < n; i++)
    if (!wanted[i].is_in_log || i == 0 || wanted[i].table.number != wanted[i - 1].table.number)
      wanted[view->nwanted++] = wanted[i];
}

lanebloom_status lanebloom_database_find_tables(struct lanebloom_database *database,
                                                const struct problem *problem)
{
  struct view *view = &database->view;
  const struct version *version = &view->version;
  size_t room = version->ntables + 1;
  for (size_t i = 0; i < database->nlogs; i++)
    room += database->logs[i].ntables;
  view->wanted = malloc(room * sizeof *view->wanted);
  if (!view->wanted)
    return problem_memory(problem, room * sizeof *view->wanted);
  for (size_t i = 0; i < version->ntables; i++)
    if (is_wanted(database, version->tables[i].family))
      view->wanted[view->nwanted++] = (struct wanted_table){.table = version->tables[i]};
  add_ingested(database);
  for (size_t i = 0; i < view->nwanted; i++) {
    struct wanted_table *wanted = &view->wanted[i];
    wanted->path = find_table(database, wanted->table.number);
    if (!wanted->path)
      return problem_memory(problem, 1);
  }
  return LANEBLOOM_OK;
}
