/* Database files: which tables a folder has, and what there is to be said of them.
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

/* A string for free(). */
static char *join(const char *folder, const char *name)
{
  const size_t nbytes = strlen(folder) + strlen(name) + sizeof "/";
  char *path = resize(NULL, nbytes);
  snprintf(path, nbytes, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
  return path;
}

/* The paths of entries, in the order of their numbers, for free() each. Returns how many; -1: errno
 * says why. */
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

/* path: for free() by the database. */
static void add_table(struct database *database, char *path)
{
  database->paths = resize(database->paths, (database->ntables + 1) * sizeof *database->paths);
  database->paths[database->ntables++] = path;
}

static bool add_folder(struct database *database, const char *folder)
{
  char **paths;
  int n = list_folder(folder, is_table, &paths);
  if (n <= 0)
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

bool database_add(struct database *database, const char *path)
{
  struct stat found;
  if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
    return add_folder(database, path);
  char *copy = resize(NULL, strlen(path) + 1);
  add_table(database, strcpy(copy, path)); /* if there is none, who opens it will say so */
  return true;
}

void warn_of_logs(const char *folder)
{
  char **paths;
  const int n = list_folder(folder, is_log, &paths);
  for (int i = 0; i < n; i++) {
    struct stat found;
    if (stat(paths[i], &found) == 0 && found.st_size > 0)
      complain(paths[i], "warning: may hold writes that are in no table yet");
    free(paths[i]);
  }
  if (n >= 0)
    free(paths);
}

static lanebloom_table *try_table(const char *path, lanebloom_writer writer, bool says_why)
{
  lanebloom_table *table;
  char problem[512] = "";
  lanebloom_status status = lanebloom_table_open(path, writer, &table, problem, sizeof problem);
  if (status == LANEBLOOM_OK || !says_why)
    return table;
  char *text = escape_name(*problem ? problem : status_text(status));
  complain(path, "%s", text);
  free(text);
  return NULL;
}

lanebloom_table *open_table(const char *path, lanebloom_writer writer)
{
  return is_standard_output(path) ? NULL : try_table(path, writer, true);
}

void warn_of_table(const char *path, const char *warning, size_t nothers)
{
  char *text = escape_name(warning);
  if (nothers > 0)
    complain(path, "warning: %s (and %zu more)", text, nothers);
  else
    complain(path, "warning: %s", text);
  free(text);
}

/* One message for what is to be said of many. */
static void warn_of_tables(const struct database *database)
{
  const size_t n = database->ntables;
  const char **warnings = resize(NULL, n * sizeof *warnings);
  for (size_t i = 0; i < n; i++)
    warnings[i] = lanebloom_table_warning(database->tables[i]);
  for (size_t i = 0; i < n; i++) {
    const char *warning = warnings[i];
    size_t nothers = 0;
    for (size_t other = i + 1; *warning && other < n; other++)
      if (strcmp(warnings[other], warning) == 0) {
        warnings[other] = "";
        nothers++;
      }
    if (*warning)
      warn_of_table(database->paths[i], warning, nothers);
  }
  free(warnings);
}

static struct database list_all(char *const *names, size_t nnames)
{
  struct database database = {0};
  bool complete = true;
  for (size_t i = 0; i < nnames; i++)
    complete &= database_add(&database, names[i]);
  for (size_t i = 0; i < database.ntables; i++)
    complete &= !is_standard_output(database.paths[i]);
  if (!complete)
    exit(EXIT_TROUBLE);
  return database;
}

static bool is_same_list(const struct database *a, const struct database *b)
{
  bool is_same = a->ntables == b->ntables;
  for (size_t i = 0; is_same && i < a->ntables; i++)
    is_same = strcmp(a->paths[i], b->paths[i]) == 0;
  return is_same;
}

static bool open_all(struct database *database, lanebloom_writer writer, bool says_why)
{
  bool opened = true;
  database->tables = resize(NULL, database->ntables * sizeof *database->tables);
  for (size_t i = 0; i < database->ntables; i++)
    opened &= (database->tables[i] = try_table(database->paths[i], writer, says_why)) != NULL;
  return opened;
}

/* An engine at work writes new tables, then removes what they replace. All of them have been seen
 * where a second look into the folders finds what the first one did. */
struct database database_open(char *const *names, size_t nnames, lanebloom_writer writer)
{
  enum { MAX_LOOKS = 20 };
  static const struct timespec pause = {.tv_nsec = 50000000};
  for (int look = 1;; look++) {
    struct database database = list_all(names, nnames);
    const bool is_last = look == MAX_LOOKS || !database.has_folders;
    const bool opened = open_all(&database, writer, is_last);
    struct database again = list_all(names, nnames);
    const bool is_same = is_same_list(&database, &again);
    database_close(&again);
    if (opened && is_same) {
      warn_of_tables(&database);
      return database;
    }
    if (opened && is_last)
      complain(
          NULL,
          "tables come and go while they are listed: ask again, or ask a copy of the database");
    if (is_last)
      exit(EXIT_TROUBLE);
    database_close(&database);
    nanosleep(&pause, NULL);
  }
}

void database_close(struct database *database)
{
  for (size_t i = 0; i < database->ntables; i++) {
    if (database->tables)
      lanebloom_table_close((lanebloom_table *)database->tables[i]);
    free(database->paths[i]);
  }
  free(database->tables);
  free(database->paths);
  *database = (struct database){0};
}
