/* Reads databases: finds their table files and logs, opens the tables, and prints warnings about
 * them.
 * SPDX-License-Identifier: MIT */
#include "database.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/folders.h"
#include "../files/recognize.h"

/* ---- lists of tables ---- */

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

static int compare_texts(const void *a, const void *b)
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
 * database, the name of its logs does not contain the folder. */
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

/* Lists the tables of all names. Returns false if a folder has no tables or cannot be read. */
static bool list_names(struct database *database, char *const *names, bool print_error)
{
  bool complete = true;
  for (size_t i = 0; i < database->nsources; i++)
    if (database->sources[i])
      add_source(database, database->sources[i], names[i]);
    else if (is_folder(names[i]))
      complete &= add_folder(database, names[i], print_error);
    else /* if there is no such file, opening it will report this */
      add_table(database, copy_text(names[i]), (struct table_place){0});
  return complete;
}

/* Results for tables of a database stay, as the database still has them. */
static void free_listing(struct database *database, const struct table_loader *loader)
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

/* ---- opening databases ---- */

/* Warns about each log in the folder that is not empty, because the engine's latest writes may be
 * in logs and not yet in a table. */
static void warn_of_logs(const char *folder)
{
  char **paths;
  const int n = list_folder(folder, is_log, &paths);
  for (int i = 0; i < n; i++) {
    struct stat found;
    if (stat(paths[i], &found) == 0 && found.st_size > 0)
      complain(paths[i], "warning: this log may hold writes that are in no table yet");
  }
  free_paths(paths, n);
}

/* Opens the database in a folder. If the folder contains no database, sets *source to NULL. Returns
 * false, after a message, if the database cannot be read. */
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

/* Opens the databases of all names. Removes each name that cannot be read from the list, after a
 * message. Returns false if any name was removed. */
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
    const char *damage;
    for (size_t n = 0;
         database->sources[i] && (damage = lanebloom_database_damage(database->sources[i], n));
         n++) {
      complain(NULL, "%s", damage);
      database->is_damaged = true;
    }
  }
}

/* ---- opening tables ---- */

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

