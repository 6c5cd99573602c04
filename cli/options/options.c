/* Defines the options that several verbs share, and parses option values.
 * SPDX-License-Identifier: MIT */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/memory.h"
#include "../base/progress.h"
#include "../base/report.h"
#include "../system/files.h"
#include "../system/threads.h"
#include "numbers.h"

enum { OPTION_KERNEL = 0x100, OPTION_PROGRESS, OPTION_USAGE };

/* ---- unknown words ---- */

/* Returns how many characters must be inserted, deleted or replaced to turn the word into the name.
 * Capital and small letters count as equal. */
static size_t edit_distance(const char *word, const char *name)
{
  const size_t n = strlen(name);
  size_t *row = resize(NULL, (n + 1) * sizeof *row); /* row[i] is the distance between the first i
                                                      * characters of the name and the part of the
                                                      * word that was compared */
  for (size_t i = 0; i <= n; i++)
    row[i] = i;
  for (; *word; word++) {
    size_t diagonal = row[0]++;
    for (size_t i = 0; i < n; i++) {
      const size_t replaced =
          diagonal + (tolower((unsigned char)*word) != tolower((unsigned char)name[i]));
      const size_t other = (row[i] < row[i + 1] ? row[i] : row[i + 1]) + 1;
      diagonal = row[i + 1];
      row[i + 1] = replaced < other ? replaced : other;
    }
  }
  const size_t distance = row[n];
  free(row);
  return distance;
}

void suggest(struct suggestion *suggestion, const char *name)
{
  const size_t nword = strlen(suggestion->word), nname = strlen(name), most = nword > 3 ? 2 : 1;
  if (nword + most < nname || nname + most < nword)
    return;
  const size_t distance = edit_distance(suggestion->word, name);
  if (distance <= most && (!suggestion->name || distance < suggestion->distance)) {
    suggestion->name = name;
    suggestion->distance = distance;
  }
}

void refuse_word(const struct argp_state *state, const char *problem,
                 const struct suggestion *suggestion)
{
  const char *dashes = suggestion->dashes ? suggestion->dashes : "";
  if (suggestion->name)
    usage_error(state, "%s '%s%s'; did you mean '%s%s'?", problem, dashes, suggestion->word, dashes,
                suggestion->name);
  usage_error(state, "%s '%s%s'", problem, dashes, suggestion->word);
}

/* ---- unknown options: argp would print them unescaped and without a suggestion ---- */

/* All options of an argp and of its children, in the two forms that getopt_long() takes. */
struct known_options {
  struct option *names;
  size_t n;
  FILE *letters;
};

static void add_known(struct known_options *known, const char *name, int has_arg, int key)
{
  known->names = grow_list(known->names, known->n, sizeof *known->names);
  known->names[known->n++] = (struct option){name, has_arg, NULL, key};
}

/* NOLINTNEXTLINE(misc-no-recursion): the recursion is as deep as the tables of options */
static void list_options(struct known_options *known, const struct argp *argp)
{
  const struct argp_option *option = argp->options;
  for (; option && (option->name || option->key || option->doc); option++) {
    const int has_arg = !option->arg                          ? no_argument
                        : option->flags & OPTION_ARG_OPTIONAL ? optional_argument
                                                              : required_argument;
    if (option->flags & OPTION_DOC)
      continue;
    if (option->name)
      add_known(known, option->name, has_arg, option->key);
    if (option->key > ' ' && option->key < 0x7f)
      fprintf(known->letters, "%c%.*s", option->key, has_arg, "::");
  }
  for (const struct argp_child *child = argp->children; child && child->argp; child++)
    list_options(known, child->argp);
}

/* Reports a usage error unless the word is the beginning of a known name. getopt_long() has not
 * accepted the word. So if the word begins a known name, it begins several names, and argp reports
 * later that it is ambiguous. */
static void refuse_long_option(const struct argp_state *state, const struct known_options *known,
                               char *word)
{
  struct suggestion suggestion = {.dashes = "--", .word = word};
  if (*word != '=') /* nothing would be left of a word that begins with = */
    word[strcspn(word, "=")] = 0;
  for (size_t i = 0; i < known->n; i++) {
    if (strncmp(known->names[i].name, word, strlen(word)) == 0)
      return;
    suggest(&suggestion, known->names[i].name);
  }
  refuse_word(state, "unrecognized option", &suggestion);
}

/* If the word is a long option that was written with one dash, prints a message and exits. Without
 * this check -db would mean -d with the value b. */
static void refuse_one_dash(const struct argp_state *state, const struct known_options *known,
                            const char *word)
{
  const size_t n = strcspn(word, "=");
  for (size_t i = 0; n > 2 && word[0] == '-' && word[1] != '-' && i < known->n; i++)
    if (strlen(known->names[i].name) == n - 1 &&
        strncmp(known->names[i].name, word + 1, n - 1) == 0)
      usage_error(state, "unrecognized option '%.*s'; did you mean '-%.*s'?", (int)n, word, (int)n,
                  word);
}

