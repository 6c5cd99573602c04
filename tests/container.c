/* Container files: what is saved is loaded, what is damaged is refused, and a save is all or
 * nothing.
 * SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include <criterion/criterion.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <lanebloom.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "support.h"

/* ---- A file system that cannot do all: the linker puts these in the place of the C library's
 * (tests/CMakeLists.txt) ---- */

int __real_openat64(int folder, const char *path, int options, ...);
int __real_fchown(int fd, uid_t owner, gid_t group);
int __wrap_openat64(int folder, const char *path, int options, mode_t mode);
int __wrap_fchown(int fd, uid_t owner, gid_t group);

static bool is_simple_file_system;

int __wrap_openat64(int folder, const char *path, int options, mode_t mode)
{
  if (!is_simple_file_system || (options & O_TMPFILE) != O_TMPFILE)
    return __real_openat64(folder, path, options, mode);
  errno = EOPNOTSUPP;
  return -1;
}

int __wrap_fchown(int fd, uid_t owner, gid_t group)
{
  if (!is_simple_file_system)
    return __real_fchown(fd, owner, group);
  errno = EPERM;
  return -1;
}

/* ---- Files ---- */

/* None grows beyond 100,000 bytes from here on: writing more fails, as on a full disk. */
static void limit_files(void)
{
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {100000, 100000};
  cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* Makes an empty folder the current one, for this test's process alone. */
static void enter_empty_folder(void)
{
  static char folder[64];
  snprintf(folder, sizeof folder, "/tmp/lanebloom-test-XXXXXX");
  cr_assert(mkdtemp(folder) && chdir(folder) == 0, "%s", strerror(errno));
}

static void leave_folder(void)
{
  char here[256], command[300];
  cr_assert(getcwd(here, sizeof here) && strncmp(here, "/tmp/lanebloom-test-", 20) == 0);
  snprintf(command, sizeof command, "rm -rf %s", here);
  cr_assert(chdir("/") == 0 && system(command) == 0);
}

static lanebloom_filter *build(double bits_per_key, size_t nkeys, uint64_t seed)
{
  uint64_t *keys = malloc(nkeys * sizeof *keys);
  for (size_t i = 0; i < nkeys; i++)
    keys[i] = (i + seed) * 0x9e3779b97f4a7c15;
  const lanebloom_keys batch = lanebloom_keys_fixed(keys, sizeof *keys, nkeys);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, bits_per_key, &batch, &filter) ==
            LANEBLOOM_OK);
  free(keys);
  return filter;
}

static void save(const lanebloom_filter *filter, const char *path)
{
  lanebloom_status status = lanebloom_filter_save(filter, path);
  cr_assert(status == LANEBLOOM_OK, "%s: %s, %s", path, lanebloom_status_text(status),
            strerror(errno));
}

static bool equal(const lanebloom_filter *a, const lanebloom_filter *b)
{
  size_t asize, bsize;
  const void *abytes = lanebloom_filter_bytes(a, &asize),
             *bbytes = lanebloom_filter_bytes(b, &bsize);
  lanebloom_filter_info ainfo, binfo;
  lanebloom_filter_describe(a, &ainfo, sizeof ainfo);
  lanebloom_filter_describe(b, &binfo, sizeof binfo);
  if (isnan(ainfo.bits_per_key) && isnan(binfo.bits_per_key))
    ainfo.bits_per_key = binfo.bits_per_key = 0;
  return asize == bsize && memcmp(abytes, bbytes, asize) == 0 &&
         memcmp(&ainfo, &binfo, sizeof ainfo) == 0;
}

static size_t read_file(const char *path, uint8_t *bytes, size_t room)
{
  FILE *file = fopen(path, "rb");
  cr_assert(file, "%s: %s", path, strerror(errno));
  size_t n = fread(bytes, 1, room, file);
  fclose(file);
  return n;
}

static void write_file(const char *path, const void *bytes, size_t n)
{
  FILE *file = fopen(path, "wb");
  cr_assert(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0, "%s: %s", path,
            strerror(errno));
}

