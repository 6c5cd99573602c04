/* A call that cannot read or write a file reports why.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <lanebloom.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter_files.h"
#include "support.h"

Test(container, what_cannot_be_read_says_why)
{
  static const struct {
    const char *path;
    int error;
  } paths[] = {
      {"nothing-here", ENOENT}, {"/", EISDIR}, {"/dev/null/x", ENOTDIR}, {"/proc/self/mem", EIO}};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    lanebloom_filter *found = (void *)1;
    char why[100];
    errno = 0;
    cr_assert(lanebloom_filter_load(paths[i].path, &found, why, sizeof why) == LANEBLOOM_ERR_IO &&
              !found);
    cr_assert(errno == paths[i].error && strcmp(why, strerror(paths[i].error)) == 0, "%s: %s",
              paths[i].path, why);
    errno = 0;
    cr_assert(lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, paths[i].path, NULL, &found, NULL, 0) ==
                  LANEBLOOM_ERR_IO &&
              !found);
    cr_assert(errno == paths[i].error);
  }
  lanebloom_filter *found;
  cr_assert(lanebloom_filter_map("/", &found, NULL, 0) == LANEBLOOM_ERR_IO && !found);
  cr_assert(lanebloom_filter_map("nothing-here", &found, NULL, 0) == LANEBLOOM_ERR_IO &&
            errno == ENOENT);
  enter_empty_folder();
  cr_assert(mkfifo("fifo", 0666) == 0);
  cr_assert(lanebloom_filter_map("fifo", &found, NULL, 0) == LANEBLOOM_ERR_IO && errno == ENODEV &&
            !found);
  leave_folder();
}

/* Every call that reads a file reports its problem: an empty text on success, whatever the buffer
 * held before. */
Test(container, every_reader_says_its_problem)
{
  static const struct {
    const char *path;
    lanebloom_status load, map, load_raw;
    const char *of_load, *of_map, *of_load_raw;
  } files[] = {
      {"f.lbf", LANEBLOOM_OK, LANEBLOOM_OK, LANEBLOOM_ERR_FORMAT, "", "",
       "expected the bare bytes of rocksdb, found a lanebloom container"},
      {"raw", LANEBLOOM_ERR_FORMAT, LANEBLOOM_ERR_FORMAT, LANEBLOOM_OK,
       "not a lanebloom container: expected it to start with 89 4c 42 46 0d 0a 1a 0a, found 00 00 "
       "00 00 00",
       "not a lanebloom container: expected it to start with 89 4c 42 46 0d 0a 1a 0a, found 00 00 "
       "00 00 00",
       ""},
      {"none", LANEBLOOM_ERR_IO, LANEBLOOM_ERR_IO, LANEBLOOM_ERR_IO, "No such file or directory",
       "No such file or directory", "No such file or directory"},
      {".", LANEBLOOM_ERR_IO, LANEBLOOM_ERR_IO, LANEBLOOM_ERR_IO, "Is a directory",
       "No such device", "Is a directory"},
      {"large", LANEBLOOM_ERR_FORMAT, LANEBLOOM_ERR_FORMAT, LANEBLOOM_ERR_LIMIT,
       "not a lanebloom container: expected it to start with 89 4c 42 46 0d 0a 1a 0a, found 00 00 "
       "00 00 00 00 00 00",
       "not a lanebloom container: expected it to start with 89 4c 42 46 0d 0a 1a 0a, found 00 00 "
       "00 00 00 00 00 00",
       "expected at most the 4294967295 bytes that rocksdb can hold, found 4294967296"},
  };
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 3, 7), *found;
  save(filter, "f.lbf");
  test_write_file("raw", "\0\0\0\0\0", 5);
  test_write_file("large", "", 0);
  cr_assert(truncate("large", (off_t)1 << 32) == 0);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char said[200] = "before";
    cr_assert(lanebloom_filter_load(files[i].path, &found, said, sizeof said) == files[i].load);
    cr_assert_str_eq(said, files[i].of_load);
    lanebloom_filter_free(found);
    cr_assert(lanebloom_filter_map(files[i].path, &found, said, sizeof said) == files[i].map);
    cr_assert_str_eq(said, files[i].of_map);
    lanebloom_filter_free(found);
    cr_assert(lanebloom_filter_load_raw(LANEBLOOM_ROCKSDB, files[i].path, NULL, &found, said,
                                        sizeof said) == files[i].load_raw);
    cr_assert_str_eq(said, files[i].of_load_raw);
    lanebloom_filter_free(found);
    char cut[4] = "xyz";
    if (files[i].load_raw) {
      cr_assert(lanebloom_filter_load_raw(LANEBLOOM_ROCKSDB, files[i].path, NULL, &found, cut, 3) ==
                files[i].load_raw);
      cr_assert(strncmp(cut, files[i].of_load_raw, 2) == 0 && cut[2] == 0 && cut[3] == 0);
    }
  }
  lanebloom_filter_free(filter);
  leave_folder();
}

Test(container, what_may_not_be_read_or_written)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 3, 7);
  save(filter, "secret.lbf");
  cr_assert(chmod("secret.lbf", 0) == 0 && mkdir("closed", 0755) == 0 && mkdir("blind", 0755) == 0);
  cr_assert(chmod("closed", 0555) == 0 && chmod("blind", 0333) == 0 && chmod(".", 0777) == 0);
  pid_t child = fork();
  if (child == 0) { /* as a user whom file modes bind */
    lanebloom_filter *found;
    bool right = geteuid() != 0 || setresuid(65534, 65534, 65534) == 0;
    right = right && lanebloom_filter_load("secret.lbf", &found, NULL, 0) == LANEBLOOM_ERR_IO &&
            errno == EACCES;
    right = right && lanebloom_filter_map("secret.lbf", &found, NULL, 0) == LANEBLOOM_ERR_IO &&
            errno == EACCES;
    right = right && lanebloom_filter_save(filter, "closed/f.lbf") == LANEBLOOM_ERR_IO &&
            errno == EACCES;
    right = right && lanebloom_filter_save(filter, "blind/f.lbf") == LANEBLOOM_OK;
    _exit(!right);
  }
  int status;
  cr_assert(waitpid(child, &status, 0) == child && status == 0);
  cr_assert(chmod("blind", 0755) == 0 && access("blind/f.lbf", F_OK) == 0);
  lanebloom_filter_free(filter);
  leave_folder();
}
