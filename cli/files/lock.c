/* Locks the file of a filter by the lock of the system.
 * SPDX-License-Identifier: MIT */
#include "lock.h"

#include <errno.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../system/files.h"

bool is_named(int fd, const char *path)
{
  struct system_info locked, now;
  if (!lanebloom_system_file_info(fd, &locked) || !lanebloom_system_info(path, &now))
    die(path, "%s; nothing was changed", strerror(errno));
  return is_same_file(&locked, &now);
}

int lock_file(const char *path, const char *name)
{
  for (;;) {
    struct system_info found;
    const int fd = open_to_lock(path);
    if (fd < 0 || !lanebloom_system_file_info(fd, &found))
      die(name, "%s; nothing was changed", strerror(errno));
    if (found.kind != SYSTEM_FILE)
      die(name, "expected a regular file, which can be replaced; nothing was changed");
    if (!lock_open_file(fd))
      die(name, "cannot be locked: %s", strerror(errno));
    if (is_named(fd, path))
      return fd;
    /* The previous owner of the lock has replaced the file, so the next attempt locks the new
     * file. */
    lanebloom_system_close(fd);
  }
}
