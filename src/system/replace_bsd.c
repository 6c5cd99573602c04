/* Defines what replace_posix.c needs of macOS and of FreeBSD (see unix.h).
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsd.h"
#include "replace.h"
#include "unix.h"

const char lanebloom_unix_descriptors[] = "/dev/fd";

static bool has_flag(const char *path, unsigned flags)
{
  struct stat found;
  return stat(path, &found) == 0 && found.st_flags & flags;
}

int lanebloom_unix_refusal(const char *path)
{
  return has_flag(path, UF_IMMUTABLE | SF_IMMUTABLE | UF_APPEND | SF_APPEND) ? EPERM : 0;
}

bool lanebloom_unix_only_grows(const char *folder)
{
  return has_flag(folder, UF_APPEND | SF_APPEND);
}

int lanebloom_unix_open_folder(const char *path)
{
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 && errno == EACCES ? open(path, O_SEARCH | O_DIRECTORY | O_CLOEXEC) : fd;
}

int lanebloom_unix_create(struct replacement *file, mode_t mode)
{
  return openat(file->folder, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

uid_t lanebloom_unix_owner(const struct stat *old)
{
  return old->st_uid;
}

gid_t lanebloom_unix_group(const struct stat *old)
{
  return old->st_gid;
}

/* Checks whether an error means that a file has no ACL of a type. */
static bool has_no_acl(int error)
{
  return error == ENOENT || error == EOPNOTSUPP || error == ENOTSUP || error == EINVAL;
}

/* Gives the new file the old file's ACL of one type. An ACL that says no more than the mode can be
 * given to any file, because the mode is set afterwards. */
static bool keep_acl(int fd, const char *old_path, bool same_group, acl_type_t type)
{
  acl_t acl = acl_get_file(old_path, type);
  const bool had_none = !acl && has_no_acl(errno);
  if (had_none)
    acl = acl_init(1); /* has no entries */
  const bool fits = acl && (had_none || same_group || !lanebloom_bsd_acl_says_more(acl));
  const bool set = fits && acl_set_fd_np(fd, acl, type) == 0;
  const bool has_none = !set && had_none && has_no_acl(errno);
  acl_free(acl);
  return set || has_none;
}

bool lanebloom_unix_keep_acl(int fd, const char *old_path, bool same_group)
{
  bool kept = true;
  for (size_t i = 0; i < lanebloom_bsd_nacl_types; i++)
    kept &= keep_acl(fd, old_path, same_group, lanebloom_bsd_acl_types[i]);
  return kept;
}

bool lanebloom_unix_put_in_place(const struct replacement *file)
{
  return lanebloom_unix_flush(file->fd) &&
         renameat(file->folder, file->temporary, file->folder, file->name) == 0;
}
