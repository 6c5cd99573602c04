/* Lists the table files and logs in the folders of databases.
 * SPDX-License-Identifier: MIT */
#include "folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <lanebloom_tables.h>

#include "../base/memory.h"

static bool ends_with(const char *name, const char *end)
{
  const size_t nname = strlen(name), nend = strlen(end);
  return nname > nend && strcmp(name + nname - nend, end) == 0;
}

int is_table(const struct dirent *entry)
{
  return entry->d_type != DT_DIR &&
         (ends_with(entry->d_name, ".ldb") || ends_with(entry->d_name, ".sst"));
}

bool is_log_name(const char *name)
{
  const char *end = name + strspn(name, "0123456789-");
  return end > name && strcmp(end, ".log") == 0;
}

int is_log(const struct dirent *entry)
{
  return is_log_name(entry->d_name);
}

bool is_folder(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

char *join(const char *folder, const char *name)
{
  const size_t nbytes = strlen(folder) + strlen(name) + sizeof "/";
  char *path = resize(NULL, nbytes);
  snprintf(path, nbytes, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
  return path;
}

int list_folder(const char *folder, int (*is_wanted)(const struct dirent *entry), char ***paths)
{
  struct dirent **entries;
  int n = scandir(folder, &entries, is_wanted, versionsort);
  *paths = NULL;
  if (n < 0)
    return n;
  *paths = resize(NULL, ((size_t)n + 1) * sizeof **paths);
  for (int i = 0; i < n; i++) {
    (*paths)[i] = join(folder, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return n;
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
