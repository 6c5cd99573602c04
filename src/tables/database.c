/* Opens databases: finds the tables that belong to a database, and reads the keys of its
 * write-ahead logs. A log is live while it may have entries that are in no table yet; only live
 * logs count. The engine may write meanwhile, so CURRENT, the MANIFEST and the logs are read in an
 * order in which no write is missed.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../info.h"
#include "database.h"
#include "folder.h"
#include "table.h"
#include "version.h"
#include "write_log.h"

/* The contents of the MANIFEST, and the lists that are made from them. An update replaces the whole
 * view, or nothing. */
struct view {
  char *manifest; /* its name */
  uint64_t manifest_nbytes;
  struct version version;
  struct wanted_table {
    struct live_table table;
    bool is_in_log; /* false: the MANIFEST names the table */
    char *path;
    void *opened; /* the result of lanebloom_database_open_tables(); NULL: none */
  } * wanted;     /* ascending */
  size_t nwanted;
  char **damages; /* descriptions of damage in live logs */
  size_t ndamages, damages_room;
};

struct lanebloom_database {
  char *folder;
  struct names {
    char **list;
    size_t n;
  } table_folders, families; /* families: ascending */
  lanebloom_engine engine;
  struct view view;

  struct write_log *logs; /* ascending */
  size_t nlogs;
  char **log_paths;
  struct timestamps timestamps;
  struct key_collector keys;
};

/* ---- Names ---- */

static lanebloom_status copy_names(struct names *names, const char *const *from, size_t n)
{
  names->list = calloc(n + 1, sizeof *names->list);
  if (!names->list)
    return LANEBLOOM_ERR_MEMORY;
  while (names->n < n && (names->list[names->n] = strdup(from[names->n])))
    names->n++;
  return names->n == n ? LANEBLOOM_OK : LANEBLOOM_ERR_MEMORY;
}

static void free_names(struct names *names)
{
  for (size_t i = 0; i < names->n; i++)
    free(names->list[i]);
  free(names->list);
}

static int compare_names(const void *a, const void *b)
{
  const char *const *left = a, *const *right = b;
  return strcmp(*left, *right);
}

/* Copies the caller's arguments, which may be freed after the call. */
static lanebloom_status copy_call(struct lanebloom_database *database, const char *folder,
                                  const lanebloom_database_options *options)
{
  struct names *families = &database->families;
  if (!(database->folder = strdup(folder)))
    return LANEBLOOM_ERR_MEMORY;
  lanebloom_status status =
      copy_names(&database->table_folders, options->table_folders, options->ntable_folders);
  if (!status)
    status = copy_names(families, options->families, options->nfamilies);
  if (!status && families->n > 1)
    qsort(families->list, families->n, sizeof *families->list, compare_names);
  return status;
}

/* Is the name in the list, which must be ascending? */
static bool has_name(const char *const *names, size_t n, const char *name)
{
  return n > 0 && bsearch(&name, names, n, sizeof *names, compare_names);
}

/* ---- The MANIFEST ---- */

/* Opens the MANIFEST that is in use. If the engine replaces it between reading CURRENT and opening
 * the MANIFEST, tries again. */
static lanebloom_status open_manifest(const char *folder, lanebloom_engine engine, char **name,
                                      struct input *input, const struct problem *problem)
{
  enum { MAX_LOOKS = 1000 };
  lanebloom_status status = LANEBLOOM_OK;
  *name = NULL;
  for (int look = 0; look < MAX_LOOKS; look++) {
    char *earlier = *name;
    status = lanebloom_folder_current(folder, engine, name, problem);
    const bool is_same = !status && earlier && strcmp(earlier, *name) == 0;
    free(earlier);
    if (status)
      return status;
    char *path = lanebloom_folder_join(folder, *name);
    status = path ? lanebloom_input_open(path, input, problem) : LANEBLOOM_ERR_MEMORY;
    free(path);
    if (status != LANEBLOOM_ERR_IO || errno != ENOENT || is_same)
      break;
  }
  if (!status)
    return LANEBLOOM_OK;
  if (status == LANEBLOOM_ERR_IO) {
    const int error = errno;
    char text[128];
    problem_set(problem, status, "%s: %s", *name, strerror_r(error, text, sizeof text));
    errno = error;
  }
  free(*name);
  *name = NULL;
  return status == LANEBLOOM_ERR_MEMORY ? problem_memory(problem, 1) : status;
}

