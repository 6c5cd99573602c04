/* Recognizes a file or a folder that the user gave in the place of something else, so that the
 * message can say what it is and which verb reads it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_RECOGNIZE_H
#define LANEBLOOM_CLI_RECOGNIZE_H

#include <stdbool.h>
#include <stddef.h>

/* Is the path a Parquet file, or a folder that contains one? */
bool is_parquet(const char *path);

/* If the path leads to a kind of file or folder that another verb or option reads, writes a message
 * into `problem' and returns true. The message says what was expected, what was found, and which
 * verb or option reads it. Otherwise returns false. Preserves errno. Only one thread at a time may
 * call this. */
bool explain_other_kind(const char *path, const char *expected, char *problem, size_t size);

#endif