static size_t files_here(void)
{
  FILE *list = popen("ls -A | wc -l", "r");
  size_t n = 0;
  cr_assert(list && fscanf(list, "%zu", &n) == 1);
  pclose(list);
  return n;
}

/* ---- What is saved is loaded ---- */

static void assert_round_trip(const lanebloom_filter *filter)
{
  static uint8_t bytes[100000];
  lanebloom_filter *found;
  char why[200] = "something";
  save(filter, "f.lbf");
  const size_t size = read_file("f.lbf", bytes, sizeof bytes);

  cr_assert(lanebloom_filter_load("f.lbf", &found, NULL, 0) == LANEBLOOM_OK &&
            equal(filter, found));
  lanebloom_filter_close(found);
  cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == LANEBLOOM_OK &&
            equal(filter, found) && !*why);
  lanebloom_filter_close(found);
  cr_assert(lanebloom_filter_map("f.lbf", &found, NULL, 0) == LANEBLOOM_OK && equal(filter, found));
  lanebloom_filter_close(found);
  cr_assert(lanebloom_filter_parse(bytes, size, &found) == LANEBLOOM_OK && equal(filter, found));
  size_t nbytes;
  cr_assert((const uint8_t *)lanebloom_filter_bytes(found, &nbytes) == bytes + 64,
            "parsing borrows");
  lanebloom_filter_close(found);
}

Test(container, what_is_saved_is_loaded)
{
  enter_empty_folder();
  for (size_t nkeys = 0; nkeys < 5000; nkeys = 3 * nkeys + 1) {
    lanebloom_filter *filter = build((double)(nkeys % 31), nkeys, 1);
    assert_round_trip(filter);
    lanebloom_filter_close(filter);
  }
  leave_folder();
}

Test(container, engine_bytes_of_every_kind)
{
  static const char *const kinds[] = {
      "", "\x06", "\0\x06", "\xff\xff\x00", "\xff\xff\xff", "abcdefghij\x0a"};
  enter_empty_folder();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (int is_signed = 0; is_signed < 2; is_signed++) {
      lanebloom_filter *filter, *raw;
      const lanebloom_format format = is_signed ? LANEBLOOM_LEVELDB_SIGNED : LANEBLOOM_LEVELDB;
      const size_t size = i == 0 ? 0 : i == 1 ? 1 : i == 2 ? 2 : i < 5 ? 3 : 11;
      cr_assert(lanebloom_filter_parse_raw(format, kinds[i], size, &filter) == LANEBLOOM_OK);
      assert_round_trip(filter);
      cr_assert(lanebloom_filter_save_raw(filter, "raw") == LANEBLOOM_OK);
      uint8_t bytes[16];
      cr_assert(read_file("raw", bytes, sizeof bytes) == size &&
                memcmp(bytes, kinds[i], size) == 0);
      cr_assert(lanebloom_filter_load_raw(format, "raw", &raw, NULL, 0) == LANEBLOOM_OK &&
                equal(filter, raw));
      lanebloom_filter_close(raw);
      lanebloom_filter_close(filter);
    }
  leave_folder();
}

struct pipe_writer {
  const uint8_t *bytes;
  size_t size;
  int fd;
};

static void *write_pipe(void *argument)
{
  struct pipe_writer *writer = argument;
  for (size_t n = 0; n < writer->size;) {
    size_t piece = writer->size - n < 1000 ? writer->size - n : 1000;
    n += (size_t)write(writer->fd, writer->bytes + n, piece);
  }
  close(writer->fd);
  return NULL;
}

