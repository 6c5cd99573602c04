/* Databases: reads logs, CURRENT and the MANIFEST in the order that loses no write.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../info.h"
#include "folder.h"
#include "table.h"
#include "version.h"
#include "write_log.h"

struct lanebloom_database {
  char *folder;
  lanebloom_database_options options; /* borrowed */
  lanebloom_engine engine;

  char *manifest; /* its name */
  uint64_t manifest_nbytes;
  struct version version;
  struct wanted_table {
    struct live_table table;
    bool is_in_log; /* and not in the MANIFEST yet */
    char *path;
  } * wanted; /* ascending */
  size_t nwanted;

  struct write_log *logs; /* ascending */
  size_t nlogs;
  char **log_paths;
  struct timestamps timestamps;
  struct key_collector keys;
  char **damages; /* of live logs; ends with NULL */
  size_t ndamages;
};

/* ---- The MANIFEST ---- */

/* Opens the MANIFEST that is in use. If the engine makes another one meanwhile, looks again. */
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

/* Puts the name before the problem. */
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

/* Reads the MANIFEST, unless it is the one that *name and *nbytes are of. */
static lanebloom_status read_manifest(const struct lanebloom_database *database, char **name,
                                      uint64_t *nbytes, struct version *version, bool *changed,
                                      const struct problem *problem)
{
  char *found;
  struct input input;
  lanebloom_status status =
      open_manifest(database->folder, database->engine, &found, &input, problem);
  if (status)
    return status;
  *changed = !*name || strcmp(*name, found) != 0 || *nbytes != input.nbytes;
  if (*changed)
    status = lanebloom_version_read(version, &input, database->engine, problem);
  lanebloom_input_close(&input);
  if (status) {
    status = name_problem(found, status, problem);
    free(found);
    return status;
  }
  free(*name);
  *name = found;
  *nbytes = input.nbytes;
  return LANEBLOOM_OK;
}

/* ---- Tables ---- */

static bool is_wanted(const struct lanebloom_database *database, uint32_t family)
{
  const lanebloom_database_options *options = &database->options;
  const struct family *found = lanebloom_version_family(&database->version, family);
  bool is_named = found && options->nfamilies == 0;
  for (size_t i = 0; found && i < options->nfamilies; i++)
    is_named |= strcmp(found->name, options->families[i]) == 0;
  return is_named;
}

/* Is there a column family of each name that is wanted? */
static lanebloom_status check_families(const struct lanebloom_database *database,
                                       const struct problem *problem)
{
  const struct version *version = &database->version;
  for (size_t i = 0; i < database->options.nfamilies; i++) {
    const char *name = database->options.families[i];
    size_t n = 0;
    for (size_t j = 0; j < version->nfamilies; j++)
      n += !version->families[j].is_dropped && strcmp(version->families[j].name, name) == 0;
    if (n == 0)
      return problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                         "expected a column family named '%s', found none", name);
  }
  return LANEBLOOM_OK;
}

/* The path of a table: in the first folder that has it, under either name. If there is none, the
 * most likely one. */
static char *find_table(const struct lanebloom_database *database, uint64_t number)
{
  const bool is_leveldb = database->engine == LANEBLOOM_ENGINE_LEVELDB;
  const char *const ends[2] = {is_leveldb ? "ldb" : "sst", is_leveldb ? "sst" : "ldb"};
  const lanebloom_database_options *options = &database->options;
  for (size_t i = 0; i < 2 * (options->ntable_folders + 1); i++) {
    const char *folder = i < 2 ? database->folder : options->table_folders[i / 2 - 1];
    char *path = lanebloom_folder_number(folder, number, ends[i % 2]);
    if (!path || access(path, F_OK) == 0)
      return path;
    free(path);
  }
  return lanebloom_folder_number(database->folder, number, ends[0]);
}

static void free_wanted(struct lanebloom_database *database)
{
  for (size_t i = 0; i < database->nwanted; i++)
    free(database->wanted[i].path);
  free(database->wanted);
  database->wanted = NULL;
  database->nwanted = 0;
}

static bool is_live(const struct lanebloom_database *database, size_t log)
{
  return lanebloom_version_needs_log(&database->version, database->logs[log].number);
}

static int compare_wanted(const void *a, const void *b)
{
  const struct wanted_table *left = a, *right = b;
  if (left->table.number != right->table.number)
    return left->table.number < right->table.number ? -1 : 1;
  return (left->is_in_log > right->is_in_log) - (left->is_in_log < right->is_in_log);
}

