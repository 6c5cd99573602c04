/* Reads databases: finds their table files and logs, opens the tables, and prints warnings about
 * them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DATABASE_H
#define LANEBLOOM_CLI_DATABASE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <lanebloom_tables.h>

struct json_object;

/* The options of the user that say how databases are read. */
struct database_options {
  lanebloom_writer writer;
  bool all_files; /* read all tables in a folder, even if CURRENT and MANIFEST list others */
  lanebloom_database_options where;
};

/* The options --writer, --all-files, --column-family, --wal-dir and --db-path. Their input is a
 * struct database_options. */
extern const struct argp database_argp;

/* The option --writer. Its input is a lanebloom_writer. */
extern const struct argp writer_argp;

/* Was any of these options given? */
bool has_database_options(const struct database_options *options);
void free_database_options(struct database_options *options);

/* Says where a table comes from. The texts are borrowed from the database. */
struct table_place {
  lanebloom_database *source; /* the database of the table; NULL: the user named the table itself,
                               * or the table is in a folder that is no database */
  bool is_log;                /* the entry is no table, but stands for the keys in the logs of the
                               * database */
  lanebloom_database_table table;
};

/* All tables that the user named, in any number of databases. Only one thread at a time may load or
 * free this. */
struct database {
  size_t ntables;
  char **paths;                   /* the path of each table, or "(log)" for the logs */
  struct table_place *places;     /* where each table comes from */
  void **loaded;                  /* for each table, the result of the loader; NULL: the table could
                                   * not be read */
  const lanebloom_table **tables; /* the open tables; NULL: database_open() was not used */
  bool is_damaged;                /* writes may be missing; messages have said which */
  size_t nsources;
  lanebloom_database **sources; /* one for each name; NULL: the name is not the folder of a
                                 * database */

  /* private */
  bool has_folders; /* some name is a folder of tables that belong to no database */
};

/* Says what database_load() does with each table that it has opened. */
struct table_loader {
  /* Makes the result for an open table. The function owns the table from now on. */
  void *(*load)(void *context, const char *path, const struct table_place *place,
                lanebloom_table *table);
  void (*free)(void *loaded);
  void *context;
  bool loads_part; /* if a database cannot be read, the tables that can be opened are loaded */
};

/* Loads tables. Each name is a table file, the folder of a database, or another folder with tables.
 *
 * For a database, this reads the logs first, then lists the tables that the MANIFEST names and
 * loads them by lanebloom_database_open_tables(), which lists the tables again if an engine
 * replaces some in the meantime. If this call fails, for example because the MANIFEST cannot be
 * read again, and if loads_part is set, those tables of the first list that can be opened are
 * loaded. The keys of the logs count as one additional table.
 *
 * For another folder, or with options->all_files, this loads all .ldb and .sst files in the order
 * of their numbers. For at most one second, it repeats the listing until all tables are loaded and
 * two listings agree. If a table cannot be read and has not changed for 10 seconds, this does not
 * try to read the table again.
 *
 * Each table is loaded only once. If a database, a folder or a table could not be read, this prints
 * messages and returns false, and the database has only the other tables. Call database_free() in
 * either case. */
bool database_load(struct database *database, char *const *names, size_t nnames,
                   const struct database_options *options, const struct table_loader *loader);
void database_free(struct database *database, const struct table_loader *loader);

/* Opens all tables and prints their warnings. If a table cannot be opened, prints a message and
 * exits with EXIT_TROUBLE. */
struct database database_open(char *const *names, size_t nnames,
                              const struct database_options *options);
void database_close(struct database *database);

/* Opens a table. On failure returns NULL, and prints a message if print_error. */
lanebloom_table *open_table(const char *path, lanebloom_writer writer, bool print_error);

/* Prints the warnings about n paths. An empty warning means that there is none. If several paths
 * have the same warning, prints the warning once, with the first of these paths and the number of
 * the others. Then sets all warnings to "". Cost: at most n * n comparisons. */
void warn_of_tables(char *const *paths, const char **warnings, size_t n);

/* ---- database_version.c: describes which version of a database was read ---- */

struct json_object *version_in_json(const lanebloom_database *database);
void print_version_of(FILE *stream, const char *name, const lanebloom_database *database);

#endif
