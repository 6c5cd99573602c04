/* Folders and files for the tests of tables.
 * SPDX-License-Identifier: MIT */
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tables.h"

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *position)
{
  (void)found, (void)kind, (void)position;
  return remove(path);
}

void folder_make(char *path)
{
  const char *parent = getenv("TMPDIR");
  snprintf(path, PATH_NBYTES, "%s/lanebloom-tables-XXXXXX", parent ? parent : "/tmp");
  cr_assert(mkdtemp(path), "cannot make %s", path);
}

void folder_free(const char *path)
{
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void file_write(const char *folder, const char *name, const void *bytes, size_t size)
{
  char path[2 * PATH_NBYTES];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  test_write_file(path, bytes, size);
}
