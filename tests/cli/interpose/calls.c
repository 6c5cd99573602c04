/* For LD_PRELOAD: makes the command's n-th call of one function fail, or end in another unexpected
 * way. $LANEBLOOM_FAULT is "FUNCTION N HOW"; when the fault happens, a byte is written to the file
 * $LANEBLOOM_FAULT_MARK. $LANEBLOOM_FAULTS is for many faults, see server.c. HOW:
 *   fail       the error is ENOMEM for memory, EAGAIN for threads, and EIO for all else
 *   fail-on    the call and every later one fail in this way
 *   interrupt  the call fails once with EINTR
 *   short      the call and every later one transfer one byte
 *   nothing    the call and every later one transfer no byte
 *   shrink     the file is cut at the offset to be read; after it was mapped, to 0 bytes
 *   overwrite  the bytes to be read are replaced by the letter x
 *   kill       the process is killed before the call
 *   killed     the process is killed after the call
 * After a fault of threads, the number of mutexes that are left is printed, if any are.
 * Calls inside the C library, such as stdio's, are not intercepted, but its allocations are.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "interpose.h"

static char function[16], how[16];
static unsigned long nth;
static const char *mark;
static atomic_ulong own_count, *ncalls = &own_count;
static atomic_long nmutexes;

void arm(const char *new_function, unsigned long n, const char *new_how, atomic_ulong *count)
{
  nth = n;
  ncalls = count;
  snprintf(how, sizeof how, "%s", new_how);
  snprintf(function, sizeof function, "%s", new_function);
}

/* The C library passes the arguments of main() to constructors. */
__attribute__((constructor)) static void begin(int argc, char **argv)
{
  const char *fault = getenv("LANEBLOOM_FAULT"), *faults = getenv("LANEBLOOM_FAULTS");
  char new_function[16], new_how[16];
  unsigned long n;
  mark = getenv("LANEBLOOM_FAULT_MARK");
  if (fault && mark && sscanf(fault, "%15s %lu %15s", new_function, &n, new_how) == 3)
    arm(new_function, n, new_how, &own_count);
  else if (faults && argc > 1)
    serve(faults, argv[1]);
}

/* Returns the C library's own function. */
static void *real(const char *name)
{
  void *found = dlsym(RTLD_NEXT, name);
  if (!found)
    abort();
  return found;
}
#define REAL(type, name, ...)                                                                      \
  ({                                                                                               \
    static void *_Atomic found;                                                                    \
    if (!found)                                                                                    \
      found = real(name);                                                                          \
    (type(*)(__VA_ARGS__))(uintptr_t) found;                                                       \
  })

static bool is(const char *name)
{
  return strcmp(how, name) == 0;
}

static void leave_mark(void)
{
  const int fd = REAL(int, "open64", const char *, int, ...)(mark, O_WRONLY | O_CREAT, 0666);
  REAL(ssize_t, "write", int, const void *, size_t)(fd, "!", 1);
  REAL(int, "close", int)(fd);
}

/* Counts the call, and returns whether the fault applies to it. May kill the process. */
static bool strikes(const char *name)
{
  if (strcmp(name, function) != 0)
    return false;
  const unsigned long n = ++*ncalls;
  if (n < nth || (n > nth && !is("fail-on") && !is("short") && !is("nothing")))
    return false;
  if (mark && n == nth)
    leave_mark();
  if (is("kill"))
    raise(SIGKILL);
  return true;
}

static bool fails(const char *name, int error)
{
  if (!strikes(name) || is("killed"))
    return false;
  errno = is("interrupt") ? EINTR : error;
  return true;
}

/* Must the process be killed after this call? */
static bool is_killed(const char *name)
{
  return is("killed") && strcmp(name, function) == 0 && *ncalls == nth;
}

#define DONE(name, result)                                                                         \
  do {                                                                                             \
    __typeof__(result) done = (result);                                                            \
    if (is_killed(name))                                                                           \
      raise(SIGKILL);                                                                              \
    return done;                                                                                   \
  } while (0)

static void cut(int fd, off_t nbytes)
{
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (truncate64(path, nbytes) != 0)
    abort();
}

/* ---- Memory and threads ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *bytes, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
  return fails("malloc", ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
  return fails("malloc", ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *bytes, size_t size)
{
  return fails("malloc", ENOMEM) ? NULL : __libc_realloc(bytes, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return fails("malloc", ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

void *mmap64(void *address, size_t nbytes, int protection, int flags, int fd, off_t offset)
{
  const bool is_cut = is("shrink") && strikes("mmap");
  if (!is("shrink") && fails("mmap", ENOMEM))
    return MAP_FAILED;
  void *map = REAL(void *, "mmap64", void *, size_t, int, int, int,
                   off_t)(address, nbytes, protection, flags, fd, offset);
  if (is_cut && fd >= 0)
    cut(fd, 0);
  return map;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument)
{
  if (fails("thread", EAGAIN))
    return EAGAIN;
  return REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *),
              void *)(thread, attributes, body, argument);
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
  nmutexes++;
  return REAL(int, "pthread_mutex_init", pthread_mutex_t *,
              const pthread_mutexattr_t *)(mutex, attributes);
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
  nmutexes--;
  return REAL(int, "pthread_mutex_destroy", pthread_mutex_t *)(mutex);
}

__attribute__((destructor)) static void end(void)
{
  if (nmutexes != 0 && strcmp(function, "thread") == 0)
    fprintf(stderr, "%ld mutexes are left\n", (long)nmutexes);
}

/* ---- Files ---- */

