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
  const lanebloom_table **tables; /* NULL: not open */
};

/* Adds a table by its path; of a folder its .ldb and .sst files, in the order of their numbers. On
 * failure says why and returns false. */
bool database_add(struct database *database, const char *path);

/* Adds each of the names, opens all tables and says what is not known of them. Folders are looked
 * into until all their tables open and no others have come; if 20 looks, 50 ms apart, are not
 * enough, or a file does not open, the command ends. */
struct database database_open(char *const *names, size_t nnames, lanebloom_writer writer);
void database_close(struct database *database);

/* An engine's latest writes are in its log alone. Says so where the folder has one; a file has
 * none. */
void warn_of_logs(const char *folder);

/* On failure says why and returns NULL. */
lanebloom_table *open_table(const char *path, lanebloom_writer writer);

/* nothers: of how many other tables the same is to be said. */
void warn_of_table(const char *path, const char *warning, size_t nothers);

#endif
