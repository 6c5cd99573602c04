/* Database files: lists the tables of folders, opens them and warns about them.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli.h"

/* ---- folders ---- */

static bool ends_with(const char *name, const char *end)
{
  const size_t nname = strlen(name), nend = strlen(end);
  return nname > nend && strcmp(name + nname - nend, end) == 0;
}

static int is_table(const struct dirent *entry)
{
  return entry->d_type != DT_DIR &&
         (ends_with(entry->d_name, ".ldb") || ends_with(entry->d_name, ".sst"));
}

/* Engines number their logs; Pebble may split one: 000123-001.log. */
static int is_log(const struct dirent *entry)
{
  const char *name = entry->d_name, *end = name + strspn(name, "0123456789-");
  return end > name && strcmp(end, ".log") == 0;
}

/* The path of a file in a folder. The caller frees it. */
static char *join(const char *folder, const char *name)
{
  const size_t nbytes = strlen(folder) + strlen(name) + sizeof "/";
  char *path = resize(NULL, nbytes);
  snprintf(path, nbytes, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
  return path;
}

/* The paths of entries in the order of their numbers; the caller frees each. Returns how many, or
 * -1 with errno. */
static int list_folder(const char *folder, int (*is_wanted)(const struct dirent *entry),
                       char ***paths)
{
  struct dirent **entries;
  int n = scandir(folder, &entries, is_wanted, versionsort);
  if (n < 0)
    return n;
  *paths = resize(NULL, ((size_t)n + 1) * sizeof **paths);
  for (int i = 0; i < n; i++) {
    (*paths)[i] = join(folder, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return n;
}

/* ---- databases ---- */

/* The database owns the path. */
static void add_table(struct database *database, char *path)
{
  database->paths = resize(database->paths, (database->ntables + 1) * sizeof *database->paths);
  database->paths[database->ntables++] = path;
}

static bool add_folder(struct database *database, const char *folder, bool print_error)
{
  char **paths;
  int n = list_folder(folder, is_table, &paths);
  if (n <= 0 && print_error)
    complain(folder, "%s",
             n < 0 ? strerror(errno)
                   : "expected a folder with .ldb or .sst files, found none in it");
  if (n < 0)
    return false;
  database->has_folders = true;
  for (int i = 0; i < n; i++)
    add_table(database, paths[i]);
  free(paths);
  return n > 0;
}

static bool add_name(struct database *database, const char *path, bool print_error)
{
  struct stat info;
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
    return add_folder(database, path, print_error);
  char *copy = resize(NULL, strlen(path) + 1);
  add_table(database, strcpy(copy, path)); /* if it does not exist, opening it reports that */
  return true;
}

/* Lists the tables of all names. false: a folder has no tables or cannot be read. */
static bool list_names(struct database *database, char *const *names, size_t nnames,
                       bool print_error)
{
  bool complete = true;
  *database = (struct database){0};
  for (size_t i = 0; i < nnames; i++)
    complete &= add_name(database, names[i], print_error);
  database->loaded = resize(NULL, (database->ntables + 1) * sizeof *database->loaded);
  for (size_t i = 0; i < database->ntables; i++)
    database->loaded[i] = NULL;
  return complete;
}

void warn_of_logs(const char *folder)
{
  char **paths;
  const int n = list_folder(folder, is_log, &paths);
  for (int i = 0; i < n; i++) {
    struct stat found;
    if (stat(paths[i], &found) == 0 && found.st_size > 0)
      complain(paths[i], "warning: this log may hold writes that are in no table yet");
    free(paths[i]);
  }
  if (n >= 0)
    free(paths);
}

lanebloom_table *open_table(const char *path, lanebloom_writer writer, bool print_error)
{
  lanebloom_table *table = NULL;
  lanebloom_status status = LANEBLOOM_ERR_ARGUMENT;
  char problem[512] = "input file is also the output";
  if (!is_standard_output(path))
    status = lanebloom_table_open(path, writer, &table, problem, sizeof problem);
  if (status == LANEBLOOM_ERR_FORMAT && is_container(path))
    snprintf(problem, sizeof problem,
             "expected a table, found a lanebloom container: `lanebloom info' describes it, and "
             "`lanebloom screen' without --db queries it");
  if (status != LANEBLOOM_OK && print_error) {
    char *text = escape_name(problem);
    complain(path, "%s", text);
    free(text);
  }
  return table;
}

void warn_of_tables(char *const *paths, const char **warnings, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const char *warning = warnings[i];
    size_t nothers = 0;
    for (size_t other = i + 1; *warning && other < n; other++)
      if (strcmp(warnings[other], warning) == 0) {
        warnings[other] = "";
        nothers++;
      }
    if (!*warning)
      continue;
    char *text = escape_name(warning);
    if (nothers > 0)
      complain(paths[i], "warning: %s (and %zu more)", text, nothers);
    else
      complain(paths[i], "warning: %s", text);
    free(text);
    warnings[i] = "";
  }
}

/* ---- listing until nothing changes ---- */

static bool is_same_list(const struct database *a, const struct database *b)
{
  bool is_same = a->ntables == b->ntables;
  for (size_t i = 0; is_same && i < a->ntables; i++)
    is_same = strcmp(a->paths[i], b->paths[i]) == 0;
  return is_same;
}

/* Moves what was loaded for the same paths of an earlier listing. Both have the same order. */
static void take_over(struct database *database, struct database *earlier)
{
  size_t at = 0;
  for (size_t i = 0; i < database->ntables; i++)
    for (size_t n = 0; n < earlier->ntables; n++) {
      const size_t other = (at + n) % earlier->ntables;
      if (strcmp(database->paths[i], earlier->paths[other]) == 0) {
        database->loaded[i] = earlier->loaded[other];
        earlier->loaded[other] = NULL;
        at = other + 1;
        break;
      }
    }
}

static bool load_all(struct database *database, const struct table_loader *loader, bool print_error)
{
  bool complete = true;
  for (size_t i = 0; i < database->ntables; i++) {
    if (!database->loaded[i])
      database->loaded[i] = loader->load(loader->context, database->paths[i], print_error);
    complete &= database->loaded[i] != NULL;
  }
  return complete;
}

/* May a table that could not be read still be written, or have been replaced? */
static bool may_change(const struct database *database)
{
  static const time_t settled_seconds = 10;
  bool may_change = false;
  for (size_t i = 0; i < database->ntables; i++) {
    struct stat info;
    may_change |=
        !database->loaded[i] && (stat(database->paths[i], &info) != 0 || !S_ISREG(info.st_mode) ||
                                 time(NULL) - info.st_mtime < settled_seconds);
  }
  return may_change;
}

/* A running engine writes new tables, then removes those that they replace. If a second listing,
 * after all tables were loaded, equals the first, no table was missed. */
bool database_load(struct database *database, char *const *names, size_t nnames,
                   const struct table_loader *loader)
{
  enum { MAX_LISTINGS = 20 };
  static const struct timespec pause = {.tv_nsec = 50000000};
  struct database earlier = {0}, again;
  for (int listing = 1;; listing++) {
    const bool listed = list_names(database, names, nnames, listing == 1);
    take_over(database, &earlier);
    database_free(&earlier, loader);
    const bool is_last = listing == MAX_LISTINGS || !database->has_folders;
    const bool loaded = load_all(database, loader, is_last);
    list_names(&again, names, nnames, false);
    const bool is_same = is_same_list(database, &again);
    database_free(&again, loader);
    if (is_same && (loaded || is_last))
      return loaded && listed;
    if (is_same && !may_change(database))
      return load_all(database, loader, true) && listed;
    if (is_last) {
      complain(
          NULL,
          "expected tables that stay, found that they changed at every look: try again, or use a "
          "copy of the database");
      return false;
    }
    earlier = *database;
    nanosleep(&pause, NULL);
  }
}

void database_free(struct database *database, const struct table_loader *loader)
{
  for (size_t i = 0; i < database->ntables; i++) {
    if (database->loaded[i])
      loader->free(database->loaded[i]);
    free(database->paths[i]);
  }
  free(database->loaded);
  free(database->tables);
  free(database->paths);
  *database = (struct database){0};
}

/* ---- databases that stay open ---- */

static void *keep_open(void *context, const char *path, bool print_error)
{
  return open_table(path, *(const lanebloom_writer *)context, print_error);
}

static void close_table(void *table)
{
  lanebloom_table_close(table);
}

struct database database_open(char *const *names, size_t nnames, lanebloom_writer writer)
{
  const struct table_loader loader = {keep_open, close_table, &writer};
  struct database database;
  if (!database_load(&database, names, nnames, &loader))
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
  return database;
}

void database_close(struct database *database)
{
  database_free(database, &(struct table_loader){.free = close_table});
}
