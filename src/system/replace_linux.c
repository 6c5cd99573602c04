/* Defines what replace_posix.c needs of Linux (see unix.h).
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "replace.h"
#include "unix.h"

const char lanebloom_unix_descriptors[] = "/proc/self/fd";

/* The system call is used directly, because musl 1.2.3 has no statx() and later versions lack the
 * names of the attributes. */
enum { IMMUTABLE = 0x10, APPEND = 0x20, MOUNT_ROOT = 0x2000 }; /* STATX_ATTR_* of linux/stat.h */
struct description {                                           /* struct statx */
  uint32_t fields, block_nbytes;
  uint64_t attributes, others[30];
};

/* Checks whether the path has at least one of these attributes. If the call fails, returns
 * false. */
static bool has_attribute(const char *path, uint64_t attributes)
{
  struct description found;
  return syscall(SYS_statx, AT_FDCWD, path, 0, 0, &found) == 0 && found.attributes & attributes;
}

int lanebloom_unix_refusal(const char *path)
{
  if (has_attribute(path, IMMUTABLE | APPEND))
    return EPERM;
  return has_attribute(path, MOUNT_ROOT) ? EBUSY : 0;
}

bool lanebloom_unix_only_grows(const char *folder)
{
  return has_attribute(folder, APPEND);
}

/* Opens a folder. If the process is not permitted to list the folder, opens it with O_PATH; such a
 * folder cannot be flushed. */
int lanebloom_unix_open_folder(const char *path)
{
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 && errno == EACCES ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : fd;
}

/* If the file system supports files without a name, the new file has no name at first, so that
 * nothing is left if the process is killed. When the new file is complete, give_name() gives it a
 * name, by way of /proc. */
int lanebloom_unix_create(struct replacement *file, mode_t mode)
{
  if (access("/proc/self/fd", X_OK) == 0) {
    int fd = openat(file->folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    file->nameless = fd >= 0;
    if (file->nameless)
      return fd;
  }
  return openat(file->folder, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

static bool give_name(const struct replacement *file, const char *name)
{
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file->fd);
  return linkat(AT_FDCWD, path, file->folder, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Reads a number from a file of /proc. Returns `otherwise` if the file or the number is missing. */
static unsigned long read_number(const char *path, const char *format, unsigned long otherwise)
{
  FILE *file = fopen(path, "re");
  unsigned long number;
  if (!file)
    return otherwise;
  if (fscanf(file, format, &number) != 1)
    number = otherwise;
  fclose(file);
  return number;
}

/* Checks whether the id of a user or group is the real id. In a user namespace, ids that are not
 * mapped are all shown as the overflow id, so that this id does not tell the owner. */
static bool is_itself(uint32_t id, const char *overflow_path, const char *map_path)
{
  return id != read_number(overflow_path, "%lu", 65534) ||
         read_number(map_path, "%*u %*u %lu", 0) == UINT32_MAX;
}

uid_t lanebloom_unix_owner(const struct stat *old)
{
  return is_itself(old->st_uid, "/proc/sys/kernel/overflowuid", "/proc/self/uid_map") ? old->st_uid
                                                                                      : (uid_t)-1;
}

gid_t lanebloom_unix_group(const struct stat *old)
{
  return is_itself(old->st_gid, "/proc/sys/kernel/overflowgid", "/proc/self/gid_map") ? old->st_gid
                                                                                      : (gid_t)-1;
}

static bool has_no_acl(ssize_t result)
{
  return result < 0 && (errno == ENODATA || errno == ENOTSUP);
}

bool lanebloom_unix_keep_acl(int fd, const char *old_path, bool same_group)
{
  static const char name[] = "system.posix_acl_access";
  char acl[8192]; /* 1,000 entries; a longer ACL is not kept */
  const ssize_t nbytes = getxattr(old_path, name, acl, sizeof acl);
  if (nbytes >= 0 && same_group)
    return fsetxattr(fd, name, acl, (size_t)nbytes, 0) == 0;
  const bool had_none = has_no_acl(nbytes);
  const int removed = fremovexattr(fd, name);
  return had_none && (removed == 0 || has_no_acl(removed));
}

bool lanebloom_unix_flush(int file)
{
  return fsync(file) == 0;
}

/* If there was no target, linkat() gives a file without a name this name directly. linkat() does
 * not replace a file. So if there was a target, the new file gets its temporary name first and is
 * then renamed. If the process is killed in between, the temporary name is left. */
bool lanebloom_unix_put_in_place(const struct replacement *file)
{
  if (!lanebloom_unix_flush(file->fd))
    return false;
  if (file->nameless && file->is_new && give_name(file, file->name))
    return true;
  /* EEXIST: another process has created the target meanwhile */
  if (file->nameless && file->is_new && errno != EEXIST)
    return false;
  return (!file->nameless || give_name(file, file->temporary)) &&
         renameat(file->folder, file->temporary, file->folder, file->name) == 0;
}
