/* Defines what all Unix systems share (see system.h).
 * SPDX-License-Identifier: MIT */
#undef _GNU_SOURCE /* so that glibc has POSIX's strerror_r(), and not its own */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "system.h"
#include "unix.h"

const char *lanebloom_system_error(int error, char *text, size_t size)
{
  text[0] = 0;
  strerror_r(error, text, size); /* also writes a text if the error is unknown */
  return text;
}

double lanebloom_system_seconds(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- Memory ---- */

void *lanebloom_system_allocate(size_t alignment, size_t nbytes)
{
  return aligned_alloc(alignment, nbytes);
}

void lanebloom_system_free(void *bytes)
{
  free(bytes);
}

/* mmap() does not promise the alignment, so more is mapped, and the ends are unmapped. */
uint8_t *lanebloom_system_pages(size_t nbytes, size_t alignment)
{
  const size_t reserved = nbytes + alignment;
  uint8_t *begin = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED)
    return NULL;
  const size_t before = -(uintptr_t)begin & (alignment - 1), after = alignment - before;
  uint8_t *pages = begin + before;
  if (before > 0)
    munmap(begin, before);
  munmap(pages + nbytes, after); /* never 0 bytes */
  lanebloom_unix_prefer_huge_pages(pages, nbytes);
  return pages;
}

void lanebloom_system_pages_free(uint8_t *pages, size_t nbytes)
{
  munmap(pages, nbytes);
}

/* ---- Files ---- */

static bool describe(int failed, const struct stat *found, struct system_info *info)
{
  if (failed)
    return false;
  *info = (struct system_info){
      .kind = S_ISREG(found->st_mode)                                ? SYSTEM_FILE
              : S_ISDIR(found->st_mode)                              ? SYSTEM_FOLDER
              : S_ISFIFO(found->st_mode) || S_ISSOCK(found->st_mode) ? SYSTEM_PIPE
              : S_ISCHR(found->st_mode)                              ? SYSTEM_CHARACTERS
                                                                     : SYSTEM_OTHER,
      .nbytes = (uint64_t)found->st_size,
      .changed_seconds = found->st_mtime,
      .device = (uint64_t)found->st_dev,
      .number = (uint64_t)found->st_ino,
  };
  return true;
}

bool lanebloom_system_info(const char *path, struct system_info *info)
{
  struct stat found;
  return describe(stat(path, &found), &found, info);
}

bool lanebloom_system_file_info(int file, struct system_info *info)
{
  struct stat found;
  return describe(fstat(file, &found), &found, info);
}

bool lanebloom_system_exists(const char *path)
{
  struct system_info info;
  return lanebloom_system_info(path, &info);
}

bool lanebloom_system_has_name(const char *path)
{
  struct stat found;
  return lstat(path, &found) == 0;
}

int lanebloom_system_open(const char *path, bool waits)
{
  /* With flags that the compiler does not know, glibc would call another function, which no test
   * intercepts. */
  return waits ? open(path, O_RDONLY | O_CLOEXEC)
               : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int lanebloom_system_duplicate(int file)
{
  return fcntl(file, F_DUPFD_CLOEXEC, 0);
}

void lanebloom_system_close(int file)
{
  const int error = errno;
  close(file);
  errno = error;
}

bool lanebloom_system_position(int file, uint64_t *position)
{
  const off_t at = lseek(file, 0, SEEK_CUR);
  *position = at < 0 ? 0 : (uint64_t)at;
  return at >= 0;
}

/* Some systems refuse to read more at once. */
static size_t at_once(size_t nbytes)
{
  return nbytes < INT_MAX ? nbytes : INT_MAX;
}

ssize_t lanebloom_system_read(int file, void *to, size_t nbytes)
{
  ssize_t n;
  do
    n = read(file, to, at_once(nbytes));
  while (n < 0 && errno == EINTR);
  return n;
}

ssize_t lanebloom_system_read_at(int file, void *to, size_t nbytes, uint64_t offset)
{
  ssize_t n;
  do
    n = pread(file, to, at_once(nbytes), (off_t)offset);
  while (n < 0 && errno == EINTR);
  return n;
}

uint8_t *lanebloom_system_map(int file, size_t nbytes)
{
  void *bytes = mmap(NULL, nbytes, PROT_READ, MAP_SHARED, file, 0);
  return bytes == MAP_FAILED ? NULL : bytes;
}

void lanebloom_system_unmap(uint8_t *bytes, size_t nbytes)
{
  munmap(bytes, nbytes);
}

/* ---- Folders ---- */

struct system_folder *lanebloom_system_folder_open(const char *path)
{
  return (struct system_folder *)opendir(path);
}

const char *lanebloom_system_folder_next(struct system_folder *folder)
{
  errno = 0;
  /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread uses the stream */
  const struct dirent *entry = readdir((DIR *)folder);
  return entry ? entry->d_name : NULL;
}

void lanebloom_system_folder_close(struct system_folder *folder)
{
  closedir((DIR *)folder);
}

int lanebloom_system_match(const char *pattern, int (*visit)(void *context, const char *path),
                           void *context)
{
  glob_t found;
  /* NOLINTNEXTLINE(concurrency-mt-unsafe): only expanding ~ is unsafe, and it is off */
  const int failed = glob(pattern, GLOB_ERR | GLOB_NOSORT, NULL, &found);
  if (failed == GLOB_NOMATCH)
    return 0;
  if (failed) {
    if (failed == GLOB_NOSPACE)
      errno = ENOMEM;
    return -1;
  }
  int result = 0;
  for (size_t i = 0; !result && i < found.gl_pathc; i++)
    result = visit(context, found.gl_pathv[i]);
  globfree(&found);
  return result;
}
