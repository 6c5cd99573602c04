/* Opens, updates and describes databases. A log is live while it may have entries that are in no
 * table yet; only live logs count. The engine may write at the same time, so CURRENT, the MANIFEST
 * and the logs are read in an order in which no write is missed.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../info.h"
#include "database.h"
#include "database_state.h"

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

/* Is the name in the list? The list must be sorted. */
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
  const int error = errno;
  if (status != LANEBLOOM_ERR_MEMORY)
    name_problem(*name, status, problem);
  free(*name);
  *name = NULL;
  errno = error;
  return status == LANEBLOOM_ERR_MEMORY ? problem_memory(problem, 1) : status;
}

/* Opens the MANIFEST for a new view. If its name or its size has changed since the current view,
 * sets *changed to true and reads the MANIFEST; otherwise sets *changed to false. */
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

/* ---- Column families ---- */

/* Marks the column families that the caller named. If the caller named none, marks all that exist.
 * Fails if a named family does not exist. */
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

/* ---- Opening ---- */

/* Moves the results of tables that are in both views. Each view lists its tables in ascending order
 * of their numbers. */
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
    status = lanebloom_database_find_tables(&next, &problem);
  if (!status && is_new)
    status = lanebloom_database_find_damages(&next, &problem);
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

const char *lanebloom_database_short_path(const lanebloom_database *database, const char *path)
{
  const size_t n = strlen(database->folder);
  if (n == 0 || strncmp(path, database->folder, n) != 0)
    return path;
  return path[n] == '/' ? path + n + 1 : path[n - 1] == '/' ? path + n : path;
}

void **lanebloom_database_result(lanebloom_database *database, size_t i)
{
  return &database->view.wanted[i].opened;
}

/* Compares the column families whose keys end in a timestamp with the families that were known when
 * the logs were read. If they differ, sets *has to true; the logs must then be read again. */
static lanebloom_status has_new_timestamps(const struct lanebloom_database *database, bool *has,
                                           const struct problem *problem)
{
  const struct timestamps *known = &database->timestamps;
  struct timestamps found;
  lanebloom_status status = lanebloom_database_find_timestamps(&database->view.version, &found);
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

/* Reads the MANIFEST, then the logs, then the MANIFEST again. The first reading of the MANIFEST
 * tells which logs are not needed, and which keys end in a timestamp. The second reading gives the
 * list of tables. An engine writes keys into a table before the MANIFEST drops their log, so each
 * key is found in a log, in a table, or in both. */
static lanebloom_status read_all(struct lanebloom_database *database,
                                 char *const log_folders[NLOG_FOLDERS],
                                 const struct problem *problem)
{
  struct view before;
  bool changed;
  lanebloom_status status = read_manifest(database, &before, &changed, problem);
  if (!status) {
    status = lanebloom_database_find_timestamps(&before.version, &database->timestamps);
    if (!status)
      status = lanebloom_collector_init(&database->keys, 0);
    status = status ? problem_status(problem, status)
                    : lanebloom_database_read_logs(database, log_folders, &before.version, problem);
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
    lanebloom_database_free(made);
    return status;
  }
  *database = made;
  return LANEBLOOM_OK;
}

void lanebloom_database_free(lanebloom_database *database)
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
  if (i >= database->view.nwanted)
    return (lanebloom_database_table){0};
  const struct live_table *table = &database->view.wanted[i].table;
  const struct family *family = lanebloom_version_family(&database->view.version, table->family);
  return (lanebloom_database_table){.path = database->view.wanted[i].path,
                                    .family = family->name,
                                    .number = table->number,
                                    .level = table->level,
                                    .is_elsewhere = table->path > 0,
                                    .opened = database->view.wanted[i].opened};
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

size_t lanebloom_database_damage_count(const lanebloom_database *database)
{
  return database->view.ndamages;
}

const char *lanebloom_database_damage_at(const lanebloom_database *database, size_t i)
{
  return i < database->view.ndamages ? database->view.damages[i] : NULL;
}
