/* What the verbs of the command share: options, filters, messages and output.
 * Statuses of exit are grep's.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_H
#define LANEBLOOM_CLI_H

#include <argp.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <lanebloom_tables.h>

#include "database.h"
#include "inputs.h"
#include "records.h"
#include "workers.h"

/* What new filters are, unless told otherwise: docs/choosing-a-filter.md says why. */
#define DEFAULT_FORMAT LANEBLOOM_ROCKSDB_LOCAL

enum { EXIT_SELECTED = 0, EXIT_NONE_SELECTED = 1, EXIT_TROUBLE = 2 };

/* Verbs: argv[0] is "lanebloom VERB". */
int build_main(int argc, char **argv);
int screen_main(int argc, char **argv);
int info_main(int argc, char **argv);
int hash_main(int argc, char **argv);
int kernels_main(int argc, char **argv);
int tables_main(int argc, char **argv);
int extract_main(int argc, char **argv);

/* ---- options.c: option groups that verbs take in as argp children, and the values of options
 * ---- */

/* argp_parse(), or the end: it has no memory, and has then read no options. */
void parse_options(const struct argp *argp, unsigned flags, int argc, char **argv, void *input);

/* --kernel; takes no input. Once all options are read it also refuses a $LANEBLOOM_KERNEL that
 * cannot run here. */
extern const struct argp kernel_argp;

/* -z, --width, --crlf; input: struct record_syntax. */
extern const struct argp record_argp;

/* -j; input: size_t, how many workers. */
extern const struct argp jobs_argp;

/* How a FILTER is to be read. */
struct filter_source {
  bool raw;                /* bare engine bytes, of `format` */
  lanebloom_format format; /* 0: not given */
  char *const *inputs;     /* of `screen': one that is a container was given in FILTER's place */
  size_t ninputs;
};

/* --raw, --format; input: struct filter_source. */
extern const struct argp filter_argp;

/* --writer; input: lanebloom_writer. */
extern const struct argp writer_argp;

/* As argp_error(), with what a user may have got from others escaped as in
 * print_name(). */
__attribute__((format(printf, 2, 3))) _Noreturn void usage_error(const struct argp_state *state,
                                                                 const char *format, ...);

/* Each ends in a usage error that shows the text, where it is not what is asked for. */
uint64_t parse_count(const struct argp_state *state, const char *option, const char *text,
                     uint64_t most); /* from 1 */
double parse_number(const struct argp_state *state, const char *option, const char *text);
/* The text, followed by the names of formats and what the library says of each: for --help. */
char *with_formats(const char *text, bool only_building);

lanebloom_format parse_format(const struct argp_state *state, const char *text);
lanebloom_format parse_hashing_format(const struct argp_state *state,
                                      const char *text); /* not one that only opens */

/* ---- filters.c ---- */

bool is_standard_input(const char *path);

/* What messages call an input or a filter: path, or "(standard input)". */
const char *input_name(const char *path);

/* Are they of one file, whatever its names? */
bool is_same_file(const struct stat *a, const struct stat *b);

/* Is it the regular file that results are printed to? */
bool is_standard_output(const char *path);

/* Is it a regular file that begins as a container does? */
bool is_container(const char *path);

/* path "-" is standard input. On failure says why and returns NULL. */
lanebloom_filter *load_filter(const char *path, const struct filter_source *source);

/* Where a filter is saved. */
struct target {
  const char *name; /* for people */
  const char *path;
};

/* `path` "-" is standard output. If nothing can be written there, the command ends with a
 * message. */
struct target check_target(const char *path);

/* As a container or bare. On failure says why, unless it is that nobody reads any more; returns
 * false. */
bool save_filter(const lanebloom_filter *filter, const struct target *target, bool raw);

/* Call it before anything else changes errno. */
const char *status_text(lanebloom_status status);

/* ---- measure.c ---- */

/* The share of random hashes that pass, with its 95 % interval. */
struct measurement {
  bool done;
  double rate, low, high;
};

#define MEASURE_SEED ((uint64_t)0x6c616e65) /* any will do, as long as two runs agree */

/* Not done for nhashes 0, and for formats that take no hashes. */
struct measurement measure(const lanebloom_filter *filter, lanebloom_format format,
                           uint64_t nhashes);

/* ---- report.c: messages on standard error, results on standard output ---- */

/* "lanebloom: NAME: message"; without the name where it is NULL. */
__attribute__((format(printf, 2, 3))) void complain(const char *name, const char *format, ...);

/* Complains and exits with EXIT_TROUBLE. */
__attribute__((format(printf, 2, 3))) _Noreturn void die(const char *name, const char *format, ...);

/* malloc(), realloc() or the end. */
void *resize(void *memory, size_t nbytes);

/* Prints a file's name with what would upset a terminal, or a reader of lines, as \ooo. */
void print_name(FILE *stream, const char *name);

/* The same as a string, for free(). */
char *escape_name(const char *name);

/* The same of any bytes, as one word: a space is \040, no bytes are "", and after `most` characters
 * comes `...'. */
char *escape_word(const void *bytes, size_t nbytes, size_t most);

/* A stream into a new string, which close_string() returns, for free(); or the end. */
FILE *open_string(char **string, size_t *nbytes);
char *close_string(FILE *stream, char *const *string);

/* Results. A write error ends the command: there is nobody left to work for. */
void output(const void *data, size_t nbytes);
__attribute__((format(printf, 1, 2))) void outputf(const char *format, ...);
void output_flush(void);
void output_whole(const void *data, size_t nbytes); /* at once, and not by way of a buffer */
void output_close(void);

/* Is it UTF-8, which JSON can hold? errno stays. */
bool is_text(const void *bytes, size_t nbytes);

/* An object for output_json(), or the end. */
struct json_object;
struct json_object *json_begin(void);

/* The same object, if there is one; or the end. */
struct json_object *json_needed(struct json_object *object);

/* What is no UTF-8 as print_name() has it, which JSON cannot otherwise hold. */
struct json_object *json_name(const char *name);

/* NULL, which stands for null, unless it is finite. */
struct json_object *json_number(double value);

/* One line; frees the object. */
void output_json(struct json_object *object);

/* Records so far and their rate, on standard error: once a second, and at the end. */
void report_progress(uint64_t nrecords, bool at_end);

#endif
