/* The folder of a database: which files are in it, and what their names say.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_FOLDER_H
#define LANEBLOOM_TABLES_FOLDER_H

#include <lanebloom_tables.h>

#include "../problem.h"

/* The path of a file in a folder; that of NUMBER.END, with at least 6 digits. The caller frees it.
 * NULL: memory ran out. */
char *lanebloom_folder_join(const char *folder, const char *name);
char *lanebloom_folder_number(const char *folder, uint64_t number, const char *end);

/* The name of the MANIFEST that is in use, which the caller frees. Errors: CORRUPT: CURRENT is
 * damaged; IO, MEMORY. */
lanebloom_status lanebloom_folder_current(const char *folder, char **manifest,
                                          const struct problem *problem);

/* The numbers of all logs in a folder, ascending; the caller frees them. Errors: IO, MEMORY. */
lanebloom_status lanebloom_folder_logs(const char *folder, uint64_t **numbers, size_t *n,
                                       const struct problem *problem);

/* The folder of a database's logs, which the caller frees. wanted: NULL, or what the user says.
 * Errors: FORMAT: it is not there; IO, MEMORY. */
lanebloom_status lanebloom_folder_of_logs(const char *folder, const char *wanted,
                                          lanebloom_engine engine, char **log_folder,
                                          const struct problem *problem);

#endif
