/* Options that several verbs share, as children of their argp, and the values of options. A value
 * that is not allowed is a usage error: a message is printed, and the command exits.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_OPTIONS_H
#define LANEBLOOM_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include <lanebloom.h>

#include "../base/progress.h"

/* Calls argp_parse() and adds the options --help, --usage and --version. On failure prints a
 * message and exits. */
void parse_options(const struct argp *argp, unsigned flags, int argc, char **argv, void *input);

/* version.c: prints the text of --version. */
void print_version(FILE *stream);

/* The option --kernel; it takes no input. After the last option, the command exits with a message
 * if $LANEBLOOM_KERNEL names a kernel that cannot run here, unless --kernel was given. */
extern const struct argp kernel_argp;

/* -j. Input: size_t, the number of workers. */
extern const struct argp jobs_argp;

/* --progress. Input: enum progress. */
extern const struct argp progress_argp;

/* Turns PROGRESS_AUTO into PROGRESS_NEVER unless a person sees the report: standard error must be a
 * terminal, and no records may be printed to a terminal, or to a pipe that may end in one. */
enum progress resolve_progress(enum progress when, bool prints_records);

/* Works like argp_error(), but always exits, and prints with print_message(): the message may quote
 * names and values that the user did not write. */
__attribute__((format(printf, 2, 3))) _Noreturn void usage_error(const struct argp_state *state,
                                                                 const char *format, ...);

/* A word that should be a name, and the known name that is most similar to it. */
struct suggestion {
  const char *dashes; /* put before both in messages; NULL: nothing */
  const char *word;
  const char *name; /* NULL: no name is similar */
  size_t distance;
};

/* Makes the name the suggestion if it is more similar to the word than the current one. */
void suggest(struct suggestion *suggestion, const char *name);

/* Reports a usage error: the problem, the word, and the name that the user may have meant. */
_Noreturn void refuse_word(const struct argp_state *state, const char *problem,
                           const struct suggestion *suggestion);

/* The format of new filters without --format; docs/choosing-a-filter.md gives the reasons. */
#define DEFAULT_FORMAT LANEBLOOM_ROCKSDB_LOCAL

/* Parses the name of a format. */
lanebloom_format parse_format(const struct argp_state *state, const char *text);

/* Parse the name of a format that hashes keys, and of a format whose filters can be built. */
lanebloom_format parse_hashing_format(const struct argp_state *state, const char *text);
lanebloom_format parse_building_format(const struct argp_state *state, const char *text);

/* Returns the text, followed by each format's name and description, for --help. The caller frees
 * it. */
char *with_formats(const char *text, bool only_building);

#endif
