/* Locks the file of a filter by flock(2).
 * SPDX-License-Identifier: MIT */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/paths.h"
#include "../base/report.h"

bool is_named(int fd, const char *path)
{
  struct stat locked, now;
  if (fstat(fd, &locked) != 0 || stat(path, &now) != 0)
    die(path, "%s; nothing was changed", strerror(errno));
  return is_same_file(&locked, &now);
}

/* Opens the file for writing if that is allowed, because network file systems lock only files that
 * are open for writing. If a pipe has replaced the file, O_NONBLOCK keeps open() from waiting for a
 * writer. */
static int open_to_lock(const char *path)
{
  const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  return fd < 0 && errno == EACCES ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : fd;
}

int lock_file(const char *path, const char *name)
{
  for (;;) {
    struct stat found;
    const int fd = open_to_lock(path);
    if (fd < 0 || fstat(fd, &found) != 0)
      die(name, "%s; nothing was changed", strerror(errno));
    if (!S_ISREG(found.st_mode))
      die(name, "expected a regular file, which can be replaced; nothing was changed");
    while (flock(fd, LOCK_EX) != 0)
      if (errno != EINTR)
        die(name, "cannot be locked: %s", strerror(errno));
    if (is_named(fd, path))
      return fd;
    close(fd); /* The previous owner of the lock has replaced the file, so the next attempt locks
                * the new file. */
  }
}
