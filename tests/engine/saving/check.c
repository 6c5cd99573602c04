/* The check that finds the errors that save() would give for a path, without writing a file.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <lanebloom.h>
#include <linux/fs.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "filter_files.h"

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
  lanebloom_filter_free(filter);
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
  lanebloom_filter_free(filter);
  leave_folder();
}

/* Sets or clears an attribute, as chattr +i, +a, -i and -a do. The type of the second argument of
 * ioctl() differs between C libraries, so the system call is used. */
static bool set_attribute(const char *path, int attribute, bool on)
{
  int attributes;
  const int fd = open(path, O_RDONLY);
  bool set = fd >= 0 && syscall(SYS_ioctl, fd, FS_IOC_GETFLAGS, &attributes) == 0;
  if (set) {
    attributes = on ? attributes | attribute : attributes & ~attribute;
    set = syscall(SYS_ioctl, fd, FS_IOC_SETFLAGS, &attributes) == 0;
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
  lanebloom_filter_free(filter);
  leave_folder();
}
