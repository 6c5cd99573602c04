/* Prints bounds of Parquet columns.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_BOUNDS_H
#define LANEBLOOM_CLI_PARQUET_BOUNDS_H

#include <stdbool.h>

#include <lanebloom_parquet.h>

/* Does the column hold text? */
bool is_text_type(const lanebloom_parquet_column_info *type);

/* Prints a value as 0x and hexadecimal digits. The caller frees the text. */
char *print_hex(lanebloom_slice value);

/* Prints a bound as text that --decode can read. If there is no such text for its type, prints it
 * in hexadecimal. The caller frees the text. */
char *print_bound(const lanebloom_parquet_column_info *type, lanebloom_slice value);

#endif
