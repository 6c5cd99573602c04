/* The folder of a database: finds its files and parses their names.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_FOLDER_H
#define LANEBLOOM_TABLES_FOLDER_H

#include <lanebloom_tables.h>

#include "../common/problem.h"

/* Return the path of a file in a folder. The second names the file NUMBER.END, with at least 6
 * digits. The caller frees the path. NULL: memory ran out. */
char *lanebloom_folder_join(const char *folder, const char *name);
char *lanebloom_folder_number(const char *folder, uint64_t number, const char *end);

/* The name of the MANIFEST that is in use, which the caller frees. Errors: CORRUPT: CURRENT is
 * damaged; IO, MEMORY. */
lanebloom_status lanebloom_folder_current(const char *folder, lanebloom_engine engine,
                                          char **manifest, const struct problem *problem);

/* The folders of a database's logs, each NULL or freed by the caller; Pebble may have two.
 * wanted: NULL, or the folder that the user names. Errors: FORMAT: a folder does not exist; IO,
 * MEMORY. */
enum { NLOG_FOLDERS = 2 };
lanebloom_status lanebloom_folder_of_logs(const char *folder, const char *wanted,
                                          lanebloom_engine engine, char *folders[NLOG_FOLDERS],
                                          const struct problem *problem);

/* A log: NUMBER.log. Pebble may split one: NUMBER-INDEX.log. */
struct log_name {
  uint64_t number, index;
  const char *folder; /* borrowed */
};

/* The logs in all folders, ascending; the caller frees the list. Errors: IO, MEMORY. */
lanebloom_status lanebloom_folder_logs(char *const folders[NLOG_FOLDERS], lanebloom_engine engine,
                                       struct log_name **logs, size_t *n,
                                       const struct problem *problem);

/* Returns the path of a log, which the caller frees. NULL: memory ran out. */
char *lanebloom_folder_log(const struct log_name *log);

#endif
