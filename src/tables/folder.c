/* Finds the files of a database: parses the names in its folder, and reads CURRENT and OPTIONS.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../input.h"
#include "../system/system.h"
#include "folder.h"

/* ---- Names ---- */

char *lanebloom_folder_join(const char *folder, const char *name)
{
  const size_t n = strlen(folder);
  char *path;
  return asprintf(&path, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/", name) < 0
             ? NULL
             : path;
}

char *lanebloom_folder_number(const char *folder, uint64_t number, const char *end)
{
  char name[40];
  snprintf(name, sizeof name, "%06" PRIu64 ".%s", number, end);
  return lanebloom_folder_join(folder, name);
}

char *lanebloom_folder_log(const struct log_name *log)
{
  if (log->index == 0)
    return lanebloom_folder_number(log->folder, log->number, "log");
  char name[60];
  snprintf(name, sizeof name, "%06" PRIu64 "-%03" PRIu64 ".log", log->number, log->index);
  return lanebloom_folder_join(log->folder, name);
}

/* Parses a decimal number, and moves *text past it. Returns false if there is no number, or if it
 * has more than 64 bits. */
static bool parse_number(const char **text, uint64_t *number)
{
  const char *digit = *text;
  *number = 0;
  for (; *digit >= '0' && *digit <= '9'; digit++)
    if (__builtin_mul_overflow(*number, 10, number) ||
        __builtin_add_overflow(*number, (uint64_t)(*digit - '0'), number))
      return false;
  const bool is_there = digit > *text;
  *text = digit;
  return is_there;
}

static bool begins_with(const char *text, const char *begin)
{
  return strncmp(text, begin, strlen(begin)) == 0;
}

/* Does the name consist of `begin`, a number and `end`? Stores the number. */
static bool parse_name(const char *name, const char *begin, const char *end, uint64_t *number)
{
  if (!begins_with(name, begin))
    return false;
  name += strlen(begin);
  return parse_number(&name, number) && strcmp(name, end) == 0;
}

/* ---- Contents ---- */

/* Facts that follow from the names of the files in a folder. */
struct names {
  bool has_current, has_manifest, has_identity, has_marker;
  bool has_options, has_newer; /* are there files OPTIONS-NUMBER, CURRENT.NUMBER? */
  uint64_t options, newer;     /* the highest number of each */
  struct log_name *logs;
  size_t nlogs, room;

  /* Pebble has files marker.manifest.NUMBER.MANIFEST-NUMBER. `marker` is the highest first number.
   * `marked` is the second number of the same file: the number of the MANIFEST in use. */
  bool has_manifest_marker, has_format_marker;
  uint64_t marker, marked;
};

static void keep_highest(bool *is_there, uint64_t *highest, uint64_t number)
{
  *highest = !*is_there || number > *highest ? number : *highest;
  *is_there = true;
}

/* Returns false if memory ran out. */
static bool add_log(struct names *names, uint64_t number, uint64_t index)
{
  if (names->nlogs == names->room) {
    const size_t room = names->room ? 2 * names->room : 16;
    struct log_name *logs = realloc(names->logs, room * sizeof *logs);
    if (!logs)
      return false;
    names->logs = logs;
    names->room = room;
  }
  names->logs[names->nlogs++] = (struct log_name){.number = number, .index = index};
  return true;
}

/* Does the name consist of `begin`, a number, `middle`, a number and `end`? Stores the numbers. */
static bool parse_names(const char *name, const char *begin, const char *middle, const char *end,
                        uint64_t numbers[2])
{
  if (!begins_with(name, begin))
    return false;
  name += strlen(begin);
  return parse_number(&name, &numbers[0]) && parse_name(name, middle, end, &numbers[1]);
}

static void add_marker(struct names *names, const char *name)
{
  uint64_t numbers[2];
  if (parse_names(name, "marker.manifest.", ".MANIFEST-", "", numbers) &&
      (!names->has_manifest_marker || numbers[0] > names->marker)) {
    names->has_manifest_marker = true;
    names->marker = numbers[0];
    names->marked = numbers[1];
  }
  names->has_format_marker |= begins_with(name, "marker.format-version.");
  names->has_marker = true;
}

/* Returns false if memory ran out. */
static bool add_name(struct names *names, const char *name)
{
  uint64_t number, numbers[2];
  if (parse_name(name, "", ".log", &number))
    return add_log(names, number, 0);
  if (parse_names(name, "", "-", ".log", numbers))
    return add_log(names, numbers[0], numbers[1]);
  if (parse_name(name, "OPTIONS-", "", &number))
    keep_highest(&names->has_options, &names->options, number);
  else if (parse_name(name, "CURRENT.", "", &number))
    keep_highest(&names->has_newer, &names->newer, number);
  names->has_manifest |= parse_name(name, "MANIFEST-", "", &number);
  names->has_current |= strcmp(name, "CURRENT") == 0;
  names->has_identity |= strcmp(name, "IDENTITY") == 0;
  if (begins_with(name, "marker."))
    add_marker(names, name);
  return true;
}

/* Reads the names of all files in a folder. The caller frees names->logs. Errors: IO, MEMORY. On an
 * error there is nothing to free. */
static lanebloom_status read_names(const char *folder, struct names *names,
                                   const struct problem *problem)
{
  lanebloom_status status = LANEBLOOM_OK;
  *names = (struct names){0};
  struct system_folder *files = lanebloom_system_folder_open(folder);
  if (!files)
    return problem_io(problem);
  for (const char *name; !status && (name = lanebloom_system_folder_next(files));)
    if (!add_name(names, name))
      status = problem_memory(problem, 2 * names->room * sizeof *names->logs);
  if (!status && errno)
    status = problem_io(problem);
  lanebloom_system_folder_close(files);
  if (status)
    free(names->logs);
  return status;
}

/* ---- Small files ---- */

/* Reads a file as text, which the caller frees. Errors: LIMIT if the file is too large; IO,
 * MEMORY. */
static lanebloom_status read_text(const char *folder, const char *name, char **text, size_t *nbytes,
                                  const struct problem *problem)
{
  enum { MAX_NBYTES = 16 << 20 };
  struct input input;
  char *path = lanebloom_folder_join(folder, name);
  *text = NULL;
  if (!path)
    return problem_memory(problem, 1);
  lanebloom_status status = lanebloom_input_open(path, &input, problem);
  free(path);
  if (status)
    return status;
  if (input.nbytes > MAX_NBYTES)
    status = problem_set(problem, LANEBLOOM_ERR_LIMIT, "expected at most 16 MiB, found more");
  *nbytes = (size_t)input.nbytes;
  if (!status && !(*text = calloc(1, *nbytes + 1)))
    status = problem_memory(problem, *nbytes + 1);
  if (!status)
    status = lanebloom_input_read(&input, 0, *text, *nbytes, problem);
  lanebloom_input_close(&input);
  if (status) {
    free(*text);
    *text = NULL;
  }
  return status;
}

/* Reads CURRENT, or a file of the same form. The whole text of the file must be
 * "MANIFEST-NUMBER\n". *manifest becomes the name without the line end. The caller frees the
 * name. */
static lanebloom_status read_current(const char *folder, const char *name, uint64_t *number,
                                     char **manifest, const struct problem *problem)
{
  char *text;
  size_t nbytes = 0;
  lanebloom_status status = read_text(folder, name, &text, &nbytes, problem);
  if (status)
    return status;
  if (strlen(text) != nbytes || !parse_name(text, "MANIFEST-", "\n", number)) {
    const bool is_conflict = begins_with(text, "<<<<<<< ");
    free(text);
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged: expected MANIFEST-, a number and the end of the line, found %s",
                       is_conflict ? "the marks of a merge of Git that was not finished; restore "
                                     "the folder as it was in one commit"
                                   : "other bytes");
  }
  text[nbytes - 1] = 0;
  *manifest = text;
  return LANEBLOOM_OK;
}

