/* Lists the table files and logs in the folders of databases.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FOLDERS_H
#define LANEBLOOM_CLI_FOLDERS_H

#include <stdbool.h>

bool is_folder(const char *path);

/* Joins the path of a folder and the name of a file in it. The caller frees the result. */
char *join(const char *folder, const char *name);

/* Is this the name of a log? A log is named by a number, such as 000123.log. Pebble may split a log
 * and then names the parts 000123-001.log. */
bool is_log_name(const char *name);

/* Stores the paths of those entries of a folder for which is_wanted() is true. The paths are sorted
 * by the numbers in the names. Returns the number of paths. On failure returns -1 and sets errno.
 * free_paths() frees the paths. */
int list_folder(const char *folder, bool (*is_wanted)(const char *folder, const char *name),
                char ***paths);
void free_paths(char **paths, int n);

/* Two tests for list_folder(). is_table() accepts table files, and is_log() accepts logs. */
bool is_table(const char *folder, const char *name);
bool is_log(const char *folder, const char *name);

/* Is the path a folder that contains a database or table files? */
bool is_database(const char *path);

#endif
