/* Names of files, and which of them are standard input and output.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PATHS_H
#define LANEBLOOM_CLI_PATHS_H

#include <stdbool.h>
#include <sys/stat.h>

bool is_standard_input(const char *path);

/* Returns the name of an input or a filter for messages: the path, or "(standard input)". */
const char *input_name(const char *path);

/* Do both describe one file? */
bool is_same_file(const struct stat *a, const struct stat *b);

/* Is the path standard output, and is standard output a regular file? */
bool is_standard_output(const char *path);

/* The message for an input that is also the output. */
extern const char also_output_text[];

/* Returns advice about folders, to follow the text of EISDIR; "" for other errors. */
const char *directory_advice(int error);

#endif