/* Does this option print something and end the command? The option -? does so, too, but it is not
 * listed here, because getopt_long() also returns '?' for wrong options. */
static bool ends_command(int key)
{
  return key == 'h' || key == 'V' || key == OPTION_USAGE;
}

/* If an option is unknown, prints a message and exits. Options after --help are not checked, as in
 * the coreutils. */
static void check_options(const struct argp *argp, unsigned flags, int argc, char **argv)
{
  const struct argp_state state = {.root_argp = argp, .name = argv[0]};
  struct known_options known = {0};
  char *letters, **words = resize(NULL, ((size_t)argc + 1) * sizeof *words);
  size_t nbytes;
  memcpy(words, argv, ((size_t)argc + 1) * sizeof *words); /* getopt_long() reorders them */
  known.letters = open_string(&letters, &nbytes);
  fputs(flags & ARGP_IN_ORDER ? "+:" : ":", known.letters);
  list_options(&known, argp);
  close_string(known.letters, &letters);
  add_known(&known, NULL, 0, 0);
  known.n--;

  opterr = optind = 0;
  for (int key = 0; key != -1 && !ends_command(key);) {
    optopt = INT_MAX; /* getopt_long() changes optopt only if the option is wrong */
    optarg = NULL;
    key = getopt_long(argc, words, letters, known.names, NULL);
    const char *word = words[optind - 1];
    /* optopt is a byte or, with musl, a character of Unicode. */
    const bool is_unknown = key == '?' && optopt != INT_MAX && !strchr(letters, optopt);
    /* A long option with one dash looks like an unknown letter, or like a letter whose argument
     * follows in the same word. */
    if (is_unknown || (optarg && optarg != word))
      refuse_one_dash(&state, &known, word);
    if (key == '?' && optopt == 0)
      refuse_long_option(&state, &known, words[optind - 1] + strlen("--"));
    /* If the wrong letter is inside a word, getopt_long() has not yet moved optind beyond that
     * word. */
    if (is_unknown && optind < argc && strchr(words[optind], optopt))
      refuse_one_dash(&state, &known, words[optind]);
    if (is_unknown)
      usage_error(&state, "invalid option -- '%c'", optopt);
  }
  free(known.names);
  free(letters);
  free(words);
}

/* ---- --help, --usage and --version: argp has them, but not -h, so this file defines them ---- */

