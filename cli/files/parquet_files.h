/* Lists the Parquet files that the names and patterns of the command line mean, and declares the
 * option --bounds.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_FILES_H
#define LANEBLOOM_CLI_PARQUET_FILES_H

#include <argp.h>
#include <stddef.h>

#include <lanebloom_parquet.h>

/* Works like lanebloom_parquet_find_files(), but on an error prints a message and exits. If files
 * were skipped because of their names, prints a warning with the name of the first one. */
lanebloom_parquet_files *parquet_list(char *const *names, size_t nnames);

/* The option --bounds. Its input is a lanebloom_parquet_bounds. */
extern const struct argp bounds_argp;

/* The size of a buffer for a problem text of the library. Most texts fit; longer ones are cut
 * off. */
enum { PARQUET_PROBLEM_NBYTES = 512 };

#endif
