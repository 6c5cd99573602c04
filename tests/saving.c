/* Saving: a file is written all or nothing, and what protects it stays.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <lanebloom.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "filter_files.h"
#include "support.h"

/* ---- A file system that cannot do all: the linker puts these in the place of the C library's
 * (tests/CMakeLists.txt) ---- */

int __real_openat64(int folder, const char *path, int options, ...);
int __real_fchown(int fd, uid_t owner, gid_t group);
int __real_fsetxattr(int fd, const char *name, const void *value, size_t size, int options);
int __real_fremovexattr(int fd, const char *name);
int __wrap_openat64(int folder, const char *path, int options, mode_t mode);
int __wrap_fchown(int fd, uid_t owner, gid_t group);
int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t size, int options);
int __wrap_fremovexattr(int fd, const char *name);

static bool is_simple_file_system, has_no_room_for_acls;
static bool was_open_too_early; /* to more than its owner, before its ACL was right */

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

static void look_at_mode(int fd)
{
  struct stat info;
  was_open_too_early |= fstat(fd, &info) != 0 || info.st_mode & (S_IRWXG | S_IRWXO);
}

int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t size, int options)
{
  look_at_mode(fd);
  if (!has_no_room_for_acls)
    return __real_fsetxattr(fd, name, value, size, options);
  errno = ENOSPC;
  return -1;
}

int __wrap_fremovexattr(int fd, const char *name)
{
  look_at_mode(fd);
  return __real_fremovexattr(fd, name);
}

/* ---- Files ---- */

/* None grows beyond 100,000 bytes from here on: writing more fails, as on a full disk. */
static void limit_files(void)
{
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {100000, 100000};
  cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static size_t files_here(void)
{
  FILE *list = popen("ls -A | wc -l", "r");
  size_t n = 0;
  cr_assert(list && fscanf(list, "%zu", &n) == 1);
  pclose(list);
  return n;
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

/* ---- Access control lists ---- */

static const char acl_of_file[] = "system.posix_acl_access",
                  acl_of_new_files[] = "system.posix_acl_default";

/* user::rw-, user:UID:rw-, group::---, mask::rw-, other::---, as the kernel reads it. */
struct acl {
  uint32_t version;
  struct {
    uint16_t who, may;
    uint32_t id;
  } entries[5];
};

static struct acl acl_for(uint32_t uid)
{
  enum { VERSION = 2, OWNER = 1, USER = 2, GROUP = 4, MASK = 16, OTHER = 32, RW = 6 };
  struct acl acl = {VERSION,
                    {{OWNER, RW, UINT32_MAX},
                     {USER, RW, uid},
                     {GROUP, 0, UINT32_MAX},
                     {MASK, RW, UINT32_MAX},
                     {OTHER, 0, UINT32_MAX}}};
  acl.version = htole32(acl.version);
  for (size_t i = 0; i < 5; i++) {
    acl.entries[i].who = htole16(acl.entries[i].who);
    acl.entries[i].may = htole16(acl.entries[i].may);
    acl.entries[i].id = htole32(acl.entries[i].id);
  }
  return acl;
}

static void give_acl(const char *path, const char *name, uint32_t uid)
{
  const struct acl acl = acl_for(uid);
  if (setxattr(path, name, &acl, sizeof acl, 0) != 0) {
    leave_folder();
    cr_skip_test("no ACLs here");
  }
}

static bool has_acl(const char *path, uint32_t uid)
{
  const struct acl expected = acl_for(uid);
  struct acl found;
  return getxattr(path, acl_of_file, &found, sizeof found) == sizeof found &&
         memcmp(&found, &expected, sizeof found) == 0;
}

static bool has_no_acl(const char *path)
{
  return getxattr(path, acl_of_file, NULL, 0) < 0 && errno == ENODATA;
}

static mode_t mode_of(const char *path)
{
  struct stat info;
  cr_assert(stat(path, &info) == 0);
  return info.st_mode & 07777;
}

/* ---- Who may do what stays ---- */

static bool old_has_acl;

/* Replaces a file of root's as user 65534 in a group; returns the new file's mode, and its group in
 * *group. */
static mode_t replace_as(gid_t member_of, gid_t old_group, mode_t old_mode, gid_t *group)
{
  lanebloom_filter *filter = build(10, 10, 1);
  struct stat info;
  save(filter, "f.lbf");
  cr_assert(chown("f.lbf", 0, old_group) == 0 && chmod("f.lbf", old_mode) == 0);
  if (old_has_acl)
    give_acl("f.lbf", acl_of_file, 1000);
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

/* The mode shows the mask as the group's permissions: alone it would give the group what it never
 * had. */
Test(saving, keeps_the_acl)
{
  lanebloom_filter *filter = build(10, 10, 1);
  for (int simple = 0; simple < 2; simple++) {
    enter_empty_folder();
    is_simple_file_system = simple;
    save(filter, "f.lbf");
    give_acl("f.lbf", acl_of_file, 1000);
    save(filter, "f.lbf");
    cr_assert(mode_of("f.lbf") == 0660 && has_acl("f.lbf", 1000) && !was_open_too_early,
              "mode %o, ACL %d", mode_of("f.lbf"), has_acl("f.lbf", 1000));
    leave_folder();
  }
  lanebloom_filter_close(filter);
}

Test(saving, an_acl_that_cannot_be_kept)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 10, 1);
  save(filter, "f.lbf");
  give_acl("f.lbf", acl_of_file, 1000);
  has_no_room_for_acls = true;
  save(filter, "f.lbf");
  cr_assert(mode_of("f.lbf") == 0600 && has_no_acl("f.lbf"), "mode %o", mode_of("f.lbf"));
  lanebloom_filter_close(filter);
  leave_folder();
}

/* A folder's ACL is for what is new in it, not for what replaces a file that had none. */
Test(saving, takes_no_acl_from_the_folder)
{
  lanebloom_filter *filter = build(10, 10, 1);
  for (int simple = 0; simple < 2; simple++) {
    enter_empty_folder();
    is_simple_file_system = simple;
    save(filter, "f.lbf");
    cr_assert(chmod("f.lbf", 0640) == 0);
    give_acl(".", acl_of_new_files, 65534);
    save(filter, "f.lbf");
    cr_assert(mode_of("f.lbf") == 0640 && has_no_acl("f.lbf") && !was_open_too_early, "mode %o",
              mode_of("f.lbf"));
    save(filter, "new.lbf");
    cr_assert(mode_of("new.lbf") == 0660 && has_acl("new.lbf", 65534), "mode %o",
              mode_of("new.lbf"));
    leave_folder();
  }
  lanebloom_filter_close(filter);
}

Test(saving, keeps_the_acl_with_its_group_only)
{
  if (geteuid() != 0)
    cr_skip_test("needs root, to be somebody else");
  enum { ADM = 4, STAFF = 50 };
  for (int is_member = 0; is_member < 2; is_member++) {
    enter_empty_folder();
    cr_assert(chmod(".", 0777) == 0);
    gid_t group;
    old_has_acl = true;
    const mode_t mode = replace_as(is_member ? ADM : STAFF, ADM, 0660, &group);
    cr_assert(mode == (is_member ? 0660 : 0600), "mode %o, group %u", mode, group);
    cr_assert(is_member ? has_acl("f.lbf", 1000) : has_no_acl("f.lbf"));
    leave_folder();
  }
}

/* ---- User namespaces: what they do not map shows as one and the same group ---- */

enum { OVERFLOW_ID = 65534 };

static bool write_map(pid_t process, const char *kind, const char *map)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s_map", (int)process, kind);
  const int file = open(path, O_WRONLY);
  const bool written = file >= 0 && write(file, map, strlen(map)) == (ssize_t)strlen(map);
  close(file);
  return written;
}