Test(container, a_pipe_can_be_loaded_whatever_its_size)
{
  enter_empty_folder();
  static uint8_t bytes[3000000];
  for (size_t nkeys = 1; nkeys < 2000000; nkeys *= 11) {
    lanebloom_filter *filter = build(10, nkeys, 5), *found;
    save(filter, "f.lbf");
    struct pipe_writer writer = {.bytes = bytes, .size = read_file("f.lbf", bytes, sizeof bytes)};
    for (int cut = 0; cut < 2; cut++, writer.size--) {
      int ends[2];
      char path[32];
      pthread_t thread;
      cr_assert(pipe(ends) == 0);
      writer.fd = ends[1];
      snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
      pthread_create(&thread, NULL, write_pipe, &writer);
      lanebloom_status status = lanebloom_filter_load(path, &found, NULL, 0);
      pthread_join(thread, NULL);
      close(ends[0]);
      cr_assert(status == (cut ? LANEBLOOM_ERR_CORRUPT : LANEBLOOM_OK), "%zu keys, %d cut: %d",
                nkeys, cut, status);
      cr_assert(cut || equal(filter, found));
      lanebloom_filter_close(found);
    }
    lanebloom_filter_close(filter);
  }
  leave_folder();
}

/* ---- What is damaged is refused ---- */

Test(container, every_flipped_bit_is_noticed)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 30, 7), *found;
  save(filter, "f.lbf");
  uint8_t bytes[256];
  const size_t size = read_file("f.lbf", bytes, sizeof bytes);
  for (size_t bit = 0; bit < 8 * size; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    const lanebloom_status status = lanebloom_filter_parse(bytes, size, &found);
    cr_assert((status == LANEBLOOM_ERR_FORMAT || status == LANEBLOOM_ERR_CORRUPT) && !found,
              "bit %zu: %d", bit, status);
    if (bit % 9 == 0 || test_exhaustive()) {
      char why[200] = "";
      write_file("f.lbf", bytes, size);
      cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == status && !found,
                "bit %zu", bit);
      cr_assert(strstr(why, "expected") && strstr(why, "found"), "bit %zu: %s", bit, why);
      if (bit < 8 * 48) /* all of the header but the checksum of the whole */
        cr_assert(lanebloom_filter_map("f.lbf", &found, NULL, 0) == status && !found, "bit %zu",
                  bit);
    }
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  lanebloom_filter_close(filter);
  leave_folder();
}

Test(container, every_wrong_length_is_noticed)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 30, 7), *found;
  save(filter, "f.lbf");
  uint8_t bytes[256] = {0};
  const size_t size = read_file("f.lbf", bytes, sizeof bytes);
  for (size_t n = 0; n < sizeof bytes; n++) {
    if (n == size)
      continue;
    write_file("f.lbf", bytes, n);
    char why[200] = "";
    const lanebloom_status expected = n < 8 ? LANEBLOOM_ERR_FORMAT : LANEBLOOM_ERR_CORRUPT;
    cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == expected && !found,
              "%zu bytes", n);
    cr_assert(strstr(why, "expected") && strstr(why, "found"), "%zu bytes: %s", n, why);
    cr_assert(lanebloom_filter_map("f.lbf", &found, NULL, 0) == expected && !found, "%zu bytes", n);
    cr_assert(lanebloom_filter_parse(bytes, n, &found) == expected && !found, "%zu bytes", n);
  }
  lanebloom_filter_close(filter);
  leave_folder();
}

static void assert_refused(const void *bytes, size_t size, const char *what,
                           const char *part_of_why)
{
  lanebloom_filter *found;
  char why[200];
  write_file("f", bytes, size);
  cr_assert(lanebloom_filter_load("f", &found, why, sizeof why) == LANEBLOOM_ERR_FORMAT && !found,
            "%s", what);
  cr_assert(strstr(why, part_of_why), "%s: %s", what, why);
}

Test(container, what_is_newer_or_something_else_is_told_so)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 3, 7), *found;
  save(filter, "f");
  cr_assert(lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, "f", &found, NULL, 0) ==
                    LANEBLOOM_ERR_FORMAT &&
                !found,
            "a container is no engine's filter");
  uint8_t bytes[256];
  const size_t size = read_file("f", bytes, sizeof bytes);
  bytes[8] = 2;
  assert_refused(bytes, size, "version 2", "version: expected 1, found 2");
  assert_refused("#!/bin/sh\n", 10, "a script", "found 23 21 2f 62 69 6e 2f 73");
  assert_refused("\x89LB", 3, "three bytes", "found 89 4c 42");
  assert_refused("", 0, "empty", "found nothing");

  char tiny[8] = "#######";
  cr_assert(lanebloom_filter_load("f", &found, tiny, 4) == LANEBLOOM_ERR_FORMAT);
  cr_assert(strcmp(tiny, "not") == 0 && tiny[4] == '#', "cut to fit: %s", tiny);
  lanebloom_filter_close(filter);
  leave_folder();
}

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
    cr_assert(lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, paths[i].path, &found, NULL, 0) ==
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

