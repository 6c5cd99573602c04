/* Recognizes a file or a folder that the user gave in the place of something else.
 * SPDX-License-Identifier: MIT */
#include "recognize.h"

#include <errno.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/paths.h"
#include "../input/file_kinds.h"
#include "dcso_header.h"
#include "filters.h"
#include "folders.h"
#include "parquet_files.h"
#include "sstables.h"

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

static const struct file_kind dcso_filter = {
    .name = "a filter of DCSO's bloom",
    .advice = "`lanebloom screen --raw --format dcso' queries it, and `lanebloom info --raw "
              "--format dcso' describes it"};

static const struct file_kind database_folder = {
    .name = "a folder of a database",
    .advice = "`lanebloom tables' lists its tables, and `lanebloom screen --db' queries them"};

static const struct file_kind sstable = {
    .name = "an SSTable of Cassandra",
    .advice = "`lanebloom tables' describes its filter, and `lanebloom screen --db' queries it"};

static const struct file_kind sstable_folder = {
    .name = "a folder of SSTables of Cassandra",
    .advice = "`lanebloom tables' describes their filters, and `lanebloom screen --db' queries "
              "them"};

bool is_parquet(const char *path)
{
  bool is_one;
  return lanebloom_parquet_recognize(path, &is_one, NULL, 0) == LANEBLOOM_OK && is_one;
}

/* Is this the header of a filter of DCSO's, in a file of at least the size that the header implies?
 * The numbers of bits and probes must be those that are planned for the number of keys and the
 * rate, so other files are not recognized by chance. */
static bool is_dcso_header(const uint8_t *header, uint64_t file_nbytes)
{
  static const uint8_t flags[8] = {1};
  const uint64_t nkeys = load_le64(header + 8), rate_bits = load_le64(header + 16);
  double rate;
  uint64_t nbytes;
  unsigned nprobes;
  memcpy(&rate, &rate_bits, sizeof rate);
  return memcmp(header, flags, sizeof flags) == 0 && nkeys > 0 &&
         lanebloom_plan_size_for_rate(LANEBLOOM_DCSO, rate, nkeys, &nbytes, &nprobes, NULL) ==
             LANEBLOOM_OK &&
         nbytes <= file_nbytes && nprobes == load_le64(header + 24) &&
         nbytes == dcso_nbytes(header);
}

static bool is_dcso(const char *path)
{
  uint8_t header[DCSO_HEADER_NBYTES];
  struct system_info found;
  const int fd = lanebloom_system_open(path, true);
  const bool is_one = fd >= 0 && lanebloom_system_file_info(fd, &found) &&
                      lanebloom_system_read(fd, header, sizeof header) == sizeof header &&
                      is_dcso_header(header, found.nbytes);
  if (fd >= 0)
    lanebloom_system_close(fd);
  return is_one;
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
    return is_database(path)  ? &database_folder
           : is_sstable(path) ? &sstable_folder
           : is_parquet(path) ? &parquet_folder
                              : NULL;
  if (found.kind != SYSTEM_FILE)
    return NULL;
  if (is_container(path))
    return &container;
  return is_sstable(path)   ? &sstable
         : is_parquet(path) ? &parquet_file
         : is_dcso(path)    ? &dcso_filter
                            : table_kind(path);
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
