/* Declarations that the files that load tables share; other files use database.h.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_LOADING_H
#define LANEBLOOM_CLI_LOADING_H

#include "database.h"

/* ---- table_list.c: lists the tables that the user named ---- */

/* Lists the tables of all names. Returns false if a folder has no tables or cannot be read. */
bool list_names(struct database *database, char *const *names, bool print_error);

/* Frees the list of tables and their results. The results of a database's tables stay, as the
 * database still has them. */
void free_listing(struct database *database, const struct table_loader *loader);

bool is_same_list(const struct database *a, const struct database *b);

/* Moves the results of an earlier listing to the tables that have the same paths now. */
void take_over(struct database *database, struct database *earlier);

/* Compares two strings, each given by a pointer to it, for qsort(3) and tsearch(3). */
int compare_texts(const void *a, const void *b);

/* ---- folder_tables.c: loads tables of folders that are no database ---- */

/* Loads the tables of this database that are not loaded yet; NULL: those of no database. Returns
 * false if a table cannot be opened. */
bool load_files(struct database *database, const lanebloom_database *source,
                lanebloom_writer writer, const struct table_loader *loader, bool print_error);

/* Lists all tables, and loads those of folders, once these do not change, and of files. */
bool load_folders(struct database *database, char *const *names, lanebloom_writer writer,
                  const struct table_loader *loader);

/* ---- open_tables.c ---- */

/* Replaces the problem of a file that is no table by a text that says more, if there is one. */
void explain_no_table(const char *path, char *problem, size_t size);

#endif
