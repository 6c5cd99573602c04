/* Declarations that the verbs share: options, filters, messages and output. Unless a comment says
 * otherwise, a function must be called from one thread at a time. If memory runs out, the command
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

enum { EXIT_SELECTED = 0, EXIT_NONE_SELECTED = 1, EXIT_TROUBLE = 2 }; /* as in grep */

/* The main functions of the verbs. argv[0] is "lanebloom VERB". Each returns an exit status. */
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

/* Calls argp_parse() and adds the options --help, --usage and --version. On failure prints a
 * message and exits. */
void parse_options(const struct argp *argp, unsigned flags, int argc, char **argv, void *input);

/* version.c: prints the text of --version. */
void print_version(FILE *stream);

/* The option --kernel; it takes no input. After the last option, the command exits with a message
 * if $LANEBLOOM_KERNEL names a kernel that cannot run here, unless --kernel was given. */
extern const struct argp kernel_argp;

/* -z, --width, --crlf, --decompress, and the options of fields and key forms. Input: struct
 * record_syntax. */
extern const struct argp record_argp;

/* -j. Input: size_t, the number of workers. */
extern const struct argp jobs_argp;

/* --progress. Input: enum progress. */
extern const struct argp progress_argp;

/* Turns PROGRESS_AUTO into PROGRESS_NEVER unless a person sees the report: standard error must be a
 * terminal, and no records may be printed to a terminal, or to a pipe that may end in one. */
enum progress resolve_progress(enum progress when, bool prints_records);

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

/* --writer. Input: lanebloom_writer. */
extern const struct argp writer_argp;

/* Works like argp_error(), but always exits, and prints with print_message(): the message may quote
 * names and values that the user did not write. */
__attribute__((format(printf, 2, 3))) _Noreturn void usage_error(const struct argp_state *state,
                                                                 const char *format, ...);

/* These functions and those of numbers.c parse the value of an option. A value that is not allowed
 * is a usage error. */

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

/* Parses the name of a format. */
lanebloom_format parse_format(const struct argp_state *state, const char *text);

/* Parse the name of a format that hashes keys, and of a format whose filters can be built. */
lanebloom_format parse_hashing_format(const struct argp_state *state, const char *text);
lanebloom_format parse_building_format(const struct argp_state *state, const char *text);

/* Returns the text, followed by each format's name and description, for --help. The caller frees
 * it. */
char *with_formats(const char *text, bool only_building);

/* ---- numbers.c ---- */

/* Parses a whole number from 1 to `most`, without rounding: 1000000, 1e6, 1M, 1.5k, 64Ki. */
uint64_t parse_count(const struct argp_state *state, const char *option, const char *text,
                     uint64_t most);

/* Parses a number of bytes, in the same forms or with a unit: 64MiB, 1GB. */
uint64_t parse_size(const struct argp_state *state, const char *option, const char *text);

/* Parses a finite decimal number. */
double parse_number(const struct argp_state *state, const char *option, const char *text);

/* Parses a false-positive rate between 0 and 1, both excluded: 0.01, 1%. */
double parse_rate(const struct argp_state *state, const char *option, const char *text);

/* ---- field_options.c ---- */

/* -d, -f, --csv, --tsv, --jsonl, --no-header, --missing. A child of record_argp, with the same
 * input. */
extern const struct argp field_argp;

/* Parses the byte that separates fields. */
char parse_separator(const struct argp_state *state, const char *option, const char *text);

/* Reports a usage error for --missing=keep. For verbs that print no records. */
void refuse_keep(const struct record_syntax *syntax, const struct argp_state *state);

/* ---- form_options.c: key forms ---- */

/* --trim, --lower, --decode. A child of record_argp, with the same input. */
extern const struct argp form_argp;

/* Call this after the last option: a key of several fields has a form, too. */
void finish_form(struct record_syntax *syntax, const struct argp_state *state);

/* The number of bytes that the text of any form fits into. */
enum { FORM_TEXT_NBYTES = 80 };

/* Describes a form for people: "hex, trimmed". */
void describe_form(lanebloom_key_form form, char text[FORM_TEXT_NBYTES]);

/* Makes keys in the form of the filter at `path`. If text cannot have this form, or if options or
 * another filter require a different one, prints a message and returns false. path: borrowed. */
bool take_form(struct record_syntax *syntax, const char *path, const lanebloom_filter *filter);

/* ---- filters.c ---- */

bool is_standard_input(const char *path);

/* Returns the name of an input or a filter for messages: the path, or "(standard input)". */
const char *input_name(const char *path);

/* Do both describe one file? */
bool is_same_file(const struct stat *a, const struct stat *b);

/* Is the path standard output, and is standard output a regular file? */
bool is_standard_output(const char *path);

/* The message for an input that is also the output. */
extern const char also_output_text[];

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

/* ---- recognize.c: files that were given in the place of other files ---- */

/* Is it a Parquet file, or a folder that contains one? */
bool is_parquet(const char *path);