/* Replaces *manifest if a newer MANIFEST is in use. goleveldb writes a file CURRENT.NUMBER before
 * it replaces CURRENT. If the newest CURRENT.NUMBER is complete and names a MANIFEST that exists,
 * and this MANIFEST has a higher number than the one in CURRENT, then this MANIFEST is in use. */
static lanebloom_status prefer_newer(const char *folder, uint64_t newest, uint64_t number,
                                     char **manifest, const struct problem *problem)
{
  uint64_t found = 0; /* avoids a false warning of gcc 12 at -O3 */
  char name[40], *other = NULL;
  snprintf(name, sizeof name, "CURRENT.%" PRIu64, newest);
  lanebloom_status status = read_current(folder, name, &found, &other, problem);
  if (status == LANEBLOOM_ERR_CORRUPT || (status == LANEBLOOM_ERR_IO && errno == ENOENT))
    return LANEBLOOM_OK;
  if (status)
    return status;
  char *path = lanebloom_folder_join(folder, other);
  if (!path)
    status = problem_memory(problem, 1);
  else if (found > number && lanebloom_system_exists(path)) {
    char *older = *manifest;
    *manifest = other;
    other = older;
  }
  free(path);
  free(other);
  return status;
}

/* Does a marker file of Pebble, and not CURRENT, name the MANIFEST in use? In databases of Pebble's
 * first format, CURRENT names the MANIFEST, although a marker for it may already exist. Databases
 * of later formats also have a marker of the format; in them the marker names the MANIFEST, and a
 * CURRENT that remains must be ignored. */
