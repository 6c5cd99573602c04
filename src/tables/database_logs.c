/* Reads the write-ahead logs of a database, finds their damage, and makes a table of their keys.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "database_state.h"
#include "table.h"

/* ---- Reading ---- */

/* Do the keys of the family end in a timestamp? If they do, the name of the family's comparator
 * ends in ".u64ts". */
static bool has_times(const struct family *family)
{
  static const char end[] = ".u64ts";
  const size_t n = family->comparator ? strlen(family->comparator) : 0;
  return n >= sizeof end - 1 && strcmp(family->comparator + n - (sizeof end - 1), end) == 0;
}

lanebloom_status lanebloom_database_find_timestamps(const struct version *version,
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
  if (status == LANEBLOOM_ERR_IO && errno == ENOENT) { /* the engine has deleted the log */
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

lanebloom_status lanebloom_database_read_logs(struct lanebloom_database *database,
                                              char *const folders[NLOG_FOLDERS],
                                              const struct version *before,
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

/* If log i has damage, adds the damage to the list. must_be_whole: true if a later log has entries.
 * The engine has then finished writing this log, so an incomplete record at its end is damage. */
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
 * log that RocksDB made after the logs were listed is newer than all listed logs, and is not
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

lanebloom_status lanebloom_database_find_damages(struct lanebloom_database *database,
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

/* ---- A table of the keys ---- */

static bool counts(const struct lanebloom_database *database, const struct hashed_entry *entry)
{
  return is_wanted(database, entry->family) &&
         lanebloom_version_counts(&database->view.version, database->logs[entry->log].number,
                                  entry->family, entry->is_prepared);
}

/* Makes a set of the hashes of all keys that the current view counts as keys of the database. */
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

/* If some keys did not fit into the list of hashes, makes a filter of these keys. */
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
    status = lanebloom_builder_merge(copy, database->keys.others, NULL, 0);
  if (!status)
    status = lanebloom_builder_finish(copy, &table->filters[0]);
  lanebloom_builder_free(copy);
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
    lanebloom_table_free(made);
    return problem_status(&problem, status);
  }
  *table = made;
  return LANEBLOOM_OK;
}
