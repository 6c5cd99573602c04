/* Finds the comparator of a LevelDB database. The comparator defines the order of keys. The
 * database's MANIFEST has the name of the comparator; the tables do not.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_MANIFEST_H
#define LANEBLOOM_TABLES_MANIFEST_H

#include <lanebloom.h>

/* Is there a database in the table's folder? If so, *comparator becomes the name of the database's
 * comparator, which the caller frees, or NULL if the name cannot be read. May set errno. */
bool lanebloom_manifest_find(const char *table_path, char **comparator);

#endif
