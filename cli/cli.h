/* What the verbs of the command share: options, filters, messages and output. Unless a comment says
 * otherwise, a function is called from one thread at a time. Where memory runs out, the command
 * prints a message and exits with EXIT_TROUBLE.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_H
#define LANEBLOOM_CLI_H

#include <argp.h>
#include <inttypes.h>
#include <stdarg.h>
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

/* The format of new filters without --format; docs/choosing-a-filter.md gives the reasons. */
#define DEFAULT_FORMAT LANEBLOOM_ROCKSDB_LOCAL

enum { EXIT_SELECTED = 0, EXIT_NONE_SELECTED = 1, EXIT_TROUBLE = 2 }; /* as grep's */

/* Verbs. argv[0] is "lanebloom VERB". Each returns an exit status. */
int build_main(int argc, char **argv);
int screen_main(int argc, char **argv);
int match_main(int argc, char **argv);
int add_main(int argc, char **argv);
int merge_main(int argc, char **argv);
int info_main(int argc, char **argv);
int plan_main(int argc, char **argv);
int verify_main(int argc, char **argv);
int hash_main(int argc, char **argv);
int kernels_main(int argc, char **argv);
int tables_main(int argc, char **argv);
int extract_main(int argc, char **argv);

/* ---- options.c: option groups that verbs use as argp children, and the values of options ---- */

/* Calls argp_parse(), with the options --help, --usage and --version. If that fails, prints a
 * message and exits. */
void parse_options(const struct argp *argp, unsigned flags, int argc, char **argv, void *input);

/* version.c: what --version prints. */
void print_version(FILE *stream);

/* --kernel; input: none. After the last option, a $LANEBLOOM_KERNEL that cannot run here ends the
 * command, unless --kernel was given. */
extern const struct argp kernel_argp;

/* -z, --width, --crlf, and the options of fields; input: struct record_syntax. */
extern const struct argp record_argp;

/* -j; input: size_t, the number of workers. */
extern const struct argp jobs_argp;

/* --progress; input: enum progress. */
extern const struct argp progress_argp;

/* PROGRESS_AUTO becomes PROGRESS_NEVER unless a person sees it: standard error is a terminal, and
 * no records are printed to one, or to a pipe that may end in one. */
enum progress resolve_progress(enum progress when, bool prints_records);

/* How to read a FILTER. */
struct filter_source {
  bool raw;                /* an engine's bare bytes, of `format`; else a container */
  lanebloom_format format; /* 0: not given */
  char *const *inputs; /* of `screen': where load_filter() looks for a FILTER in the wrong place */
  size_t ninputs;
};

/* --raw, --format; input: struct filter_source. */
extern const struct argp filter_argp;

/* --force, for verbs that write filters; input: bool. */
extern const struct argp force_argp;

/* --writer; input: lanebloom_writer. */
extern const struct argp writer_argp;

/* As argp_error(), but always exits, and prints by print_message(): the message may quote names and
 * values that the user did not write. */
__attribute__((format(printf, 2, 3))) _Noreturn void usage_error(const struct argp_state *state,
                                                                 const char *format, ...);

/* These and the functions of numbers.c parse the value of an option. A value that is not allowed is
 * a usage error. */

/* A word that should be a name, and the name that it is most like. */
struct suggestion {
  const char *dashes; /* before both, in messages; NULL: none */
  const char *word;
  const char *name; /* NULL: none is like it */
  size_t distance;
};

/* Takes the name for the suggestion if it is more like the word than others. */
void suggest(struct suggestion *suggestion, const char *name);

/* A usage error: the problem, the word, and which name the user may have meant. */
_Noreturn void refuse_word(const struct argp_state *state, const char *problem,
                           const struct suggestion *suggestion);

/* The name of a format. */
lanebloom_format parse_format(const struct argp_state *state, const char *text);

/* The name of a format that hashes keys, and of one whose filters can be built. */
lanebloom_format parse_hashing_format(const struct argp_state *state, const char *text);
lanebloom_format parse_building_format(const struct argp_state *state, const char *text);

/* Returns the text, followed by each format's name and description: for --help. The caller frees
 * it. */
char *with_formats(const char *text, bool only_building);

/* ---- numbers.c ---- */

/* A whole number from 1 to `most`, exactly: 1000000, 1e6, 1M, 1.5k, 64Ki. */
uint64_t parse_count(const struct argp_state *state, const char *option, const char *text,
                     uint64_t most);