static error_t parse_help_option(int key, char *text, struct argp_state *state)
{
  (void)text;
  switch (key) {
  case 'h':
  case '?':
    argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
    return 0;
  case OPTION_USAGE:
    argp_state_help(state, state->out_stream, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
    return 0;
  case 'V':
    print_version(state->out_stream);
    if (!(state->flags & ARGP_NO_EXIT))
      exit(EXIT_SUCCESS);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp help_argp = {
    .options = (const struct argp_option[]){{"help", 'h', NULL, 0, "Give this help list", -1},
                                            {NULL, '?', NULL, OPTION_HIDDEN, NULL, -1},
                                            {"usage", OPTION_USAGE, NULL, 0,
                                             "Give a short usage message", -1},
                                            {"version", 'V', NULL, 0, "Print program version", -1},
                                            {0}},
    .parser = parse_help_option,
};

void parse_options(const struct argp *argp, unsigned flags, int argc, char **argv, void *input)
{
  size_t n = 0;
  while (argp->children && argp->children[n].argp)
    n++;
  struct argp_child *children = resize(NULL, (n + 2) * sizeof *children);
  for (size_t i = 0; i < n; i++)
    children[i] = argp->children[i];
  children[n] = (struct argp_child){.argp = &help_argp};
  children[n + 1] = (struct argp_child){0};

  struct argp with_help = *argp;
  with_help.children = children;
  check_options(&with_help, flags, argc, argv);
  const error_t error = argp_parse(&with_help, argc, argv, flags | ARGP_NO_HELP, NULL, input);
  free(children);
  if (error)
    die(NULL, "%s", strerror(error));
}

/* ---- values ---- */

/* Use this instead of argp_error(), which prints "(null)" if memory runs out, and which may
 * return. */
void usage_error(const struct argp_state *state, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", state->name);
  print_message(stderr, format, arguments);
  va_end(arguments);
  argp_state_help(state, stderr, ARGP_HELP_SEE);
  exit(EXIT_TROUBLE);
}

char *with_formats(const char *text, bool only_building)
{
  char *all;
  size_t nbytes;
  FILE *stream = open_string(&all, &nbytes);
  const char *separator = text;
  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    const lanebloom_format format = lanebloom_format_at(i);
    lanebloom_format_info info;
    if (lanebloom_format_describe(format, &info, sizeof info) != LANEBLOOM_OK ||
        (only_building && !info.builds))
      continue;
    fprintf(stream, "%s%s: %s", separator, info.name, info.text);
    if (only_building && format == DEFAULT_FORMAT)
      fputs(", the default", stream);
    separator = "; ";
  }
  return close_string(stream, &all);
}

typedef bool format_test(lanebloom_format format);

static bool is_format(lanebloom_format format)
{
  return format != 0;
}

static bool hashes(lanebloom_format format)
{
  return lanebloom_format_hash_size(format) > 0;
}

static bool builds(lanebloom_format format)
{
  lanebloom_format_info info;
  return lanebloom_format_describe(format, &info, sizeof info) == LANEBLOOM_OK && info.builds;
}

/* Returns the names of the formats that pass the test, with a space before each. The caller frees
 * the string. */
static char *format_names(format_test *passes)
{
  char *names;
  size_t nbytes;
  FILE *stream = open_string(&names, &nbytes);
  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    const lanebloom_format format = lanebloom_format_at(i);
    if (passes(format))
      fprintf(stream, " %s", lanebloom_format_name(format));
  }
  return close_string(stream, &names);
}

static lanebloom_format parse_format_that(format_test *passes, const struct argp_state *state,
                                          const char *text)
{
  lanebloom_format format = 0;
  if (!lanebloom_format_by_name(text, &format) || !passes(format))
    usage_error(state, "--format: expected one of%s, found '%s'%s", format_names(passes), text,
                format ? ", which can only be read" : "");
  return format;
}

lanebloom_format parse_format(const struct argp_state *state, const char *text)
{
  return parse_format_that(is_format, state, text);
}

lanebloom_format parse_hashing_format(const struct argp_state *state, const char *text)
{
  return parse_format_that(hashes, state, text);
}

lanebloom_format parse_building_format(const struct argp_state *state, const char *text)
{
  return parse_format_that(builds, state, text);
}

/* ---- --kernel ---- */

static _Noreturn void refuse_kernel(const char *origin, const char *name)
{
  fprintf(stderr, "lanebloom: %s: expected a kernel that runs here, found '", origin);
  print_name(stderr, name);
  fputs("'; available:", stderr);
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    fprintf(stderr, " %s", lanebloom_kernel_at(i));
  fputc('\n', stderr);
  exit(EXIT_TROUBLE);
}

static error_t parse_kernel_option(int key, char *text, struct argp_state *state)
{
  (void)state;
  if (key == OPTION_KERNEL) {
    if (lanebloom_kernel_use(text) != LANEBLOOM_OK)
      refuse_kernel("--kernel", text);
    return 0;
  }
  if (key == ARGP_KEY_END && !lanebloom_kernel_active()) {
    const char *name = lanebloom_system_environment("LANEBLOOM_KERNEL");
    refuse_kernel("LANEBLOOM_KERNEL", name ? name : "");
  }
  return ARGP_ERR_UNKNOWN;
}

const struct argp kernel_argp = {
    .options = (const struct argp_option[]){{"kernel", OPTION_KERNEL, "NAME", 0,
                                             "Use this kernel; `lanebloom kernels' lists them", 9},
                                            {0}},
    .parser = parse_kernel_option,
};

/* ---- jobs ---- */

static error_t parse_jobs_option(int key, char *text, struct argp_state *state)
{
  size_t *nworkers = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    *nworkers = default_nworkers();
    return 0;
  case 'j':
    *nworkers = parse_count(state, "--jobs", text, WORKERS_MAX);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp jobs_argp = {
    .options =
        (const struct argp_option[]){
            {"jobs", 'j', "N", 0, "Use N threads (default: one per CPU); the result is the same",
             8},
            {0}},
    .parser = parse_jobs_option,
};

/* ---- progress ---- */

static error_t parse_progress_option(int key, char *text, struct argp_state *state)
{
  enum progress *when = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    *when = PROGRESS_AUTO;
    return 0;
  case OPTION_PROGRESS:
    if (!text || strcmp(text, "always") == 0)
      *when = PROGRESS_ALWAYS;
    else if (strcmp(text, "auto") == 0)
      *when = PROGRESS_AUTO;
    else if (strcmp(text, "never") == 0)
      *when = PROGRESS_NEVER;
    else
      usage_error(state, "--progress: expected auto, always or never, found '%s'", text);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp progress_argp = {
    .options =
        (const struct argp_option[]){
            {"progress", OPTION_PROGRESS, "WHEN", OPTION_ARG_OPTIONAL,
             "Report progress every second: `always' (also without WHEN), `never', or `auto' (the "
             "default), which reports to a terminal if no records are printed there",
             8},
            {0}},
    .parser = parse_progress_option,
};

enum progress resolve_progress(enum progress when, bool prints_records)
{
  struct system_info output;
  const bool is_stored = lanebloom_system_file_info(STANDARD_OUTPUT, &output) &&
                         output.kind != SYSTEM_PIPE && !is_terminal(STANDARD_OUTPUT);
  const bool is_seen = is_terminal(STANDARD_ERROR) && (!prints_records || is_stored);
  return when == PROGRESS_AUTO && !is_seen ? PROGRESS_NEVER : when;
}
