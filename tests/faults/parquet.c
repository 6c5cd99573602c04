/* Finding Parquet files, while memory or the file system fails.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_parquet.h>
#include <string.h>

#include "faults.h"

static void write_parquet_files(void)
{
  static const char content[] = "PAR1....PAR1";
  empty_folder();
  test_write_file("a.parquet", content, strlen(content));
  test_write_file("part", content, strlen(content));
  test_write_file(".hidden", content, strlen(content));
}

/* A file that cannot be examined is listed nevertheless. Only a hidden file is not, because it may
 * as well be a folder. */
static lanebloom_status find_files(void)
{
  static const char *const names[] = {".", "p*"};
  lanebloom_parquet_files *files;
  lanebloom_status status;
  INSIST_ON(files, status, lanebloom_parquet_find_files(names, COUNT(names), &files, NULL, 0));
  const bool may_miss = fault.struck && fault.function == STAT;
  if (!status && (files->read.n != 3 || (files->skipped.n != 1 && !may_miss)))
    test_fatal("%zu files, %zu skipped", files->read.n, files->skipped.n);
  if (status && files)
    test_fatal("an error, and files");
  lanebloom_parquet_files_free(files);
  return status;
}

Test(faults, parquet_files)
{
  enter_folder();
  survive(&(struct scenario){.name = "find files",
                             .prepare = write_parquet_files,
                             .run = find_files,
                             .tolerates = 1 << OPEN | 1 << STAT | 1 << READ | 1 << CLOSE});
  leave_folder();
  report(60);
}