/* Replaces a file of ours in a namespace with these maps, NULL for none. */
static mode_t replace_in_namespace(const char *uids, const char *gids)
{
  lanebloom_filter *filter = build(10, 10, 1);
  save(filter, "f.lbf");
  cr_assert(chmod("f.lbf", 0664) == 0);
  if (geteuid() == 0)
    cr_assert(chown("f.lbf", (uid_t)-1, 4) == 0);
  enum { NO_NAMESPACE = 2 };
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWUSER) != 0)
      _exit(NO_NAMESPACE);
    raise(SIGSTOP); /* for the maps */
    _exit(lanebloom_filter_save(filter, "f.lbf") != LANEBLOOM_OK);
  }
  int status;
  cr_assert(waitpid(child, &status, WUNTRACED) == child);
  if (WIFSTOPPED(status)) {
    const bool mapped = !uids || (write_map(child, "uid", uids) && write_map(child, "gid", gids));
    cr_assert(kill(child, SIGCONT) == 0 && waitpid(child, &status, 0) == child);
    if (!mapped) {
      leave_folder();
      cr_skip_test("may not map users into a namespace");
    }
  }
  if (WEXITSTATUS(status) == NO_NAMESPACE) {
    leave_folder();
    cr_skip_test("may not create a user namespace");
  }
  cr_assert(status == 0, "%x", status);
  lanebloom_filter_close(filter);
  return mode_of("f.lbf");
}

Test(saving, in_a_namespace_that_shows_any_group_as_one)
{
  enter_empty_folder();
  const mode_t mode = replace_in_namespace(NULL, NULL);
  cr_assert(mode == 0604, "mode %o", mode);
  leave_folder();
}

