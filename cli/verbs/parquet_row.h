/* Prints the columns of row groups of Parquet files, as text or as JSON.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_ROW_H
#define LANEBLOOM_CLI_PARQUET_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom_parquet.h>

struct json_object;

/* A column of a row group. */
struct row {
  const char *path;
  size_t row_group;
  lanebloom_parquet_column_info type;
  lanebloom_parquet_chunk_info chunk;
  lanebloom_filter_info filter; /* zeros if there is no filter */
  char *min, *max;              /* NULL: the bound is unknown or not used */
};

void print_row(const struct row *row);
void print_row_json(const struct row *row);

/* Prints a line of texts: the values of a row, or the names of the columns. */
void print_row_columns(const char *file, const char *group, const char *column, const char *type,
                       const char *rows, const char *nulls, const char *filter, const char *keys,
                       const char *rate, const char *min, const char *max, const char *bounds);

/* Returns "used" if the bounds are used. Otherwise returns the word that says why they are not
 * used. */
const char *bounds_word(const struct row *row);

/* Prints a number to `text`. Returns `text`, or "-" if the number is LANEBLOOM_UNKNOWN. */
const char *print_count(char text[32], uint64_t n);

/* Adds a number to the object. If the number is not known or is LANEBLOOM_UNKNOWN, adds null. */
void add_count(struct json_object *object, const char *name, bool is_known, uint64_t n);

#endif
