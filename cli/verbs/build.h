/* The options of `build', which `add' also uses to build filters.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_BUILD_H
#define LANEBLOOM_CLI_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

#include "../base/progress.h"
#include "../files/filters.h"
#include "../input/file_kinds.h"
#include "../input/records.h"

struct build {
  struct input_messages messages;
  struct record_syntax syntax;
  const char *path;
  struct target target;
  lanebloom_format format;
  double bits_per_key;
  const char *bits_text; /* the argument of --bits, for messages; NULL: not given */
  double rate;           /* 0: not given */
  const char *rate_text;
  uint64_t expected_keys; /* 0: not given */
  bool raw, force;
  enum progress progress;
  char **inputs;
  size_t ninputs;
  size_t nworkers;
};

/* ---- building.c: reads all inputs. If one cannot be read to its end, or if no such filter can be
 * built, prints a message and exits. ---- */

/* If the target is one of the inputs, prints a message and exits. */
void check_is_no_input(const struct build *build);

/* Returns the number of keys. */
uint64_t count_keys(const struct build *build);

/* Builds the filter. Warns if keys end in carriage returns. *nkeys: the number of keys added. */
lanebloom_filter *build_filter(const struct build *build, uint64_t *nkeys);

#endif
