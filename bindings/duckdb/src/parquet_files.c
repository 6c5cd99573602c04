/* The Parquet files that a pattern stands for.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "extension.h"

enum { MAGIC_NBYTES = 4, MAX_OPEN_FOLDERS = 16 };

/* What nftw() adds to: it passes nothing on. */
static _Thread_local struct paths *found;
static _Thread_local char *found_problem;

static bool add_path(struct paths *paths, const char *path)
{
  char **all = realloc(paths->all, (paths->n + 1) * sizeof *all);
  if (!all)
    return false;
  paths->all = all;
  all[paths->n] = strdup(path);
  return all[paths->n] && ++paths->n;
}

void paths_free(struct paths *paths)
{
  for (size_t i = 0; i < paths->n; i++)
    free(paths->all[i]);
  free(paths->all);
}

/* ---- Folders ---- */

/* By the conventions of Hive and Spark: but for a partition's folder, whose column may have any
 * name. */
static bool is_hidden(const char *name)
{
  return *name == '.' || (*name == '_' && !strchr(name, '='));
}

static bool has_parquet_name(const char *name)
{
  static const char suffix[] = ".parquet";
  const size_t nbytes = strlen(name), suffix_nbytes = sizeof suffix - 1;
  return nbytes > suffix_nbytes && strcmp(name + nbytes - suffix_nbytes, suffix) == 0;
}

static bool has_magic(FILE *file, long offset, int whence, const char *magic)
{
  char bytes[MAGIC_NBYTES];
  return fseek(file, offset, whence) == 0 && fread(bytes, 1, sizeof bytes, file) == sizeof bytes &&
         memcmp(bytes, magic, sizeof bytes) == 0;
}

/* Does it begin or end as a Parquet file, or as an encrypted one at both ends? If nobody can tell,
 * it may: opening it says what is wrong. */
static bool has_parquet_content(const char *path)
{
  FILE *file = fopen(path, "re");
  if (!file)
    return errno != ENOENT;
  const long end = -(long)MAGIC_NBYTES;
  const bool is =
      has_magic(file, 0, SEEK_SET, "PAR1") || has_magic(file, end, SEEK_END, "PAR1") ||
      (has_magic(file, 0, SEEK_SET, "PARE") && has_magic(file, end, SEEK_END, "PARE")) ||
      ferror(file);
  fclose(file);
  return is;
}

static int visit(const char *path, const struct stat *status, int kind, struct FTW *where)
{
  const char *name = path + where->base;
  if (where->level > 0 && is_hidden(name))
    return FTW_SKIP_SUBTREE;
  if (kind == FTW_DNR) {
    explain(found_problem, path, LANEBLOOM_ERR_IO, "the folder cannot be read");
    return FTW_STOP;
  }
  if (kind == FTW_D)
    return FTW_CONTINUE;
  const bool is_file = kind == FTW_F && S_ISREG(status->st_mode);
  /* FTW_NS: nobody can tell what it is */
  if ((has_parquet_name(name) || kind == FTW_NS || (is_file && has_parquet_content(path))) &&
      !add_path(found, path))
    return FTW_STOP;
  return FTW_CONTINUE;
}

/* Each folder once: nftw() remembers them where it follows links. */
static bool add_folder(struct paths *paths, const char *folder, problem_text problem)
{
  const size_t nbefore = paths->n;
  found = paths;
  found_problem = problem;
  /* NOLINTNEXTLINE(concurrency-mt-unsafe): the working directory stays, without FTW_CHDIR */
  const int status = nftw(folder, visit, MAX_OPEN_FOLDERS, FTW_ACTIONRETVAL);
  if (status < 0)
    explain(problem, folder, LANEBLOOM_ERR_IO, "the folder cannot be read");
  else if (status == 0 && paths->n == nbefore)
    explain(problem, folder, LANEBLOOM_ERR_ARGUMENT,
            "expected a folder with Parquet files, found none in it");
  return status == 0 && paths->n > nbefore;
}

/* ---- Patterns ---- */

static int compare_paths(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A pattern that fits no file is the name of one. */
static bool add_pattern(struct paths *paths, const char *pattern, problem_text problem)
{
  glob_t matches;
  /* NOLINTNEXTLINE(concurrency-mt-unsafe): names of users alone are, and ~ is not expanded */
  const int status = glob(pattern, GLOB_ERR | GLOB_NOCHECK | GLOB_NOSORT, NULL, &matches);
  bool is_done = status == 0;
  if (status && status != GLOB_NOSPACE)
    explain(problem, pattern, LANEBLOOM_ERR_IO, "a folder cannot be read");
  for (size_t i = 0; is_done && i < matches.gl_pathc; i++) {
    const char *path = matches.gl_pathv[i];
    struct stat file;
    if (stat(path, &file) == 0 && S_ISDIR(file.st_mode))
      is_done = add_folder(paths, path, problem);
    else
      is_done = add_path(paths, path);
  }
  globfree(&matches);
  return is_done;
}

bool paths_of(const char *pattern, struct paths *paths, problem_text problem)
{
  *paths = (struct paths){0};
  *problem = 0;
  if (strstr(pattern, "**"))
    explain(problem, pattern, LANEBLOOM_ERR_ARGUMENT,
            "expected a path, or a pattern of *, ? and [...]; found **: a folder stands for all "
            "files below it");
  else if (add_pattern(paths, pattern, problem)) {
    qsort(paths->all, paths->n, sizeof *paths->all, compare_paths);
    return true;
  }
  paths_free(paths);
  return false;
}
