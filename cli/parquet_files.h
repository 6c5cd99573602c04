/* The Parquet files that names stand for.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_FILES_H
#define LANEBLOOM_CLI_PARQUET_FILES_H

#include <argp.h>
#include <stddef.h>

#include <lanebloom_parquet.h>

/* As lanebloom_parquet_find_files(). A warning names the first file that is skipped. On an error,
 * prints a message and exits. */
lanebloom_parquet_files *parquet_list(char *const *names, size_t nnames);

/* --bounds; input: lanebloom_parquet_bounds. */
extern const struct argp bounds_argp;

/* What most problems of the library fit into. */
enum { PARQUET_PROBLEM_NBYTES = 512 };

#endif