/* Adds the tables that live logs name, unless the MANIFEST does, too. There is room. */
static void add_ingested(struct lanebloom_database *database)
{
  struct wanted_table *wanted = database->wanted;
  size_t n = database->nwanted;
  for (size_t i = 0; i < database->nlogs; i++)
    for (size_t j = 0; is_live(database, i) && j < database->logs[i].ntables; j++)
      wanted[n++] =
          (struct wanted_table){.table.number = database->logs[i].tables[j], .is_in_log = true};
  if (n == database->nwanted || !is_wanted(database, 0))
    return;
  qsort(wanted, n, sizeof *wanted, compare_wanted);
  database->nwanted = 0;
  for (size_t i = 0; i < n; i++)
    if (!wanted[i].is_in_log || i == 0 || wanted[i].table.number != wanted[i - 1].table.number)
      wanted[database->nwanted++] = wanted[i];
}

static lanebloom_status find_tables(struct lanebloom_database *database,
                                    const struct problem *problem)
{
  const struct version *version = &database->version;
  size_t room = version->ntables + 1;
  for (size_t i = 0; i < database->nlogs; i++)
    room += database->logs[i].ntables;
  free_wanted(database);
  database->wanted = malloc(room * sizeof *database->wanted);
  if (!database->wanted)
    return problem_memory(problem, room * sizeof *database->wanted);
  for (size_t i = 0; i < version->ntables; i++)
    if (is_wanted(database, version->tables[i].family))
      database->wanted[database->nwanted++] = (struct wanted_table){.table = version->tables[i]};
  add_ingested(database);
  for (size_t i = 0; i < database->nwanted; i++) {
    struct wanted_table *wanted = &database->wanted[i];
    wanted->path = find_table(database, wanted->table.number);
    if (!wanted->path)
      return problem_memory(problem, 1);
  }
  return LANEBLOOM_OK;
}

/* ---- Logs ---- */

/* The comparators of keys that end in a time have names that end so. */
static lanebloom_status find_timestamps(const struct version *version,
                                        struct timestamps *timestamps)
{
  static const char end[] = ".u64ts";
  enum { END_NBYTES = sizeof end - 1, TIMESTAMP_NBYTES = 8 };
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t i = 0; !status && i < version->nfamilies; i++) {
    const struct family *family = &version->families[i];
    const size_t n = family->comparator ? strlen(family->comparator) : 0;
    if (n >= END_NBYTES && strcmp(family->comparator + n - END_NBYTES, end) == 0)
      status = lanebloom_timestamps_set(timestamps, family->id, TIMESTAMP_NBYTES);
  }
  return status;
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
  if (status == LANEBLOOM_ERR_IO && errno == ENOENT) { /* the engine does not need it any more */
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
    status = name_problem(path, status, problem);
    free(path);
    return status;
  }
  database->log_paths[database->nlogs++] = path;
  return LANEBLOOM_OK;
}

/* Reads all logs that are in the folders. A log that the MANIFEST, read before, did not need any
 * more is never needed again. */
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
  char **damages = realloc(database->damages, (database->ndamages + 2) * sizeof *database->damages);
  if (!damages)
    return LANEBLOOM_ERR_MEMORY;
  database->damages = damages;
  va_list values;
  va_start(values, format);
  const int n = vasprintf(&damages[database->ndamages], format, values);
  va_end(values);
  if (n < 0)
    return LANEBLOOM_ERR_MEMORY;
  database->ndamages++;
  return LANEBLOOM_OK;
}

static void free_damages(struct lanebloom_database *database)
{
  for (size_t i = 0; i < database->ndamages; i++)
    free(database->damages[i]);
  free(database->damages);
  database->damages = NULL;
  database->ndamages = 0;
}

/* Is a live log behind this one that holds anything? Not if it goes on in another file. */
static bool has_later_log(const struct lanebloom_database *database, size_t log)
{
  if (log + 1 < database->nlogs && database->logs[log + 1].number == database->logs[log].number)
    return false;
  for (size_t i = log + 1; i < database->nlogs; i++)
    if (database->logs[i].nentries > 0)
      return true;
  return false;
}

static lanebloom_status find_damage(struct lanebloom_database *database, size_t i)
{
  const struct write_log *log = &database->logs[i];
  const char *path = database->log_paths[i];
  if (log->ndamages == 1)
    return add_damage(database, "%s: damaged at %" PRIu64 ": %s", path, log->damage_offset,
                      log->damage);
  if (log->ndamages > 1)
    return add_damage(database, "%s: damaged at %" PRIu64 ": %s (and at %" PRIu64 " more places)",
                      path, log->damage_offset, log->damage, log->ndamages - 1);
  if (log->is_torn && has_later_log(database, i))
    return add_damage(database,
                      "%s: damaged at its end: expected a whole record before the next log, found "
                      "a part at %" PRIu64,
                      path, log->nbytes);
  return LANEBLOOM_OK;
}

/* RocksDB may note which logs exist. Those that it made after the logs were listed are not needed.
 */
static lanebloom_status find_missing_logs(struct lanebloom_database *database)
{
  const struct version *version = &database->version;
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
  lanebloom_status status = LANEBLOOM_OK;
  free_damages(database);
  for (size_t i = 0; !status && i < database->nlogs; i++)
    if (is_live(database, i))
      status = find_damage(database, i);
  if (!status)
    status = find_missing_logs(database);
  return status ? problem_status(problem, status) : LANEBLOOM_OK;
}

