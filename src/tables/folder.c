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

static bool exists(const char *folder, const char *name)
{
  char *path = lanebloom_folder_join(folder, name);
  const bool is_there = !path || access(path, F_OK) == 0;
  free(path);
  return is_there;
}

/* The highest number of a name in the folder; false: there is none, or memory ran out. */
static bool find_highest(const char *folder, const char *begin, const char *end, uint64_t *highest)
{
  bool is_there = false;
  DIR *files = opendir(folder);
  *highest = 0;
  for (struct dirent *file; files && (file = readdir(files));) {
    uint64_t number;
    if (!parse_name(file->d_name, begin, end, &number))
      continue;
    *highest = !is_there || number > *highest ? number : *highest;
    is_there = true;
  }
  if (files)
    closedir(files);
  return is_there;
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

/* goleveldb writes CURRENT.NUMBER before it replaces CURRENT: the newest one that is whole may be
 * ahead. */
static void prefer_newer(const char *folder, uint64_t number, char **manifest)
{
  uint64_t newest, found = 0; /* gcc 12 at -O3 does not see that both are set */
  char name[40], *other = NULL;
  if (!find_highest(folder, "CURRENT.", "", &newest))
    return;
  snprintf(name, sizeof name, "CURRENT.%" PRIu64, newest);
  if (read_current(folder, name, &found, &other, &no_problem))
    return;
  if (found <= number || !exists(folder, other)) {
    free(other);
    return;
  }
  free(*manifest);
  *manifest = other;
}

lanebloom_status lanebloom_folder_current(const char *folder, char **manifest,
                                          const struct problem *problem)
{
  char text[200];
  const struct problem inner = {text, sizeof text};
  uint64_t number = 0;
  *manifest = NULL;
  problem_clear(&inner);
  lanebloom_status status = read_current(folder, "CURRENT", &number, manifest, &inner);
  if (status)
    return problem_set(problem, status, "CURRENT: %s", text);
  prefer_newer(folder, number, manifest);
  return LANEBLOOM_OK;
}

/* ---- Engines ---- */

/* Reads the newest OPTIONS file, which RocksDB and Pebble write. An engine that starts replaces it.
 * *text is NULL if there is none. Errors: as of read_text(). */
static lanebloom_status read_options(const char *folder, char **text, const struct problem *problem)
{
  enum { MAX_LOOKS = 1000 };
  lanebloom_status status = LANEBLOOM_OK;
  *text = NULL;
  for (int look = 0; look < MAX_LOOKS; look++) {
    char name[40];
    uint64_t newest;
    size_t nbytes;
    if (!find_highest(folder, "OPTIONS-", "", &newest))
      return LANEBLOOM_OK;
    snprintf(name, sizeof name, "OPTIONS-%06" PRIu64, newest);
    status = read_text(folder, name, text, &nbytes, problem);
    if (status != LANEBLOOM_ERR_IO || errno != ENOENT)
      break;
  }
  return status;
}

static bool has_marker(const char *folder)
{
  static const char begin[] = "marker.";
  bool is_there = false;
  DIR *files = opendir(folder);
  for (struct dirent *file; files && !is_there && (file = readdir(files));)
    is_there = strncmp(file->d_name, begin, sizeof begin - 1) == 0;
  if (files)
    closedir(files);
  return is_there;
}

lanebloom_engine lanebloom_database_engine(const char *folder)
{
  uint64_t number;
  char *options;
  if (has_marker(folder))
    return LANEBLOOM_ENGINE_PEBBLE;
  if (!exists(folder, "CURRENT") && !find_highest(folder, "MANIFEST-", "", &number) &&
      !find_highest(folder, "", ".log", &number))
    return 0;
  if (read_options(folder, &options, &no_problem) || !options)
    return exists(folder, "IDENTITY") || find_highest(folder, "OPTIONS-", "", &number)
               ? LANEBLOOM_ENGINE_ROCKSDB
               : LANEBLOOM_ENGINE_LEVELDB;
  const bool is_pebble = strstr(options, "pebble_version");
  free(options);
  return is_pebble ? LANEBLOOM_ENGINE_PEBBLE : LANEBLOOM_ENGINE_ROCKSDB;
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
  lanebloom_status status = LANEBLOOM_OK;
  size_t room = 0;
  DIR *files = opendir(folder);
  *numbers = NULL;
  *n = 0;
  if (!files)
    return problem_io(problem);
  errno = 0;
  for (struct dirent *file; !status && (file = readdir(files));) {
    uint64_t number;
    if (!parse_name(file->d_name, "", ".log", &number))
      continue;
    if (*n == room) {
      room = room ? 2 * room : 16;
      uint64_t *grown = realloc(*numbers, room * sizeof *grown);
      if (!grown) {
        status = problem_memory(problem, room * sizeof *grown);
        break;
      }
      *numbers = grown;
    }
    (*numbers)[(*n)++] = number;
    errno = 0;
  }
  if (!status && errno)
    status = problem_io(problem);
  closedir(files);
  if (*n > 1)
    qsort(*numbers, *n, sizeof **numbers, compare_numbers);
  if (status) {
    free(*numbers);
    *numbers = NULL;
  }
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

static bool is_folder(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* OPTIONS has the folder as the writer knew it. If a database was copied, that is another database,
 * the one that was copied, or nothing. Logs beside the tables say that they are there. */
static lanebloom_status check_log_folder(const char *folder, const char *named, const char **chosen,
                                         const struct problem *problem)
{
  uint64_t number;
  *chosen = folder;
  if (!named || find_highest(folder, "", ".log", &number) || exists(named, "CURRENT"))
    return LANEBLOOM_OK;
  *chosen = named;
  if (is_folder(named))
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                     "expected the folder of logs that OPTIONS names as wal_dir, '%s', found none",
                     named);
}

lanebloom_status lanebloom_folder_of_logs(const char *folder, const char *wanted,
                                          lanebloom_engine engine, char **log_folder,
                                          const struct problem *problem)
{
  char *options = NULL;
  const char *chosen = wanted ? wanted : folder;
  lanebloom_status status = LANEBLOOM_OK;
  *log_folder = NULL;
  if (!wanted && engine == LANEBLOOM_ENGINE_ROCKSDB)
    status = read_options(folder, &options, problem);
  if (!status && options)
    status = check_log_folder(folder, find_log_folder(options), &chosen, problem);
  if (!status && !(*log_folder = strdup(chosen)))
    status = problem_memory(problem, 1);
  free(options);
  return status;
}
