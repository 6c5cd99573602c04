/* The comparator of a LevelDB database. Its MANIFEST has the name; its tables do not.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_MANIFEST_H
#define LANEBLOOM_TABLES_MANIFEST_H

#include <lanebloom.h>

/* Is there a database in the table's folder? comparator: its comparator's name, which the caller
 * frees; NULL if it cannot be read. May set errno. */
bool lanebloom_manifest_find(const char *table_path, char **comparator);

#endif
