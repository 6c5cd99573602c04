/* Finds Parquet files by name, in folders and by patterns.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fts.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "parquet_files.h"

static void add_path(struct paths *paths, const char *path)
{
  char *copy = resize(NULL, strlen(path) + 1);
  strcpy(copy, path);
  paths->all = resize(paths->all, (paths->n + 1) * sizeof *paths->all);
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

/* Adds the files below a folder, `most' at most. Links are followed, but not into a folder that
 * they are in. */
static void add_folder(struct paths *paths, char *folder, size_t most)
{
  char *const roots[] = {folder, NULL};
  FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
  if (!tree)
    die(folder, "%s", strerror(errno));
  errno = 0;
  for (FTSENT *entry; paths->n < most && (entry = fts_read(tree)); errno = 0) {
    const bool is_below = entry->fts_level > 0;
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
      die(entry->fts_path, "%s", strerror(entry->fts_errno));
    else if (is_below && is_hidden(entry->fts_name))
      fts_set(tree, entry, FTS_SKIP);
    else if (entry->fts_info == FTS_F && is_parquet_name(entry->fts_name))
      add_path(paths, entry->fts_path);
  }
  if (errno)
    die(folder, "%s", strerror(errno));
  fts_close(tree);
}

static void add_name(struct paths *paths, char *name)
{
  struct stat status;
  if (stat(name, &status) != 0)
    die(name, "%s", strerror(errno));
  if (!S_ISDIR(status.st_mode)) {
    add_path(paths, name);
    return;
  }
  const size_t nbefore = paths->n;
  add_folder(paths, name, SIZE_MAX);
  if (paths->n == nbefore)
    die(name, "expected a folder with .parquet files, found none in it");
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

static bool begins_as_parquet(const char *path)
{
  char magic[4];
  FILE *file = fopen(path, "re");
  const size_t nread = file ? fread(magic, 1, sizeof magic, file) : 0;
  if (file)
    fclose(file);
  return nread == sizeof magic && (memcmp(magic, "PAR1", nread) == 0 || /* encrypted: */
                                   memcmp(magic, "PARE", nread) == 0);
}

bool is_parquet(const char *name)
{
  struct stat status;
  if (stat(name, &status) != 0)
    return false;
  if (S_ISREG(status.st_mode))
    return begins_as_parquet(name);
  struct paths paths = {0};
  if (S_ISDIR(status.st_mode)) {
    char *folder = resize(NULL, strlen(name) + 1);
    add_folder(&paths, strcpy(folder, name), 1);
    free(folder);
  }
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
