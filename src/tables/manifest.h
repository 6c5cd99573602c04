/* The comparator of a LevelDB database, which its MANIFEST names and its tables do not.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_MANIFEST_H
#define LANEBLOOM_TABLES_MANIFEST_H

#include <lanebloom.h>

/* Is there a database in the table's folder? comparator: its name, for free(); NULL if it cannot be
 * read. */
bool lanebloom_manifest_find(const char *table_path, char **comparator);

#endif