/* Bytes, likewise, or with a unit: 64MiB, 1GB. */
uint64_t parse_size(const struct argp_state *state, const char *option, const char *text);

/* A finite decimal number. */
double parse_number(const struct argp_state *state, const char *option, const char *text);

/* A false-positive rate between 0 and 1, both excluded: 0.01, 1%. */
double parse_rate(const struct argp_state *state, const char *option, const char *text);

/* ---- field_options.c ---- */

/* -d, -f, --csv, --tsv, --no-header, --missing: a child of record_argp, with its input. */
extern const struct argp field_argp;

/* The byte that separates fields. */
char parse_separator(const struct argp_state *state, const char *option, const char *text);

/* A usage error for --missing=keep: for verbs that print no records. */
void refuse_keep(const struct record_syntax *syntax, const struct argp_state *state);

/* ---- form_options.c: key forms ---- */

/* --trim, --lower, --decode: a child of record_argp, with its input. */
extern const struct argp form_argp;

/* After the last option: several fields make a form, too. */
void finish_form(struct record_syntax *syntax, const struct argp_state *state);

/* Room for the text of any form. */
enum { FORM_TEXT_NBYTES = 80 };

/* For people: "hex, trimmed". */
void describe_form(lanebloom_key_form form, char text[FORM_TEXT_NBYTES]);

/* Makes keys in the form of the filter at `path`. If text cannot have this form, or if options or
 * another filter say otherwise, prints a message and returns false. path: borrowed. */
bool take_form(struct record_syntax *syntax, const char *path, const lanebloom_filter *filter);

/* ---- filters.c ---- */

bool is_standard_input(const char *path);

/* The name of an input or a filter in messages: the path, or "(standard input)". */
const char *input_name(const char *path);

/* Do both describe one file? */
bool is_same_file(const struct stat *a, const struct stat *b);

/* Is the path standard output, and that a regular file? */
bool is_standard_output(const char *path);

/* The message for an input that is also the output. */
extern const char also_output_text[];

/* Is it a regular file, not standard input, that is a container, damaged or not? */
bool is_container(const char *path);

/* path: a FILTER that is no container. If one of the inputs is, prints a message and returns
 * true. */
bool complain_of_order(const char *verb, const char *path, const char *problem, char *const *inputs,
                       size_t ninputs);

/* Loads a filter. Path "-" is standard input. On failure prints a message and returns NULL. */
lanebloom_filter *load_filter(const char *path, const struct filter_source *source);

/* After a filter could not be loaded: adds to `problem' what to do with a folder. If the file is
 * one that other verbs read, `problem' becomes what that is, and the result is true. */
bool explain_no_filter(const char *path, lanebloom_status status, char *problem, size_t size);

/* Where a filter is saved. */
struct target {
  const char *name; /* in messages */
  const char *path;
};

/* The target of a path; "-" is standard output. If it cannot be written, prints a message and
 * exits. */
struct target check_target(const char *path);

/* If saving would replace a file that holds something else than a container, prints a message and
 * exits. Call it after what --force does not allow was refused. */
void check_is_filter(const struct target *target);

/* Was no key added to the filter? Cost: it is read up to the first bit that is set. */
bool has_no_keys(const lanebloom_filter *filter);

/* If the filter has no keys, and saving it would replace a file that may have some, prints a
 * message and exits. To be called unless --force was given. */
void check_keeps_keys(const struct target *target, const lanebloom_filter *filter, bool raw);

/* Saves a container, or the engine's bare bytes if `raw`. On failure prints a message, except for
 * EPIPE, and returns false. */
bool save_filter(const lanebloom_filter *filter, const struct target *target, bool raw);

/* The text of a status; for LANEBLOOM_ERR_IO that of errno, so call it before errno changes. */
const char *status_text(lanebloom_status status);

/* ---- recognize.c: what was given in the place of something else ---- */

/* Is it a Parquet file, or a folder that has one? */
bool is_parquet(const char *path);

/* If the path is something that another verb or option reads, puts into `problem' what was
 * expected, what was found, and what reads it. Keeps errno. One thread at a time. */
bool explain_other_kind(const char *path, const char *expected, char *problem, size_t size);

/* After the text of EISDIR: what to do with a folder; "" for other errors. */
const char *directory_advice(int error);

/* ---- measure.c ---- */

/* The share of random hashes that pass, with its 95 % interval. Rates are from 0 to 1. */
struct measurement {
  bool done; /* else the rest is 0 */
  double rate, low, high;
};

