/* The options and the state of `screen' and `match'.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SCREEN_H
#define LANEBLOOM_CLI_SCREEN_H

#include "cli.h"
#include "key_set.h"
#include "parquet.h"
#include "sinks.h"
#include "sources.h"

enum summary { SUMMARY_NONE, SUMMARY_TEXT, SUMMARY_JSON };

struct screen {
  struct record_syntax syntax;
  struct filter_source source;
  struct database_options database_options;
  char **filters; /* paths: either of filters or of databases */
  size_t nfilters;
  void *known_filters; /* of filters: a tree of tsearch() */
  char *filter_list;   /* a file with the names of more; NULL: none */
  char **names;        /* in that file */
  size_t nnames;
  char **databases;
  size_t ndatabases;
  struct parquet_query parquet; /* of Parquet files, instead of sources; or without names */
  char **inputs;
  size_t ninputs;
  bool invert, count, quiet, number, which;
  uint64_t max_nselected; /* 0: all */
  const char *annotation; /* the name of the field that every record gets; NULL: none */
  const char *output_path, *unmatched_path, *summary_path; /* NULL: not given */
  enum summary summary;
  struct job job;

  const struct key_set *exact; /* of `match'; else NULL, and the sources: */
  struct sources sources;
  unsigned separators; /* of `match': bit i: the first records have separator i of summary.c */
  struct sink output, unmatched; /* of records: selected, or all; and the rest */
  struct sink summary_file;
  double begin;                 /* in seconds() */
  struct database database;     /* whose tables are the sources; or empty */
  struct chunk_result *results; /* one for each worker */
  uint64_t nselected;           /* records that were delivered */
  char **labels;                /* with --which: "NAME\t" of each source; else NULL */
  uint64_t *nhits;              /* with --which --count: records of each source; else NULL */
};

/* ---- selection.c ---- */

/* -v, -c, -q, -n, -m, -o and what else says what is printed, and the names behind the options;
 * input: struct screen. */
extern const struct argp selection_argp;

/* Takes the first name off the inputs. */
char *take_first_input(struct screen *screen);

/* A usage error if two of these paths and of the inputs are standard input. what: the paths are, in
 * messages. */
void check_standard_input(const struct screen *screen, const struct argp_state *state,
                          char *const *paths, size_t npaths, const char *what);

/* ---- screen.c ---- */

/* Exits: enough records were selected. */
_Noreturn void end_early(struct screen *screen);

/* Opens what is written to. To be called before anything is read. */
void open_sinks(struct screen *screen);

/* Exits if the file at the path would be written. */
void check_is_no_output(const struct screen *screen, const char *path);

/* Screens all inputs and prints the result. Returns the exit status. */
int run_screen(struct screen *screen, const struct input_messages *messages);

/* ---- summary.c ---- */

/* Do no more keys pass than absent ones would? A filter may let a tenth more pass than its model
 * says, and three standard deviations; tables, whose rate is unknown, none. false after `match',
 * which is exact. */
bool are_false_positives(const struct screen *screen);

/* Takes note of the separators that the first records have. chunk: the first. */
void look_for_separators(struct screen *screen, const struct chunk *chunk);

/* Unless --summary says it, or absent keys are asked for, warns if `match' found none of many keys,
 * or if the keys that passed filters are no more than false positives, or none. None in the tables
 * of a database is an answer like any other. */
void warn_of_chance(const struct screen *screen);

/* Prints how many records there were, if --summary was given. */
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
