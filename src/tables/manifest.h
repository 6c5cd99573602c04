/* What LevelDB says of a table's order outside of it: its database's MANIFEST names the comparator.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_MANIFEST_H
#define LANEBLOOM_TABLES_MANIFEST_H

#include <lanebloom.h>

/* Is there a database in the table's folder? name, for free(): its comparator; NULL where that
 * cannot be read. */
bool lanebloom_manifest_find(const char *table_path, char **comparator);

#endif
