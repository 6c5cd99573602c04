/* Finds the files of a database in its folder: the current MANIFEST and the write-ahead logs.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_FOLDER_H
#define LANEBLOOM_TABLES_FOLDER_H

#include <lanebloom_tables.h>

#include "../common/problem.h"

/* Return the path of a file in a folder, or NULL if memory ran out. The caller frees the path.
 * lanebloom_folder_number() names the file NUMBER.END, with at least 6 digits. */
char *lanebloom_folder_join(const char *folder, const char *name);
char *lanebloom_folder_number(const char *folder, uint64_t number, const char *end);

/* Sets *manifest to the name of the MANIFEST that the database uses now. The caller frees the name.
 * Errors: CORRUPT if CURRENT is damaged; IO, MEMORY; LIMIT if CURRENT is too large. */
lanebloom_status lanebloom_folder_current(const char *folder, lanebloom_engine engine,
                                          char **manifest, const struct problem *problem);

/* Finds the folders that hold the logs of a database. Pebble may use two folders, the other engines
 * use one; unused elements of `folders` become NULL. The caller frees each folder. wanted: the
 * folder that the user named, or NULL to read it from the OPTIONS file. Errors: FORMAT if a folder
 * does not exist; IO, MEMORY; LIMIT if OPTIONS is too large. */
enum { NLOG_FOLDERS = 2 };
lanebloom_status lanebloom_folder_of_logs(const char *folder, const char *wanted,
                                          lanebloom_engine engine, char *folders[NLOG_FOLDERS],
                                          const struct problem *problem);

/* The name of a log, NUMBER.log. Pebble may split a log into several files; the later ones are
 * called NUMBER-INDEX.log. */
struct log_name {
  uint64_t number, index;
  const char *folder; /* borrowed */
};

/* Lists the logs in all folders, ascending by number and index. The caller frees the list, which
 * borrows `folders`. Errors: IO, MEMORY. */
lanebloom_status lanebloom_folder_logs(char *const folders[NLOG_FOLDERS], lanebloom_engine engine,
                                       struct log_name **logs, size_t *n,
                                       const struct problem *problem);

/* Returns the path of a log, or NULL if memory ran out. The caller frees the path. */
char *lanebloom_folder_log(const struct log_name *log);

#endif
