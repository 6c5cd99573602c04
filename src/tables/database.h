/* Declares the functions that lanebloom_database_open_tables() shares with the database. That call
 * makes a result for each table, and the database stores the results.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_DATABASE_H
#define LANEBLOOM_TABLES_DATABASE_H

#include <lanebloom_tables.h>

/* Returns the name of a file for the text of a problem. If the file is in the database's folder,
 * leaves out that folder, because the caller knows it; otherwise returns the whole path. */
const char *lanebloom_database_short_path(const lanebloom_database *database, const char *path);

/* Returns a pointer to the result for table i. The result is NULL while the table is not open. */
void **lanebloom_database_result(lanebloom_database *database, size_t i);

/* Frees a result, as the visitor says. result may be NULL. */
void lanebloom_table_visitor_drop(const lanebloom_table_visitor *visitor, void *result);

/* Does the same as lanebloom_database_update(), and drops the results of tables that are no longer
 * in the database. If visitor is NULL, these results belong to the caller. */
lanebloom_status lanebloom_database_update_results(lanebloom_database *database,
                                                   const lanebloom_table_visitor *visitor,
                                                   bool *changed, char *problem,
                                                   size_t problem_size);

#endif