/* There root may give a file to that group, which is not the one it had. */
Test(saving, in_a_namespace_that_has_such_a_group)
{
  if (geteuid() != 0)
    cr_skip_test("needs root, to map users into a namespace");
  enter_empty_folder();
  const mode_t mode = replace_in_namespace("0 0 1\n65534 65534 1\n", "0 0 1\n65534 65534 1\n");
  struct stat info;
  cr_assert(stat("f.lbf", &info) == 0);
  cr_assert(mode == 0604 && info.st_gid == 0, "mode %o, group %u", mode, info.st_gid);
  leave_folder();
}

/* Where all groups are mapped it is a group as any other. */
Test(saving, keeps_a_group_with_the_overflow_number)
{
  FILE *map = fopen("/proc/self/gid_map", "r");
  unsigned long nmapped = 0;
  cr_assert(map && fscanf(map, "%*u %*u %lu", &nmapped) == 1);
  fclose(map);
  if (geteuid() != 0 || nmapped != UINT32_MAX)
    cr_skip_test("needs root, outside of user namespaces");
  enter_empty_folder();
  cr_assert(chmod(".", 0777) == 0);
  gid_t group;
  const mode_t mode = replace_as(OVERFLOW_ID, OVERFLOW_ID, 0664, &group);
  cr_assert(mode == 0664 && group == OVERFLOW_ID, "mode %o, group %u", mode, group);
  leave_folder();
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

static void assert_says_no(const char *path, int error)
{
  lanebloom_filter *filter = build(10, 10, 1);
  const lanebloom_status said = lanebloom_filter_save_check(path);
  const int said_error = errno;
  cr_assert(lanebloom_filter_save(filter, path) == LANEBLOOM_ERR_IO && errno == error, "%s",
            strerror(errno));
  cr_assert(said == LANEBLOOM_ERR_IO && said_error == error, "%s: status %d, %s", path, said,
            strerror(said_error));
  lanebloom_filter_close(filter);
}

Test(saving, check_before_a_socket)
{
  enter_empty_folder();
  const struct sockaddr_un address = {AF_UNIX, "socket"};
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
  cr_assert(bind(socket_fd, (const struct sockaddr *)&address, sizeof address) == 0);
  assert_says_no("socket", ENXIO);
  close(socket_fd);
  leave_folder();
}

Test(saving, check_before_a_mounted_file)
{
  enter_empty_folder();
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    leave_folder();
    cr_skip_test("may not mount");
  }
  lanebloom_filter *filter = build(10, 10, 1);
  save(filter, "f.lbf");
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("f.lbf", "f.lbf", NULL, MS_BIND, NULL) != 0) {
    leave_folder();
    cr_skip_test("may not mount");
  }
  assert_says_no("f.lbf", EBUSY);
  cr_assert(umount("f.lbf") == 0);
  lanebloom_filter_close(filter);
  leave_folder();
}

/* As chattr +i or +a, and -i or -a. */
static bool set_attribute(const char *path, int attribute, bool on)
{
  int attributes;
  const int fd = open(path, O_RDONLY);
  bool set = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &attributes) == 0;
  if (set) {
    attributes = on ? attributes | attribute : attributes & ~attribute;
    set = ioctl(fd, FS_IOC_SETFLAGS, &attributes) == 0;
  }
  close(fd);
  return set;
}

Test(saving, check_before_what_may_not_change)
{
  static const struct {
    const char *path;
    int attribute;
  } cases[] = {{"f.lbf", FS_IMMUTABLE_FL},
               {"f.lbf", FS_APPEND_FL},
               {".", FS_IMMUTABLE_FL},
               {".", FS_APPEND_FL}};
  enter_empty_folder();
  cr_assert(mkdir("folder", 0777) == 0 && chdir("folder") == 0);
  lanebloom_filter *filter = build(10, 10, 1);
  save(filter, "f.lbf");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = cases[i].path;
    if (!set_attribute(path, cases[i].attribute, true)) {
      cr_assert(chdir("..") == 0);
      leave_folder();
      cr_skip_test("may not set file attributes here");
    }
    const lanebloom_status said = lanebloom_filter_save_check("f.lbf");
    const int said_error = errno;
    const lanebloom_status saved = lanebloom_filter_save(filter, "f.lbf");
    const int saved_error = errno;
    cr_assert(set_attribute(path, cases[i].attribute, false));
    cr_assert(saved == LANEBLOOM_ERR_IO && saved_error == EPERM, "case %zu: %d, %s", i, saved,
              strerror(saved_error));
    cr_assert(said == LANEBLOOM_ERR_IO && said_error == EPERM, "case %zu: status %d, %s", i, said,
              strerror(said_error));
  }
  cr_assert(chdir("..") == 0);
  lanebloom_filter_close(filter);
  leave_folder();
}
