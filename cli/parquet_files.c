/* Finds Parquet files by name, in folders and by patterns.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "parquet_files.h"

/* ---- --bounds ---- */

enum { OPTION_BOUNDS = 0x600 };

static error_t parse(int key, char *text, struct argp_state *state)
{
  lanebloom_parquet_bounds *bounds = state->input;
  if (key != OPTION_BOUNDS)
    return ARGP_ERR_UNKNOWN;
  for (lanebloom_parquet_bounds i = LANEBLOOM_PARQUET_BOUNDS_KNOWN;
       lanebloom_parquet_bounds_name(i); i++)
    if (strcmp(text, lanebloom_parquet_bounds_name(i)) == 0) {
      *bounds = i;
      return 0;
    }
  usage_error(state, "--bounds: expected known, all or none, found '%s'", text);
  return 0;
}

const struct argp bounds_argp = {
    .options =
        (const struct argp_option[]){
            {"bounds", OPTION_BOUNDS, "WHOSE", 0,
             "Whose bounds and counts of nulls in Parquet files say that a key is absent: `known', "
             "the default, those of writers that were seen to write them right; `all', also where "
             "they may be wrong; `none'",
             3},
            {0}},
    .parser = parse,
};

/* ---- Names ---- */

static void add_path(struct paths *paths, const char *path)
{
  char *copy = resize(NULL, strlen(path) + 1);
  strcpy(copy, path);
  paths->all = grow_list(paths->all, paths->n, sizeof *paths->all);
  paths->all[paths->n++] = copy;
}

static bool is_hidden(const char *name)
{
  return *name == '.' || *name == '_';
}

static bool is_parquet_name(const char *name)
{
  static const char suffix[] = ".parquet";
  const size_t nbytes = strlen(name), suffix_nbytes = sizeof suffix - 1;
  return nbytes > suffix_nbytes && strcmp(name + nbytes - suffix_nbytes, suffix) == 0;
}

enum { MAGIC_NBYTES = 4 };

static bool has_magic(FILE *file, off_t offset, int whence)
{
  char magic[MAGIC_NBYTES];
  return fseeko(file, offset, whence) == 0 && fread(magic, 1, sizeof magic, file) == sizeof magic &&
         (memcmp(magic, "PAR1", sizeof magic) == 0 || /* encrypted: */
          memcmp(magic, "PARE", sizeof magic) == 0);
}

/* Readers look at the end alone; a truncated file has but the beginning. */
static void look_for_magic(const char *path, bool *at_begin, bool *at_end)
{
  FILE *file = fopen(path, "re");
  *at_begin = file && has_magic(file, 0, SEEK_SET);
  *at_end = file && has_magic(file, -(off_t)MAGIC_NBYTES, SEEK_END);
  if (file)
    fclose(file);
}

static bool is_parquet_by_content(const char *path)
{
  bool at_begin, at_end;
  look_for_magic(path, &at_begin, &at_end);
  return at_begin && at_end;
}

/* Folders that are still to be read, and those that were: links may lead to them again. */
struct folders {
  struct paths paths;
  void *ids; /* of all of them: a tree of tsearch(3) */
};

struct folder_id {
  dev_t device;
  ino_t inode;
};

static int compare_ids(const void *a, const void *b)
{
  const struct folder_id *left = a, *right = b;
  if (left->device != right->device)
    return left->device < right->device ? -1 : 1;
  return (left->inode > right->inode) - (left->inode < right->inode);
}

static void add_folder_once(struct folders *folders, const char *path, const struct stat *status)
{
  struct folder_id *id = resize(NULL, sizeof *id);
  *id = (struct folder_id){status->st_dev, status->st_ino};
  if (find_or_add(id, &folders->ids, compare_ids) == id)
    add_path(&folders->paths, path);
  else
    free(id);
}

