/* Replacements for functions of the C library, which the linker calls instead
 * (tests/faults/CMakeLists.txt).
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "faults.h"

struct fault fault;
size_t nlive, nmapped;
bool no_nameless_files;

static bool strikes(enum function function)
{
  if (!fault.armed)
    return false;
  const size_t n = ++fault.ncalls[function];
  const bool goes_on = fault.way == FAIL_ON || fault.way == SHORT_ON;
  if (function != fault.function || n < fault.nth || (n > fault.nth && !goes_on))
    return false;
  fault.struck = true;
  return true;
}

static bool fails(enum function function)
{
  if (!strikes(function))
    return false;
  errno = function <= MAP ? ENOMEM : fault.way == INTERRUPT ? EINTR : EIO;
  return true;
}

static void *count_allocation(void *memory)
{
  nlive += memory && fault.armed;
  return memory;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *bytes, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *bytes, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size)
{
  return fails(ALLOCATE) ? NULL : count_allocation(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
  return fails(ALLOCATE) ? NULL : count_allocation(__real_calloc(n, size));
}

void *__wrap_realloc(void *bytes, size_t size)
{
  if (fails(fault.armed && bytes && size <= malloc_usable_size(bytes) ? TRIM : ALLOCATE))
    return NULL;
  return bytes ? __real_realloc(bytes, size) : count_allocation(__real_realloc(NULL, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  return fails(ALLOCATE) ? NULL : count_allocation(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text)
{
  return fails(ALLOCATE) ? NULL : count_allocation(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t n)
{
  return fails(ALLOCATE) ? NULL : count_allocation(__real_strndup(text, n));
}

void __wrap_free(void *memory)
{
  nlive -= memory && fault.armed;
  __real_free(memory);
}

/* The C library allocates this text internally. */
int __real_vasprintf(char **text, const char *pattern, va_list values);
int __wrap_vasprintf(char **text, const char *pattern, va_list values);
int __wrap_asprintf(char **text, const char *pattern, ...);
int __wrap___vasprintf_chk(char **text, int flag, const char *pattern, va_list values);
int __wrap___asprintf_chk(char **text, int flag, const char *pattern, ...);

int __wrap_vasprintf(char **text, const char *pattern, va_list values)
{
  if (fails(ALLOCATE))
    return -1;
  const int nbytes = __real_vasprintf(text, pattern, values);
  if (nbytes >= 0)
    count_allocation(*text);
  return nbytes;
}

int __wrap_asprintf(char **text, const char *pattern, ...)
{
  va_list values;
  va_start(values, pattern);
  const int nbytes = __wrap_vasprintf(text, pattern, values);
  va_end(values);
  return nbytes;
}

/* Builds with hardening call the functions below. */
int __wrap___vasprintf_chk(char **text, int flag, const char *pattern, va_list values)
{
  (void)flag;
  return __wrap_vasprintf(text, pattern, values);
}

int __wrap___asprintf_chk(char **text, int flag, const char *pattern, ...)
{
  (void)flag;
  va_list values;
  va_start(values, pattern);
  const int nbytes = __wrap_vasprintf(text, pattern, values);
  va_end(values);
  return nbytes;
}

void *__real_mmap64(void *address, size_t nbytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t nbytes);
void *__wrap_mmap64(void *address, size_t nbytes, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t nbytes);

void *__wrap_mmap64(void *address, size_t nbytes, int protection, int flags, int fd, off_t offset)
{
  if (fails(MAP))
    return MAP_FAILED;
  void *map = __real_mmap64(address, nbytes, protection, flags, fd, offset);
  nmapped += fault.armed && map != MAP_FAILED ? nbytes : 0;
  return map;
}

int __wrap_munmap(void *address, size_t nbytes)
{
  nmapped -= fault.armed ? nbytes : 0;
  return __real_munmap(address, nbytes);
}

