/* Reads the folder of a database.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "input.h"

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

/* Parses a decimal number of 64 bits, and leaves *text behind it. */
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

/* Is the name BEGIN, a number, END? */
static bool parse_name(const char *name, const char *begin, const char *end, uint64_t *number)
{
  const size_t n = strlen(begin);
  if (strncmp(name, begin, n) != 0)
    return false;
  name += n;
  return parse_number(&name, number) && strcmp(name, end) == 0;
}

/* ---- What is in it ---- */

/* What names in a folder say. */
struct names {
  bool has_current, has_manifest, has_identity, has_marker;
  bool has_options, has_newer; /* OPTIONS-NUMBER, CURRENT.NUMBER */
  uint64_t options, newer;     /* the highest number of each */
  uint64_t *logs;
  size_t nlogs, room;
};

static void keep_highest(bool *is_there, uint64_t *highest, uint64_t number)
{
  *highest = !*is_there || number > *highest ? number : *highest;
  *is_there = true;
}

/* false: memory ran out. */
static bool add_log(struct names *names, uint64_t number)
{
  if (names->nlogs == names->room) {
    const size_t room = names->room ? 2 * names->room : 16;
    uint64_t *logs = realloc(names->logs, room * sizeof *logs);
    if (!logs)
      return false;
    names->logs = logs;
    names->room = room;
  }
  names->logs[names->nlogs++] = number;
  return true;
}

/* false: memory ran out. */
static bool add_name(struct names *names, const char *name)
{
  static const char marker[] = "marker.";
  uint64_t number;
  if (parse_name(name, "", ".log", &number))
    return add_log(names, number);
  if (parse_name(name, "OPTIONS-", "", &number))
    keep_highest(&names->has_options, &names->options, number);
  else if (parse_name(name, "CURRENT.", "", &number))
    keep_highest(&names->has_newer, &names->newer, number);
  names->has_manifest |= parse_name(name, "MANIFEST-", "", &number);
  names->has_current |= strcmp(name, "CURRENT") == 0;
  names->has_identity |= strcmp(name, "IDENTITY") == 0;
  names->has_marker |= strncmp(name, marker, sizeof marker - 1) == 0;
  return true;
}

/* Reads the names of all files. Errors: IO, MEMORY; then there is nothing to free. */
static lanebloom_status read_names(const char *folder, struct names *names,
                                   const struct problem *problem)
{
  lanebloom_status status = LANEBLOOM_OK;
  *names = (struct names){0};
  DIR *files = opendir(folder);
  if (!files)
    return problem_io(problem);
  errno = 0;
  /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this thread's */
  for (struct dirent *file; !status && (file = readdir(files)); errno = 0)
    if (!add_name(names, file->d_name))
      status = problem_memory(problem, 2 * names->room * sizeof *names->logs);
  if (!status && errno)
    status = problem_io(problem);
  closedir(files);
  if (status)
    free(names->logs);
  return status;
}

/* ---- Small files ---- */

/* Reads a file as text; the caller frees it. Errors: LIMIT: it is too large; IO, MEMORY. */
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

/* Reads the number in CURRENT, or in another file like it: "MANIFEST-NUMBER\n" and nothing else. */
static lanebloom_status read_current(const char *folder, const char *name, uint64_t *number,
                                     char **manifest, const struct problem *problem)
{
  char *text;
  size_t nbytes;
  lanebloom_status status = read_text(folder, name, &text, &nbytes, problem);
  if (status)
    return status;
  if (strlen(text) != nbytes || !parse_name(text, "MANIFEST-", "\n", number)) {
    free(text);
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged: expected MANIFEST-, a number and the end of the line, found other "
                       "bytes");
  }
  text[nbytes - 1] = 0;
  *manifest = text;
  return LANEBLOOM_OK;
}

/* goleveldb writes CURRENT.NUMBER before it replaces CURRENT: the newest one that is whole, and
 * whose MANIFEST is there, may be ahead. */
