/* Loads databases: opens them, and loads their live tables and the keys of their logs.
 * SPDX-License-Identifier: MIT */
#include "database.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/memory.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/folders.h"
#include "loading.h"

/* ---- opening databases ---- */

/* Warns about each log in the folder that is not empty, because the engine's latest writes may be
 * in logs and not yet in a table. */
static void warn_of_logs(const char *folder)
{
  char **paths;
  const int n = list_folder(folder, is_log, &paths);
  for (int i = 0; i < n; i++) {
    struct system_info found;
    if (lanebloom_system_info(paths[i], &found) && found.nbytes > 0)
      complain(paths[i], "warning: this log may hold writes that are in no table yet");
  }
  free_paths(paths, n);
}

/* Opens the database in a folder. If the folder contains no database, sets *source to NULL. If the
 * database cannot be read, prints a message and returns false. */
static bool open_source(const char *folder, const struct database_options *options,
                        lanebloom_database **source)
{
  char problem[512];
  *source = NULL;
  lanebloom_engine engine = 0;
  if (is_folder(folder) &&
      lanebloom_database_find(folder, &engine, problem, sizeof problem) != LANEBLOOM_OK) {
    complain(folder, "%s", problem);
    return false;
  }
  if (engine && options->all_files) {
    warn_of_logs(folder);
    return true;
  }
  if (!engine)
    return true;
  const lanebloom_status status =
      lanebloom_database_open(folder, &options->where, source, problem, sizeof problem);
  if (status == LANEBLOOM_OK)
    return true;
  const bool has_no_current = status == LANEBLOOM_ERR_IO &&
                              strncmp(problem, "CURRENT: ", strlen("CURRENT: ")) == 0 &&
                              strcmp(problem + strlen("CURRENT: "), strerror(ENOENT)) == 0;
  const char *advice =
      status == LANEBLOOM_ERR_ARGUMENT || status == LANEBLOOM_ERR_MEMORY ? ""
      : has_no_current
          ? " (a folder without it is no database: name a folder of logs by --wal-dir, and its "
            "database by --db; --all-files reads all tables, and no logs)"
          : " (--wal-dir names a folder of logs; --all-files reads all tables, and no logs)";
  char text[sizeof problem + 200];
  snprintf(text, sizeof text, "%s%s", problem, advice);
  complain(folder, "%s", text);
  return false;
}

/* Opens the databases of all names. If a database cannot be read, prints a message and removes its
 * name from the list. Returns false if any name was removed. */
static bool open_sources(struct database *database, char **names, size_t *nnames,
                         const struct database_options *options)
{
  size_t n = 0;
  database->sources = resize(NULL, (*nnames + 1) * sizeof *database->sources);
  for (size_t i = 0; i < *nnames; i++)
    if (open_source(names[i], options, &database->sources[n]))
      names[n++] = names[i];
  const bool complete = n == *nnames;
  database->nsources = *nnames = n;
  return complete;
}

static void print_damages(struct database *database)
{
  for (size_t i = 0; i < database->nsources; i++) {
    const lanebloom_database *source = database->sources[i];
    for (size_t n = 0; source && n < lanebloom_database_damage_count(source); n++) {
      complain(NULL, "%s", lanebloom_database_damage_at(source, n));
      database->is_damaged = true;
    }
  }
}

/* ---- live tables of a database ---- */

struct visit {
  const struct table_loader *loader;
  lanebloom_database *source;
  struct table_place place; /* the place of the table that is being loaded */
  bool is_complete;
};

static void *load_live(void *context, const lanebloom_database_table *live, lanebloom_table *table)
{
  struct visit *visit = context;
  visit->place = (struct table_place){.source = visit->source, .table = *live};
  if (is_standard_output(live->path))
    die(live->path, "%s", also_output_text);
  return visit->loader->load(visit->loader->context, live->path, &visit->place, table);
}

static void drop_live(void *context, void *loaded)
{
  const struct visit *visit = context;
  visit->loader->free(loaded);
}

static bool continue_without(void *context, const lanebloom_database_table *live,
                             lanebloom_status status, const char *problem)
{
  struct visit *visit = context;
  char text[512];
  if (is_standard_output(live->path))
    die(live->path, "%s", also_output_text);
  snprintf(text, sizeof text, "%s", problem);
  if (status == LANEBLOOM_ERR_FORMAT)
    explain_no_table(live->path, text, sizeof text);
  const size_t nbytes = strlen(text), nend = strlen(": name them");
  const bool names_folders = nbytes > nend && strcmp(text + nbytes - nend, ": name them") == 0;
  complain(live->path, "%s%s", text, names_folders ? " by --db-path" : "");
  visit->is_complete = false;
  return true;
}

/* Loads the live tables of each database. If a table cannot be read, prints a message and returns
 * false. If lanebloom_database_open_tables() fails for database i, none of the tables of this
 * database is loaded, and has_failed[i] becomes true. */
static bool load_sources(struct database *database, char *const *names, lanebloom_writer writer,
                         const struct table_loader *loader, bool *has_failed)
{
  bool is_complete = true;
  for (size_t i = 0; i < database->nsources; i++) {
    struct visit visit = {.loader = loader, .source = database->sources[i], .is_complete = true};
    const lanebloom_table_visitor visitor = {
        .context = &visit, .opened = load_live, .dropped = drop_live, .failed = continue_without};
    char problem[512];
    has_failed[i] = visit.source && lanebloom_database_open_tables(visit.source, writer, &visitor,
                                                                   problem, sizeof problem);
    if (has_failed[i])
      complain(names[i], "%s", problem);
    is_complete &= visit.is_complete && !has_failed[i];
  }
  return is_complete;
}

/* ---- all tables ---- */

static lanebloom_table *open_log(lanebloom_database *source)
{
  lanebloom_table *table;
  char problem[512];
  if (lanebloom_database_logs(source, &table, problem, sizeof problem))
    die(NULL, "%s", problem);
  return table;
}

/* Loads the keys of the logs. */
static void load_logs(struct database *database, const struct table_loader *loader)
{
  for (size_t i = 0; i < database->ntables; i++) {
    const struct table_place *place = &database->places[i];
    if (place->is_log)
      database->loaded[i] =
          loader->load(loader->context, database->paths[i], place, open_log(place->source));
  }
}

bool database_load(struct database *database, char *const *names, size_t nnames,
                   const struct database_options *options, const struct table_loader *loader)
{
  char **known = resize(NULL, (nnames + 1) * sizeof *known);
  memcpy(known, names, nnames * sizeof *known);
  *database = (struct database){0};
  bool complete = open_sources(database, known, &nnames, options);
  bool *has_failed = resize(NULL, (nnames + 1) * sizeof *has_failed);
  complete &= load_sources(database, known, options->writer, loader, has_failed);
  complete &= load_folders(database, known, options->writer, loader);
  for (size_t i = 0; loader->loads_part && i < database->nsources; i++)
    if (has_failed[i])
      load_files(database, database->sources[i], options->writer, loader, true);
  load_logs(database, loader);
  print_damages(database);
  free(has_failed);
  free(known);
  return complete;
}

void database_free(struct database *database, const struct table_loader *loader)
{
  for (size_t i = 0; i < database->ntables; i++)
    if (database->loaded[i] && database->places[i].source)
      loader->free(database->loaded[i]);
  free_listing(database, loader);
  for (size_t i = 0; i < database->nsources; i++)
    lanebloom_database_free(database->sources[i]);
  free(database->sources);
  free(database->tables);
  *database = (struct database){0};
}
