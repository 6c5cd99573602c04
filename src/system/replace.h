/* Replaces a file by a new one, or leaves the old file as it was. A replacement belongs to one
 * thread. Errors are in errno.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_REPLACE_H
#define LANEBLOOM_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

/* Follows symbolic links from `path` and writes the final path to `target`. Returns FOLLOW_PATH if
 * the caller should open `target`. If the path names a descriptor of this process (such as
 * /dev/stdout or /dev/fd/1), returns the number of the descriptor, which the caller should use
 * instead of `target`. On an error, returns FOLLOW_FAILED and sets errno. */
enum { FOLLOW_PATH = -1, FOLLOW_FAILED = -2 };
enum { FOLLOW_NBYTES = 4096 }; /* the room for a path */
int lanebloom_follow(const char *path, char target[FOLLOW_NBYTES]);

/* Checks whether a file could be written at `path`. If not, sets errno. The function opens no file,
 * because opening a pipe may wait, and it creates no file. */
bool lanebloom_replace_check(const char *path);

/* Writes all bytes. On an error, returns false and sets errno; some of the bytes may have been
 * written. */
bool lanebloom_write_all(int fd, const void *bytes, size_t nbytes);

/* A file that is being written. On an error the functions below return false and set errno. */
struct replacement {
  int fd;

  /* private */
  /* descriptor of the file's folder, or -1 if the target itself is written */
  int folder;
  char name[256];     /* the target's name, in the folder */
  char temporary[32]; /* the new file's name, in the folder */
  bool nameless;      /* the new file has no name until it is complete; on Windows, it is deleted
                       * if it is closed before */
  bool is_new;        /* there was no target */
  struct replacement_paths *paths; /* on Windows, instead of folder, name and temporary; NULL if the
                                    * target itself is written */
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
 * fsync().
 *
 * On Unix the new file gets the mode of the target and, as far as permitted, its owner, its group
 * and its ACL (on macOS and FreeBSD also an ACL as of NFSv4). No user gets more permissions than
 * before. Other extended attributes and flags are not kept. On macOS and FreeBSD every file has a
 * name, so if the process is killed, the incomplete new file may be left under its temporary name.
 * On macOS flushing means F_FULLFSYNC.
 *
 * On Windows the new file gets the attributes, the permissions (ACL), the time of creation and the
 * other streams of the target, as far as ReplaceFileW() keeps them; a new file gets the permissions
 * of its folder. A target with the attribute `read-only' is not replaced. If the process is ended
 * while the target is replaced, the new file may be left under its temporary name, and the target
 * under a name of Windows'. Cost: one call of FlushFileBuffers(). */
bool lanebloom_replace_end(struct replacement *file, bool written);

/* Checks whether both write the same file, pipe or socket. Returns false for devices, such as
 * terminals, because several outputs may go there. */
bool lanebloom_replace_is_same(const struct replacement *a, const struct replacement *b);

#endif
