/* Folders of Parquet files are each met once. Of twice as many, few more are compared than twice.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <search.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support.h"
#include "parquet_files.h"

/* ---- Comparisons that are counted ---- */

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

/* Lists a folder of n folders, the last of which has a file and a link to the first folder. Returns
 * how many were compared. */
static size_t list_folders(size_t n)
{
  char top[] = "/tmp/lanebloom-XXXXXX", path[100], *name = top;
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
  size_t nskipped;
  struct paths paths = parquet_list(&name, 1, &nskipped);
  cr_assert(paths.n == 1 && nskipped == 0);
  cr_assert_str_eq(paths.all[0], file);
  paths_free(&paths);
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
