/* Loads and saves the files of filters, and protects files that hold something else. A container is
 * a file of lanebloom, whose header states the format of the filter. Bare engine bytes are a filter
 * as an engine stores it, without this header.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FILTERS_H
#define LANEBLOOM_CLI_FILTERS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include <lanebloom.h>

/* Says how to read the FILTER of the command line. */
struct filter_source {
  bool raw;                /* true: FILTER is bare engine bytes in `format`; false: a container */
  lanebloom_format format; /* 0: --format was not given */
  char *const *inputs;     /* the inputs of `screen'; if FILTER is no container, load_filter() looks
                            * for one among them */
  size_t ninputs;
};

/* The options --raw and --format. Their input is a struct filter_source. */
extern const struct argp filter_argp;

/* The option --force of verbs that write filters. Its input is a bool. */
extern const struct argp force_argp;

/* Does the path lead to a container in a regular file? A damaged container counts, too. Returns
 * false for standard input. */
bool is_container(const char *path);

/* Call this if `path', the FILTER, is no container. If one of the inputs is a container, the user
 * may have given the names in the wrong order: prints a message and returns true. */
bool complain_of_order(const char *verb, const char *path, const char *problem, char *const *inputs,
                       size_t ninputs);

/* Loads a filter. The path "-" is standard input. On failure prints a message and returns NULL. */
lanebloom_filter *load_filter(const char *path, const struct filter_source *source);

/* Call this after a filter could not be loaded; `problem` holds the message so far. If the path is
 * a folder, appends advice to it. If the path leads to a file that another verb reads, replaces the
 * message by a message that names the kind of the file and the verb, and returns true. Otherwise
 * returns false. */
bool explain_no_filter(const char *path, lanebloom_status status, char *problem, size_t size);

/* The file or descriptor that a filter is saved into. */
struct target {
  const char *name; /* the name in messages */
  const char *path;
};

/* Returns the target for a path. The path "-" is standard output. If the target cannot be written,
 * prints a message and exits. */
struct target check_target(const char *path);

/* If saving would replace a file that is not a container, prints a message and exits. Do not call
 * this if --force was given. */
void check_is_filter(const struct target *target);

/* Has the filter no keys? Cost: reads the filter up to the first set bit. */
bool has_no_keys(const lanebloom_filter *filter);

/* Keeps an empty filter from replacing one with keys. If the filter has no keys, and saving it
 * would replace a filter that may have keys, prints a message and exits. Do not call this if
 * --force was given. */
void check_keeps_keys(const struct target *target, const lanebloom_filter *filter, bool raw);

/* Saves the filter as a container, or as bare engine bytes if `raw`. On failure returns false, and
 * prints a message unless the error is EPIPE. */
bool save_filter(const lanebloom_filter *filter, const struct target *target, bool raw);

/* Returns the text of a status. For LANEBLOOM_ERR_IO this is the text of errno, so call this before
 * anything changes errno. */
const char *status_text(lanebloom_status status);

#endif