static lanebloom_status prefer_newer(const char *folder, uint64_t newest, uint64_t number,
                                     char **manifest, const struct problem *problem)
{
  uint64_t found = 0; /* gcc 12 at -O3 does not see that both are set */
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
  else if (found > number && access(path, F_OK) == 0) {
    char *older = *manifest;
    *manifest = other;
    other = older;
  }
  free(path);
  free(other);
  return status;
}

lanebloom_status lanebloom_folder_current(const char *folder, char **manifest,
                                          const struct problem *problem)
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

/* Reads the names in the folder, and the newest OPTIONS file, which RocksDB and Pebble write. An
 * engine that starts replaces it. *text is NULL if there is none. Errors: as of read_text(). */
static lanebloom_status read_options(const char *folder, struct names *names, char **text,
                                     const struct problem *problem)
{
  enum { MAX_LOOKS = 1000 };
  lanebloom_status status = LANEBLOOM_OK;
  *text = NULL;
  for (int look = 0; look < MAX_LOOKS; look++) {
    char name[40];
    size_t nbytes;
    status = read_names(folder, names, problem);
    if (status || !names->has_options)
      return status;
    snprintf(name, sizeof name, "OPTIONS-%06" PRIu64, names->options);
    status = read_text(folder, name, text, &nbytes, problem);
    if (!status)
      return status;
    free(names->logs);
    if (status != LANEBLOOM_ERR_IO || errno != ENOENT)
      break;
  }
  return status;
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

static int compare_numbers(const void *a, const void *b)
{
  const uint64_t *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

lanebloom_status lanebloom_folder_logs(const char *folder, uint64_t **numbers, size_t *n,
                                       const struct problem *problem)
{
  struct names names;
  lanebloom_status status = read_names(folder, &names, problem);
  *numbers = status ? NULL : names.logs;
  *n = status ? 0 : names.nlogs;
  if (*n > 1)
    qsort(*numbers, *n, sizeof **numbers, compare_numbers);
  return status;
}

/* The value of wal_dir; NULL: there is no such line. */
static char *find_log_folder(char *options)
{
  static const char name[] = "wal_dir=";
  for (char *line = options, *rest; line; line = rest) {
    rest = strchr(line, '\n');
    if (rest)
      *rest++ = 0;
    line += strspn(line, " \t");
    if (strncmp(line, name, sizeof name - 1) == 0)
      return line[sizeof name - 1] ? line + sizeof name - 1 : NULL;
  }
  return NULL;
}

/* OPTIONS has the folder as the writer knew it. If a database was copied, that is another database,
 * the one that was copied, or nothing. Logs beside the tables say that they are there. */
static lanebloom_status check_log_folder(const char *folder, const char *named, size_t nlogs,
                                         const char **chosen, const struct problem *problem)
{
  struct names names;
  *chosen = folder;
  if (!named || nlogs > 0)
    return LANEBLOOM_OK;
  lanebloom_status status = read_names(named, &names, problem);
  if (status == LANEBLOOM_ERR_IO && (errno == ENOENT || errno == ENOTDIR))
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected the folder of logs that OPTIONS names as wal_dir, '%s', found "
                       "none",
                       named);
  if (status)
    return status;
  free(names.logs);
  if (!names.has_current)
    *chosen = named;
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_folder_of_logs(const char *folder, const char *wanted,
                                          lanebloom_engine engine, char **log_folder,
                                          const struct problem *problem)
{
  struct names names = {0};
  char *options = NULL;
  const char *chosen = wanted ? wanted : folder;
  lanebloom_status status = LANEBLOOM_OK;
  *log_folder = NULL;
  if (!wanted && engine == LANEBLOOM_ENGINE_ROCKSDB) {
    status = read_options(folder, &names, &options, problem);
    if (status)
      return status;
    free(names.logs);
  }
  if (options)
    status = check_log_folder(folder, find_log_folder(options), names.nlogs, &chosen, problem);
  if (!status && !(*log_folder = strdup(chosen)))
    status = problem_memory(problem, 1);
  free(options);
  return status;
}
