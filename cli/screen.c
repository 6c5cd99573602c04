/* lanebloom screen: prints the records that may be in a filter or in the tables of databases.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "screen.h"

enum { OPTION_DB = 0x100, OPTION_WHICH };

/* ---- options of `match', too ---- */

static error_t parse_selection(int key, char *text, struct argp_state *state)
{
  struct screen *screen = state->input;
  switch (key) {
  case 'v':
    screen->invert = true;
    return 0;
  case 'c':
    screen->count = true;
    return 0;
  case 'q':
    screen->quiet = true;
    return 0;
  case 'n':
    screen->number = true;
    return 0;
  case 'm':
    screen->max_nselected = parse_count(state, "--max-count", text, UINT64_MAX);
    return 0;
  case ARGP_KEY_ARGS: /* comes after all options */
    screen->inputs = state->argv + state->next;
    screen->ninputs = (size_t)(state->argc - state->next);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp selection_argp = {
    .options =
        (const struct argp_option[]){
            {"invert-match", 'v', NULL, 0, "Select the records that are certainly absent", 1},
            {"count", 'c', NULL, 0, "Print only the number of selected records", 1},
            {"quiet", 'q', NULL, 0, "Print nothing; stop at the first selected record", 1},
            {"number", 'n', NULL, 0, "Print \"NUMBER:\" before each record, from 1", 1},
            {"max-count", 'm', "N", 0, "Stop after N selected records", 1},
            {0}},
    .parser = parse_selection,
};

const char *take_first_input(struct screen *screen, const struct argp_state *state,
                             const char *what)
{
  const char *first = *screen->inputs++;
  screen->ninputs--;
  bool twice = screen->ninputs == 0;
  for (size_t i = 0; i < screen->ninputs; i++)
    twice |= is_standard_input(screen->inputs[i]);
  if (twice && is_standard_input(first))
    argp_error(state, "%s and INPUT cannot both be standard input", what);
  return first;
}

/* ---- options of `screen' ---- */

/* Takes the first name as the filter. */
static void take_filter(struct screen *screen, const struct argp_state *state)
{
  if (screen->which || screen->writer)
    argp_error(state, "--which and --writer need --db PATH");
  if (screen->ninputs == 0)
    argp_error(state, "expected a FILTER or --db PATH, found neither");
  screen->path = take_first_input(screen, state, "FILTER");
  screen->source.inputs = screen->inputs;
  screen->source.ninputs = screen->ninputs;
}

static void check_database_options(const struct screen *screen, const struct argp_state *state)
{
  if (screen->source.raw)
    argp_error(state,
               "give only one of --raw and --db: --raw describes a FILTER, and --db takes none");
  if (screen->which && screen->invert)
    argp_error(
        state,
        "give only one of --which and --invert-match: a record in no table has no table to print");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct screen *screen = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &screen->syntax;
    state->child_inputs[1] = &screen->source;
    state->child_inputs[2] = &screen->writer;
    state->child_inputs[3] = &screen->job.nworkers;
    state->child_inputs[4] = &screen->job.progress;
    state->child_inputs[5] = screen;
    return 0;
  case OPTION_DB:
    screen->databases =
        resize(screen->databases, (screen->ndatabases + 1) * sizeof *screen->databases);
    screen->databases[screen->ndatabases++] = text;
    return 0;
  case OPTION_WHICH:
    screen->which = true;
    return 0;
  case ARGP_KEY_END:
    if (screen->which && screen->syntax.fields.missing)
      argp_error(state, "--which needs --missing=fail: a record without a key is in no table");
    if (screen->which && screen->count && screen->max_nselected)
      argp_error(state, "give only one of --max-count and --which with --count");
    if (screen->ndatabases > 0)
      check_database_options(screen, state);
    else
      take_filter(screen, state);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"db", OPTION_DB, "PATH", 0,
             "Query the tables in this folder, or this table file, instead of FILTER; repeatable",
             3},
            {"which", OPTION_WHICH, NULL, 0,
             "Print a record once for each table that may have it, after \"TABLE<tab>\"; with -c, "
             "print how many records each table may have",
             3},
            {0}},
    .parser = parse,
    .args_doc = "FILTER [INPUT...]\n--db PATH [INPUT...]",
    .doc = "Prints the records that may be in FILTER, or in any table of a database. A record "
           "that is not printed is certainly not in it.\n"
           "Records come from INPUT, or from standard input if there is none or it is `-'. The "
           "exit status is 0 if a record was selected, 1 if none was, 2 after an error. Unlike "
           "grep, `screen' compares whole records, counts and numbers them over all inputs, and "
           "prints no file names.\v"
           "Examples:\n"
           "  lanebloom screen words.lbf input.txt\n"
           "  tail -F log | lanebloom screen seen.lbf\n"
           "  find . -print0 | lanebloom screen -z -v known.lbf\n"
           "  lanebloom screen --csv -f user_id users.lbf events.csv\n"
           "  lanebloom screen --width 16 -c uuids.lbf uuids.bin\n"
           "  lanebloom screen --db db --which keys.txt",
    .children = (const struct argp_child[]){{.argp = &record_argp},
                                            {.argp = &filter_argp},
                                            {.argp = &writer_argp},
                                            {.argp = &jobs_argp},
                                            {.argp = &progress_argp},
                                            {.argp = &selection_argp},
                                            {.argp = &kernel_argp},
                                            {0}},
};

