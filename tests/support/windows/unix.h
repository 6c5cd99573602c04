/* The functions of Unix that tests call, for Windows. CMake includes this file in all of them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TEST_UNIX_H
#define LANEBLOOM_TEST_UNIX_H

#define _CRT_RAND_S /* cli/system/windows.c needs it before <stdlib.h> */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#undef near /* names of tests */
#undef far

/* ---- Memory ---- */

enum { PROT_NONE, PROT_READ, PROT_WRITE };
enum { MAP_PRIVATE, MAP_SHARED, MAP_ANONYMOUS = 0, MAP_NORESERVE = 0, MAP_POPULATE = 0 };
enum { MAP_FIXED = 2, MFD_CLOEXEC = 0, MADV_NOHUGEPAGE = 0, _SC_PAGESIZE = 0 };
#define MAP_FAILED ((void *)-1)

static inline DWORD protection_of(int protection)
{
  return protection == PROT_NONE   ? PAGE_NOACCESS
         : protection == PROT_READ ? PAGE_READONLY
                                   : PAGE_READWRITE;
}

/* Reserves addresses, or with MAP_FIXED gives memory to reserved ones. */
static inline void *mmap(void *at, size_t nbytes, int protection, int flags, int fd, int64_t offset)
{
  (void)fd, (void)offset;
  const DWORD kind = flags & MAP_FIXED ? MEM_COMMIT : MEM_RESERVE;
  void *memory = VirtualAlloc(at, nbytes, kind, protection_of(protection));
  return memory ? memory : MAP_FAILED;
}

static inline int munmap(void *at, size_t nbytes)
{
  (void)nbytes;
  return VirtualFree(at, 0, MEM_RELEASE) ? 0 : -1;
}

static inline int mprotect(void *at, size_t nbytes, int protection)
{
  DWORD before;
  return VirtualProtect(at, nbytes, protection_of(protection), &before) ? 0 : -1;
}

static inline int madvise(void *at, size_t nbytes, int advice)
{
  (void)at, (void)nbytes, (void)advice;
  return 0;
}

/* Returns an error, so that the caller takes all pages for used. */
static inline int mincore(void *at, size_t nbytes, unsigned char *used)
{
  (void)at, (void)nbytes, (void)used;
  return -1;
}

static inline long sysconf(int name)
{
  SYSTEM_INFO system;
  (void)name;
  GetSystemInfo(&system);
  return (long)system.dwPageSize;
}

static inline int memfd_create(const char *name, unsigned flags)
{
  (void)name, (void)flags;
  errno = ENOSYS;
  return -1;
}

/* ---- Processes ---- */

#define fork no_fork /* gcc knows fork() */
static inline int no_fork(void)
{
  errno = ENOSYS;
  return -1;
}

static inline int waitpid(int child, int *status, int options)
{
  (void)child, (void)status, (void)options;
  errno = ENOSYS;
  return -1;
}

/* ---- Texts ---- */

static inline ssize_t getline(char **line, size_t *capacity, FILE *file)
{
  size_t n = 0;
  for (int byte = 0; byte != '\n' && (byte = getc(file)) != EOF; (*line)[n++] = (char)byte)
    if (n + 2 > *capacity) {
      *capacity = 2 * n + 64;
      *line = realloc(*line, *capacity);
      if (!*line)
        abort();
    }
  if (n == 0)
    return -1;
  (*line)[n] = 0;
  return (ssize_t)n;
}

static inline char *strsep(char **rest, const char *separators)
{
  char *begin = *rest;
  if (!begin)
    return NULL;
  char *end = begin + strcspn(begin, separators);
  *rest = *end ? end + 1 : NULL;
  *end = 0;
  return begin;
}

/* ---- Signals ---- */

enum { SIGBUS = SIGSEGV }; /* Windows has one for both */
struct sigaction {
  void (*sa_handler)(int);
};

static inline int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
  void (*handler)(int) = signal(number, action->sa_handler);
  if (before)
    before->sa_handler = handler;
  return handler == SIG_ERR ? -1 : 0;
}

#endif
