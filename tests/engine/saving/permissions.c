/* A file that is replaced keeps its permissions: mode, group and access control list.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <lanebloom.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "file_system.h"
#include "filter_files.h"

/* ---- Access control lists ---- */

static const char acl_of_file[] = "system.posix_acl_access",
                  acl_of_new_files[] = "system.posix_acl_default";

/* Holds user::rw-, user:UID:rw-, group::---, mask::rw-, other::---, in the kernel's layout. */
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

/* ---- Permissions that stay ---- */

static bool old_has_acl;

/* Replaces a file of root's, as user 65534, who is a member of one group. Returns the new file's
 * mode, and sets *group to the new file's group. */
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
  lanebloom_filter_free(filter);
  *group = info.st_gid;
  return info.st_mode & 07777;
}

/* If the user is a member of the file's group, the group stays. If not, the new group gets no
 * permissions, and no user gains any: others may do only what the old group might do, too. */
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
  for (int simple = 0; simple < 2; simple++) { /* simple: the group cannot be changed */
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

/* If a file has an ACL, its mode shows the ACL's mask as the group's permissions. Without the ACL,
 * the same mode would grant these permissions to the group. */
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
  lanebloom_filter_free(filter);
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
  lanebloom_filter_free(filter);
  leave_folder();
}

/* A folder's ACL applies to new files in the folder, but not to a file that replaces one without an
 * ACL. */
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
  lanebloom_filter_free(filter);
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

/* ---- User namespaces, which show all unmapped groups as one ---- */

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

/* Replaces a file of the test's user in a namespace with these maps, or without maps if they are
 * NULL. */
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
    raise(SIGSTOP); /* waits for the maps */
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
  lanebloom_filter_free(filter);
  return mode_of("f.lbf");
}

Test(saving, in_a_namespace_that_shows_any_group_as_one)
{
  enter_empty_folder();
  const mode_t mode = replace_in_namespace(NULL, NULL);
  cr_assert(mode == 0604, "mode %o", mode);
  leave_folder();
}

/* In this namespace root may give the file to the group with the overflow number, but the file had
 * another group. */
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

/* If all groups are mapped, the group with the overflow number is a group like any other. */
Test(saving, keeps_a_group_with_the_overflow_number)
{
  FILE *map = fopen("/proc/self/gid_map", "r");
  unsigned long nmapped = 0;
  cr_assert(map && fscanf(map, "%*u %*u %lu", &nmapped) == 1);
  fclose(map);
  if (geteuid() != 0 || nmapped != UINT32_MAX)
    cr_skip_test("needs root, outside of user namespaces");
  struct stat root;
  cr_assert(stat("/", &root) == 0);
  if (!(root.st_mode & S_IXOTH))
    cr_skip_test("others may not enter / here, so they cannot read /proc");
  enter_empty_folder();
  cr_assert(chmod(".", 0777) == 0);
  gid_t group;
  const mode_t mode = replace_as(OVERFLOW_ID, OVERFLOW_ID, 0664, &group);
  cr_assert(mode == 0664 && group == OVERFLOW_ID, "mode %o, group %u", mode, group);
  leave_folder();
}