/* ---- the verb ---- */

static void open_databases(struct screen *screen)
{
  /* before the tables are listed: an engine may move a log's writes to a new table meanwhile */
  for (size_t i = 0; i < screen->ndatabases; i++)
    warn_of_logs(screen->databases[i]);
  screen->database = database_open(screen->databases, screen->ndatabases, screen->writer);
}

/* Bytes that are read as the wrong format often let every key pass. */
static void warn_of_constant(const char *path, const lanebloom_filter *filter)
{
  lanebloom_filter_info info;
  if (!lanebloom_filter_may_contain(filter, NULL, 0))
    return;
  lanebloom_filter_describe(filter, &info, sizeof info);
  if (info.model_rate >= 1)
    complain(input_name(path), "warning: every key passes this filter");
}

static void label_tables(struct screen *screen)
{
  const struct database *database = &screen->database;
  screen->labels = resize(NULL, database->ntables * sizeof *screen->labels);
  for (size_t i = 0; i < database->ntables; i++) {
    char *name = escape_name(database->paths[i]);
    const size_t nbytes = strlen(name);
    screen->labels[i] = resize(name, nbytes + sizeof "\t");
    strcpy(screen->labels[i] + nbytes, "\t");
  }
  if (screen->count)
    screen->nhits = memset(resize(NULL, database->ntables * sizeof *screen->nhits), 0,
                           database->ntables * sizeof *screen->nhits);
}

/* Was at least one input read to its end? If not, a count would be mistaken for a result. */
static bool is_any_input_whole(const struct screen *screen)
{
  const size_t ninputs = screen->ninputs ? screen->ninputs : 1; /* standard input */
  return screen->job.nfailed < ninputs;
}

static void print_counts(const struct screen *screen)
{
  if (!screen->labels)
    outputf("%" PRIu64 "\n", screen->nselected);
  for (size_t i = 0; screen->labels && i < screen->database.ntables; i++)
    outputf("%s%" PRIu64 "\n", screen->labels[i], screen->nhits[i]);
}

void end_early(const struct screen *screen)
{
  if (screen->count && !screen->quiet)
    print_counts(screen);
  job_exit(&screen->job, screen->job.nfailed > 0 ? EXIT_TROUBLE : EXIT_SELECTED);
}

static void screen_free(struct screen *screen)
{
  results_destroy(screen);
  for (size_t i = 0; screen->labels && i < screen->database.ntables; i++)
    free(screen->labels[i]);
  free(screen->labels);
  free(screen->nhits);
  free(screen->databases);
  database_close(&screen->database);
}

int run_screen(struct screen *screen, const struct input_messages *messages)
{
  static struct inputs inputs;
  const bool prints_records = !screen->count && !screen->quiet;
  struct stat target = {0};
  if (prints_records)
    fstat(STDOUT_FILENO, &target);
  inputs_begin(&inputs, messages, &screen->syntax, screen->inputs, screen->ninputs, &target);
  results_create(screen);
  screen->job.progress = resolve_progress(screen->job.progress, prints_records);
  screen->job.inputs = &inputs;
  screen->job.context = screen;
  screen->job.work = screen_chunk;
  screen->job.deliver = deliver_chunk;
  screen->job.deliver_header = deliver_header;
  job_run(&screen->job);
  if (screen->count && !screen->quiet && is_any_input_whole(screen))
    print_counts(screen);
  screen_free(screen);
  if (screen->job.nfailed > 0)
    return EXIT_TROUBLE;
  return screen->nselected > 0 ? EXIT_SELECTED : EXIT_NONE_SELECTED;
}

int screen_main(int argc, char **argv)
{
  struct screen screen = {0};
  parse_options(&argp, 0, argc, argv, &screen);
  lanebloom_filter *filter = NULL;
  if (screen.ndatabases > 0)
    open_databases(&screen);
  else if (!(filter = load_filter(screen.path, &screen.source)))
    return EXIT_TROUBLE;
  else
    warn_of_constant(screen.path, filter);
  screen.filter = filter;
  if (screen.which && !screen.quiet)
    label_tables(&screen);

  const struct input_messages messages = {
      .verb = "screen",
      .container_advice = screen.ndatabases > 0
                              ? "with --db there is no FILTER"
                              : "`screen' takes one FILTER; run it once per filter"};
  const int status = run_screen(&screen, &messages);
  lanebloom_filter_close(filter);
  return status;
}
