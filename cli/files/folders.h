/* Folders of table files.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FOLDERS_H
#define LANEBLOOM_CLI_FOLDERS_H

#include <dirent.h>
#include <stdbool.h>

bool is_folder(const char *path);

/* Returns the path of a file in a folder. The caller frees it. */
char *join(const char *folder, const char *name);

/* Is this the name of a log? Engines name their logs by numbers. Pebble may split a log:
 * 000123-001.log. */
bool is_log_name(const char *name);

/* Lists the paths of the wanted entries in the order of their numbers. Returns their number, or -1
 * with errno. free_paths() frees them. */
int list_folder(const char *folder, int (*is_wanted)(const struct dirent *entry), char ***paths);
void free_paths(char **paths, int n);

/* Tests for list_folder(): is the entry a table file, or a log? */
int is_table(const struct dirent *entry);
int is_log(const struct dirent *entry);

/* Is it a folder that contains a database or tables? */
bool is_database(const char *path);

#endif
