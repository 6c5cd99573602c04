/* A limited file system. The linker replaces calls of the C library by the functions here
 * (tests/engine/CMakeLists.txt).
 * SPDX-License-Identifier: MIT */
#include "file_system.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

int __real_openat64(int folder, const char *path, int options, ...);
int __real_fchown(int fd, uid_t owner, gid_t group);
int __real_fsetxattr(int fd, const char *name, const void *value, size_t size, int options);
int __real_fremovexattr(int fd, const char *name);
int __wrap_openat64(int folder, const char *path, int options, mode_t mode);
int __wrap_fchown(int fd, uid_t owner, gid_t group);
int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t size, int options);
int __wrap_fremovexattr(int fd, const char *name);

bool is_simple_file_system, has_no_room_for_acls, was_open_too_early;

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
