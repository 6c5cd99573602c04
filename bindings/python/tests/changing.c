/* A library for LD_PRELOAD that makes a database change whenever it is read: each time a MANIFEST
 * is about to be opened, the library appends a byte to the MANIFEST. At the $CHANGING_SIGNAL-th
 * time, it raises SIGINT, as Ctrl-C does. At the first time, it writes a byte to a pipe and waits
 * for a byte from another pipe; $CHANGING_PIPES has the descriptors of both pipes. A test uses the
 * pipes to check that other threads of the program still run.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int open_function(const char *path, int flags, ...);

static void look(open_function *real, const char *path)
{
  static int nlooks;
  const char *at = getenv("CHANGING_SIGNAL"), *pipes = getenv("CHANGING_PIPES");
  const int fd = real(path, O_WRONLY | O_APPEND);
  int to, from;
  char byte = 0;
  if (write(fd, &byte, 1) != 1 || close(fd) != 0)
    abort();
  if (++nlooks == 1 && pipes && sscanf(pipes, "%d %d", &to, &from) == 2 &&
      (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1))
    abort();
  if (at && nlooks == atoi(at))
    raise(SIGINT);
}

int open64(const char *path, int flags, ...)
{
  open_function *real = (open_function *)dlsym(RTLD_NEXT, "open64");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (strstr(path, "/MANIFEST-"))
    look(real, path);
  return real(path, flags, mode);
}

/* clang with _FORTIFY_SOURCE calls this function instead, as in the wheels that zig builds. */
int __open64_2(const char *path, int flags)
{
  return open64(path, flags);
}
