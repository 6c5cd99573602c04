/* Declares the functions that the files for loading tables share. Other files use database.h.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_LOADING_H
#define LANEBLOOM_CLI_LOADING_H

#include "database.h"

/* ---- table_list.c: lists the tables that the user named ---- */

/* Lists the tables of all names. Returns false if a folder has no tables or cannot be read. */
bool list_names(struct database *database, char *const *names, bool print_error);

/* Frees the list of tables and their results. Does not free the results of a database's tables,
 * because the database still refers to them. */
void free_listing(struct database *database, const struct table_loader *loader);

bool is_same_list(const struct database *a, const struct database *b);

/* Moves the results of an earlier listing to the tables that have the same paths now. */
void take_over(struct database *database, struct database *earlier);

/* Compares two strings, each given by a pointer to it, for qsort(3) and tsearch(3). */
int compare_texts(const void *a, const void *b);

/* ---- folder_tables.c: loads tables of folders that are no database ---- */

/* Loads the tables of `source` that are not loaded yet. If `source` is NULL, loads the tables that
 * belong to no database. Returns false if a table cannot be opened. */
bool load_files(struct database *database, const lanebloom_database *source,
                lanebloom_writer writer, const struct table_loader *loader, bool print_error);

/* Lists all tables. Loads the table files that the user named, and the tables in folders as soon as
 * the folders no longer change. */
bool load_folders(struct database *database, char *const *names, lanebloom_writer writer,
                  const struct table_loader *loader);

/* ---- open_tables.c ---- */

/* If the file at `path` is of a known kind but is no table, replaces the problem by a text that
 * says what the file is. */
void explain_no_table(const char *path, char *problem, size_t size);

#endif