/* Sets both checksums right again, so that what is behind them is looked at. */
static void seal(uint8_t *bytes, size_t size)
{
  const uint32_t header = htole32((uint32_t)XXH3_64bits(bytes, 44));
  memcpy(bytes + 44, &header, sizeof header);
  memset(bytes + 48, 0, 8);
  const uint64_t whole = htole64(XXH3_64bits(bytes, size));
  memcpy(bytes + 48, &whole, sizeof whole);
}

Test(container, fields_that_are_well_sealed_but_unknown)
{
  static const struct {
    size_t at;
    uint8_t value;
    lanebloom_status status;
    const char *why;
  } fields[] = {
      {12, 1, LANEBLOOM_OK, ""},
      {12, 99, LANEBLOOM_ERR_FORMAT, "found number 99"},
      {40, 1, LANEBLOOM_ERR_FORMAT, "flags: expected none"},
      {56, 1, LANEBLOOM_ERR_FORMAT, "flags: expected none"},
      {63, 0x80, LANEBLOOM_ERR_FORMAT, "flags: expected none"},
      {31, 0xff, LANEBLOOM_ERR_CORRUPT, "bits per key: expected at most"},
      {39, 0x80, LANEBLOOM_ERR_CORRUPT, "truncated: expected a payload of"},
      {32, 0, LANEBLOOM_ERR_CORRUPT, "too long: expected a payload of 0"},
  };
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 3, 7), *found;
  save(filter, "f");
  uint8_t original[256], bytes[256];
  const size_t size = read_file("f", original, sizeof original);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    memcpy(bytes, original, size);
    bytes[fields[i].at] = fields[i].value;
    seal(bytes, size);
    write_file("f", bytes, size);
    char why[200];
    cr_assert(lanebloom_filter_load("f", &found, why, sizeof why) == fields[i].status,
              "field %zu: %s", i, why);
    cr_assert(strstr(why, fields[i].why), "field %zu: %s", i, why);
    lanebloom_filter_close(found);
    cr_assert(lanebloom_filter_map("f", &found, NULL, 0) == fields[i].status, "field %zu", i);
    lanebloom_filter_close(found);
    cr_assert(lanebloom_filter_parse(bytes, size, &found) == fields[i].status, "field %zu", i);
    lanebloom_filter_close(found);
  }
  cr_assert(lanebloom_filter_parse(NULL, 0, &found) == LANEBLOOM_ERR_FORMAT && !found);
  cr_assert(lanebloom_filter_parse(NULL, 1, &found) == LANEBLOOM_ERR_ARGUMENT && !found);
  lanebloom_filter_close(filter);
  leave_folder();
}

/* Every call that reads a file, and what it says: nothing on success, whatever was there before. */
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
  write_file("raw", "\0\0\0\0\0", 5);
  write_file("large", "", 0);
  cr_assert(truncate("large", (off_t)1 << 32) == 0);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char said[200] = "before";
    cr_assert(lanebloom_filter_load(files[i].path, &found, said, sizeof said) == files[i].load);
    cr_assert_str_eq(said, files[i].of_load);
    lanebloom_filter_close(found);
    cr_assert(lanebloom_filter_map(files[i].path, &found, said, sizeof said) == files[i].map);
    cr_assert_str_eq(said, files[i].of_map);
    lanebloom_filter_close(found);
    cr_assert(lanebloom_filter_load_raw(LANEBLOOM_ROCKSDB, files[i].path, &found, said,
                                        sizeof said) == files[i].load_raw);
    cr_assert_str_eq(said, files[i].of_load_raw);
    lanebloom_filter_close(found);
    char cut[4] = "xyz";
    if (files[i].load_raw) {
      cr_assert(lanebloom_filter_load_raw(LANEBLOOM_ROCKSDB, files[i].path, &found, cut, 3) ==
                files[i].load_raw);
      cr_assert(strncmp(cut, files[i].of_load_raw, 2) == 0 && cut[2] == 0 && cut[3] == 0);
    }
  }
  lanebloom_filter_close(filter);
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
  if (child == 0) { /* as somebody whom modes bind */
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
  lanebloom_filter_close(filter);
  leave_folder();
}

