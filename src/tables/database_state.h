/* The struct of an open database. database.c opens and updates it, database_tables.c finds the live
 * tables, and database_logs.c reads the logs.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_DATABASE_STATE_H
#define LANEBLOOM_TABLES_DATABASE_STATE_H

#include <lanebloom_tables.h>

#include "folder.h"
#include "version.h"
#include "write_log.h"

/* The contents of the MANIFEST, and the lists that are made from them. An update replaces the whole
 * view; if it fails, it leaves the old view. */
struct view {
  char *manifest; /* its name */
  uint64_t manifest_nbytes;
  struct version version;
  struct wanted_table {
    struct live_table table;
    bool is_in_log; /* false: the MANIFEST names the table */
    char *path;
    void *opened; /* the result of lanebloom_database_open_tables(); NULL: none */
  } * wanted;     /* ascending by number */
  size_t nwanted;
  char **damages; /* descriptions of damage in live logs */
  size_t ndamages, damages_room;
};

struct lanebloom_database {
  char *folder;
  struct names {
    char **list;
    size_t n;
  } table_folders, families; /* families: sorted */
  lanebloom_engine engine;
  struct view view;

  struct write_log *logs; /* ascending by number */
  size_t nlogs;
  char **log_paths;
  struct timestamps timestamps;
  struct key_collector keys;
};

/* Inserts the name of the file before the text of the problem. */
static inline lanebloom_status name_problem(const char *name, lanebloom_status status,
                                            const struct problem *problem)
{
  char text[400];
  if (problem->size > 0) {
    snprintf(text, sizeof text, "%s", problem->text);
    problem_set(problem, status, "%s: %s", name, text);
  }
  return status;
}

static inline bool is_wanted(const struct lanebloom_database *database, uint32_t family)
{
  const struct family *found = lanebloom_version_family(&database->view.version, family);
  return found && found->is_wanted;
}

static inline bool is_live(const struct lanebloom_database *database, size_t log)
{
  return lanebloom_version_needs_log(&database->view.version, database->logs[log].number);
}

/* ---- database_tables.c ---- */

/* Makes the list of the live tables of the view. Errors: MEMORY. */
lanebloom_status lanebloom_database_find_tables(struct lanebloom_database *database,
                                                const struct problem *problem);

/* ---- database_logs.c ---- */

/* Lists the column families whose keys end in a timestamp. Errors: MEMORY. */
lanebloom_status lanebloom_database_find_timestamps(const struct version *version,
                                                    struct timestamps *timestamps);

/* Reads the logs in the folders. before: the contents of the MANIFEST from an earlier reading. Logs
 * that were not needed then are left out, because they are never needed again. */
lanebloom_status lanebloom_database_read_logs(struct lanebloom_database *database,
                                              char *const folders[NLOG_FOLDERS],
                                              const struct version *before,
                                              const struct problem *problem);

/* Describes the damage of all live logs in the view. Errors: MEMORY. */
lanebloom_status lanebloom_database_find_damages(struct lanebloom_database *database,
                                                 const struct problem *problem);

#endif
