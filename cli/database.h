/* Database files: table files, and folders of them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DATABASE_H
#define LANEBLOOM_CLI_DATABASE_H

#include <stdbool.h>
#include <stddef.h>

#include <lanebloom_tables.h>

struct database {
  bool has_folders;
  size_t ntables;
  char **paths;                   /* of the tables */
  void **loaded;                  /* what was made of each, by a loader; NULL: nothing */
  const lanebloom_table **tables; /* of database_open(): the same; else NULL */
};

/* What is made of each table that is seen. */
struct table_loader {
  /* NULL where the table cannot be read; if print_error, there was a message. */
  void *(*load)(void *context, const char *path, bool print_error);
  void (*free)(void *loaded);
  void *context;
};

/* Visits the tables of these names: files, and of folders the .ldb and .sst files, in the order of
 * their numbers. Folders are looked into again until all their tables could be loaded and no
 * others have come: up to 20 looks, 50 ms apart; a table that was loaded is not loaded again, and
 * one that cannot be read, and has not changed for a while, is not waited for. False, after
 * messages, if something could not be listed or read; what could be is there. */
bool database_load(struct database *database, char *const *names, size_t nnames,
                   const struct table_loader *loader);
void database_free(struct database *database, const struct table_loader *loader);

/* Opens all tables and says what is not known of them; or the end. */
struct database database_open(char *const *names, size_t nnames, lanebloom_writer writer);
void database_close(struct database *database);

/* An engine's latest writes are in its log alone. Says so where the folder has one; a file has
 * none. */
void warn_of_logs(const char *folder);

/* On failure returns NULL, after a message if print_error. */
lanebloom_table *open_table(const char *path, lanebloom_writer writer, bool print_error);

/* One message for what is to be said of many. warnings: of each of the n paths, "" for none; what
 * was said becomes "". */
void warn_of_tables(char *const *paths, const char **warnings, size_t n);

#endif
