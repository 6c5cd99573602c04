/* Database files: table files, and folders of them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DATABASE_H
#define LANEBLOOM_CLI_DATABASE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <lanebloom_tables.h>

struct json_object;

/* The user's options for databases. */
struct database_options {
  lanebloom_writer writer;
  bool all_files; /* all tables in folders, whatever CURRENT and MANIFEST say */
  lanebloom_database_options where;
};

/* --writer, --all-files, --column-family, --wal-dir, --db-path. Input: struct database_options. */
extern const struct argp database_argp;

/* --writer. Input: lanebloom_writer. */
extern const struct argp writer_argp;

/* Was any of these options given? */
bool has_database_options(const struct database_options *options);
void free_database_options(struct database_options *options);

/* The origin of a table. Texts are borrowed from the database. */
struct table_place {
  lanebloom_database *source; /* NULL: the table was named, or is in a folder of tables */
  bool is_log;                /* the "table" holds the keys of the source's logs */
  lanebloom_database_table table;
};

/* The tables that the command was given. Only one thread at a time may load or free a database. */
struct database {
  size_t ntables;
  char **paths;                   /* of the tables; or "(log)" */
  struct table_place *places;     /* of the tables */
  void **loaded;                  /* the loader's result for each; NULL: the table could not be
                                   * read */
  const lanebloom_table **tables; /* after database_open(): the open tables; else NULL */
  bool is_damaged;                /* writes may be missing, and messages said so */
  size_t nsources;
  lanebloom_database **sources; /* one for each name; NULL: the name is no database */

  /* private */
  bool has_folders; /* a name is a folder of tables that belong to no database */
};

/* Says what database_load() does with each table. */
struct table_loader {
  /* Converts an open table, which it takes over, into a result. */
  void *(*load)(void *context, const char *path, const struct table_place *place,
                lanebloom_table *table);
  void (*free)(void *loaded);
  void *context;
};

/* Loads tables. A name is a table file, the folder of a database, or another folder with tables.
 *
 * For a database, the logs are read first, then the tables that the MANIFEST names. If a running
 * engine has replaced a table meanwhile, the MANIFEST is read again, for at most 30 seconds. The
 * keys of the logs form one additional table.
 *
 * For another folder, or with options->all_files, all .ldb and .sst files are loaded in the order
 * of their numbers. The folder is listed again until all tables are loaded and two listings agree,
 * for at most a second. A table that cannot be read is not tried again if it has not changed for 10
 * seconds.
 *
 * A table is loaded only once. If a database, a folder or a table could not be read, prints
 * messages and returns false. The database then has the other tables; free it with database_free()
 * in either case. */
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

/* Prints the warnings of n paths; "" means none. Equal warnings become one message, with the first
 * path and a count of the others. All warnings are set to "". Cost: at most n * n comparisons. */
void warn_of_tables(char *const *paths, const char **warnings, size_t n);

/* ---- database_version.c: which version of a database was read ---- */

struct json_object *version_in_json(const lanebloom_database *database);
void print_version_of(FILE *stream, const char *name, const lanebloom_database *database);

#endif
