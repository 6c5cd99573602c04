/* Database files: table files, and folders of them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DATABASE_H
#define LANEBLOOM_CLI_DATABASE_H

#include <stdbool.h>
#include <stddef.h>

#include <lanebloom_tables.h>

/* The table files that the command was given. One thread at a time loads or frees a database. */
struct database {
  bool has_folders;
  size_t ntables;
  char **paths;                   /* of the tables */
  void **loaded;                  /* what the loader made of each; NULL: it could not be read */
  const lanebloom_table **tables; /* of database_open(): the open tables; else NULL */
};

/* What database_load() does with each table. */
struct table_loader {
  /* Loads the table. On failure prints a message if print_error, and returns NULL. */
  void *(*load)(void *context, const char *path, bool print_error);
  void (*free)(void *loaded);
  void *context;
};

/* Loads tables. A name is a table file, or a folder whose .ldb and .sst files are loaded in the
 * order of their numbers. A running engine replaces tables: folders are listed again until all
 * tables are loaded and two listings agree, at most 20 times, 50 ms apart. A table is loaded only
 * once. A table that cannot be read is not waited for if it has not changed for 10 seconds. Returns
 * false, after messages, if a folder could not be listed or a table could not be read. The database
 * then has the other tables; database_free() frees it in either case. */
bool database_load(struct database *database, char *const *names, size_t nnames,
                   const struct table_loader *loader);
void database_free(struct database *database, const struct table_loader *loader);

/* Opens all tables and prints their warnings. If a table cannot be opened, exits with
 * EXIT_TROUBLE. */
struct database database_open(char *const *names, size_t nnames, lanebloom_writer writer);
void database_close(struct database *database);

/* Warns of each log in the folder that is not empty: the engine's latest writes are in no table.
 * Does nothing if the path is no folder. */
void warn_of_logs(const char *folder);

/* Opens a table. On failure prints a message if print_error, and returns NULL. */
lanebloom_table *open_table(const char *path, lanebloom_writer writer, bool print_error);

/* Prints the warnings of n paths, "" for none. Equal warnings are one message, with the first path
 * and a count of the others. All become "". Cost: n * n comparisons at most. */
void warn_of_tables(char *const *paths, const char **warnings, size_t n);

#endif