/* ---- A save is all or nothing ---- */

Test(saving, follows_links_and_keeps_modes)
{
  enter_empty_folder();
  umask(027);
  lanebloom_filter *a = build(10, 10, 1), *b = build(10, 10, 2), *found;
  struct stat info;
  cr_assert(mkdir("sub", 0777) == 0);
  cr_assert(symlink("sub/target", "link") == 0 && symlink("link", "link-to-link") == 0 &&
            symlink("loop", "loop") == 0);

  save(a, "link-to-link"); /* dangling at first */
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
  lanebloom_filter_close(found);
  lanebloom_filter_close(a);
  lanebloom_filter_close(b);
  leave_folder();
}

/* Replaces a file of root's as user 65534 in a group; returns the new file's mode, and its group in
 * *group. */
static mode_t replace_as(gid_t member_of, gid_t old_group, mode_t old_mode, gid_t *group)
{
  lanebloom_filter *filter = build(10, 10, 1);
  struct stat info;
  save(filter, "f.lbf");
  cr_assert(chown("f.lbf", 0, old_group) == 0 && chmod("f.lbf", old_mode) == 0);
  pid_t child = fork();
  if (child == 0) {
    const bool is_member = setgroups(1, &member_of) == 0 && setresgid(65534, 65534, 65534) == 0 &&
                           setresuid(65534, 65534, 65534) == 0;
    _exit(!is_member || lanebloom_filter_save(filter, "f.lbf") != LANEBLOOM_OK);
  }
  int status;
  cr_assert(waitpid(child, &status, 0) == child && status == 0);
  cr_assert(stat("f.lbf", &info) == 0 && info.st_uid == 65534);
  lanebloom_filter_close(filter);
  *group = info.st_gid;
  return info.st_mode & 07777;
}

/* The group stays where the saver is a member of it. Where not, its permissions do not pass to
 * another group, and nobody gains by that: others may do no more than the group might. */
Test(saving, keeps_the_group_or_its_permissions_to_itself)
{
  if (geteuid() != 0)
    cr_skip_test("needs root, to be somebody else");
  enum { ADM = 4, STAFF = 50, NOGROUP = 65534 };
  static const struct {
    gid_t member_of;
    mode_t old_mode, mode;
    gid_t group;
  } cases[] = {
      {ADM, 0664, 0664, ADM},       {ADM, 0660, 0660, ADM},       {ADM, 0604, 0604, ADM},
      {STAFF, 0664, 0604, NOGROUP}, {STAFF, 0660, 0600, NOGROUP}, {STAFF, 0604, 0600, NOGROUP},
  };
  for (int simple = 0; simple < 2; simple++) { /* simple: nobody can change a group */
    enter_empty_folder();
    cr_assert(chmod(".", 0777) == 0);
    is_simple_file_system = simple;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      gid_t group;
      const mode_t mode =
          replace_as(simple ? STAFF : cases[i].member_of, ADM, cases[i].old_mode, &group);
      const size_t expected = simple ? 3 + i % 3 : i;
      cr_assert(mode == cases[expected].mode && group == cases[expected].group,
                "case %zu: mode %o, group %u", i, mode, group);
    }
    leave_folder();
  }
}

