/* Opens tables that stay open, and warns about them.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../../src/common/tree.h"
#include "../base/memory.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/folders.h"
#include "../files/recognize.h"
#include "../system/files.h"
#include "loading.h"

/* Is this the name of a file that belongs to a database but is no table? */
static bool is_of_database(const char *name)
{
  static const char *const beginnings[] = {"CURRENT", "MANIFEST-", "OPTIONS-", "IDENTITY",
                                           "LOCK",    "LOG",       "marker."};
  bool is_one = is_log_name(name);
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
    is_one |= strncmp(name, beginnings[i], strlen(beginnings[i])) == 0;
  return is_one;
}

void explain_no_table(const char *path, char *problem, size_t size)
{
  const char *name = last_component(path);
  char *folder = name > path ? format_text("%.*s", (int)(name - path), path) : format_text("./");
  if (!explain_other_kind(path, "a table", problem, size) && is_of_database(name) &&
      is_database(folder))
    snprintf(problem, size,
             "expected a table, found another file of a database: give its folder, %s", folder);
  free(folder);
}

lanebloom_table *open_table(const char *path, lanebloom_writer writer, bool print_error)
{
  lanebloom_table *table = NULL;
  lanebloom_status status = LANEBLOOM_ERR_ARGUMENT;
  char problem[512];
  if (is_standard_output(path))
    snprintf(problem, sizeof problem, "%s", also_output_text);
  else
    status = lanebloom_table_open(path, writer, &table, problem, sizeof problem);
  if (status == LANEBLOOM_ERR_FORMAT && print_error)
    explain_no_table(path, problem, sizeof problem);
  if (status != LANEBLOOM_OK && print_error)
    complain(path, "%s", problem);
  return table;
}

void warn_of_tables(char *const *paths, const char **warnings, size_t n)
{
  size_t *nequal = resize(NULL, (n + 1) * sizeof *nequal); /* for each warning, the number of paths
                                                            * that have it; set only for the first
                                                            * of these paths */
  void *known = NULL;
  for (size_t i = 0; i < n; i++) {
    nequal[i] = 0;
    if (*warnings[i])
      nequal[(const char **)find_or_add(&warnings[i], &known, compare_texts) - warnings]++;
  }
  tree_free(&known, NULL);
  for (size_t i = 0; i < n; i++) {
    if (nequal[i] > 1)
      complain(paths[i], "warning: %s (and %zu more)", warnings[i], nequal[i] - 1);
    else if (nequal[i] == 1)
      complain(paths[i], "warning: %s", warnings[i]);
    warnings[i] = "";
  }
  free(nequal);
}

static void *keep_open(void *context, const char *path, const struct table_place *place,
                       lanebloom_table *table)
{
  (void)context;
  (void)path;
  (void)place;
  return table;
}

static void close_table(void *table)
{
  lanebloom_table_free(table);
}

/* Warns of tables without a filter. Such a table may contain any key between its first and its
 * last key, so many more keys pass than users expect. */
static void warn_of_tables_without_filter(const struct database *database)
{
  size_t n = 0;
  for (size_t i = 0; i < database->ntables; i++) {
    n += lanebloom_table_filter_kind(database->tables[i]) == LANEBLOOM_TABLE_FILTER_NONE;
  }
  if (n > 0)
    complain(NULL,
             "warning: %zu of %zu tables have no filter: every key between the first and the "
             "last of such a table passes",
             n, database->ntables);
}

struct database database_open(char *const *names, size_t nnames,
                              const struct database_options *options)
{
  const struct table_loader loader = {keep_open, close_table, NULL, false};
  struct database database;
  if (!database_load(&database, names, nnames, options, &loader))
    exit(EXIT_TROUBLE);
  const size_t n = database.ntables;
  database.tables = resize(NULL, (n + 1) * sizeof *database.tables);
  const char **warnings = resize(NULL, (n + 1) * sizeof *warnings);
  for (size_t i = 0; i < n; i++) {
    database.tables[i] = database.loaded[i];
    warnings[i] = lanebloom_table_warning(database.tables[i]);
  }
  warn_of_tables(database.paths, warnings, n);
  free(warnings);
  warn_of_tables_without_filter(&database);
  return database;
}

void database_close(struct database *database)
{
  database_free(database, &(struct table_loader){.free = close_table});
}