int open64(const char *path, int flags, ...)
{
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (fails("open", EIO))
    return -1;
  DONE("open", REAL(int, "open64", const char *, int, ...)(path, flags, mode));
}

/* If $LANEBLOOM_FAULT_NAMED is set, acts as a file system without nameless files. */
int openat64(int folder, const char *path, int flags, ...)
{
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (getenv("LANEBLOOM_FAULT_NAMED") && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  if (fails("openat", EIO))
    return -1;
  DONE("openat", REAL(int, "openat64", int, const char *, int, ...)(folder, path, flags, mode));
}

int fstat64(int fd, struct stat64 *status)
{
  return fails("fstat", EIO) ? -1 : REAL(int, "fstat64", int, struct stat64 *)(fd, status);
}

static void overwrite(int fd, off_t offset, size_t nbytes)
{
  char path[32], *bytes = __libc_malloc(nbytes);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const int again = REAL(int, "open64", const char *, int, ...)(path, O_WRONLY | O_CLOEXEC);
  if (!bytes || pwrite(again, memset(bytes, 'x', nbytes), nbytes, offset) != (ssize_t)nbytes)
    abort();
  REAL(int, "close", int)(again);
  free(bytes);
}

/* Returns how many bytes may be read or written, or -1 if the call must fail. */
static ssize_t allowed(const char *name, int fd, size_t nbytes, off_t offset)
{
  if (!strikes(name) || is("killed"))
    return (ssize_t)nbytes;
  if (is("short") || is("nothing"))
    return is("short") && nbytes > 0;
  if (is("shrink"))
    cut(fd, offset);
  if (is("overwrite"))
    overwrite(fd, offset, nbytes);
  if (is("shrink") || is("overwrite"))
    return (ssize_t)nbytes;
  errno = is("interrupt") ? EINTR : EIO;
  return -1;
}

ssize_t read(int fd, void *bytes, size_t nbytes)
{
  const ssize_t n = allowed("read", fd, nbytes, is("shrink") ? lseek64(fd, 0, SEEK_CUR) : 0);
  return n < 0 ? n : REAL(ssize_t, "read", int, void *, size_t)(fd, bytes, (size_t)n);
}

ssize_t pread64(int fd, void *bytes, size_t nbytes, off_t offset)
{
  const ssize_t n = allowed("pread", fd, nbytes, offset);
  return n < 0 ? n
               : REAL(ssize_t, "pread64", int, void *, size_t, off_t)(fd, bytes, (size_t)n, offset);
}

ssize_t write(int fd, const void *bytes, size_t nbytes)
{
  const ssize_t n = allowed("write", fd, nbytes, 0);
  if (n < 0)
    return n;
  DONE("write", REAL(ssize_t, "write", int, const void *, size_t)(fd, bytes, (size_t)n));
}

/* Does not flush: nothing here needs to survive a power cut. */
int fsync(int fd)
{
  (void)fd;
  if (fails("fsync", EIO))
    return -1;
  DONE("fsync", 0);
}

int linkat(int folder, const char *path, int new_folder, const char *new_path, int flags)
{
  if (fails("linkat", EIO))
    return -1;
  DONE("linkat", REAL(int, "linkat", int, const char *, int, const char *,
                      int)(folder, path, new_folder, new_path, flags));
}

int renameat(int folder, const char *path, int new_folder, const char *new_path)
{
  if (fails("renameat", EIO))
    return -1;
  DONE("renameat", REAL(int, "renameat", int, const char *, int,
                        const char *)(folder, path, new_folder, new_path));
}

int fchmod(int fd, mode_t mode)
{
  return fails("fchmod", EIO) ? -1 : REAL(int, "fchmod", int, mode_t)(fd, mode);
}

int getentropy(void *bytes, size_t nbytes)
{
  return fails("getentropy", EIO) ? -1 : REAL(int, "getentropy", void *, size_t)(bytes, nbytes);
}

/* The descriptor is closed even if an error is returned. */
int close(int fd)
{
  const bool failed = fails("close", EIO);
  const int result = REAL(int, "close", int)(fd);
  if (failed)
    errno = EIO;
  if (failed)
    return -1;
  DONE("close", result);
}
