/* Files of filters, while memory or the file system fails.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults.h"

static struct guarded container; /* the bytes of `expected` when saved */

static void make_container(void)
{
  must(lanebloom_filter_save(expected, "filter"));
  size_t nbytes;
  uint8_t *bytes = test_read_file("filter", &nbytes);
  container = guarded_copy(bytes, nbytes, AT_END);
  guarded_freeze(&container);
  free(bytes);
}

static void is_file(const char *path, const void *bytes, size_t nbytes)
{
  size_t found_nbytes;
  uint8_t *found = test_read_file(path, &found_nbytes);
  if (found_nbytes != nbytes)
    test_fatal("%s: %zu bytes, expected %zu", path, found_nbytes, nbytes);
  test_same_bytes(path, found, bytes, nbytes);
  free(found);
}

static void write_old_files(void)
{
  empty_folder();
  test_write_file("old", "old", 3);
  cr_assert(chmod("old", 0664) == 0);
}

static lanebloom_status save_filters(void)
{
  lanebloom_status status;
  INSIST(status, lanebloom_filter_save(expected, "old"));
  if (!status)
    INSIST(status, lanebloom_filter_save(expected, "new"));
  if (!status)
    INSIST(status, lanebloom_filter_save_raw(expected, "raw"));
  return status;
}

/* Each file is absent, old or complete, and no other file is left. If a file's ACL could not be
 * read, only its owner has access. */
static void check_saved(lanebloom_status status)
{
  struct stat found;
  const bool has_new = stat("new", &found) == 0, has_raw = stat("raw", &found) == 0;
  cr_assert(stat("old", &found) == 0);
  const bool is_old = found.st_size == 3;
  is_file("old", is_old ? (const void *)"old" : container.bytes, is_old ? 3 : container.nbytes);
  const bool is_protected = !is_old && fault.struck && fault.function == ACL;
  if ((found.st_mode & 0777) != (is_protected ? 0600 : 0664))
    test_fatal("mode %o", found.st_mode & 0777);
  if (has_new)
    is_file("new", container.bytes, container.nbytes);
  if (has_raw)
    is_file("raw", engine_bytes.bytes, engine_bytes.nbytes);
  if (!status && (is_old || !has_new || !has_raw))
    test_fatal("success, and a file that is not written");
  const size_t nfiles = empty_folder();
  if (nfiles != 1 + (size_t)has_new + (size_t)has_raw)
    test_fatal("%zu files are left", nfiles);
}

static void write_files(void)
{
  test_write_file("filter", container.bytes, container.nbytes);
  test_write_file("raw", engine_bytes.bytes, engine_bytes.nbytes);
}

static lanebloom_status load_container(void)
{
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_filter_load("filter", &filter, NULL, 0));
  if (!status)
    is_expected(filter);
  lanebloom_filter_free(filter);
  return status;
}

static lanebloom_status load_raw(void)
{
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_filter_load_raw(format, "raw", NULL, &filter, NULL, 0));
  if (!status)
    is_expected(filter);
  lanebloom_filter_free(filter);
  return status;
}

static lanebloom_status map_container(void)
{
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_filter_map("filter", &filter, NULL, 0));
  if (!status)
    is_expected(filter);
  lanebloom_filter_free(filter);
  return status;
}

static lanebloom_status parse_container(void)
{
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status,
            lanebloom_filter_parse(container.bytes, container.nbytes, &filter, NULL, 0));
  if (!status)
    is_expected(filter);
  lanebloom_filter_free(filter);
  return status;
}

static int filled_pipe[2];

static void fill_pipe(void)
{
  cr_assert(pipe(filled_pipe) == 0);
  cr_assert(fcntl(filled_pipe[1], F_SETPIPE_SZ, (int)container.nbytes) >= (int)container.nbytes);
  cr_assert(write(filled_pipe[1], container.bytes, container.nbytes) == (ssize_t)container.nbytes);
  close(filled_pipe[1]);
}

static void close_pipe(lanebloom_status status)
{
  (void)status;
  close(filled_pipe[0]);
}

/* The size of a pipe is unknown, and bytes that were read cannot be read again. */
static lanebloom_status load_pipe(void)
{
  char path[32];
  lanebloom_filter *filter;
  snprintf(path, sizeof path, "/dev/fd/%d", filled_pipe[0]);
  const lanebloom_status status = lanebloom_filter_load(path, &filter, NULL, 0);
  if (!status)
    is_expected(filter);
  else if (filter)
    test_fatal("an error, and a filter");
  lanebloom_filter_free(filter);
  return status;
}

Test(faults, files)
{
  /* If stat fails, the calls after it notice that. A file can be closed only once. */
  enum { OF_LINKS = 1 << STAT, OF_CLOSING = 1 << CLOSE };
  static const struct scenario scenarios[] = {
      {.name = "load",
       .prepare = write_files,
       .run = load_container,
       .tolerates = OF_LINKS | OF_CLOSING},
      {.name = "load_raw",
       .prepare = write_files,
       .run = load_raw,
       .tolerates = OF_LINKS | OF_CLOSING},
      {.name = "map", .prepare = write_files, .run = map_container, .tolerates = OF_CLOSING},
      {.name = "parse", .run = parse_container},
  };
  enter_folder();
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t i = 0; i < nformats; i++) {
    make_filters(formats[i], NFEW, NFEW);
    make_container();
    for (size_t s = 0; s < COUNT(scenarios); s++)
      survive(&scenarios[s]);
    for (int named = 0; named < 2; named++) {
      no_nameless_files = named;
      survive(&(struct scenario){.name = named ? "save, named" : "save, nameless",
                                 .prepare = write_old_files,
                                 .run = save_filters,
                                 .check = check_saved,
                                 .tolerates =
                                     OF_LINKS | OF_CLOSING | 1 << ACL | (named ? 0 : 1 << OPEN)});
    }
    no_nameless_files = false;
    guarded_free(&container);
    free_filters();
  }
  make_filters(LANEBLOOM_ROCKSDB_LOCAL, NKEYS, 4 * NKEYS);
  make_container();
  survive(&(struct scenario){.name = "load from a pipe",
                             .prepare = fill_pipe,
                             .run = load_pipe,
                             .check = close_pipe,
                             .tolerates = OF_LINKS | OF_CLOSING,
                             .of_pipe = true});
  guarded_free(&container);
  free_filters();
  leave_folder();
  report(300);
}
