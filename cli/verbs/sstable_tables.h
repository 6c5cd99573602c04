/* The output of `lanebloom tables' for SSTables of Cassandra and ScyllaDB.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SSTABLE_TABLES_H
#define LANEBLOOM_CLI_SSTABLE_TABLES_H

#include <stdbool.h>
#include <stddef.h>

/* Prints a line or a JSON object for each SSTable at these paths. Returns the exit status. */
int sstable_tables(char *const *paths, size_t npaths, bool json, bool header);

#endif
