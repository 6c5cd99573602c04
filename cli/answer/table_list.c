/* Lists the tables that the user named: files, tables of databases, and tables in folders.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/common/tree.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../files/folders.h"
#include "../files/recognize.h"
#include "loading.h"

/* Adds a table to the list. The database owns the path from now on. */
static void add_table(struct database *database, char *path, struct table_place place)
{
  const size_t n = database->ntables++;
  database->paths = grow_list(database->paths, n, sizeof *database->paths);
  database->places = grow_list(database->places, n, sizeof *database->places);
  database->loaded = grow_list(database->loaded, n, sizeof *database->loaded);
  database->paths[n] = path;
  database->places[n] = place;
  database->loaded[n] = NULL;
}

int compare_texts(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *copy_text(const char *text)
{
  return strcpy(resize(NULL, strlen(text) + 1), text);
}

static void complain_of_folder(const char *folder, int n)
{
  static const char expected[] = "a folder with .ldb or .sst files";
  char problem[256];
  if (n < 0)
    snprintf(problem, sizeof problem, "%s", strerror(errno));
  else if (!explain_other_kind(folder, expected, problem, sizeof problem))
    snprintf(problem, sizeof problem, "expected %s, found none in it", expected);
  complain(folder, "%s", problem);
}

static bool add_folder(struct database *database, const char *folder, bool print_error)
{
  char **paths;
  int n = list_folder(folder, is_table, &paths);
  if (n <= 0 && print_error)
    complain_of_folder(folder, n);
  if (n < 0)
    return false;
  database->has_folders = true;
  for (int i = 0; i < n; i++)
    add_table(database, paths[i], (struct table_place){0});
  free(paths);
  return n > 0;
}

/* Adds the tables that this database uses now, and the keys of its logs. If there is only one
 * database, its logs are named without the folder. */
static void add_source(struct database *database, lanebloom_database *source, const char *folder)
{
  static const char log_name[] = "(log)";
  const size_t n = lanebloom_database_table_count(source);
  for (size_t i = 0; i < n; i++) {
    const lanebloom_database_table table = lanebloom_database_table_at(source, i);
    add_table(database, copy_text(table.path),
              (struct table_place){.source = source, .table = table});
    database->loaded[database->ntables - 1] = table.opened;
  }
  char *path = database->nsources == 1 ? copy_text(log_name) : join(folder, log_name);
  add_table(database, path, (struct table_place){.source = source, .is_log = true});
}

bool list_names(struct database *database, char *const *names, bool print_error)
{
  bool complete = true;
  for (size_t i = 0; i < database->nsources; i++)
    if (database->sources[i])
      add_source(database, database->sources[i], names[i]);
    else if (is_folder(names[i]))
      complete &= add_folder(database, names[i], print_error);
    else /* a path that leads to nothing is listed, too; opening it will report the error */
      add_table(database, copy_text(names[i]), (struct table_place){0});
  return complete;
}

void free_listing(struct database *database, const struct table_loader *loader)
{
  for (size_t i = 0; i < database->ntables; i++) {
    if (database->loaded[i] && !database->places[i].source)
      loader->free(database->loaded[i]);
    free(database->paths[i]);
  }
  free(database->loaded);
  free(database->places);
  free(database->paths);
}

bool is_same_list(const struct database *a, const struct database *b)
{
  bool is_same = a->ntables == b->ntables;
  for (size_t i = 0; is_same && i < a->ntables; i++)
    is_same = strcmp(a->paths[i], b->paths[i]) == 0;
  return is_same;
}

void take_over(struct database *database, struct database *earlier)
{
  void *known = NULL;
  for (size_t i = 0; i < earlier->ntables; i++)
    if (!earlier->places[i].source)
      find_or_add(&earlier->paths[i], &known, compare_texts);
  for (size_t i = 0; i < database->ntables; i++) {
    char **found = find_in(&database->paths[i], &known, compare_texts);
    if (!found || database->places[i].source)
      continue;
    void **loaded = &earlier->loaded[found - earlier->paths];
    database->loaded[i] = *loaded;
    *loaded = NULL;
  }
  tree_free(&known, NULL);
}
