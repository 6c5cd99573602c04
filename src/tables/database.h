/* Declarations for opening the tables of a database: the results of
 * lanebloom_database_open_tables(), which are stored beside the tables, and the names of files in
 * problems.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_DATABASE_H
#define LANEBLOOM_TABLES_DATABASE_H

#include <lanebloom_tables.h>

/* Returns how problems name a file: without the database's folder if the file is in it, because the
 * caller knows that folder; otherwise by the whole path. */
const char *lanebloom_database_short_path(const lanebloom_database *database, const char *path);

/* The result for table i, to be read and written; NULL: it is not open. */
void **lanebloom_database_result(lanebloom_database *database, size_t i);

/* Frees a result, as the visitor says. result may be NULL. */
void lanebloom_table_visitor_drop(const lanebloom_table_visitor *visitor, void *result);

/* As lanebloom_database_update(), and drops the results of tables that are gone. If visitor is
 * NULL, these results belong to the caller. */
lanebloom_status lanebloom_database_update_results(lanebloom_database *database,
                                                   const lanebloom_table_visitor *visitor,
                                                   bool *changed, char *problem,
                                                   size_t problem_size);

#endif
