/* Recognizes a file or a folder that the user gave in the place of something else.
 * SPDX-License-Identifier: MIT */
#include "recognize.h"

#include <errno.h>

#include "../../src/system/system.h"
#include "../base/paths.h"
#include "../input/file_kinds.h"
#include "filters.h"
#include "folders.h"
#include "parquet_files.h"

static const struct file_kind container = {
    .name = "a lanebloom container",
    .advice = "`lanebloom info' describes it, and `lanebloom screen' without --db and --parquet "
              "queries it"};

static const struct file_kind parquet_file = {
    .name = "a Parquet file",
    .advice = "`lanebloom tables' describes it, and `lanebloom screen --parquet' queries it"};

static const struct file_kind parquet_folder = {
    .name = "a folder of Parquet files",
    .advice = "`lanebloom tables' describes them, and `lanebloom screen --parquet' queries them"};

static const struct file_kind database_folder = {
    .name = "a folder of a database",
    .advice = "`lanebloom tables' lists its tables, and `lanebloom screen --db' queries them"};

bool is_parquet(const char *path)
{
  bool is_one;
  return lanebloom_parquet_recognize(path, &is_one, NULL, 0) == LANEBLOOM_OK && is_one;
}

static const struct file_kind *table_kind(const char *path)
{
  struct system_info found;
  const int fd = lanebloom_system_open(path, true);
  const struct file_kind *kind = NULL;
  if (fd >= 0 && lanebloom_system_file_info(fd, &found))
    (void)find_file_kind_at_end(fd, found.nbytes, &kind);
  if (fd >= 0)
    lanebloom_system_close(fd);
  return kind;
}

/* Returns the kind of the file or folder that the path leads to, or NULL if it is unknown. Opens
 * only regular files and folders, because reading from a pipe would consume its data. */
static const struct file_kind *recognize(const char *path)
{
  struct system_info found;
  if (!lanebloom_system_info(path, &found))
    return NULL;
  if (found.kind == SYSTEM_FOLDER)
    return is_database(path) ? &database_folder : is_parquet(path) ? &parquet_folder : NULL;
  if (found.kind != SYSTEM_FILE)
    return NULL;
  if (is_container(path))
    return &container;
  return is_parquet(path) ? &parquet_file : table_kind(path);
}

bool explain_other_kind(const char *path, const char *expected, char *problem, size_t size)
{
  const int error = errno;
  const struct file_kind *kind = recognize(is_standard_input(path) ? "/dev/stdin" : path);
  if (kind)
    snprintf(problem, size, "expected %s, found %s: %s", expected, kind->name, kind->advice);
  errno = error;
  return kind != NULL;
}
