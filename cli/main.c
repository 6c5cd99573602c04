/* The lanebloom command: finds the verb and runs it.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/report.h"
#include "options/options.h"
#include "system/files.h"
#include "system/process.h"
#include "verbs/verbs.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
} verbs[] = {
    {"build", build_main},   {"screen", screen_main},   {"match", match_main},
    {"add", add_main},       {"merge", merge_main},     {"plan", plan_main},
    {"info", info_main},     {"verify", verify_main},   {"hash", hash_main},
    {"tables", tables_main}, {"extract", extract_main}, {"kernels", kernels_main},
};
static const size_t nverbs = sizeof verbs / sizeof *verbs;

/* Returns the index of the verb with this name. */
static size_t find_verb(const struct argp_state *state, const char *name)
{
  struct suggestion suggestion = {.word = name};
  for (size_t verb = 0; verb < nverbs; verb++) {
    if (strcmp(name, verbs[verb].name) == 0)
      return verb;
    suggest(&suggestion, verbs[verb].name);
  }
  if (suggestion.name)
    refuse_word(state, "expected a verb, found", &suggestion);
  char *names;
  size_t nbytes;
  FILE *stream = open_string(&names, &nbytes);
  for (size_t verb = 0; verb < nverbs; verb++)
    fprintf(stream, " %s", verbs[verb].name);
  usage_error(state, "expected one of%s, found '%s'", close_string(stream, &names), name);
}

struct command {
  size_t verb;
  int argc;
  char **argv;
};

/* Handles `help': without a verb, prints the help of the command and exits. With a verb, makes the
 * command run that verb with --help. */
static void help(struct command *command, struct argp_state *state)
{
  static char *words[] = {NULL, "--help", NULL};
  if (state->next == state->argc || strcmp(state->argv[state->next], "help") == 0)
    argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
  if (state->argc - state->next > 1)
    argp_error(state, "help: expected one verb");
  command->verb = find_verb(state, state->argv[state->next]);
  command->argc = 2;
  command->argv = words;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct command *command = state->input;
  switch (key) {
  case ARGP_KEY_ARG:
    if (strcmp(text, "help") == 0) {
      help(command, state);
    } else {
      command->verb = find_verb(state, text);
      command->argc = state->argc - state->next + 1;
      command->argv = state->argv + state->next - 1;
    }
    state->next = state->argc; /* the verb itself parses the words after its name */
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "expected a verb, found none");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

enum { VERB = OPTION_DOC | OPTION_NO_USAGE };

static const struct argp_option verb_list[] = {
    {NULL, 0, NULL, 0, "Verbs:", 1},
    {"build", 0, NULL, VERB, "Build a filter from records", 1},
    {"screen", 0, NULL, VERB, "Print the records that may be in a filter, or in a database", 1},
    {"match", 0, NULL, VERB, "Print exactly the records whose key is in a file of keys", 1},
    {"add", 0, NULL, VERB, "Add records to a filter", 1},
    {"merge", 0, NULL, VERB, "Write the union of filters", 1},
    {"plan", 0, NULL, VERB, "Print the size and rate that a filter would have in each format", 1},
    {"verify", 0, NULL, VERB, "Check that files of filters are intact", 1},
    {"info", 0, NULL, VERB, "Describe a filter: format, size, fill, expected false-positive rate",
     1},
    {"hash", 0, NULL, VERB, "Print the hash of each record, and the bits that it probes", 1},
    {"tables", 0, NULL, VERB, "Describe the table files of a database and their filters", 1},
    {"extract", 0, NULL, VERB, "Save the filter of a table file", 1},
    {"kernels", 0, NULL, VERB, "List the kernels that this CPU can run", 1},
    {"help [VERB]", 0, NULL, VERB, "Explain the command, or a verb", 1},
    {0}};

static const struct argp argp = {
    .options = verb_list,
    .parser = parse,
    .args_doc = "VERB [OPTION...]",
    .doc = "Screens records against the Bloom filters that storage engines write.\v"
           "Examples:\n"
           "  lanebloom build -o words.lbf words.txt\n"
           "  lanebloom screen words.lbf input.txt\n"
           "  lanebloom info words.lbf\n"
           "  lanebloom tables /var/lib/service/db\n"
           "\n"
           "`lanebloom help VERB' explains a verb.\n"
           "\n"
           "A number may be written as 1000000, 1e6 or 1M: k, M, G and T are thousand, million, "
           "billion and trillion; Ki, Mi, Gi and Ti are powers of 1024. A rate may be written as "
           "0.01 or 1%.",
};

int main(int argc, char **argv)
{
  begin_process(&argc, &argv);
  buffer_messages(stderr);
  setvbuf(stdout, NULL, _IOFBF, (size_t)128 << 10);
  call_at_end(output_close);
  argp_err_exit_status = EXIT_TROUBLE;

  struct command command = {0};
  argv[0] = "lanebloom";
  parse_options(&argp, ARGP_IN_ORDER, argc, argv, &command);

  char name[32];
  snprintf(name, sizeof name, "lanebloom %s", verbs[command.verb].name);
  command.argv[0] = name;
  return verbs[command.verb].run(command.argc, command.argv);
}
