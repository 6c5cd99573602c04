/* Finds the last byte of a kind.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FIND_LAST_H
#define LANEBLOOM_CLI_FIND_LAST_H

#include <stddef.h>

/* Returns the last of n bytes that equals `byte', or NULL. Works like memrchr() of glibc. */
const char *find_last(const char *bytes, char byte, size_t n);

#endif
