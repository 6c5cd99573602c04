/* Lists the Parquet files that names and patterns denote.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_FILES_H
#define LANEBLOOM_CLI_PARQUET_FILES_H

#include <argp.h>
#include <stddef.h>

#include <lanebloom_parquet.h>

/* Works like lanebloom_parquet_find_files(). Prints a warning with the name of the first skipped
 * file. On an error, prints a message and exits. */
lanebloom_parquet_files *parquet_list(char *const *names, size_t nnames);

/* --bounds. Input: lanebloom_parquet_bounds. */
extern const struct argp bounds_argp;

/* Most problem texts of the library fit into this many bytes. */
enum { PARQUET_PROBLEM_NBYTES = 512 };

#endif