/* If another verb or option reads what the path leads to, writes into `problem' what was expected,
 * what was found, and what reads it. Preserves errno. One thread at a time. */
bool explain_other_kind(const char *path, const char *expected, char *problem, size_t size);

/* Returns advice about folders, to follow the text of EISDIR; "" for other errors. */
const char *directory_advice(int error);

/* ---- measure.c ---- */

/* The share of random hashes that pass, with its 95 % confidence interval. Rates are from 0 to
 * 1. */
struct measurement {
  bool done; /* false: all other members are 0 */
  double rate, low, high;
};

#define MEASURE_SEED ((uint64_t)0x6c616e65) /* constant, so that two runs agree */

/* Queries nhashes random hashes. `done` stays false if nhashes is 0 or the format has no hash. */
struct measurement measure(const lanebloom_filter *filter, lanebloom_format format,
                           uint64_t nhashes);

/* ---- report.c: messages on standard error, results on standard output ---- */

/* Prints a message and a line end. All messages are printed by this function. Bytes that are not
 * printable UTF-8, which may occur in file names, appear as \ooo. Backslashes are not escaped: a
 * message may quote text that is escaped already. */
__attribute__((format(printf, 2, 0))) void print_message(FILE *stream, const char *format,
                                                         va_list arguments);

/* Prints "lanebloom: NAME: message", or "lanebloom: message" if the name is NULL. */
__attribute__((format(printf, 2, 3))) void complain(const char *name, const char *format, ...);

/* Ends the command: flushes its output and discards incomplete files. Several threads may call this
 * while others work: the status of the first call counts. */
_Noreturn void leave(int status);

/* Works like complain(), then exits with EXIT_TROUBLE. */
__attribute__((format(printf, 2, 3))) _Noreturn void die(const char *name, const char *format, ...);

/* Works like realloc(), but never returns NULL. nbytes is not 0. */
void *resize(void *memory, size_t nbytes);

/* Makes room for one more element of a list that has n elements. The list must always have been
 * grown by this function, which doubles the room. */
void *grow_list(void *list, size_t n, size_t element_nbytes);

/* Returns the equal key of a tree of tsearch(3). If there is none, adds this key, which the tree
 * borrows, and returns it. */
void *find_or_add(void *key, void **tree, int (*compare)(const void *, const void *));

/* Does nothing: for tdestroy(3) of a tree that borrows its keys. */
void leave_key(void *key);

/* Prints a file name; backslashes and bytes that are not printable UTF-8 appear as \ooo. */
void print_name(FILE *stream, const char *name);

/* Returns the text of print_name() as a string, which the caller frees. */
char *escape_name(const char *name);

/* Escapes any bytes in this way, as one word: a space becomes \040, and an empty value becomes "".
 * After `most` characters of output the rest becomes "...". */
char *escape_word(const void *bytes, size_t nbytes, size_t most);

/* Opens a stream that writes into a new string. close_string() returns the string, which the caller
 * frees. */
FILE *open_string(char **string, size_t *nbytes);
char *close_string(FILE *stream, char *const *string);

/* Write results to standard output. After a write error these functions print a message, except for
 * EPIPE, and exit with EXIT_TROUBLE. */
void output(const void *data, size_t nbytes);
__attribute__((format(printf, 1, 2))) void outputf(const char *format, ...);
void output_flush(void);
void output_whole(const void *data, size_t nbytes); /* flushes, then writes unbuffered */
void output_close(void);

/* Are the bytes UTF-8, as JSON requires? Preserves errno. */
bool is_text(const void *bytes, size_t nbytes);

/* Returns a new object for json_line() or output_json(). Sets errno to 0: until the object is
 * printed, ENOMEM means that json-c ran out of memory. */
struct json_object;
struct json_object *json_begin(void);

/* Returns the object. If it is NULL, memory ran out, and the command exits. */
struct json_object *json_needed(struct json_object *object);

/* Returns a string. A name that is not UTF-8, which JSON cannot hold, is escaped as by
 * print_name(). */
struct json_object *json_name(const char *name);

/* Returns a number, or NULL, which json-c prints as null, if the value is not finite. */
struct json_object *json_number(double value);

/* Returns the object as one line, which is borrowed from it. If memory ran out, exits. */
const char *json_line(struct json_object *object);

/* Prints the object in one line and frees it. */
void output_json(struct json_object *object);

/* Returns the time of a monotonic clock, in seconds. */
double seconds(void);

/* ---- progress.c: reports progress on standard error ---- */

/* Starts the clock. when: the result of resolve_progress(). total: bytes of all inputs, or another
 * measure of the whole; 0: unknown. units: the name of the things counted, "records". */
void progress_begin(enum progress when, uint64_t total, const char *units);

/* Reports, at most once a second, the share of the total, the units and their rate, and the
 * remaining time. */
void progress_report(uint64_t nunits, uint64_t ndone);

/* Erases the report. With PROGRESS_ALWAYS, prints the number of units and their rate. */
void progress_end(uint64_t nunits);

/* Erases the report, if there is one, before other text is printed. */
void progress_erase(void);

#endif
