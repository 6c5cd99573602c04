/* The files that names stand for. Each folder is listed once. For twice as many folders, there are
 * little more than twice as many comparisons.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <lanebloom_parquet.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

/* ---- Counted comparisons ---- */

static size_t ncompared;
static int (*compare_keys)(const void *a, const void *b);

void *__real_tsearch(const void *key, void **root, int (*compare)(const void *a, const void *b));
void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *a, const void *b));

static int count_and_compare(const void *a, const void *b)
{
  ncompared++;
  return compare_keys(a, b);
}

void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *a, const void *b))
{
  compare_keys = compare;
  return __real_tsearch(key, root, count_and_compare);
}

/* ---- Folders ---- */

/* Makes n folders in a folder, and lists that folder. The last of them has a file and a link to the
 * first one. Returns the number of comparisons. */
static size_t list_folders(size_t n)
{
  char top[] = "/tmp/lanebloom-XXXXXX", path[100];
  const char *name = top;
  lanebloom_parquet_files *files;
  cr_assert(mkdtemp(top));
  for (size_t i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/%zu", top, i);
    cr_assert(mkdir(path, 0700) == 0);
  }
  char file[120], link[120];
  snprintf(file, sizeof file, "%s/a.parquet", path);
  snprintf(link, sizeof link, "%s/up", path);
  fclose(fopen(file, "w"));
  cr_assert(symlink(top, link) == 0);
  ncompared = 0;
  cr_assert(lanebloom_parquet_find_files(&name, 1, &files, NULL, 0) == LANEBLOOM_OK);
  cr_assert(files->read.n == 1 && files->skipped.n == 0);
  cr_assert_str_eq(files->read.all[0], file);
  lanebloom_parquet_files_free(files);
  unlink(file);
  unlink(link);
  for (size_t i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/%zu", top, i);
    rmdir(path);
  }
  rmdir(top);
  return ncompared;
}

Test(parquet, work_of_folders)
{
  const size_t once = list_folders(200), twice = list_folders(400);
  cr_assert(once > 200 && 2 * twice <= 5 * once, "%zu comparisons, then %zu", once, twice);
}

/* ---- Names ---- */

/* Enters a new folder with these files. Files that are not named .parquet have the first and last
 * bytes of Parquet files, except those named `text'. */
static void enter_folder(char top[])
{
  static const char *const names[] = {
      "d/z.parquet", "d/_p=1/part-\xff",       "d/.hidden", "d/_hidden",
      "d/_metadata", "d/_temporary/a.parquet", "d/text",    "e/text"};
  cr_assert(mkdtemp(top) && chdir(top) == 0);
  cr_assert(mkdir("d", 0700) == 0 && mkdir("d/_p=1", 0700) == 0 &&
            mkdir("d/_temporary", 0700) == 0 && mkdir("e", 0700) == 0);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    FILE *file = fopen(names[i], "w");
    cr_assert(file);
    fputs(strstr(names[i], "text") ? "PARENT" : "PAR1....PAR1", file);
    fclose(file);
  }
}

static void leave_folder(const char *top)
{
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", top);
  cr_assert(chdir("/") == 0 && system(command) == 0);
}

static void check_paths(const lanebloom_parquet_paths *paths, const char *const *expected, size_t n)
{
  cr_assert(paths->n == n, "expected %zu paths, found %zu", n, paths->n);
  for (size_t i = 0; i < n; i++)
    cr_assert_str_eq(paths->all[i], expected[i]);
}

/* Several names may stand for the same file. */
Test(parquet, files_of_names)
{
  static const char *const names[] = {"d", "d/", "e/*", "d/.h*", "[d]", "d/z.parquet"},
                           *const read[] = {"d/.hidden", "d/_p=1/part-\xff", "d/z.parquet",
                                            "e/text"},
                           *const skipped[] = {"d/_hidden"};
  char top[] = "/tmp/lanebloom-XXXXXX", problem[100] = "x";
  lanebloom_parquet_files *files;
  enter_folder(top);
  cr_assert(lanebloom_parquet_find_files(names, 6, &files, problem, sizeof problem) ==
            LANEBLOOM_OK);
  cr_assert_str_eq(problem, "");
  check_paths(&files->read, read, 4);
  check_paths(&files->skipped, skipped, 1);
  lanebloom_parquet_files_free(files);
  cr_assert(lanebloom_parquet_find_files(NULL, 0, &files, NULL, 0) == LANEBLOOM_OK);
  cr_assert(files->read.n == 0 && files->skipped.n == 0);
  lanebloom_parquet_files_free(files);
  lanebloom_parquet_files_free(NULL);
  leave_folder(top);
}