/* ---- Opening ---- */

lanebloom_status lanebloom_database_update(lanebloom_database *database, bool *changed, char *text,
                                           size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  struct version version;
  lanebloom_status status = read_manifest(database, &database->manifest, &database->manifest_nbytes,
                                          &version, changed, &problem);
  if (status || !*changed)
    return status;
  lanebloom_version_free(&database->version);
  database->version = version;
  status = check_families(database, &problem);
  if (!status)
    status = find_tables(database, &problem);
  return status ? status : find_damages(database, &problem);
}

/* Do logs have to be read again, because keys end in a time that was not known of? */
static lanebloom_status has_new_timestamps(const struct lanebloom_database *database, bool *has)
{
  struct timestamps timestamps = {0};
  lanebloom_status status = find_timestamps(&database->version, &timestamps);
  *has = timestamps.n != database->timestamps.n;
  free(timestamps.list);
  return status;
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
  lanebloom_version_free(&database->version);
  free(database->manifest);
  database->manifest = NULL;
  free_wanted(database);
  free_damages(database);
}

/* Reads the logs between two looks into the MANIFEST. The first one says which logs are old, and
 * which keys end in a time. */
static lanebloom_status read_all(struct lanebloom_database *database,
                                 char *const log_folders[NLOG_FOLDERS],
                                 const struct problem *problem)
{
  struct version before;
  char *manifest = NULL;
  uint64_t nbytes = 0;
  bool changed;
  lanebloom_status status = read_manifest(database, &manifest, &nbytes, &before, &changed, problem);
  free(manifest);
  if (status)
    return status;
  status = find_timestamps(&before, &database->timestamps);
  if (!status)
    status = lanebloom_collector_init(&database->keys, 0);
  status =
      status ? problem_status(problem, status) : read_logs(database, log_folders, &before, problem);
  lanebloom_version_free(&before);
  return status ? status
                : lanebloom_database_update(database, &changed, problem->text, problem->size);
}

static lanebloom_status open_database(struct lanebloom_database *database,
                                      const struct problem *problem)
{
  enum { MAX_READINGS = 10 };
  char *log_folders[NLOG_FOLDERS];
  lanebloom_status status = lanebloom_folder_of_logs(database->folder, database->options.log_folder,
                                                     database->engine, log_folders, problem);
  bool again = !status;
  for (int reading = 0; again && reading < MAX_READINGS; reading++) {
    forget(database);
    status = read_all(database, log_folders, problem);
    if (!status)
      status = has_new_timestamps(database, &again);
    again = again && !status;
  }
  for (size_t i = 0; i < NLOG_FOLDERS; i++)
    free(log_folders[i]);
  return status;
}

lanebloom_status lanebloom_database_open(const char *folder,
                                         const lanebloom_database_options *options,
                                         lanebloom_database **database, char *text,
                                         size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  *database = NULL;
  if (!lanebloom_kernel_active())
    return problem_status(&problem, LANEBLOOM_ERR_KERNEL);
  lanebloom_database *made = calloc(1, sizeof *made);
  if (!made || !(made->folder = strdup(folder))) {
    free(made);
    return problem_memory(&problem, sizeof *made);
  }
  if (options)
    made->options = *options;
  lanebloom_status status = lanebloom_database_find(folder, &made->engine, text, text_size);
  if (!status)
    status = open_database(made, &problem);
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
  free(database->folder);
  free(database);
  errno = error;
}

/* ---- What it has ---- */

size_t lanebloom_database_table_count(const lanebloom_database *database)
{
  return database->nwanted;
}

lanebloom_database_table lanebloom_database_table_at(const lanebloom_database *database, size_t i)
{
  const struct live_table *table = &database->wanted[i].table;
  const struct family *family = lanebloom_version_family(&database->version, table->family);
  return (lanebloom_database_table){.path = database->wanted[i].path,
                                    .family = family->name,
                                    .number = table->number,
                                    .level = table->level,
                                    .is_elsewhere = table->path > 0};
}

static bool counts(const struct lanebloom_database *database, const struct hashed_entry *entry)
{
  return is_wanted(database, entry->family) &&
         lanebloom_version_counts(&database->version, database->logs[entry->log].number,
                                  entry->family, entry->is_prepared);
}

/* The hashes of the keys that count. */
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

/* The filter of the other keys. */
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
           "the logs have too many keys to know them all: %" PRIu64
           " are in a filter, which has a false-positive rate",
           database->keys.nothers);
  lanebloom_table_warn(table, text);
  lanebloom_builder *copy; /* the builder stays, for another call */
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
                                  .sequence = database->version.sequence,
                                  .ntables = database->nwanted,
                                  .manifest = database->manifest};
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
  return i < database->ndamages ? database->damages[i] : NULL;
}
