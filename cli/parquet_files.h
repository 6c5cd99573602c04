/* The Parquet files that names stand for.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_FILES_H
#define LANEBLOOM_CLI_PARQUET_FILES_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include <lanebloom_parquet.h>

struct paths {
  char **all;
  size_t n;
};

/* Lists the files of these names, sorted, each once: a file, the Parquet files in a folder and all
 * folders below it, by their names or their magic numbers, or a pattern as of glob(7). In folders,
 * names that begin with a dot or an underscore are left out, as Spark and Arrow do: they are being
 * written, or hold no rows. If a name stands for none, or a folder cannot be read, prints a message
 * and exits. */
struct paths parquet_list(char *const *names, size_t nnames);

/* Is it a Parquet file, or a folder with one in it or below it? */
bool is_parquet(const char *name);

void paths_free(struct paths *paths);

/* --bounds; input: lanebloom_parquet_bounds. */
extern const struct argp bounds_argp;

/* What most problems of the library fit into. */
enum { PARQUET_PROBLEM_NBYTES = 512 };

#endif
