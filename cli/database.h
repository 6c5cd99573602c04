/* Database files: table files, and folders of them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DATABASE_H
#define LANEBLOOM_CLI_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <lanebloom_tables.h>

struct json_object;

/* What the user says of databases. */
struct database_options {
  lanebloom_writer writer;
  bool all_files; /* all tables in folders, whatever CURRENT and MANIFEST say */
  lanebloom_database_options where;
};

/* --writer, --all-files, --column-family, --wal-dir, --db-path; input: struct
 * database_options. */
extern const struct argp database_argp;

/* Is any of these options given? */
bool has_database_options(const struct database_options *options);
void free_database_options(struct database_options *options);

/* Is it a folder with a database in it, or with tables? */
bool is_database(const char *path);

/* Where a table comes from. Texts are borrowed from the database. */
struct table_place {
  lanebloom_database *source; /* NULL: the table was named, or is in a folder of tables */
  bool is_log;                /* the keys of the source's logs */
  lanebloom_database_table table;
};

/* The tables that the command was given. One thread at a time loads or frees a database. */
struct database {
  size_t ntables;
  char **paths;                   /* of the tables; or "(log)" */
  struct table_place *places;     /* of the tables */
  void **loaded;                  /* what the loader made of each; NULL: it could not be read */
  const lanebloom_table **tables; /* of database_open(): the open tables; else NULL */
  bool is_damaged;                /* may writes be missing? Then messages said so. */
  size_t nsources;
  lanebloom_database **sources; /* of each name; NULL: it is no database */

  /* private */
  bool has_folders; /* of tables that are not a database's */
};

/* What database_load() does with each table. */
struct table_loader {
  /* Makes something of an open table, which then belongs to it. */
  void *(*load)(void *context, const char *path, const struct table_place *place,
                lanebloom_table *table);
  void (*free)(void *loaded);
  void *context;
};

/* Loads tables. A name is a table file, the folder of a database, or another folder with tables.
 *
 * Of a database, the logs are read first, and then the tables that the MANIFEST names. If a running
 * engine replaced one meanwhile, the MANIFEST is read again, for at most 30 seconds. The keys of
 * the logs are one more table.
 *
 * Of another folder, or with options->all_files, all .ldb and .sst files are loaded in the order of
 * their numbers. The folder is listed again until all tables are loaded and two listings agree, for
 * at most a second. A table that cannot be read is not waited for if it has not changed for 10
 * seconds.
 *
 * A table is loaded only once. Returns false, after messages, if a database or folder could not be
 * read, or a table. The database then has the other tables; database_free() frees it in either
 * case. */
bool database_load(struct database *database, char *const *names, size_t nnames,
                   const struct database_options *options, const struct table_loader *loader);
void database_free(struct database *database, const struct table_loader *loader);

/* Opens all tables and prints their warnings. If a table cannot be opened, exits with
 * EXIT_TROUBLE. */
struct database database_open(char *const *names, size_t nnames,
                              const struct database_options *options);
void database_close(struct database *database);

/* Opens a table. On failure prints a message if print_error, and returns NULL. */
lanebloom_table *open_table(const char *path, lanebloom_writer writer, bool print_error);

/* Prints the warnings of n paths, "" for none. Equal warnings are one message, with the first path
 * and a count of the others. All become "". Cost: n * n comparisons at most. */
void warn_of_tables(char *const *paths, const char **warnings, size_t n);

/* ---- database_version.c ---- */

/* Which version of a database was read. */
struct json_object *version_in_json(const lanebloom_database *database);
void print_version_of(FILE *stream, const char *name, const lanebloom_database *database);

#endif
