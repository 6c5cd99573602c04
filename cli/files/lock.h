/* Locks the file of a filter. A command holds the lock while it reads the file and replaces it, so
 * two commands cannot change one file at the same time.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_LOCK_H
#define LANEBLOOM_CLI_LOCK_H

#include <stdbool.h>

/* Waits until no other command holds the lock of the file at `path`, then takes the lock. Returns a
 * descriptor of the file; closing the descriptor releases the lock. On failure prints a message
 * with `name` and exits. */
int lock_file(const char *path, const char *name);

/* Does `path` still lead to the file that this descriptor has locked? Another command may have
 * replaced the file. */
bool is_named(int fd, const char *path);

#endif