/* As NFS and FAT, which have no files without a name. */
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
  lanebloom_filter_close(found);
  lanebloom_filter_close(a);
  lanebloom_filter_close(b);
  lanebloom_filter_close(large);
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
    target[at] = '/'; /* no name is too long, but folder and target together are */
  cr_assert(symlink(target, "link") == 0);
  cr_assert(lanebloom_filter_save(filter, path) == LANEBLOOM_ERR_IO && errno == ENAMETOOLONG, "%s",
            strerror(errno));
  lanebloom_filter_close(filter);
  leave_folder();
}

Test(saving, what_is_no_file_is_written_directly)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 10, 1), *found;
  cr_assert(lanebloom_filter_save(filter, "/dev/full") == LANEBLOOM_ERR_IO && errno == ENOSPC);
  save(filter, "/dev/null");

  /* A descriptor of ours is written to where it stands, even if it is a regular file. */
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
  cr_assert(lanebloom_filter_parse(bytes + 6, size - 11, &found) == LANEBLOOM_OK &&
            equal(filter, found));
  lanebloom_filter_close(found);
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
  lanebloom_filter_close(found);
  lanebloom_filter_close(filter);
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
  lanebloom_filter_close(found);
  lanebloom_filter_close(old);
  lanebloom_filter_close(large);
  leave_folder();
}

/* A filter of 5 MB, or if exhaustive of 25 MB, of one key. */
static lanebloom_filter *build_large(const char *key)
{
  const lanebloom_keys keys = lanebloom_keys_fixed(key, strlen(key), 1);
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  const uint64_t nkeys = test_exhaustive() ? 20000000 : 4000000;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, nkeys, &builder) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_add(builder, &keys) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
  lanebloom_builder_destroy(builder);
  return filter;
}

static uint64_t microseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Kills come at any moment of the first four saves. */
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
    pid_t child = fork();
    if (child == 0)
      for (int which = 1;; which = !which)
        if (lanebloom_filter_save(filters[which], "f.lbf"))
          _exit(1);
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    usleep((useconds_t)(random % (4 * one_save)));
    int status;
    cr_assert(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child &&
              WIFSIGNALED(status));
    char why[200];
    cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == LANEBLOOM_OK,
              "kill %d: %s", i, why);
    const bool is_new = equal(found, filters[1]);
    cr_assert(is_new || equal(found, filters[0]), "kill %d: neither the old file nor the new one",
              i);
    nseen[is_new]++;
    lanebloom_filter_close(found);
  }
  cr_assert(nseen[0] > 0 && nseen[1] > 0, "the kills were not spread over the saves: %zu and %zu",
            nseen[0], nseen[1]);
  lanebloom_filter_close(filters[0]);
  lanebloom_filter_close(filters[1]);
  leave_folder();
}

/* Of two savers of one path, one's file stays, at every moment whole. */
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
    lanebloom_filter_close(found);
  }
  for (int which = 0; which < 2; which++) {
    int status;
    cr_assert(waitpid(children[which], &status, 0) == children[which] && status == 0);
  }
  cr_assert(files_here() == 1);
  lanebloom_filter_close(filters[0]);
  lanebloom_filter_close(filters[1]);
  leave_folder();
}

/* What save() would say of a path, without a file. */
Test(saving, check_before)
{
  enter_empty_folder();
  cr_assert(mkdir("folder", 0755) == 0 && symlink("missing/f.lbf", "link") == 0);
  static const struct {
    const char *path;
    int error;
  } cases[] = {{"f.lbf", 0},       {"folder/f.lbf", 0},    {"/dev/null", 0},
               {"folder", EISDIR}, {"none/f.lbf", ENOENT}, {"link", ENOENT},
               {"f.lbf/", ENOENT}, {"/dev/fd/999", EBADF}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    errno = 0;
    const lanebloom_status status = lanebloom_filter_save_check(cases[i].path);
    cr_assert(status == (cases[i].error ? LANEBLOOM_ERR_IO : LANEBLOOM_OK) &&
                  (!cases[i].error || errno == cases[i].error),
              "%s: status %d, %s", cases[i].path, status, strerror(errno));
  }
  cr_assert(files_here() == 2);
  cr_assert(unlink("link") == 0 && rmdir("folder") == 0);
  leave_folder();
}
