/* Files of filters: loading, saving, and what was given in the place of one.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FILTERS_H
#define LANEBLOOM_CLI_FILTERS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include <lanebloom.h>

/* Says how to read a FILTER. */
struct filter_source {
  bool raw;                /* the file is bare engine bytes of `format`; false: a container */
  lanebloom_format format; /* 0: not given */
  char *const *inputs;     /* of `screen': load_filter() looks here for a misplaced FILTER */
  size_t ninputs;
};

/* --raw, --format. Input: struct filter_source. */
extern const struct argp filter_argp;

/* --force, for verbs that write filters. Input: bool. */
extern const struct argp force_argp;

/* Is it a container, damaged or not, in a regular file that is not standard input? */
bool is_container(const char *path);

/* path: a FILTER that is no container. If one of the inputs is a container, prints a message and
 * returns true. */
bool complain_of_order(const char *verb, const char *path, const char *problem, char *const *inputs,
                       size_t ninputs);

/* Loads a filter. Path "-" is standard input. On failure prints a message and returns NULL. */
lanebloom_filter *load_filter(const char *path, const struct filter_source *source);

/* Call this after a filter could not be loaded. For a folder, appends advice to `problem'. If the
 * file is one that other verbs read, `problem' becomes a description of it, and the result is
 * true. */
bool explain_no_filter(const char *path, lanebloom_status status, char *problem, size_t size);

/* The destination of a saved filter. */
struct target {
  const char *name; /* in messages */
  const char *path;
};

/* Returns the target of a path; "-" is standard output. If it cannot be written, prints a message
 * and exits. */
struct target check_target(const char *path);

/* If saving would replace a file that is not a container, prints a message and exits. Call this
 * after refusing what --force does not allow. */
void check_is_filter(const struct target *target);

/* Is the filter without keys? Cost: reads the filter up to the first set bit. */
bool has_no_keys(const lanebloom_filter *filter);

/* If the filter has no keys, and saving it would replace a file that may have some, prints a
 * message and exits. Call this unless --force was given. */
void check_keeps_keys(const struct target *target, const lanebloom_filter *filter, bool raw);

/* Saves a container, or bare engine bytes if `raw`. On failure prints a message, except for EPIPE,
 * and returns false. */
bool save_filter(const lanebloom_filter *filter, const struct target *target, bool raw);

/* Returns the text of a status. For LANEBLOOM_ERR_IO this is the text of errno, so call it before
 * errno changes. */
const char *status_text(lanebloom_status status);

#endif
