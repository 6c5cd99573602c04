/* The options and the state of the verbs `screen' and `match', and the functions that carry them
 * out.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SCREEN_H
#define LANEBLOOM_CLI_SCREEN_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../src/system/system.h"
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
  uint64_t max_nselected; /* stop after this many selected records; 0: never */
  const char *annotation; /* the name of the field that is added to each record; NULL: no field is
                           * added */
  const char *output_path, *unmatched_path, *summary_path; /* NULL: the option was not given */
  enum summary summary;
  struct job job;

  struct answer answer; /* the verb sets it before it calls run_screen() */

  /* private */
  struct sink output, unmatched; /* `output' receives the selected records, or with an annotation
                                  * all records; `unmatched' receives the records that are not
                                  * selected */
  struct sink summary_file;
  double begin;                 /* the time at which the run began, by lanebloom_system_seconds() */
  struct chunk_result *results; /* one for each worker */
  uint64_t nselected;           /* the number of selected records so far */
  char **labels;                /* with --which: "NAME\t" for each source; otherwise NULL */
  uint64_t *nhits;              /* with --which and --count: the number of records for each source;
                                 * otherwise NULL */
};

/* ---- selection.c ---- */

/* The options that say which records are selected and how they are printed, such as -v, -c, -q, -n,
 * -m and -o, and the names that follow the options. Their input is a struct screen. */
extern const struct argp selection_argp;

/* Removes the first name from the list of inputs and returns it. */
char *take_first_input(struct screen *screen);

/* Reports a usage error if standard input is named more than once by these paths, or by these paths
 * and the inputs together. `what' describes the paths in messages. */
void check_standard_input(const struct screen *screen, const struct argp_state *state,
                          char *const *paths, size_t npaths, const char *what);

/* ---- screening.c ---- */

/* Finishes the run and exits. Call this if enough records were selected. */
_Noreturn void end_early(struct screen *screen);

/* Opens the outputs. Call this before any input is read. */
void open_sinks(struct screen *screen);

/* If an output would be written into the file at this path, prints a message and exits. */
void check_is_no_output(const struct screen *screen, const char *path);

/* Are the keys of a whole chunk screened at once? It is faster if there are many sources. It is not
 * done if enough records may be selected before the end of the chunk, or if records have lists of
 * sources. Call this after the labels were made. */
bool screens_whole_chunks(const struct screen *screen);

/* begin_screen() begins to read the inputs of the job. Call end_screen() after the result was
 * printed. It prints the summary and warnings, frees the answer, and returns the exit status. */
void begin_screen(struct screen *screen, const struct input_messages *messages);
int end_screen(struct screen *screen);

/* Screens all inputs and prints the result, chunk by chunk, from begin_screen() to end_screen().
 * Returns the exit status. */
int run_screen(struct screen *screen, const struct input_messages *messages);

/* ---- summary.c ---- */

/* May all keys that passed be false positives? Returns true if no more keys passed than the model
 * of the filters predicts for absent keys, plus a tenth and three standard deviations. The rate of
 * tables is unknown, so the result for tables is true only if no key passed. Returns false after
 * `match', which is exact. */
bool are_false_positives(const struct screen *screen);

/* Warns if `match' found none of many keys, or if as few keys passed the filters as if all keys
 * were absent. Does not warn if --summary reports this result, or if absent keys are selected. Does
 * not warn of tables of a database, because it is normal that they contain none of the keys. */
void warn_of_chance(const struct screen *screen);

/* If --summary was given, prints the summary: the numbers of records, and more. */
void print_summary(struct screen *screen);

/* ---- results.c: screens chunks and prints the selected records ---- */

/* Creates an empty result for each worker. A chunk has at most one record for each byte of a
 * read. */
void results_create(struct screen *screen, size_t read_nbytes);
void results_destroy(struct screen *screen);

/* The functions of struct job. Their context is the struct screen. */
void screen_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk);
void deliver_chunk(void *context, size_t worker, struct chunk *chunk, uint64_t first);
void deliver_header(void *context, const char *header, size_t nbytes);

#endif
