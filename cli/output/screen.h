/* The options and the state of `screen' and `match'.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SCREEN_H
#define LANEBLOOM_CLI_SCREEN_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../answer/answer.h"
#include "../input/inputs.h"
#include "../input/records.h"
#include "../input/workers.h"
#include "sinks.h"

enum summary { SUMMARY_NONE, SUMMARY_TEXT, SUMMARY_JSON };

struct screen {
  struct record_syntax syntax;
  char **inputs;
  size_t ninputs;
  bool invert, count, quiet, number, which;
  uint64_t max_nselected; /* 0: all */
  const char *annotation; /* the name of the field added to every record; NULL: none */
  const char *output_path, *unmatched_path, *summary_path; /* NULL: not given */
  enum summary summary;
  struct job job;

  /* The verb sets these before run_screen(). run reads the inputs and prints the result; NULL:
   * records are screened and printed chunk by chunk. */
  struct answer answer;
  void (*run)(struct screen *screen, struct inputs *inputs);

  /* private */
  struct sink output, unmatched; /* for the selected records, or all; and for the rest */
  struct sink summary_file;
  double begin;                 /* in seconds() */
  struct chunk_result *results; /* one for each worker */
  uint64_t nselected;           /* records that were delivered */
  char **labels;                /* with --which: "NAME\t" for each source; else NULL */
  uint64_t *nhits;              /* with --which --count: number of records for each source; else
                                 * NULL */
};

/* ---- selection.c ---- */

/* -v, -c, -q, -n, -m, -o and the other options that select what is printed, and the names after the
 * options. Input: struct screen. */
extern const struct argp selection_argp;

/* Removes the first name from the inputs and returns it. */
char *take_first_input(struct screen *screen);

/* Reports a usage error if two of these paths and the inputs are standard input. what: describes
 * the paths in messages. */
void check_standard_input(const struct screen *screen, const struct argp_state *state,
                          char *const *paths, size_t npaths, const char *what);

/* ---- screening.c ---- */

/* Exits, because enough records were selected. */
_Noreturn void end_early(struct screen *screen);

/* Opens the outputs. Call this before anything is read. */
void open_sinks(struct screen *screen);

/* Exits with a message if the file at the path would be written. */
void check_is_no_output(const struct screen *screen, const char *path);

/* Screens all inputs, prints the result and frees the answer. Returns the exit status. */
int run_screen(struct screen *screen, const struct input_messages *messages);

/* ---- summary.c ---- */

/* Are the selected keys no more than the false positives of absent keys would be? A filter may pass
 * a tenth more than its model predicts, plus three standard deviations. The rate of tables is
 * unknown: they may pass none. false after `match', which is exact. */
bool are_false_positives(const struct screen *screen);

/* Warns if `match' found none of many keys, or if the keys that passed filters are no more than
 * false positives, or none. Does not warn if --summary reports it, if absent keys are selected, or
 * if a database's tables contain none, which is a normal result. */
void warn_of_chance(const struct screen *screen);

/* Prints the number of records, if --summary was given. */
void print_summary(struct screen *screen);

/* ---- results.c: screens chunks and prints the selected records ---- */

/* Creates an empty result for each worker. */
void results_create(struct screen *screen);
void results_destroy(struct screen *screen);

/* The functions of struct job; context: the struct screen. */
void screen_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk);
void deliver_chunk(void *context, size_t worker, struct chunk *chunk, uint64_t first);
void deliver_header(void *context, const char *header, size_t nbytes);

#endif