int __real_open64(const char *path, int flags, ...);
int __real_openat64(int folder, const char *path, int flags, ...);
int __real_fcntl64(int fd, int command, ...);
int __real_stat64(const char *path, struct stat *status);
int __real_fstat64(int fd, struct stat *status);
ssize_t __real_read(int fd, void *bytes, size_t nbytes);
ssize_t __real_pread64(int fd, void *bytes, size_t nbytes, off_t offset);
ssize_t __real_write(int fd, const void *bytes, size_t nbytes);
int __real_fsync(int fd);
int __real_linkat(int folder, const char *path, int new_folder, const char *new_path, int flags);
int __real_renameat(int folder, const char *path, int new_folder, const char *new_path);
int __real_fchmod(int fd, mode_t mode);
ssize_t __real_getxattr(const char *path, const char *name, void *value, size_t size);
int __real_fremovexattr(int fd, const char *name);
int __real_getentropy(void *bytes, size_t nbytes);
int __real_close(int fd);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_openat64(int folder, const char *path, int flags, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_stat64(const char *path, struct stat *status);
int __wrap_fstat64(int fd, struct stat *status);
ssize_t __wrap_read(int fd, void *bytes, size_t nbytes);
ssize_t __wrap_pread64(int fd, void *bytes, size_t nbytes, off_t offset);
ssize_t __wrap_write(int fd, const void *bytes, size_t nbytes);
int __wrap_fsync(int fd);
int __wrap_linkat(int folder, const char *path, int new_folder, const char *new_path, int flags);
int __wrap_renameat(int folder, const char *path, int new_folder, const char *new_path);
int __wrap_fchmod(int fd, mode_t mode);
ssize_t __wrap_getxattr(const char *path, const char *name, void *value, size_t size);
int __wrap_fremovexattr(int fd, const char *name);
int __wrap_getentropy(void *bytes, size_t nbytes);
int __wrap_close(int fd);

static bool takes_mode(int flags)
{
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

int __wrap_open64(const char *path, int flags, ...)
{
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails(OPEN) ? -1 : __real_open64(path, flags, mode);
}

int __wrap_openat64(int folder, const char *path, int flags, ...)
{
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (no_nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return fails(OPEN) ? -1 : __real_openat64(folder, path, flags, mode);
}

int __wrap_fcntl64(int fd, int command, ...)
{
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return fails(DUPLICATE) ? -1 : __real_fcntl64(fd, command, argument);
}

/* A missing file does not count as a failure. */
int __wrap_stat64(const char *path, struct stat *status)
{
  return fails(STAT) ? -1 : __real_stat64(path, status);
}

int __wrap_fstat64(int fd, struct stat *status)
{
  return fails(STAT) ? -1 : __real_fstat64(fd, status);
}

static void cut_file(int fd, off_t nbytes)
{
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (truncate(path, nbytes) != 0)
    test_fatal("cannot cut %s", path);
}

/* Returns how many bytes a read or a write may transfer, or -1 if it must fail. */
static ssize_t allowed(enum function function, int fd, size_t nbytes, off_t offset)
{
  if (!strikes(function))
    return (ssize_t)nbytes;
  if (fault.way == SHRINK) {
    cut_file(fd, offset);
    return (ssize_t)nbytes;
  }
  if (fault.way == SHORT || fault.way == SHORT_ON)
    return nbytes > 0;
  errno = fault.way == INTERRUPT ? EINTR : EIO;
  return -1;
}

ssize_t __wrap_read(int fd, void *bytes, size_t nbytes)
{
  const ssize_t n = allowed(READ, fd, nbytes, fault.way == SHRINK ? lseek(fd, 0, SEEK_CUR) : 0);
  return n > 0 || nbytes == 0 ? __real_read(fd, bytes, (size_t)n) : n;
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t nbytes, off_t offset)
{
  const ssize_t n = allowed(READ, fd, nbytes, offset);
  return n > 0 || nbytes == 0 ? __real_pread64(fd, bytes, (size_t)n, offset) : n;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t nbytes)
{
  const ssize_t n = allowed(WRITE, fd, nbytes, 0);
  return n > 0 || nbytes == 0 ? __real_write(fd, bytes, (size_t)n) : n;
}

/* Does not flush: nothing here needs to survive a power cut. */
int __wrap_fsync(int fd)
{
  return fails(FSYNC) ? -1 : fault.armed ? 0 : __real_fsync(fd);
}

int __wrap_linkat(int folder, const char *path, int new_folder, const char *new_path, int flags)
{
  return fails(LINK) ? -1 : __real_linkat(folder, path, new_folder, new_path, flags);
}

int __wrap_renameat(int folder, const char *path, int new_folder, const char *new_path)
{
  return fails(RENAME) ? -1 : __real_renameat(folder, path, new_folder, new_path);
}

int __wrap_fchmod(int fd, mode_t mode)
{
  return fails(CHMOD) ? -1 : __real_fchmod(fd, mode);
}

ssize_t __wrap_getxattr(const char *path, const char *name, void *value, size_t size)
{
  return fails(ACL) ? -1 : __real_getxattr(path, name, value, size);
}

int __wrap_fremovexattr(int fd, const char *name)
{
  return fails(ACL) ? -1 : __real_fremovexattr(fd, name);
}

int __wrap_getentropy(void *bytes, size_t nbytes)
{
  return fails(RANDOM) ? -1 : __real_getentropy(bytes, nbytes);
}

/* As on Linux, close() closes the descriptor even if it reports an error. */
int __wrap_close(int fd)
{
  const bool failed = fails(CLOSE);
  const int error = errno, result = __real_close(fd);
  if (failed)
    errno = error;
  return failed ? -1 : result;
}