static void explain_no_table(const char *path, char *problem, size_t size)
{
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char *folder = slash ? strndup(path, (size_t)(name - path)) : strdup("./");
  if (!folder)
    die(NULL, "%s", strerror(ENOMEM));
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

static lanebloom_table *open_log(lanebloom_database *source)
{
  lanebloom_table *table;
  char problem[512];
  if (lanebloom_database_logs(source, &table, problem, sizeof problem))
    die(NULL, "%s", problem);
  return table;
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

/* Loads the live tables of each database. Returns false, after messages, if some cannot be read. */
static bool load_sources(struct database *database, char *const *names, lanebloom_writer writer,
                         const struct table_loader *loader)
{
  bool is_complete = true;
  for (size_t i = 0; i < database->nsources; i++) {
    struct visit visit = {.loader = loader, .source = database->sources[i], .is_complete = true};
    const lanebloom_table_visitor visitor = {
        .context = &visit, .opened = load_live, .dropped = drop_live, .failed = continue_without};
    char problem[512];
    if (visit.source &&
        lanebloom_database_open_tables(visit.source, writer, &visitor, problem, sizeof problem)) {
      complain(names[i], "%s", problem);
      visit.is_complete = false;
    }
    is_complete &= visit.is_complete;
  }
  return is_complete;
}

void warn_of_tables(char *const *paths, const char **warnings, size_t n)
{
  size_t *nequal = resize(NULL, (n + 1) * sizeof *nequal); /* for each warning, how often it occurs;
                                                            * stored only for its first path */
  void *known = NULL;
  for (size_t i = 0; i < n; i++) {
    nequal[i] = 0;
    if (*warnings[i])
      nequal[(const char **)find_or_add(&warnings[i], &known, compare_texts) - warnings]++;
  }
  tdestroy(known, leave_key);
  for (size_t i = 0; i < n; i++) {
    if (nequal[i] > 1)
      complain(paths[i], "warning: %s (and %zu more)", warnings[i], nequal[i] - 1);
    else if (nequal[i] == 1)
      complain(paths[i], "warning: %s", warnings[i]);
    warnings[i] = "";
  }
  free(nequal);
}

/* ---- listing again until nothing changes ---- */

static bool is_same_list(const struct database *a, const struct database *b)
{
  bool is_same = a->ntables == b->ntables;
  for (size_t i = 0; is_same && i < a->ntables; i++)
    is_same = strcmp(a->paths[i], b->paths[i]) == 0;
  return is_same;
}

/* Moves the results of an earlier listing to the tables that have the same paths now. */
static void take_over(struct database *database, struct database *earlier)
{
  void *known = NULL;
  for (size_t i = 0; i < earlier->ntables; i++)
    if (!earlier->places[i].source)
      find_or_add(&earlier->paths[i], &known, compare_texts);
  for (size_t i = 0; i < database->ntables; i++) {
    char **const *found = tfind(&database->paths[i], &known, compare_texts);
    if (!found || database->places[i].source)
      continue;
    void **loaded = &earlier->loaded[*found - earlier->paths];
    database->loaded[i] = *loaded;
    *loaded = NULL;
  }
  tdestroy(known, leave_key);
}

/* Loads the tables of no database that are not loaded yet. */
static bool load_files(struct database *database, lanebloom_writer writer,
                       const struct table_loader *loader, bool print_error)
{
  bool complete = true;
  for (size_t i = 0; i < database->ntables; i++) {
    const struct table_place *place = &database->places[i];
    if (database->loaded[i] || place->source)
      continue;
    lanebloom_table *table = open_table(database->paths[i], writer, print_error);
    if (table)
      database->loaded[i] = loader->load(loader->context, database->paths[i], place, table);
    complete &= table != NULL;
  }
  return complete;
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

/* Could a table that was not readable become readable? This is so if it changed a short time ago,
 * or no longer exists. */
static bool may_change(const struct database *database)
{
  static const time_t settled_seconds = 10;
  bool may_change = false;
  for (size_t i = 0; i < database->ntables; i++) {
    struct stat info;
    may_change |= !database->loaded[i] && !database->places[i].source &&
                  (stat(database->paths[i], &info) != 0 || !S_ISREG(info.st_mode) ||
                   time(NULL) - info.st_mtime < settled_seconds);
  }
  return may_change;
}

/* Do the folders still contain the same tables? A running engine first writes new tables and then
 * removes the tables that they replace. All tables are loaded now. If a second listing equals the
 * first, no table was missed. */
static bool is_settled(const struct database *database, char *const *names,
                       const struct table_loader *loader)
{
  struct database again = {.nsources = database->nsources, .sources = database->sources};
  if (!database->has_folders)
    return true;
  list_names(&again, names, false);
  const bool is_same = is_same_list(database, &again);
  free_listing(&again, loader);
  return is_same;
}

/* Lists the tables again. Keeps the results of the tables that were already loaded. */
static bool list_again(struct database *database, char *const *names, bool print_error,
                       const struct table_loader *loader)
{
  struct database earlier = *database;
  *database = (struct database){.nsources = earlier.nsources, .sources = earlier.sources};
  const bool listed = list_names(database, names, print_error);
  take_over(database, &earlier);
  free_listing(&earlier, loader);
  return listed;
}

/* Lists all tables, and loads those of folders, once these do not change, and of files. */
static bool load_folders(struct database *database, char *const *names, lanebloom_writer writer,
                         const struct table_loader *loader)
{
  static const struct timespec pause = {.tv_nsec = 50000000};
  static const double most_seconds = 1;
  const double begin = seconds();
  for (bool is_first = true;; is_first = false) {
    const bool listed = list_again(database, names, is_first, loader);
    if (!database->has_folders)
      return load_files(database, writer, loader, true) && listed;
    const bool loaded = load_files(database, writer, loader, false);
    const bool is_same = is_settled(database, names, loader);
    if (is_same && loaded)
      return listed;
    const bool is_last = seconds() - begin > most_seconds;
    if (is_same && (is_last || !may_change(database)))
      return load_files(database, writer, loader, true) && listed;
    if (is_last) {
      complain(NULL, "being written: expected tables that stay, found that they changed at every "
                     "attempt: try again, or use a copy of the database");
      return false;
    }
    nanosleep(&pause, NULL);
  }
}

bool database_load(struct database *database, char *const *names, size_t nnames,
                   const struct database_options *options, const struct table_loader *loader)
{
  char **known = resize(NULL, (nnames + 1) * sizeof *known);
  memcpy(known, names, nnames * sizeof *known);
  *database = (struct database){0};
  bool complete = open_sources(database, known, &nnames, options);
  complete &= load_sources(database, known, options->writer, loader);
  complete &= load_folders(database, known, options->writer, loader);
  load_logs(database, loader);
  print_damages(database);
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
    lanebloom_database_close(database->sources[i]);
  free(database->sources);
  free(database->tables);
  *database = (struct database){0};
}

/* ---- databases whose tables stay open ---- */

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
  lanebloom_table_close(table);
}

/* Warns of tables without a filter. Every key between the first and the last key of such a table
 * may be in it, so many more keys pass than users expect. */
static void warn_of_tables_without_filter(const struct database *database)
{
  size_t n = 0;
  for (size_t i = 0; i < database->ntables; i++) {
    lanebloom_table_info info;
    lanebloom_table_describe(database->tables[i], &info, sizeof info);
    n += info.filter == LANEBLOOM_TABLE_FILTER_NONE;
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
  const struct table_loader loader = {keep_open, close_table, NULL};
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