static bool has_marker(const struct names *names, lanebloom_engine engine)
{
  return engine == LANEBLOOM_ENGINE_PEBBLE && names->has_manifest_marker &&
         (names->has_format_marker || !names->has_current);
}

lanebloom_status lanebloom_folder_current(const char *folder, lanebloom_engine engine,
                                          char **manifest, const struct problem *problem)
{
  char text[200];
  const struct problem inner = {text, sizeof text};
  struct names names;
  uint64_t number = 0;
  *manifest = NULL;
  lanebloom_status status = read_names(folder, &names, problem);
  if (status)
    return status;
  free(names.logs);
  if (has_marker(&names, engine)) {
    char name[40];
    snprintf(name, sizeof name, "MANIFEST-%06" PRIu64, names.marked);
    *manifest = strdup(name);
    return *manifest ? LANEBLOOM_OK : problem_memory(problem, sizeof name);
  }
  problem_clear(&inner);
  status = read_current(folder, "CURRENT", &number, manifest, &inner);
  if (!status && names.has_newer)
    status = prefer_newer(folder, names.newer, number, manifest, &inner);
  if (status) {
    free(*manifest);
    *manifest = NULL;
    return problem_set(problem, status, "CURRENT: %s", text);
  }
  return LANEBLOOM_OK;
}

/* ---- Engines ---- */

/* Reads the names in the folder, and the text of the newest OPTIONS file, which only RocksDB and
 * Pebble write. If there is no such file, *text becomes NULL. An engine that starts replaces the
 * file; if the file disappears before it is read, the folder is read again. Errors: the errors of
 * read_names() and read_text(). */
static lanebloom_status read_options(const char *folder, struct names *names, char **text,
                                     const struct problem *problem)
{
  enum { MAX_LOOKS = 1000 };
  char name[40], why[200];
  const struct problem inner = problem_begin(why, sizeof why);
  lanebloom_status status = LANEBLOOM_OK;
  uint64_t earlier = 0;
  *text = NULL;
  for (int look = 0; look < MAX_LOOKS; look++) {
    size_t nbytes;
    status = read_names(folder, names, problem);
    if (status || !names->has_options)
      return status;
    snprintf(name, sizeof name, "OPTIONS-%06" PRIu64, names->options);
    status = read_text(folder, name, text, &nbytes, &inner);
    if (!status)
      return status;
    free(names->logs);
    const bool is_same = look > 0 && names->options == earlier; /* a link to a missing file */
    if (status != LANEBLOOM_ERR_IO || errno != ENOENT || is_same)
      break;
    earlier = names->options;
  }
  return problem_set(problem, status, "%s: %s", name, why);
}

lanebloom_status lanebloom_database_find(const char *folder, lanebloom_engine *engine, char *text,
                                         size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  struct names names;
  char *options;
  *engine = 0;
  lanebloom_status status = read_options(folder, &names, &options, &problem);
  if (status)
    return status;
  const bool is_pebble = names.has_marker || (options && strstr(options, "pebble_version"));
  if (is_pebble)
    *engine = LANEBLOOM_ENGINE_PEBBLE;
  else if (names.has_current || names.has_manifest || names.nlogs > 0)
    *engine = names.has_options || names.has_identity ? LANEBLOOM_ENGINE_ROCKSDB
                                                      : LANEBLOOM_ENGINE_LEVELDB;
  free(names.logs);
  free(options);
  return LANEBLOOM_OK;
}

/* ---- Logs ---- */

static int compare_logs(const void *a, const void *b)
{
  const struct log_name *left = a, *right = b;
  if (left->number != right->number)
    return left->number < right->number ? -1 : 1;
  return (left->index > right->index) - (left->index < right->index);
}

/* Appends the logs of a folder to the list. Names with an index are ignored unless the engine is
 * Pebble, because only Pebble splits logs. */
