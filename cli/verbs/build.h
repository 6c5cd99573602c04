/* The options of `build', and the functions that build a filter from records. `add' uses them, too.
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
  const char *bits_text; /* the argument of --bits, for messages; NULL: the option was not given */
  double rate;           /* 0: the option was not given */
  const char *rate_text;
  const lanebloom_filter *like; /* build a filter that can be merged with this one; NULL: plan it */
  uint64_t expected_keys;       /* 0: the option was not given */
  bool raw, force;
  enum progress progress;
  char **inputs;
  size_t ninputs;
  size_t nworkers;
};

/* ---- building.c: these functions read all inputs. If an input cannot be read to its end, or if
 * the filter cannot be built, they print a message and exit. ---- */

/* Prints why a filter of nkeys keys cannot be built, and exits. */
_Noreturn void die_of(lanebloom_status status, const struct build *build, uint64_t nkeys);

/* If the target is one of the inputs, prints a message and exits. */
void check_is_no_input(const struct build *build);

/* Returns the number of keys in the inputs. */
uint64_t count_keys(const struct build *build);

/* Builds the filter, and sets *nkeys to the number of keys that were added. Warns if the keys end
 * in carriage returns. */
lanebloom_filter *build_filter(const struct build *build, uint64_t *nkeys);

#endif