Test(parquet, names_of_no_files)
{
  static const struct {
    const char *name, *problem;
    lanebloom_status status;
    int error;
  } cases[] = {
      {"e", "e: expected a folder with Parquet files, found none in it", LANEBLOOM_ERR_ARGUMENT, 0},
      {"f\n", "f\\012: expected the name or the pattern of Parquet files, found none of this name",
       LANEBLOOM_ERR_IO, ENOENT},
      {"d/text/*", "d/text/*: ", LANEBLOOM_ERR_IO, ENOTDIR},
      {"d/loop", "d/loop: ", LANEBLOOM_ERR_IO, ELOOP},
  };
  char top[] = "/tmp/lanebloom-XXXXXX", problem[200];
  enter_folder(top);
  cr_assert(symlink("loop", "d/loop") == 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const names[] = {"d", cases[i].name};
    lanebloom_parquet_files *files = (void *)problem;
    errno = 0;
    const lanebloom_status status =
        lanebloom_parquet_find_files(names, 2, &files, problem, sizeof problem);
    cr_assert(status == cases[i].status && !files);
    const size_t length = strlen(cases[i].problem); /* an error's text differs between systems */
    cr_assert(strncmp(problem, cases[i].problem, length) == 0);
    const bool is_whole = cases[i].problem[length - 1] != ' ';
    cr_assert_str_eq(problem + length, is_whole ? "" : strerror(cases[i].error));
    cr_assert(cases[i].error == 0 || errno == cases[i].error);
  }
  leave_folder(top);
}

Test(parquet, likely_files)
{
  static const char *const likely[] = {"d", "d/_p=1", "d/.hidden", "d/_p=1/part-\xff"},
                           *const others[] = {"e", "e/text", "nothing", "/dev/null"};
  char top[] = "/tmp/lanebloom-XXXXXX";
  enter_folder(top);
  for (size_t i = 0; i < 4; i++) {
    bool is_parquet;
    cr_assert(lanebloom_parquet_recognize(likely[i], &is_parquet, NULL, 0) == LANEBLOOM_OK);
    cr_assert(is_parquet, "%s", likely[i]);
    cr_assert(lanebloom_parquet_recognize(others[i], &is_parquet, NULL, 0) == LANEBLOOM_OK);
    cr_assert(!is_parquet, "%s", others[i]);
  }
  leave_folder(top);
}

/* Folders can nest so deep that a path is too long to be opened. Such a file is not left out, and
 * the message gives the reason even if the name is long. */
Test(parquet, deep_folders)
{
  char top[] = "/tmp/lanebloom-XXXXXX", name[201] = "", problem[1024];
  const char *const here = ".";
  lanebloom_parquet_files *files;
  memset(name, 'n', sizeof name - 1);
  cr_assert(mkdtemp(top) && chdir(top) == 0);
  for (size_t i = 0; i < 30; i++)
    cr_assert(mkdir(name, 0700) == 0 && chdir(name) == 0);
  cr_assert(chdir(top) == 0);
  cr_assert(lanebloom_parquet_find_files(&here, 1, &files, NULL, 0) == LANEBLOOM_OK);
  cr_assert(files->read.n == 1 && strlen(files->read.all[0]) > 4000);
  const char *const deep = files->read.all[0];
  lanebloom_parquet_files *none;
  cr_assert(lanebloom_parquet_find_files(&deep, 1, &none, problem, sizeof problem) ==
                LANEBLOOM_ERR_IO &&
            strstr(problem, strerror(ENAMETOOLONG)));
  lanebloom_parquet_files_free(files);
  leave_folder(top);
}
