/* Finds out what a file or a folder is that was given in the place of something else.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_RECOGNIZE_H
#define LANEBLOOM_CLI_RECOGNIZE_H

#include <stdbool.h>
#include <stddef.h>

/* Is it a Parquet file, or a folder that contains one? */
bool is_parquet(const char *path);

/* If another verb or option reads what the path leads to, writes into `problem' what was expected,
 * what was found, and what reads it. Preserves errno. One thread at a time. */
bool explain_other_kind(const char *path, const char *expected, char *problem, size_t size);

#endif
