/* Saving writes the whole file or nothing.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <lanebloom.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "file_system.h"
#include "filter_files.h"
#include "support.h"

/* Limits files to 100,000 bytes from now on. Writing more fails, as on a full disk. */
static void limit_files(void)
{
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {100000, 100000};
  cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

Test(saving, follows_links_and_keeps_modes)
{
  enter_empty_folder();
  umask(027);
  lanebloom_filter *a = build(10, 10, 1), *b = build(10, 10, 2), *found;
  struct stat info;
  cr_assert(mkdir("sub", 0777) == 0);
  cr_assert(symlink("sub/target", "link") == 0 && symlink("link", "link-to-link") == 0 &&
            symlink("loop", "loop") == 0);

  save(a, "link-to-link"); /* the links are dangling at first */
  cr_assert(lstat("sub/target", &info) == 0 && S_ISREG(info.st_mode) &&
            (info.st_mode & 0777) == 0640);
  cr_assert(chmod("sub/target", 0604) == 0);
  save(b, "link-to-link");
  cr_assert(lstat("link-to-link", &info) == 0 && S_ISLNK(info.st_mode));
  cr_assert(stat("sub/target", &info) == 0 && (info.st_mode & 0777) == 0604, "%o", info.st_mode);
  cr_assert(lanebloom_filter_load("sub/target", &found, NULL, 0) == LANEBLOOM_OK &&
            equal(b, found));
  cr_assert(files_here() == 4, "nothing temporary is left");

  cr_assert(lanebloom_filter_save(a, "loop") == LANEBLOOM_ERR_IO && errno == ELOOP);
  cr_assert(lanebloom_filter_save(a, "no/such/folder") == LANEBLOOM_ERR_IO && errno == ENOENT);
  cr_assert(lanebloom_filter_save(a, "sub") == LANEBLOOM_ERR_IO && errno == EISDIR);
  cr_assert(lanebloom_filter_save(a, "sub/target/x") == LANEBLOOM_ERR_IO && errno == ENOTDIR);
  cr_assert(lanebloom_filter_save(a, "") == LANEBLOOM_ERR_IO && errno == ENOENT);
  char long_name[5000];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  cr_assert(lanebloom_filter_save(a, long_name) == LANEBLOOM_ERR_IO && errno == ENAMETOOLONG);
  lanebloom_filter_free(found);
  lanebloom_filter_free(a);
  lanebloom_filter_free(b);
  leave_folder();
}

/* NFS and FAT, for example, have no nameless files. */
Test(saving, on_a_simple_file_system)
{
  enter_empty_folder();
  is_simple_file_system = true;
  lanebloom_filter *a = build(10, 10, 1), *b = build(10, 10, 2), *large = build(10, 1000000, 3),
                   *found;
  struct stat info;
  save(a, "f.lbf");
  cr_assert(chmod("f.lbf", 0604) == 0);
  save(b, "f.lbf");
  cr_assert(stat("f.lbf", &info) == 0 && (info.st_mode & 0777) == 0604, "%o", info.st_mode);
  limit_files();
  cr_assert(lanebloom_filter_save(large, "f.lbf") == LANEBLOOM_ERR_IO && errno == EFBIG);
  cr_assert(lanebloom_filter_load("f.lbf", &found, NULL, 0) == LANEBLOOM_OK && equal(b, found));
  cr_assert(files_here() == 1, "nothing temporary is left");
  lanebloom_filter_free(found);
  lanebloom_filter_free(a);
  lanebloom_filter_free(b);
  lanebloom_filter_free(large);
  leave_folder();
}

Test(saving, where_no_file_can_be)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 10, 1);
  cr_assert(lanebloom_filter_save(filter, "/proc/f.lbf") == LANEBLOOM_ERR_IO);
  char target[300], path[4000] = "";
  memset(target, 'x', sizeof target - 1);
  target[sizeof target - 1] = 0;
  for (size_t at = 0; at < sizeof path - 6; at += 2)
    memcpy(path + at, "./", 3);
  strcat(path, "link");
  for (size_t at = 200; at < sizeof target - 1; at += 200)
    target[at] = '/'; /* each name is short enough, but not both together */
  cr_assert(symlink(target, "link") == 0);
  cr_assert(lanebloom_filter_save(filter, path) == LANEBLOOM_ERR_IO && errno == ENAMETOOLONG, "%s",
            strerror(errno));
  lanebloom_filter_free(filter);
  leave_folder();
}

Test(saving, what_is_no_file_is_written_directly)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 10, 1), *found;
  cr_assert(lanebloom_filter_save(filter, "/dev/full") == LANEBLOOM_ERR_IO && errno == ENOSPC);
  save(filter, "/dev/null");

  /* If the path names an open descriptor, even of a regular file, bytes are written at the
   * descriptor's offset. */
  int file = open("appended", O_RDWR | O_CREAT | O_APPEND, 0666);
  char path[32];
  snprintf(path, sizeof path, "/dev/fd/%d", file);
  cr_assert(write(file, "before", 6) == 6);
  cr_assert(symlink(path, "link") == 0);
  save(filter, "link");
  cr_assert(write(file, "after", 5) == 5);
  uint8_t bytes[256];
  const size_t size = read_file("appended", bytes, sizeof bytes);
  cr_assert(memcmp(bytes, "before", 6) == 0 && memcmp(bytes + size - 5, "after", 5) == 0);
  cr_assert(lanebloom_filter_parse(bytes + 6, size - 11, &found, NULL, 0) == LANEBLOOM_OK &&
            equal(filter, found));
  lanebloom_filter_free(found);
  close(file);
  cr_assert(lanebloom_filter_save(filter, path) == LANEBLOOM_ERR_IO && errno == EBADF,
            "closed by now");

  cr_assert(mkfifo("fifo", 0666) == 0);
  pid_t writer = fork();
  if (writer == 0)
    _exit(lanebloom_filter_save(filter, "fifo") != LANEBLOOM_OK);
  int status;
  cr_assert(lanebloom_filter_load("fifo", &found, NULL, 0) == LANEBLOOM_OK && equal(filter, found));
  cr_assert(waitpid(writer, &status, 0) == writer && status == 0);
  lanebloom_filter_free(found);
  lanebloom_filter_free(filter);
  leave_folder();
}

