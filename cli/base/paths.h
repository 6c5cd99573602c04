/* Functions for the paths of inputs and outputs; they also tell which paths are standard input or
 * output.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PATHS_H
#define LANEBLOOM_CLI_PATHS_H

#include <stdbool.h>

#include "../../src/system/system.h"

bool is_standard_input(const char *path);

/* Returns the name that messages use for an input or a filter: the path, or "(standard input)" if
 * the path is "-". */
const char *input_name(const char *path);

/* Do both describe the same file? */
bool is_same_file(const struct system_info *a, const struct system_info *b);

/* Is the path the same file as standard output? Returns false if standard output is no regular file
 * but, for example, a terminal. */
bool is_standard_output(const char *path);

/* The message for an input that is also the output. */
extern const char also_output_text[];

/* If the error is EISDIR, returns advice about how folders are read. Messages print it after the
 * text of the error. Returns "" for other errors. */
const char *directory_advice(int error);

#endif