static lanebloom_status append_logs(const char *folder, lanebloom_engine engine,
                                    struct log_name **logs, size_t *n,
                                    const struct problem *problem)
{
  struct names names;
  lanebloom_status status = read_names(folder, &names, problem);
  if (status)
    return status;
  struct log_name *all = realloc(*logs, (*n + names.nlogs + 1) * sizeof *all);
  if (!all) {
    free(names.logs);
    return problem_memory(problem, (*n + names.nlogs) * sizeof *all);
  }
  *logs = all;
  for (size_t i = 0; i < names.nlogs; i++)
    if (names.logs[i].index == 0 || engine == LANEBLOOM_ENGINE_PEBBLE) {
      all[*n] = names.logs[i];
      all[(*n)++].folder = folder;
    }
  free(names.logs);
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_folder_logs(char *const folders[NLOG_FOLDERS], lanebloom_engine engine,
                                       struct log_name **logs, size_t *n,
                                       const struct problem *problem)
{
  lanebloom_status status = LANEBLOOM_OK;
  *logs = NULL;
  *n = 0;
  for (size_t i = 0; !status && i < NLOG_FOLDERS; i++)
    if (folders[i])
      status = append_logs(folders[i], engine, logs, n, problem);
  if (status) {
    free(*logs);
    *logs = NULL;
  } else if (*n > 1)
    qsort(*logs, *n, sizeof **logs, compare_logs);
  return status;
}

/* Returns the part of the text that begins with the value of an option, or "" if the option is
 * missing. name: the name of the option with its '='. */
static const char *find_option(const char *options, const char *name)
{
  for (const char *line = options; line; line = strchr(line, '\n')) {
    line += strspn(line, " \t\n");
    if (begins_with(line, name))
      return line + strlen(name);
  }
  return "";
}

/* Finds the folder that an option names. The caller frees *path, which is NULL if the option names
 * no folder. Pebble may write {store_path} for the database's folder. */
static lanebloom_status find_folder(const char *options, const char *name, const char *folder,
                                    char **path, const struct problem *problem)
{
  static const char store[] = "{store_path}";
  const char *value = find_option(options, name);
  const int nbytes = (int)strcspn(value, "\n");
  const bool in_store = begins_with(value, store);
  const int nskipped = in_store ? sizeof store - 1 : 0;
  *path = NULL;
  if (nbytes == 0 ||
      asprintf(path, "%s%.*s", in_store ? folder : "", nbytes - nskipped, value + nskipped) >= 0)
    return LANEBLOOM_OK;
  *path = NULL;
  return problem_memory(problem, (size_t)nbytes);
}

/* Reads the names in a folder of logs that OPTIONS names, and frees names->logs. */
static lanebloom_status read_named(const char *option, const char *path, struct names *names,
                                   const struct problem *problem)
{
  lanebloom_status status = read_names(path, names, problem);
  if (!status)
    free(names->logs);
  else if (status == LANEBLOOM_ERR_IO && (errno == ENOENT || errno == ENOTDIR))
    status = problem_set(problem, LANEBLOOM_ERR_FORMAT,
                         "expected the folder of logs that OPTIONS names as %s, '%s', found none; "
                         "name the folder that has the logs now, or the database's own folder if "
                         "there are no such logs",
                         option, path);
  return status;
}

/* Chooses the folders of logs. OPTIONS has the path of the folder as it was when the database was
 * written. If the database was copied since, that folder may belong to the original or to another
 * database, or may be missing. So if there are logs beside the tables, these logs are read, and the
 * folder in OPTIONS is not. */
static lanebloom_status choose_folders(const char *folder, const char *options, size_t nlogs,
                                       char *folders[NLOG_FOLDERS], const struct problem *problem)
{
  struct names names;
  char *main = NULL;
  lanebloom_status status = find_folder(options, "wal_dir=", folder, &main, problem);
  if (!status && main && nlogs == 0) {
    status = read_named("wal_dir", main, &names, problem);
    if (!status && !names.has_current && !names.has_manifest) {
      folders[0] = main;
      main = NULL;
    }
  }
  free(main);
  /* Pebble writes its logs to this folder while the disk of the first folder does not respond. */
  if (!status)
    status = find_folder(options, "secondary_dir=", folder, &folders[1], problem);
  if (!status && folders[1])
    status = read_named("secondary_dir", folders[1], &names, problem);
  return status;
}

lanebloom_status lanebloom_folder_of_logs(const char *folder, const char *wanted,
                                          lanebloom_engine engine, char *folders[NLOG_FOLDERS],
                                          const struct problem *problem)
{
  struct names names = {0};
  char *options = NULL;
  lanebloom_status status = LANEBLOOM_OK;
  folders[0] = folders[1] = NULL;
  if (!wanted && engine != LANEBLOOM_ENGINE_LEVELDB) {
    status = read_options(folder, &names, &options, problem);
    if (status)
      return status;
    free(names.logs);
  }
  if (options)
    status = choose_folders(folder, options, names.nlogs, folders, problem);
  free(options);
  if (!status && !folders[0] && !(folders[0] = strdup(wanted ? wanted : folder)))
    status = problem_memory(problem, 1);
  for (size_t i = 0; status && i < NLOG_FOLDERS; i++) {
    free(folders[i]);
    folders[i] = NULL;
  }
  return status;
}
