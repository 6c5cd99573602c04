/* Writing a file all or nothing.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_REPLACE_H
#define LANEBLOOM_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Follows a path's symbolic links until there is none, into `target`. Returns FOLLOW_PATH when that
 * is to be opened, or the number of a descriptor of this process, which the path names
 * (/dev/stdout, /dev/fd/1) and which is to be used instead. FOLLOW_FAILED sets errno. */
enum { FOLLOW_PATH = -1, FOLLOW_FAILED = -2 };
int lanebloom_follow(const char *path, char target[PATH_MAX]);

/* Could a file be written at `path`? Sets errno if not. Opens nothing, for that might wait, and
 * leaves nothing behind. */
bool lanebloom_replace_check(const char *path);

/* A file that is being written. Every function returns false, with errno, on an error. */
struct replacement {
  int fd;
  int folder;              /* that the file is in; -1 when the target itself is written to */
  char name[NAME_MAX + 1]; /* in the folder: of the file that will be replaced */
  char temporary[32];      /* in the folder: of the file that is being written */
  bool nameless;           /* it gets that name only when it is whole */
};

/* Begins to write what will replace `path`, or be written to it directly if it is no regular
 * file. */
bool lanebloom_replace_begin(struct replacement *file, const char *path);
bool lanebloom_replace_write(struct replacement *file, const void *bytes, size_t nbytes);

/* Puts the new file in the old one's place, or takes it away again unless everything was
 * written. */
bool lanebloom_replace_end(struct replacement *file, bool written);

#endif