Test(saving, a_full_disk_keeps_the_old_file)
{
  enter_empty_folder();
  lanebloom_filter *old = build(10, 100, 1), *large = build(10, 1000000, 2), *found;
  save(old, "f.lbf");
  limit_files();
  cr_assert(lanebloom_filter_save(large, "f.lbf") == LANEBLOOM_ERR_IO && errno == EFBIG);
  cr_assert(lanebloom_filter_save(large, "new.lbf") == LANEBLOOM_ERR_IO && errno == EFBIG);
  cr_assert(lanebloom_filter_load("f.lbf", &found, NULL, 0) == LANEBLOOM_OK && equal(old, found));
  cr_assert(files_here() == 1, "neither a new file nor a temporary one is left");
  lanebloom_filter_free(found);
  lanebloom_filter_free(old);
  lanebloom_filter_free(large);
  leave_folder();
}

/* Builds a filter with one key. The filter takes 5 MB, or 25 MB if exhaustive. */
static lanebloom_filter *build_large(const char *key)
{
  const lanebloom_keys keys = lanebloom_keys_fixed(key, strlen(key), 1);
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  const uint64_t nkeys = test_exhaustive() ? 20000000 : 4000000;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, nkeys, &builder) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_add(builder, &keys) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
  lanebloom_builder_free(builder);
  return filter;
}

static uint64_t microseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* The child reports each save. After none to three of them, it is killed at any moment of the next
 * save. */
Test(saving, a_kill_leaves_the_old_file_or_the_new_one)
{
  enter_empty_folder();
  const int nkills = test_exhaustive() ? 40 : 16;
  lanebloom_filter *filters[2] = {build_large("old"), build_large("new")}, *found;
  size_t nseen[2] = {0};
  uint64_t random = 88172645463325252;
  const uint64_t begin = microseconds();
  save(filters[0], "f.lbf");
  const uint64_t one_save = microseconds() - begin + 1;
  for (int i = 0; i < nkills; i++) {
    int saves[2];
    cr_assert(pipe(saves) == 0);
    pid_t child = fork();
    if (child == 0)
      for (int which = 1;; which = !which)
        if (lanebloom_filter_save(filters[which], "f.lbf") || write(saves[1], "", 1) != 1)
          _exit(1);
    close(saves[1]);
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    for (uint64_t nsaves = random % 4; nsaves > 0; nsaves--)
      cr_assert(read(saves[0], &(char){0}, 1) == 1, "kill %d: the child ended", i);
    usleep((useconds_t)(random / 4 % one_save));
    int status;
    cr_assert(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child &&
              WIFSIGNALED(status));
    close(saves[0]);
    char why[200];
    cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == LANEBLOOM_OK,
              "kill %d: %s", i, why);
    const bool is_new = equal(found, filters[1]);
    cr_assert(is_new || equal(found, filters[0]), "kill %d: neither the old file nor the new one",
              i);
    nseen[is_new]++;
    lanebloom_filter_free(found);
  }
  cr_assert(nseen[0] > 0 && nseen[1] > 0, "the kills were not spread over the saves: %zu and %zu",
            nseen[0], nseen[1]);
  lanebloom_filter_free(filters[0]);
  lanebloom_filter_free(filters[1]);
  leave_folder();
}

/* If two threads save to one path at the same time, one of the two files remains. At every moment
 * the path has a complete file. */
Test(saving, two_at_once)
{
  enter_empty_folder();
  lanebloom_filter *filters[2] = {build(10, 20000, 1), build(10, 20000, 2)}, *found;
  save(filters[0], "f.lbf");
  pid_t children[2];
  for (int which = 0; which < 2; which++)
    if ((children[which] = fork()) == 0) {
      for (int i = 0; i < 100; i++)
        if (lanebloom_filter_save(filters[which], "f.lbf") != LANEBLOOM_OK)
          _exit(1);
      _exit(0);
    }
  for (int i = 0; i < 100; i++) {
    cr_assert(lanebloom_filter_load("f.lbf", &found, NULL, 0) == LANEBLOOM_OK, "load %d", i);
    cr_assert(equal(found, filters[0]) || equal(found, filters[1]), "load %d", i);
    lanebloom_filter_free(found);
  }
  for (int which = 0; which < 2; which++) {
    int status;
    cr_assert(waitpid(children[which], &status, 0) == children[which] && status == 0);
  }
  cr_assert(files_here() == 1);
  lanebloom_filter_free(filters[0]);
  lanebloom_filter_free(filters[1]);
  leave_folder();
}
