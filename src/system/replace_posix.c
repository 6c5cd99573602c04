/* Replaces a file, the target, by a new one, or leaves the target as it was. The new file is
 * written beside the target, flushed, and renamed over the target. This file has what all Unix
 * systems share (see unix.h).
 * SPDX-License-Identifier: MIT */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unix.h"

/* Splits a path in place. Returns the last component of the path, and stores the rest in
 * *folder. */
static char *split(char *path, const char **folder)
{
  char *slash = strrchr(path, '/');
  *folder = !slash ? "." : slash == path ? "/" : path;
  if (!slash)
    return path;
  *slash = 0;
  return slash + 1;
}

/* Returns the descriptor of this process that a path such as /dev/fd/1 names, or -1 if the path
 * names none. */
static int own_descriptor(const char *path)
{
  static const char *const standard[] = {"/dev/stdin", "/dev/stdout",
                                         /* these are recognised even without that folder */
                                         "/dev/stderr"};
  for (int fd = 0; fd < 3; fd++)
    if (strcmp(path, standard[fd]) == 0)
      return fd;

  char copy[FOLLOW_NBYTES], here[FOLLOW_NBYTES], there[FOLLOW_NBYTES], canonical[16];
  const char *folder;
  strcpy(copy, path);
  const char *name = split(copy, &folder);
  const int fd = (int)strtol(name, NULL, 10);
  snprintf(canonical, sizeof canonical, "%d", fd);
  const bool is_number = fd >= 0 && strcmp(name, canonical) == 0;
  return is_number && realpath(lanebloom_unix_descriptors, here) && realpath(folder, there) &&
                 strcmp(here, there) == 0
             ? fd
             : -1;
}

/* If the path is a symbolic link, replaces it by the link's target and returns 1. Returns 0 if the
 * path is no link, and -1 with errno on an error. */
static int follow_link(char path[FOLLOW_NBYTES])
{
  char link[FOLLOW_NBYTES], joined[2 * FOLLOW_NBYTES];
  ssize_t n = readlink(path, link, sizeof link - 1);
  if (n < 0)
    return errno == EINVAL || errno == ENOENT ? 0 : -1;
  link[n] = 0;
  const char *folder;
  split(path, &folder);
  int length = *link == '/' ? snprintf(joined, sizeof joined, "%s", link)
                            : snprintf(joined, sizeof joined, "%s/%s", folder, link);
  if (length >= FOLLOW_NBYTES) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(path, joined);
  return 1;
}

int lanebloom_follow(const char *path, char target[FOLLOW_NBYTES])
{
  if (strlen(path) >= FOLLOW_NBYTES) {
    errno = ENAMETOOLONG;
    return FOLLOW_FAILED;
  }
  strcpy(target, path);
  for (int nlinks = 0; nlinks < 40; nlinks++) { /* Linux follows this many, too */
    const int fd = own_descriptor(target);
    if (fd >= 0)
      return fd;
    struct stat info;
    const bool exists = stat(target, &info) == 0;
    if (!exists && errno != ENOENT)
      /* The system may refuse to follow a link (fs.protected_symlinks, nosymfollow). Such a link is
       * not followed here, either. */
      return FOLLOW_FAILED;
    if (exists && !S_ISREG(info.st_mode))
      /* not followed: a pipe's link in /proc has no target, but can be opened */
      return FOLLOW_PATH;
    const int followed = follow_link(target);
    if (followed <= 0)
      return followed < 0 ? FOLLOW_FAILED : FOLLOW_PATH;
  }
  errno = ELOOP;
  return FOLLOW_FAILED;
}

/* Checks whether a new file can be created in the folder of `path` and renamed to `path`. If not,
 * sets errno. `old` is the status of the old file, or NULL if there is none. In a folder with the
 * sticky bit, only the owner of the old file or of the folder may replace the file. The string
 * `path` is changed. */
static bool may_replace(char path[FOLLOW_NBYTES], const struct stat *old)
{
  const int refusal = old ? lanebloom_unix_refusal(path) : 0;
  const char *folder;
  struct stat info;
  const char *name = split(path, &folder);
  if (!*name) {
    errno = ENOENT;
    return false;
  }
  if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0 || stat(folder, &info) != 0)
    return false;
  const uid_t self = geteuid();
  const bool is_sticky =
      old && info.st_mode & S_ISVTX && self && self != old->st_uid && self != info.st_uid;
  if (is_sticky || lanebloom_unix_only_grows(folder)) {
    errno = EPERM;
    return false;
  }
  errno = refusal;
  return !refusal;
}

/* Checks whether the descriptor is open for writing. If not, sets errno. */
static bool is_writable(int descriptor)
{
  const int flags = fcntl(descriptor, F_GETFL), access = flags & O_ACCMODE;
  if (flags >= 0 && (access == O_WRONLY || access == O_RDWR)) /* musl has O_PATH as another one */
    return true;
  errno = EBADF;
  return false;
}

bool lanebloom_replace_check(const char *path)
{
  char target[FOLLOW_NBYTES];
  const int descriptor = lanebloom_follow(path, target);
  if (descriptor == FOLLOW_FAILED)
    return false;
  if (descriptor >= 0)
    return is_writable(descriptor);

  struct stat old;
  const bool exists = stat(target, &old) == 0;
  if (!exists && errno != ENOENT)
    return false;
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (exists && S_ISSOCK(old.st_mode)) {
    errno = ENXIO;
    return false;
  }
  if (exists && !S_ISREG(old.st_mode))
    return faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) == 0;
  return may_replace(target, exists ? &old : NULL);
}

