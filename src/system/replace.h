/* Replaces a file by a new one, or leaves the old file as it was. A replacement belongs to one
 * thread. Errors are in errno.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_REPLACE_H
#define LANEBLOOM_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Follows symbolic links from `path` and writes the final path to `target`. Returns FOLLOW_PATH if
 * the caller should open `target`. If the path names a descriptor of this process (such as
 * /dev/stdout or /dev/fd/1), returns the number of the descriptor, which the caller should use
 * instead of `target`. On an error, returns FOLLOW_FAILED and sets errno. */
enum { FOLLOW_PATH = -1, FOLLOW_FAILED = -2 };
int lanebloom_follow(const char *path, char target[PATH_MAX]);

/* Checks whether a file could be written at `path`. If not, sets errno. The function opens no file,
 * because opening a pipe may wait, and it creates no file. */
bool lanebloom_replace_check(const char *path);

/* Writes all bytes. On an error, returns false and sets errno; some of the bytes may have been
 * written. */
bool lanebloom_write_all(int fd, const void *bytes, size_t nbytes);

/* A file that is being written. On an error the functions below return false and set errno. */
struct replacement {
  int fd;
  /* descriptor of the file's folder, or -1 if the target itself is written */
  int folder;
  char name[NAME_MAX + 1]; /* the target's name, in the folder */
  char temporary[32];      /* the new file's name, in the folder */
  bool nameless;           /* the new file has no name until it is complete */
  bool is_new;             /* there was no target */
};

/* Begins a new file that will replace the file at `path`. If `path` exists and is not a regular
 * file (a pipe, for example), it is written directly. On an error, lanebloom_replace_end() need not
 * be called. */
bool lanebloom_replace_begin(struct replacement *file, const char *path);

/* Appends bytes. After an error only lanebloom_replace_end(file, false) may be called. */
bool lanebloom_replace_write(struct replacement *file, const void *bytes, size_t nbytes);

/* If `written` is true, flushes the new file and puts it in the place of the target; otherwise
 * deletes the new file. Closes the new file in either case. Linux has no system call that gives a
 * file without a name the name of an existing file. So if the process is killed between linkat()
 * and renameat(), the complete new file may be left under its temporary name. Cost: two calls of
 * fsync(). */
bool lanebloom_replace_end(struct replacement *file, bool written);

#endif