const char *lanebloom_database_short_path(const lanebloom_database *database, const char *path)
{
  const size_t n = strlen(database->folder);
  if (n == 0 || strncmp(path, database->folder, n) != 0)
    return path;
  return path[n] == '/' ? path + n + 1 : path[n - 1] == '/' ? path + n : path;
}

/* Inserts the name of the file before the text of the problem. */
static lanebloom_status name_problem(const char *name, lanebloom_status status,
                                     const struct problem *problem)
{
  char text[400];
  if (problem->size > 0) {
    snprintf(text, sizeof text, "%s", problem->text);
    problem_set(problem, status, "%s: %s", name, text);
  }
  return status;
}

/* Opens the MANIFEST for a new view. *changed becomes true if its name or its size differs from
 * those of the MANIFEST in the current view. If they are the same, the MANIFEST is not read. */
static lanebloom_status read_manifest(const struct lanebloom_database *database, struct view *view,
                                      bool *changed, const struct problem *problem)
{
  const struct view *before = &database->view;
  struct input input = {0};
  *view = (struct view){0};
  lanebloom_status status =
      open_manifest(database->folder, database->engine, &view->manifest, &input, problem);
  if (status)
    return status;
  view->manifest_nbytes = input.nbytes;
  *changed = !before->manifest || strcmp(before->manifest, view->manifest) != 0 ||
             before->manifest_nbytes != input.nbytes;
  if (*changed)
    status = lanebloom_version_read(&view->version, &input, database->engine, problem);
  lanebloom_input_close(&input);
  return status ? name_problem(view->manifest, status, problem) : LANEBLOOM_OK;
}

static void free_view(struct view *view)
{
  for (size_t i = 0; i < view->nwanted; i++)
    free(view->wanted[i].path);
  for (size_t i = 0; i < view->ndamages; i++)
    free(view->damages[i]);
  free(view->wanted);
  free(view->damages);
  free(view->manifest);
  lanebloom_version_free(&view->version);
  *view = (struct view){0};
}

/* ---- Tables ---- */

static bool is_wanted(const struct lanebloom_database *database, uint32_t family)
{
  const struct family *found = lanebloom_version_family(&database->view.version, family);
  return found && found->is_wanted;
}

/* Marks the column families that the caller named, or all if the caller named none. Fails if a
 * named family does not exist. */
static lanebloom_status choose_families(struct lanebloom_database *database,
                                        const struct problem *problem)
{
  const struct names *names = &database->families;
  const char *const *list = (const char *const *)names->list;
  struct version *version = &database->view.version;
  const char **found = malloc((version->nfamilies + 1) * sizeof *found);
  size_t nfound = 0;
  if (!found)
    return problem_memory(problem, (version->nfamilies + 1) * sizeof *found);
  for (size_t i = 0; i < version->nfamilies; i++) {
    struct family *family = &version->families[i];
    family->is_wanted =
        !family->is_dropped && (names->n == 0 || has_name(list, names->n, family->name));
    if (family->is_wanted)
      found[nfound++] = family->name;
  }
  if (nfound > 1)
    qsort(found, nfound, sizeof *found, compare_names);
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t i = 0; !status && i < names->n; i++)
    if (!has_name(found, nfound, list[i]))
      status = problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                           "expected a column family named '%s', found none", list[i]);
  free(found);
  return status;
}

/* Returns the path of a table, whose file may be named NUMBER.sst or NUMBER.ldb: the path in the
 * first folder that has such a file. If no folder has one, returns the most likely path. */
static char *find_table(const struct lanebloom_database *database, uint64_t number)
{
  const bool is_leveldb = database->engine == LANEBLOOM_ENGINE_LEVELDB;
  const char *const ends[2] = {is_leveldb ? "ldb" : "sst", is_leveldb ? "sst" : "ldb"};
  const struct names *folders = &database->table_folders;
  for (size_t i = 0; i < 2 * (folders->n + 1); i++) {
    const char *folder = i < 2 ? database->folder : folders->list[i / 2 - 1];
    char *path = lanebloom_folder_number(folder, number, ends[i % 2]);
    if (!path || access(path, F_OK) == 0)
      return path;
    free(path);
  }
  return lanebloom_folder_number(database->folder, number, ends[0]);
}

