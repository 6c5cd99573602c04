/* Declares the options that several verbs share, and parses the values of options. An option, or a
 * group of options, is a struct argp that verbs name among their `children'. The comment of the
 * struct names the type of its input, which is the object that receives the value. The verb passes
 * this object in child_inputs. If a value is not allowed, the command prints a usage error and
 * exits.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_OPTIONS_H
#define LANEBLOOM_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include <lanebloom.h>

#include "../base/progress.h"

/* Calls argp_parse() with the options of `argp' and with --help, --usage and --version. On failure
 * prints a message and exits. */
void parse_options(const struct argp *argp, unsigned flags, int argc, char **argv, void *input);

/* Prints the text of --version. It is defined in version.c. */
void print_version(FILE *stream);

/* The option --kernel. It has no input. If --kernel was not given, $LANEBLOOM_KERNEL is checked
 * after the last option: if the variable names a kernel that this CPU cannot run, the command
 * prints a message and exits. */
extern const struct argp kernel_argp;

/* The option -j. Its input is a size_t, the number of workers. */
extern const struct argp jobs_argp;

/* The option --progress. Its input is an enum progress. */
extern const struct argp progress_argp;

/* Replaces PROGRESS_AUTO by PROGRESS_NEVER unless a person can see the reports and no records can
 * appear between them. So PROGRESS_AUTO remains only if standard error is a terminal. If records
 * are printed, standard output must also be neither a terminal, nor a pipe or socket, because these
 * may lead to the same terminal. */
enum progress resolve_progress(enum progress when, bool prints_records);

/* Prints a usage error and exits. Unlike argp_error(), it never returns, and it prints with
 * print_message(), because the message may quote names and values that the user did not write. */
__attribute__((format(printf, 2, 3))) _Noreturn void usage_error(const struct argp_state *state,
                                                                 const char *format, ...);

/* A word that should have been a known name, and the known name that is most similar to it. */
struct suggestion {
  const char *dashes; /* printed before the word and before the name; NULL: nothing */
  const char *word;
  const char *name; /* NULL: no name is similar */
  size_t distance;
};

/* Compares the name with the word. If the name is similar enough, and more similar to the word than
 * the suggestion so far, the name becomes the suggestion. */
void suggest(struct suggestion *suggestion, const char *name);

/* Reports a usage error: prints the problem, the word, and the suggested name if there is one. */
_Noreturn void refuse_word(const struct argp_state *state, const char *problem,
                           const struct suggestion *suggestion);

/* The format of new filters if --format is not given. docs/choosing-a-filter.md gives the
 * reasons. */
#define DEFAULT_FORMAT LANEBLOOM_ROCKSDB_LOCAL

/* Parses the name of a format. */
lanebloom_format parse_format(const struct argp_state *state, const char *text);

/* parse_hashing_format() accepts only formats that hash keys. parse_building_format() accepts only
 * formats whose filters this library can build. */
lanebloom_format parse_hashing_format(const struct argp_state *state, const char *text);
lanebloom_format parse_building_format(const struct argp_state *state, const char *text);

/* Returns the text, followed by the name and the description of each format, for --help. If
 * `only_building`, leaves out formats whose filters cannot be built. The caller frees the text. */
char *with_formats(const char *text, bool only_building);

#endif
