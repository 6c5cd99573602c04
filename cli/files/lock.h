/* The lock of a filter file. Commands hold it while they read and replace the file.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_LOCK_H
#define LANEBLOOM_CLI_LOCK_H

#include <stdbool.h>

/* Waits until no other command holds the lock of the file that the path leads to. Returns its
 * descriptor; closing it releases the lock. On failure prints a message with this name and
 * exits. */
int lock_file(const char *path, const char *name);

/* Does the path still lead to the locked file? */
bool is_named(int fd, const char *path);

#endif