static bool is_live(const struct lanebloom_database *database, size_t log)
{
  return lanebloom_version_needs_log(&database->view.version, database->logs[log].number);
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

static lanebloom_status find_tables(struct lanebloom_database *database,
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

/* ---- Logs ---- */

/* Do the keys of the family end in a timestamp? If they do, the name of the family's comparator
 * ends in ".u64ts". */
static bool has_times(const struct family *family)
{
  static const char end[] = ".u64ts";
  const size_t n = family->comparator ? strlen(family->comparator) : 0;
  return n >= sizeof end - 1 && strcmp(family->comparator + n - (sizeof end - 1), end) == 0;
}

static lanebloom_status find_timestamps(const struct version *version,
                                        struct timestamps *timestamps)
{
  enum { TIMESTAMP_NBYTES = 8 };
  timestamps->n = 0;
  timestamps->list = malloc((version->nfamilies + 1) * sizeof *timestamps->list);
  if (!timestamps->list)
    return LANEBLOOM_ERR_MEMORY;
  for (size_t i = 0; i < version->nfamilies; i++)
    if (has_times(&version->families[i]))
      timestamps->list[timestamps->n++] =
          (struct timestamp){version->families[i].id, TIMESTAMP_NBYTES};
  return LANEBLOOM_OK;
}

static lanebloom_status read_log(struct lanebloom_database *database, const struct log_name *name,
                                 const struct problem *problem)
{
  struct write_log *log = &database->logs[database->nlogs];
  char *path = lanebloom_folder_log(name);
  struct input input;
  if (!path)
    return problem_memory(problem, 1);
  lanebloom_status status = lanebloom_input_open(path, &input, problem);
  if (status == LANEBLOOM_ERR_IO && errno == ENOENT) { /* the engine has deleted it: not needed */
    free(path);
    return LANEBLOOM_OK;
  }
  *log = (struct write_log){.number = name->number, .index = name->index};
  if (!status) {
    status = lanebloom_write_log_read(log, &input, database->engine, (uint32_t)database->nlogs,
                                      &database->timestamps, &database->keys, problem);
    lanebloom_input_close(&input);
  }
  if (status) {
    lanebloom_write_log_free(log);
    status = name_problem(lanebloom_database_short_path(database, path), status, problem);
    free(path);
    return status;
  }
  database->log_paths[database->nlogs++] = path;
  return LANEBLOOM_OK;
}

/* Reads the logs in the folders. before: the contents of the MANIFEST from an earlier reading. Logs
 * that were not needed then are left out, because they are never needed again. */
static lanebloom_status read_logs(struct lanebloom_database *database,
                                  char *const folders[NLOG_FOLDERS], const struct version *before,
                                  const struct problem *problem)
{
  struct log_name *names;
  size_t n;
  lanebloom_status status = lanebloom_folder_logs(folders, database->engine, &names, &n, problem);
  if (status)
    return name_problem(folders[0], status, problem);
  database->logs = malloc((n + 1) * sizeof *database->logs);
  database->log_paths = malloc((n + 1) * sizeof *database->log_paths);
  if (!database->logs || !database->log_paths) {
    free(names);
    return problem_memory(problem, n * sizeof *database->logs);
  }
  for (size_t i = 0; !status && i < n; i++)
    if (lanebloom_version_needs_log(before, names[i].number))
      status = read_log(database, &names[i], problem);
  free(names);
  return status;
}

/* ---- Damage ---- */

__attribute__((format(printf, 2, 3))) static lanebloom_status
add_damage(struct lanebloom_database *database, const char *format, ...)
{
  struct view *view = &database->view;
  if (view->ndamages == view->damages_room) {
    const size_t room = view->damages_room ? 2 * view->damages_room : 16;
    char **damages = realloc(view->damages, room * sizeof *damages);
    if (!damages)
      return LANEBLOOM_ERR_MEMORY;
    view->damages = damages;
    view->damages_room = room;
  }
  va_list values;
  va_start(values, format);
  const int n = vasprintf(&view->damages[view->ndamages], format, values);
  va_end(values);
  if (n < 0)
    return LANEBLOOM_ERR_MEMORY;
  view->ndamages++;
  return LANEBLOOM_OK;
}

/* Adds the damage of log i, if it has any. must_be_whole: a later log has entries, so the engine
 * has finished writing this log, and an incomplete record at its end is damage. */
static lanebloom_status find_damage(struct lanebloom_database *database, size_t i,
                                    bool must_be_whole)
{
  const struct write_log *log = &database->logs[i];
  const char *path = database->log_paths[i];
  if (log->ndamages == 1)
    return add_damage(database, "%s: damaged at %" PRIu64 ": %s", path, log->damage_offset,
                      log->damage);
  if (log->ndamages > 1)
    return add_damage(database, "%s: damaged at %" PRIu64 ": %s (and at %" PRIu64 " more places)",
                      path, log->damage_offset, log->damage, log->ndamages - 1);
  if (log->is_torn && must_be_whole)
    return add_damage(database,
                      "%s: damaged at its end: expected a whole record before the next log, found "
                      "an incomplete one at %" PRIu64,
                      path, log->nbytes);
  return LANEBLOOM_OK;
}

/* Adds damage for each log that is missing. RocksDB may record in the MANIFEST which logs exist. A
 * log that RocksDB made after this call's list of logs is newer than all listed logs, and is not
 * reported. */
static lanebloom_status find_missing_logs(struct lanebloom_database *database)
{
  const struct version *version = &database->view.version;
  lanebloom_status status = LANEBLOOM_OK;
  const uint64_t newest = database->nlogs ? database->logs[database->nlogs - 1].number : 0;
  size_t next = 0;
  for (size_t i = 0; !status && i < version->nlogs; i++) {
    while (next < database->nlogs && database->logs[next].number < version->logs[i])
      next++;
    if (version->logs[i] < newest && lanebloom_version_needs_log(version, version->logs[i]) &&
        database->logs[next].number != version->logs[i])
      status = add_damage(database,
                          "%s: expected log %06" PRIu64 ", which the MANIFEST names, found none",
                          database->folder, version->logs[i]);
  }
  return status;
}

static lanebloom_status find_damages(struct lanebloom_database *database,
                                     const struct problem *problem)
{
  const struct write_log *logs = database->logs;
  lanebloom_status status = LANEBLOOM_OK;
  size_t nwritten = database->nlogs; /* logs after the first nwritten have no entries */
  while (nwritten > 0 && logs[nwritten - 1].nentries == 0)
    nwritten--;
  for (size_t i = 0; !status && i < database->nlogs; i++)
    if (is_live(database, i)) /* the next file may have the rest of the log */
      status = find_damage(database, i, i + 1 < nwritten && logs[i + 1].number != logs[i].number);
  if (!status)
    status = find_missing_logs(database);
  return status ? problem_status(problem, status) : LANEBLOOM_OK;
}

/* ---- Opening ---- */

/* Moves the results of tables that stay. Both lists of tables ascend by number. */
static void move_results(struct view *before, struct view *after)
{
  size_t next = 0;
  for (size_t i = 0; i < after->nwanted; i++) {
    struct wanted_table *wanted = &after->wanted[i];
    while (next < before->nwanted && before->wanted[next].table.number < wanted->table.number)
      next++;
    if (next == before->nwanted || strcmp(before->wanted[next].path, wanted->path) != 0)
      continue;
    wanted->opened = before->wanted[next].opened;
    before->wanted[next++].opened = NULL;
  }
}

lanebloom_status lanebloom_database_update_results(lanebloom_database *database,
                                                   const lanebloom_table_visitor *visitor,
                                                   bool *changed, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  struct lanebloom_database next = *database; /* the same database with the new view */
  bool is_new = false;
  *changed = false;
  lanebloom_status status = read_manifest(database, &next.view, &is_new, &problem);
  if (!status && is_new)
    status = choose_families(&next, &problem);
  if (!status && is_new)
    status = find_tables(&next, &problem);
  if (!status && is_new)
    status = find_damages(&next, &problem);
  if (!status && is_new) {
    const struct view before = database->view;
    database->view = next.view;
    next.view = before;
    move_results(&next.view, &database->view);
    for (size_t i = 0; visitor && i < next.view.nwanted; i++)
      lanebloom_table_visitor_drop(visitor, next.view.wanted[i].opened);
    *changed = true;
  }
  free_view(&next.view);
  return status;
}

lanebloom_status lanebloom_database_update(lanebloom_database *database, bool *changed, char *text,
                                           size_t text_size)
{
  return lanebloom_database_update_results(database, NULL, changed, text, text_size);
}

void **lanebloom_database_result(lanebloom_database *database, size_t i)
{
  return &database->view.wanted[i].opened;
}

/* Sets *has if the column families whose keys end in a timestamp are not those that were known when
 * the logs were read. The logs must then be read again. */
static lanebloom_status has_new_timestamps(const struct lanebloom_database *database, bool *has,
                                           const struct problem *problem)
{
  const struct timestamps *known = &database->timestamps;
  struct timestamps found;
  lanebloom_status status = find_timestamps(&database->view.version, &found);
  if (status)
    return problem_status(problem, status);
  *has = found.n != known->n || memcmp(found.list, known->list, found.n * sizeof *found.list) != 0;
  free(found.list);
  return LANEBLOOM_OK;
}

static void forget(struct lanebloom_database *database)
{
  for (size_t i = 0; i < database->nlogs; i++) {
    lanebloom_write_log_free(&database->logs[i]);
    free(database->log_paths[i]);
  }
  free(database->logs);
  free(database->log_paths);
  database->logs = NULL;
  database->log_paths = NULL;
  database->nlogs = 0;
  free(database->timestamps.list);
  database->timestamps = (struct timestamps){0};
  lanebloom_collector_free(&database->keys);
  free_view(&database->view);
}

/* Reads the MANIFEST, then the logs, then the MANIFEST again. The first reading tells which logs
 * are old, and which keys end in a timestamp. The second reading has the tables. An engine writes
 * keys into a table before the MANIFEST drops their log, so each key is found in a log, in a table,
 * or in both. */
static lanebloom_status read_all(struct lanebloom_database *database,
                                 char *const log_folders[NLOG_FOLDERS],
                                 const struct problem *problem)
{
  struct view before;
  bool changed;
  lanebloom_status status = read_manifest(database, &before, &changed, problem);
  if (!status) {
    status = find_timestamps(&before.version, &database->timestamps);
    if (!status)
      status = lanebloom_collector_init(&database->keys, 0);
    status = status ? problem_status(problem, status)
                    : read_logs(database, log_folders, &before.version, problem);
  }
  free_view(&before);
  return status ? status
                : lanebloom_database_update(database, &changed, problem->text, problem->size);
}

static lanebloom_status open_database(struct lanebloom_database *database, const char *log_folder,
                                      const struct problem *problem)
{
  enum { MAX_READINGS = 10 };
  char *log_folders[NLOG_FOLDERS];
  lanebloom_status status = lanebloom_folder_of_logs(database->folder, log_folder, database->engine,
                                                     log_folders, problem);
  bool again = !status;
  for (int reading = 0; again && reading < MAX_READINGS; reading++) {
    forget(database);
    status = read_all(database, log_folders, problem);
    if (!status)
      status = has_new_timestamps(database, &again, problem);
    again = again && !status;
  }
  if (again) /* with wrong timestamps, keys would not be found */
    status = problem_set(problem, LANEBLOOM_ERR_FORMAT,
                         "being written (try again): expected the column families with timestamps "
                         "to stay the same while logs are read, found changes %d times",
                         MAX_READINGS);
  for (size_t i = 0; i < NLOG_FOLDERS; i++)
    free(log_folders[i]);
  return status;
}

lanebloom_status lanebloom_database_open(const char *folder,
                                         const lanebloom_database_options *options,
                                         lanebloom_database **database, char *text,
                                         size_t text_size)
{
  static const lanebloom_database_options none;
  const struct problem problem = problem_begin(text, text_size);
  options = options ? options : &none;
  *database = NULL;
  if (!lanebloom_kernel_active())
    return problem_status(&problem, LANEBLOOM_ERR_KERNEL);
  lanebloom_database *made = calloc(1, sizeof *made);
  if (!made)
    return problem_memory(&problem, sizeof *made);
  lanebloom_status status = copy_call(made, folder, options);
  status = status ? problem_status(&problem, status)
                  : lanebloom_database_find(folder, &made->engine, text, text_size);
  if (!status)
    status = open_database(made, options->log_folder, &problem);
  if (status) {
    lanebloom_database_close(made);
    return status;
  }
  *database = made;
  return LANEBLOOM_OK;
}

void lanebloom_database_close(lanebloom_database *database)
{
  if (!database)
    return;
  const int error = errno;
  forget(database);
  free_names(&database->table_folders);
  free_names(&database->families);
  free(database->folder);
  free(database);
  errno = error;
}

/* ---- Contents ---- */

size_t lanebloom_database_table_count(const lanebloom_database *database)
{
  return database->view.nwanted;
}

lanebloom_database_table lanebloom_database_table_at(const lanebloom_database *database, size_t i)
{
  const struct live_table *table = &database->view.wanted[i].table;
  const struct family *family = lanebloom_version_family(&database->view.version, table->family);
  return (lanebloom_database_table){.path = database->view.wanted[i].path,
                                    .family = family->name,
                                    .number = table->number,
                                    .level = table->level,
                                    .is_elsewhere = table->path > 0,
                                    .opened = database->view.wanted[i].opened};
}

static bool counts(const struct lanebloom_database *database, const struct hashed_entry *entry)
{
  return is_wanted(database, entry->family) &&
         lanebloom_version_counts(&database->view.version, database->logs[entry->log].number,
                                  entry->family, entry->is_prepared);
}

/* Makes a set of the hashes of those keys that are in the database according to the current
 * view. */
static lanebloom_status make_hashes(const struct lanebloom_database *database, struct hash_set *set)
{
  const struct key_collector *keys = &database->keys;
  uint64_t *hashes = malloc((keys->n + 1) * sizeof *hashes);
  size_t n = 0;
  if (!hashes)
    return LANEBLOOM_ERR_MEMORY;
  for (size_t i = 0; i < keys->n; i++)
    if (counts(database, &keys->entries[i]))
      hashes[n++] = keys->entries[i].hash;
  lanebloom_status status = lanebloom_hash_set_make(set, hashes, n);
  free(hashes);
  return status;
}

/* Makes a filter of the keys that did not fit into the list of hashes, if there are such keys. */
static lanebloom_status make_filter(const lanebloom_database *database, lanebloom_table *table)
{
  char text[WARNING_NBYTES];
  if (!database->keys.others)
    return LANEBLOOM_OK;
  table->filters = calloc(1, sizeof *table->filters);
  if (!table->filters)
    return LANEBLOOM_ERR_MEMORY;
  table->nfilters = 1;
  snprintf(text, sizeof text,
           "the logs have too many keys to store each of them: %" PRIu64
           " are in a filter, which has a false-positive rate",
           database->keys.nothers);
  lanebloom_table_warn(table, text);
  lanebloom_builder *copy; /* finishing empties a builder, so finish a copy */
  lanebloom_status status =
      lanebloom_builder_create(KEY_HASH_FORMAT, OTHERS_BITS_PER_KEY, OTHERS_NKEYS, &copy);
  if (!status)
    status = lanebloom_builder_merge(copy, database->keys.others);
  if (!status)
    status = lanebloom_builder_finish(copy, &table->filters[0]);
  lanebloom_builder_destroy(copy);
  return status;
}

lanebloom_status lanebloom_database_logs(lanebloom_database *database, lanebloom_table **table,
                                         char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  lanebloom_database_info info;
  *table = NULL;
  lanebloom_table *made = calloc(1, sizeof *made);
  if (!made)
    return problem_memory(&problem, sizeof *made);
  lanebloom_database_describe(database, &info, sizeof info);
  made->engine = database->engine;
  made->file_nbytes = info.log_nbytes;
  made->nentries = info.nlog_entries;
  made->kind = LANEBLOOM_TABLE_FILTER_KEYS;
  made->uses_filter = made->has_whole_keys = true;
  made->hash = KEY_HASH_FORMAT;
  made->comparator = strdup("");
  made->prefix_extractor = strdup("");
  lanebloom_status status = make_hashes(database, &made->key_hashes);
  if (!status)
    status = make_filter(database, made);
  if (!made->comparator || !made->prefix_extractor)
    status = LANEBLOOM_ERR_MEMORY;
  if (status) {
    lanebloom_table_close(made);
    return problem_status(&problem, status);
  }
  *table = made;
  return LANEBLOOM_OK;
}

void lanebloom_database_describe(const lanebloom_database *database, lanebloom_database_info *info,
                                 size_t info_size)
{
  lanebloom_database_info full = {.engine = database->engine,
                                  .sequence = database->view.version.sequence,
                                  .ntables = database->view.nwanted,
                                  .manifest = database->view.manifest};
  for (size_t i = 0; i < database->nlogs; i++) {
    const struct write_log *log = &database->logs[i];
    if (!is_live(database, i))
      continue;
    full.nlogs++;
    full.log_nbytes += log->nbytes;
    full.nlog_entries += log->nentries;
    full.sequence = log->sequence > full.sequence ? log->sequence : full.sequence;
  }
  info_copy(info, info_size, &full, sizeof full);
}

const char *lanebloom_database_damage(const lanebloom_database *database, size_t i)
{
  return i < database->view.ndamages ? database->view.damages[i] : NULL;
}