static void add_entry(struct paths *paths, struct folders *folders, const char *folder,
                      const char *name)
{
  struct stat status;
  char *path = resize(NULL, strlen(folder) + strlen(name) + sizeof "/");
  const bool has_slash = folder[strlen(folder) - 1] == '/';
  sprintf(path, "%s%s%s", folder, has_slash ? "" : "/", name);
  if (stat(path, &status) != 0) {
    if (errno != ENOENT) /* a link to nothing, or a file that was deleted meanwhile */
      die(path, "%s", strerror(errno));
  } else if (S_ISDIR(status.st_mode)) {
    add_folder_once(folders, path, &status);
  } else if (is_parquet_name(name) || (S_ISREG(status.st_mode) && is_parquet_by_content(path))) {
    add_path(paths, path);
  }
  free(path);
}

static void read_folder(struct paths *paths, struct folders *folders, const char *folder)
{
  DIR *entries = opendir(folder);
  if (!entries)
    die(folder, "%s", strerror(errno));
  errno = 0;
  /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this thread's */
  for (const struct dirent *entry; (entry = readdir(entries)); errno = 0)
    if (!is_hidden(entry->d_name))
      add_entry(paths, folders, folder, entry->d_name);
  if (errno)
    die(folder, "%s", strerror(errno));
  closedir(entries);
}

/* Adds the files in a folder and below it, until there are `most'. */
static void add_folder(struct paths *paths, const char *folder, const struct stat *status,
                       size_t most)
{
  struct folders folders = {0};
  add_folder_once(&folders, folder, status);
  for (size_t i = 0; i < folders.paths.n && paths->n < most; i++)
    read_folder(paths, &folders, folders.paths.all[i]);
  paths_free(&folders.paths);
  tdestroy(folders.ids, free);
}

static void add_name(struct paths *paths, const char *name)
{
  struct stat status;
  if (stat(name, &status) != 0)
    die(name, "%s", strerror(errno));
  if (!S_ISDIR(status.st_mode)) {
    add_path(paths, name);
    return;
  }
  const size_t nbefore = paths->n;
  add_folder(paths, name, &status, SIZE_MAX);
  if (paths->n == nbefore)
    die(name, "expected a folder with Parquet files, found none in it");
}

static void add_pattern(struct paths *paths, const char *pattern)
{
  glob_t found;
  const int status = glob(pattern, GLOB_ERR | GLOB_NOSORT, NULL, &found);
  if (status == GLOB_NOMATCH)
    die(pattern, "expected the name or the pattern of Parquet files, found none of this name");
  if (status)
    die(pattern, "%s", strerror(status == GLOB_NOSPACE ? ENOMEM : errno));
  for (size_t i = 0; i < found.gl_pathc; i++)
    add_name(paths, found.gl_pathv[i]);
  globfree(&found);
}

static int compare_paths(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_once(struct paths *paths)
{
  size_t n = 0;
  qsort(paths->all, paths->n, sizeof *paths->all, compare_paths);
  for (size_t i = 0; i < paths->n; i++) {
    if (n > 0 && strcmp(paths->all[n - 1], paths->all[i]) == 0)
      free(paths->all[i]);
    else
      paths->all[n++] = paths->all[i];
  }
  paths->n = n;
}

struct paths parquet_list(char *const *names, size_t nnames)
{
  struct paths paths = {0};
  struct stat status;
  for (size_t i = 0; i < nnames; i++) {
    if (stat(names[i], &status) != 0 && errno == ENOENT)
      add_pattern(&paths, names[i]);
    else
      add_name(&paths, names[i]);
  }
  sort_once(&paths);
  return paths;
}

bool is_parquet(const char *name)
{
  struct stat status;
  if (stat(name, &status) != 0)
    return false;
  if (S_ISREG(status.st_mode)) {
    bool at_begin, at_end;
    look_for_magic(name, &at_begin, &at_end);
    return at_begin || at_end;
  }
  struct paths paths = {0};
  if (S_ISDIR(status.st_mode))
    add_folder(&paths, name, &status, 1);
  const bool is_any = paths.n > 0;
  paths_free(&paths);
  return is_any;
}

void paths_free(struct paths *paths)
{
  for (size_t i = 0; i < paths->n; i++)
    free(paths->all[i]);
  free(paths->all);
}