/* Sets file->temporary to a random name. */
static bool choose_temporary_name(struct replacement *file)
{
  uint64_t random;
  if (getentropy(&random, sizeof random) != 0)
    return false;
  snprintf(file->temporary, sizeof file->temporary, ".lanebloom-%016" PRIx64, random);
  return true;
}

/* Gives the new file the owner and group of the old file, as far as permitted: only root may set
 * the owner, and a member of the group may set the group. Returns true if the new file has the
 * group of the old file. */
static bool keep_owner_and_group(int fd, const struct stat *old)
{
  const uid_t owner = lanebloom_unix_owner(old);
  const gid_t group = lanebloom_unix_group(old);
  struct stat now;
  const bool kept = fchown(fd, owner, group) == 0 || fchown(fd, (uid_t)-1, group) == 0 ||
                    (fstat(fd, &now) == 0 && now.st_gid == old->st_gid);
  return kept && group != (gid_t)-1;
}

/* Gives the new file the mode and the ACL of the old file and, if permitted, its owner and group.
 * No user may get more permissions than before. So if the groups of the two files differ, the new
 * file's group gets no permissions, and other users get only the permissions that both the old
 * file's group and other users had. If the ACL could not be kept, neither the group nor other users
 * get permissions: in a file with an ACL, the group permissions of the mode are the ACL's mask, and
 * do not say what the group may do. The mode is set last; until then only the owner has
 * permissions. */
static bool take_over(int fd, const char *old_path, const struct stat *old)
{
  const bool same_group = keep_owner_and_group(fd, old);
  mode_t mode = old->st_mode & 0777;
  if (!same_group)
    mode &= S_IRWXU | (mode >> 3 & S_IRWXO);
  if (!lanebloom_unix_keep_acl(fd, old_path, same_group))
    mode &= S_IRWXU;
  return fchmod(fd, mode) == 0;
}

/* Begins a new file in the folder of `path`. `path` must not be a link. `old` is the status of the
 * file at `path`, or NULL if there is none. */
static bool begin_beside(struct replacement *file, const char path[FOLLOW_NBYTES],
                         const struct stat *old)
{
  char copy[FOLLOW_NBYTES];
  const char *folder;
  strcpy(copy, path);
  const char *name = split(copy, &folder);
  if (!*name || strlen(name) >= sizeof file->name) {
    errno = *name ? ENAMETOOLONG : ENOENT;
    return false;
  }
  strcpy(file->name, name);
  file->is_new = !old;
  file->folder = lanebloom_unix_open_folder(folder);
  if (file->folder < 0)
    return false;
  const bool named = choose_temporary_name(file);
  file->fd = named ? lanebloom_unix_create(file, old ? S_IRUSR | S_IWUSR : 0666) : -1;
  if (file->fd < 0 || (old && !take_over(file->fd, path, old))) {
    lanebloom_replace_end(file, false);
    return false;
  }
  return true;
}

bool lanebloom_replace_begin(struct replacement *file, const char *path)
{
  *file = (struct replacement){.fd = -1, .folder = -1};
  char target[FOLLOW_NBYTES];
  const int descriptor = lanebloom_follow(path, target);
  if (descriptor == FOLLOW_FAILED)
    return false;
  if (descriptor >= 0) {
    /* The descriptor is duplicated. Opening the path again would write at offset 0 of a file to
     * which other processes may append. */
    file->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    return file->fd >= 0;
  }

  struct stat old;
  const bool exists = stat(target, &old) == 0;
  if (!exists && errno != ENOENT)
    return false;
  if (!exists || S_ISREG(old.st_mode))
    return begin_beside(file, target, exists ? &old : NULL);
  file->fd = open(target, O_WRONLY | O_CLOEXEC);
  return file->fd >= 0;
}

bool lanebloom_write_all(int fd, const void *bytes, size_t nbytes)
{
  const char *next = bytes;
  while (nbytes > 0) {
    const ssize_t n = write(fd, next, nbytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n == 0)
      errno = ENOSPC; /* an error, because repeating the call might never write anything */
    if (n <= 0)
      return false;
    next += n;
    nbytes -= (size_t)n;
  }
  return true;
}

bool lanebloom_replace_write(struct replacement *file, const void *bytes, size_t nbytes)
{
  return lanebloom_write_all(file->fd, bytes, nbytes);
}

/* Flushes a folder. Returns true also if the file system cannot flush folders, or if the descriptor
 * was opened with O_PATH. */
static bool flush_folder(int folder)
{
  return lanebloom_unix_flush(folder) || errno == EINVAL || errno == ENOTSUP || errno == EBADF;
}

bool lanebloom_replace_end(struct replacement *file, bool written)
{
  const bool beside = file->folder >= 0;
  bool done = written && (!beside || lanebloom_unix_put_in_place(file));
  int error = errno;
  if (beside && !done)
    unlinkat(file->folder, file->temporary, 0); /* may fail, because the file may have no name */
  if (file->fd >= 0 && close(file->fd) != 0 && done && !beside) {
    done = false;
    error = errno;
  }
  if (done && beside && !flush_folder(file->folder)) {
    done = false;
    error = errno;
  }
  if (beside)
    close(file->folder);
  errno = error;
  return done;
}

bool lanebloom_replace_is_same(const struct replacement *a, const struct replacement *b)
{
  const bool beside = a->folder >= 0;
  struct stat status_a, status_b; /* of the two folders or, if the targets themselves are written
                                   * (pipes, for example), of the targets */
  if (beside != (b->folder >= 0) || (beside && strcmp(a->name, b->name) != 0))
    return false;
  return fstat(beside ? a->folder : a->fd, &status_a) == 0 &&
         fstat(beside ? b->folder : b->fd, &status_b) == 0 && !S_ISCHR(status_a.st_mode) &&
         status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}
