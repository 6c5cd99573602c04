/* Lists the table files and logs in the folders of databases.
 * SPDX-License-Identifier: MIT */
#include "folders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lanebloom_tables.h>

#include "../../src/system/system.h"
#include "../base/memory.h"

#define DIGITS "0123456789"

static bool ends_with(const char *name, const char *end)
{
  const size_t nname = strlen(name), nend = strlen(end);
  return nname > nend && strcmp(name + nname - nend, end) == 0;
}

bool is_table(const char *folder, const char *name)
{
  if (!ends_with(name, ".ldb") && !ends_with(name, ".sst"))
    return false;
  char *path = join(folder, name);
  const bool is_one = !is_folder(path);
  free(path);
  return is_one;
}

bool is_log_name(const char *name)
{
  const char *end = name + strspn(name, "0123456789-");
  return end > name && strcmp(end, ".log") == 0;
}

bool is_log(const char *folder, const char *name)
{
  (void)folder;
  return is_log_name(name);
}

bool is_folder(const char *path)
{
  struct system_info info;
  return lanebloom_system_info(path, &info) && info.kind == SYSTEM_FOLDER;
}

char *join(const char *folder, const char *name)
{
  const size_t nbytes = strlen(folder) + strlen(name) + sizeof "/";
  char *path = resize(NULL, nbytes);
  snprintf(path, nbytes, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
  return path;
}

/* Compares names by the numbers in them, and by their bytes if the numbers are equal. */
static int compare_paths(const void *a, const void *b)
{
  const char *const left = *(const char *const *)a, *const right = *(const char *const *)b;
  for (const char *at = left, *other = right; *at && *other;) {
    const size_t nzeros = strspn(at, "0"), nother_zeros = strspn(other, "0");
    const size_t n = strspn(at + nzeros, DIGITS), nother = strspn(other + nother_zeros, DIGITS);
    const bool are_numbers = nzeros + n > 0 && nother_zeros + nother > 0;
    if (are_numbers && n != nother)
      return n < nother ? -1 : 1;
    const int order = are_numbers ? strncmp(at + nzeros, other + nother_zeros, n)
                                  : (unsigned char)*at - (unsigned char)*other;
    if (order != 0)
      return order;
    at += are_numbers ? nzeros + n : 1;
    other += are_numbers ? nother_zeros + nother : 1;
  }
  return strcmp(left, right);
}

int list_folder(const char *folder, bool (*is_wanted)(const char *folder, const char *name),
                char ***paths)
{
  struct system_folder *list = lanebloom_system_folder_open(folder);
  char **all = NULL;
  size_t n = 0;
  *paths = NULL;
  if (!list)
    return -1;
  for (const char *name; (name = lanebloom_system_folder_next(list));)
    if (is_wanted(folder, name)) {
      all = grow_list(all, n, sizeof *all);
      all[n++] = join(folder, name);
    }
  const int error = errno;
  lanebloom_system_folder_close(list);
  if (error) {
    free_paths(all, (int)n);
    errno = error;
    return -1;
  }
  if (n > 0)
    qsort(all, n, sizeof *all, compare_paths);
  *paths = all;
  return (int)n;
}

void free_paths(char **paths, int n)
{
  for (int i = 0; i < n; i++)
    free(paths[i]);
  free(paths);
}

bool is_database(const char *path)
{
  lanebloom_engine engine = 0;
  if (!is_folder(path) || lanebloom_database_find(path, &engine, NULL, 0) != LANEBLOOM_OK)
    return false;
  char **paths;
  const int n = list_folder(path, is_table, &paths);
  free_paths(paths, n);
  return engine || n > 0;
}