#define MEASURE_SEED ((uint64_t)0x6c616e65) /* constant, so that two runs agree */

/* Screens nhashes random hashes. Not done if nhashes is 0, or if the format has no hash. */
struct measurement measure(const lanebloom_filter *filter, lanebloom_format format,
                           uint64_t nhashes);

/* ---- report.c: messages on standard error, results on standard output ---- */

/* Prints a message and a line end: all messages are printed by this. Bytes that are not printable
 * UTF-8, which names from files may have, appear as \ooo. A backslash stays: a message may quote
 * what is escaped already. */
__attribute__((format(printf, 2, 0))) void print_message(FILE *stream, const char *format,
                                                         va_list arguments);

/* Prints "lanebloom: NAME: message"; without the name if it is NULL. */
__attribute__((format(printf, 2, 3))) void complain(const char *name, const char *format, ...);

/* Ends the command: its output is flushed, and files that are not whole are discarded. Several
 * threads may call it, while others work: the first one's status counts. */
_Noreturn void leave(int status);

/* As complain(), then leaves with EXIT_TROUBLE. */
__attribute__((format(printf, 2, 3))) _Noreturn void die(const char *name, const char *format, ...);

/* As realloc(), but never returns NULL. nbytes is not 0. */
void *resize(void *memory, size_t nbytes);

/* Makes room for one element more of a list that has n, and that this function has always grown:
 * room is doubled. */
void *grow_list(void *list, size_t n, size_t element_nbytes);

/* Returns the equal key of a tree of tsearch(3), or adds this one, which the tree borrows, and
 * returns it. */
void *find_or_add(void *key, void **tree, int (*compare)(const void *, const void *));

/* For tdestroy(3) of a tree that borrows its keys. */
void leave_key(void *key);

/* Prints a file name with backslashes, and bytes that are not printable UTF-8, as \ooo. */
void print_name(FILE *stream, const char *name);

/* The same as a string, which the caller frees. */
char *escape_name(const char *name);

/* The same for any bytes, as one word: a space becomes \040, and no bytes become "". After `most`
 * characters of output the rest becomes "...". */
char *escape_word(const void *bytes, size_t nbytes, size_t most);

/* Opens a stream that writes into a new string. close_string() returns the string, which the caller
 * frees. */
FILE *open_string(char **string, size_t *nbytes);
char *close_string(FILE *stream, char *const *string);

/* Results on standard output. After a write error these print a message, except for EPIPE, and exit
 * with EXIT_TROUBLE. */
void output(const void *data, size_t nbytes);
__attribute__((format(printf, 1, 2))) void outputf(const char *format, ...);
void output_flush(void);
void output_whole(const void *data, size_t nbytes); /* flushes, then writes without a buffer */
void output_close(void);

/* Are the bytes UTF-8, as JSON needs? Keeps errno. */
bool is_text(const void *bytes, size_t nbytes);

/* A new object for json_line() or output_json(). Sets errno to 0: until then, ENOMEM means that
 * json-c ran out of memory. */
struct json_object;
struct json_object *json_begin(void);

/* Returns the object. NULL means that memory ran out, and ends the command. */
struct json_object *json_needed(struct json_object *object);

/* A string. A name that is not UTF-8, which JSON cannot hold, is escaped as by print_name(). */
struct json_object *json_name(const char *name);

/* A number; NULL, which json-c prints as null, if it is not finite. */
struct json_object *json_number(double value);

/* The object in one line; borrowed from it. If memory ran out, ends the command. */
const char *json_line(struct json_object *object);

/* Prints the object in one line and frees it. */
void output_json(struct json_object *object);

/* The time of a monotonic clock, in seconds. */
double seconds(void);

/* ---- progress.c: how far the command is, on standard error ---- */

/* Starts the clock. when: as resolve_progress() returned it. total: bytes of all inputs, or another
 * measure of the whole; 0: unknown. units: what is counted, "records". */
void progress_begin(enum progress when, uint64_t total, const char *units);

/* Reports at most once a second: the share of the total, units and their rate, the time left. */
void progress_report(uint64_t nunits, uint64_t ndone);

/* Erases the report. With PROGRESS_ALWAYS, prints the number of units and their rate. */
void progress_end(uint64_t nunits);

/* Erases the report, if there is one: something else is about to be printed. */
void progress_erase(void);

#endif
