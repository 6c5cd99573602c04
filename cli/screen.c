/* lanebloom screen: prints the records that may be in filters, databases or Parquet files.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "screen.h"

enum { OPTION_DB = 0x100, OPTION_FILTER, OPTION_FILTERS_FROM, OPTION_WHICH };

/* ---- options of `screen' ---- */

/* Appends a path to a list. */
static void add_path(char ***paths, size_t *npaths, char *path)
{
  *paths = grow_list(*paths, *npaths, sizeof **paths);
  (*paths)[(*npaths)++] = path;
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(a, b);
}

/* Adds the name of a filter. false: it was given before. */
static bool add_filter_path(struct screen *screen, char *path)
{
  if (find_or_add(path, &screen->known_filters, compare_names) != path)
    return false;
  add_path(&screen->filters, &screen->nfilters, path);
  return true;
}

/* Adds the filters that a file lists, one per line. */
static void read_filter_list(struct screen *screen)
{
  const char *path = screen->filter_list;
  FILE *file = is_standard_input(path) ? stdin : fopen(path, "re");
  char *line = NULL;
  size_t capacity = 0;
  if (!file)
    die(path, "%s", strerror(errno));
  for (ssize_t nbytes; (nbytes = getline(&line, &capacity, file)) > 0;) {
    if (line[nbytes - 1] == '\n')
      nbytes--;
    line[nbytes] = '\0';
    if (strlen(line) != (size_t)nbytes || nbytes == 0)
      die(input_name(path), "expected the name of a filter in each line, found an empty line or a "
                            "NUL byte");
    add_path(&screen->names, &screen->nnames, line);
    if (!add_filter_path(screen, line))
      die(line, "expected each filter once, found it twice");
    line = NULL;
    capacity = 0;
  }
  const int error = ferror(file) ? errno : feof(file) ? 0 : ENOMEM;
  free(line);
  if (file != stdin)
    fclose(file);
  if (error)
    die(input_name(path), "%s", strerror(error));
  if (screen->nfilters == 0)
    die(input_name(path), "expected the names of filters, found an empty file");
}

/* Checks the options of filters. Without --filter, the first name is the filter. */
static void check_filter_options(struct screen *screen, const struct argp_state *state)
{
  if (has_database_options(&screen->database_options))
    argp_error(state, "--writer, --all-files, --column-family, --wal-dir and --db-path need --db "
                      "PATH");
  const bool has_filters = screen->nfilters > 0 || screen->filter_list;
  if (!has_filters && screen->ninputs == 0)
    argp_error(state, "expected a FILTER, --db PATH or --parquet PATH, found none");
  if (!has_filters) {
    add_path(&screen->filters, &screen->nfilters, take_first_input(screen));
    screen->source.inputs = screen->inputs;
    screen->source.ninputs = screen->ninputs;
  }
  check_standard_input(screen, state, screen->filters, screen->nfilters, "FILTER");
  if (screen->filter_list)
    check_standard_input(screen, state, &screen->filter_list, 1, "--filters-from");
}

static void check_database_options(struct screen *screen, const struct argp_state *state)
{
  if (screen->nfilters > 0 || screen->filter_list)
    argp_error(state, "give only one of --filter, --filters-from and --db");
  if (screen->source.raw)
    argp_error(state,
               "give only one of --raw and --db: --raw describes a FILTER, and --db takes none");
}

static void check_which(const struct screen *screen, const struct argp_state *state)
{
  if (screen->invert)
    argp_error(state,
               "give only one of --which and --invert-match: a record that is in none has no "
               "name to print");
  if (screen->syntax.fields.missing)
    argp_error(state, "--which needs --missing=fail: a record without a key is in none");
  if (screen->count && screen->max_nselected)
    argp_error(state, "give only one of --max-count and --which with --count");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct screen *screen = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &screen->syntax;
    state->child_inputs[1] = &screen->source;
    state->child_inputs[2] = &screen->database_options;
    state->child_inputs[3] = &screen->job.nworkers;
    state->child_inputs[4] = &screen->job.progress;
    state->child_inputs[5] = screen;
    state->child_inputs[6] = &screen->parquet;
    return 0;
  case OPTION_DB:
    add_path(&screen->databases, &screen->ndatabases, text);
    return 0;
  case OPTION_FILTER:
    if (!add_filter_path(screen, text))
      usage_error(state, "--filter: expected each filter once, found '%s' twice", text);
    return 0;
  case OPTION_FILTERS_FROM:
    screen->filter_list = text;
    return 0;
  case OPTION_WHICH:
    screen->which = true;
    return 0;
  case ARGP_KEY_END:
    if (screen->which)
      check_which(screen, state);
    if (screen->parquet.nnames > 0) {
      parquet_check_options(screen, state);
      return 0;
    }
    (screen->ndatabases > 0 ? check_database_options : check_filter_options)(screen, state);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"filter", OPTION_FILTER, "FILTER", 0,
             "Select the records that may be in this filter; repeatable: in any of them. Keys are "
             "hashed once for all, and every name is an INPUT",
             3},
            {"filters-from", OPTION_FILTERS_FROM, "FILE", 0,
             "Take the names of filters from FILE, a line each; `-' is standard input", 3},
            {"db", OPTION_DB, "PATH", 0,
             "Query the database in this folder, its logs included, or this table file, instead of "
             "FILTER; repeatable",
             3},
            {"which", OPTION_WHICH, NULL, 0,
             "Print a record once for each filter or table that may have it, after \"NAME<tab>\", "
             "or with --parquet for each row group, after \"FILE<tab>NUMBER<tab>\"; with -c, print "
             "how many records each may have",
             3},
            {0}},
    .parser = parse,
    .args_doc = "FILTER [INPUT...]\n--filter FILTER... [INPUT...]\n--db PATH... [INPUT...]\n"
                "--parquet PATH... --column NAME [INPUT...]",
    .doc = "Prints the records that may be in FILTER, in any of several, in any table of a "
           "database, or in a column of Parquet files. A record "
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
           "  lanebloom screen --filter mon.lbf --filter tue.lbf --which keys.txt\n"
           "  ls days/*.lbf | lanebloom screen --filters-from - --which keys.txt\n"
           "  lanebloom screen --db db --which keys.txt\n"
           "  lanebloom screen --parquet events --column user_id --prune ids.txt",
    .children = (const struct argp_child[]){{.argp = &record_argp},
                                            {.argp = &filter_argp},
                                            {.argp = &database_argp},
                                            {.argp = &jobs_argp},
                                            {.argp = &progress_argp},
                                            {.argp = &selection_argp},
                                            {.argp = &parquet_argp},
                                            {.argp = &kernel_argp},
                                            {0}},
};

/* ---- the verb ---- */

static void open_databases(struct screen *screen)
{
  screen->database =
      database_open(screen->databases, screen->ndatabases, &screen->database_options);
  for (size_t i = 0; i < screen->database.ntables; i++) {
    check_is_no_output(screen, screen->database.paths[i]);
    sources_add_table(&screen->sources, screen->database.paths[i], screen->database.tables[i]);
  }
}

/* Warns if every key passes, which often happens if bytes are read in the wrong format. */
static void check_filter(const struct source *source)
{
  lanebloom_filter_info info;
  if (!lanebloom_filter_may_contain(source->filter, NULL, 0))
    return;
  lanebloom_filter_describe(source->filter, &info, sizeof info);
  if (info.model_rate >= 1)
    complain(input_name(source->name), "warning: every key passes this filter");
}

/* Warns if no filter has keys. If only some have none, this is no mistake. */
static void check_any_has_keys(const struct sources *sources)
{
  for (size_t i = 0; i < sources->n; i++)
    if (!has_no_keys(sources->all[i].filter))
      return;
  if (sources->n == 1)
    complain(input_name(sources->all->name), "warning: this filter has no keys: none passes");
  else
    complain(NULL, "warning: none of the %zu filters has keys: none passes", sources->n);
}

/* Loads all filters. Prints a message for each filter that cannot be read, and then exits. */
static void load_filters(struct screen *screen)
{
  if (screen->filter_list)
    read_filter_list(screen);
  for (size_t i = 0; i < screen->nfilters; i++) {
    check_is_no_output(screen, screen->filters[i]);
    lanebloom_filter *filter = load_filter(screen->filters[i], &screen->source);
    if (!filter)
      continue;
    if (!screen->source.raw && !take_form(&screen->syntax, screen->filters[i], filter))
      exit(EXIT_TROUBLE);
    sources_add_filter(&screen->sources, screen->filters[i], filter);
    check_filter(&screen->sources.all[screen->sources.n - 1]);
  }
  if (screen->sources.n < screen->nfilters)
    exit(EXIT_TROUBLE);
  check_any_has_keys(&screen->sources);
  if (screen->sources.n > 1)
    sources_find_hashes(&screen->sources);
}

static void label_sources(struct screen *screen)
{
  const struct sources *sources = &screen->sources;
  screen->labels = resize(NULL, sources->n * sizeof *screen->labels);
  for (size_t i = 0; i < sources->n; i++) {
    char *name = escape_name(input_name(sources->all[i].name));
    const size_t nbytes = strlen(name);
    screen->labels[i] = resize(name, nbytes + sizeof "\t");
    strcpy(screen->labels[i] + nbytes, "\t");
  }
  if (screen->count)
    screen->nhits = memset(resize(NULL, sources->n * sizeof *screen->nhits), 0,
                           sources->n * sizeof *screen->nhits);
}

/* Was at least one input read to its end? If not, a count would be mistaken for a result. */
static bool is_any_input_whole(const struct screen *screen)
{
  const size_t ninputs = screen->ninputs ? screen->ninputs : 1; /* 1: standard input */
  return screen->job.nfailed < ninputs;
}

static void print_counts(const struct screen *screen)
{
  if (!screen->labels && !(screen->which && screen->parquet.nnames > 0)) /* these are printed
                                                                          * already */
    outputf("%" PRIu64 "\n", screen->nselected);
  for (size_t i = 0; screen->labels && i < screen->sources.n; i++)
    outputf("%s%" PRIu64 "\n", screen->labels[i], screen->nhits[i]);
}

/* Does the output say that a key is absent? */
static bool tells_absence(const struct screen *screen)
{
  return screen->invert || screen->unmatched_path || screen->annotation ||
         (screen->quiet && screen->nselected == 0);
}

/* Were all logs of the databases and all Parquet files read? Skipped files matter only if the
 * output says that keys are absent. */
static bool are_sources_whole(const struct screen *screen)
{
  return !screen->database.is_damaged && screen->parquet.nfailed == 0 &&
         !(screen->parquet.nskipped > 0 && tells_absence(screen));
}

/* Were all sources and all inputs read? */
static bool is_complete(const struct screen *screen)
{
  return screen->job.nfailed == 0 && are_sources_whole(screen);
}

/* Warns about line ends that only the inputs, or only KEYS or the filter, have: they are part of
 * every key. */
static void warn_of_returns(const struct screen *screen)
{
  static const char advice[] = "--crlf leaves it out of keys";
  const struct job *job = &screen->job;
  const enum returns of_keys = screen->exact ? screen->exact->returns : RETURNS_UNKNOWN;
  if (of_keys == RETURNS_ALL && job->without_returns)
    complain(job->without_returns,
             "warning: none of the first keys ends in a carriage return (CR), but those of KEYS "
             "do: %s",
             advice);
  else if (of_keys == RETURNS_NONE && job->with_returns)
    complain(job->with_returns,
             "warning: the first keys all end in a carriage return (CR), but none of KEYS: %s",
             advice);
  else if (job->with_returns && are_false_positives(screen))
    complain(job->with_returns,
             "warning: the first keys all end in a carriage return (CR), and no more pass than "
             "absent keys would: %s",
             advice);
  else
    warn_of_chance(screen);
}

/* Prints what follows the records, and moves the output files to their paths. */
static void finish(struct screen *screen)
{
  if (screen->count && !screen->quiet && is_any_input_whole(screen))
    print_counts(screen);
  if (screen->summary_path)
    print_summary(screen);
  if (are_sources_whole(screen))
    sinks_commit();
  else
    sinks_discard();
  if (!screen->summary_path)
    print_summary(screen);
  warn_of_returns(screen);
}

void end_early(struct screen *screen)
{
  finish(screen);
  const bool is_trouble = !is_complete(screen) && !screen->quiet;
  job_exit(&screen->job, is_trouble ? EXIT_TROUBLE : EXIT_SELECTED);
}

void open_sinks(struct screen *screen)
{
  const struct sink *sinks[] = {&screen->output, &screen->unmatched, &screen->summary_file};
  screen->begin = seconds();
  if (!screen->count && !screen->quiet)
    sink_open(&screen->output, screen->output_path);
  if (screen->unmatched_path)
    sink_open(&screen->unmatched, screen->unmatched_path);
  if (screen->summary_path)
    sink_open(&screen->summary_file, screen->summary_path);
  for (size_t i = 1; i < sizeof sinks / sizeof *sinks; i++)
    for (size_t j = 0; sinks[i]->path && j < i; j++)
      if (sinks[j]->is_open && sink_equals(sinks[i], sinks[j]))
        die(sinks[i]->path, "expected a file for each kind of output, found one for two of them");
}

void check_is_no_output(const struct screen *screen, const char *path)
{
  if (sink_is(&screen->output, path) || sink_is(&screen->unmatched, path) ||
      sink_is(&screen->summary_file, path))
    die(input_name(path), "%s", also_output_text);
}

static void screen_free(struct screen *screen)
{
  results_destroy(screen);
  for (size_t i = 0; screen->labels && i < screen->sources.n; i++)
    free(screen->labels[i]);
  free(screen->labels);
  free(screen->nhits);
  tdestroy(screen->known_filters, leave_key);
  free(screen->filters);
  for (size_t i = 0; i < screen->nnames; i++)
    free(screen->names[i]);
  free(screen->names);
  free(screen->databases);
  free(screen->parquet.names);
  sources_free(&screen->sources);
  database_close(&screen->database);
  free_database_options(&screen->database_options);
}

static void check_inputs(const struct screen *screen)
{
  for (size_t i = 0; i < screen->ninputs; i++)
    check_is_no_output(screen, screen->inputs[i]);
  if (screen->ninputs == 0)
    check_is_no_output(screen, "-");
}

int run_screen(struct screen *screen, const struct input_messages *messages)
{
  static struct inputs inputs;
  const bool prints_records = !screen->count && !screen->quiet && !screen->output_path;
  inputs_begin(&inputs, messages, &screen->syntax, screen->inputs, screen->ninputs,
               &screen->output.target);
  check_inputs(screen);
  results_create(screen);
  if (screen->quiet && screen->parquet.nnames == 0)
    screen->max_nselected = 1;
  screen->job.progress = resolve_progress(screen->job.progress, prints_records);
  screen->job.needs_all = screen->output_path || screen->unmatched_path;
  screen->job.inputs = &inputs;
  screen->job.context = screen;
  screen->job.work = screen_chunk;
  screen->job.deliver = deliver_chunk;
  screen->job.deliver_header = deliver_header;
  if (screen->parquet.nnames > 0)
    parquet_screen(screen, &inputs);
  else
    job_run(&screen->job);
  finish(screen);
  const bool complete = is_complete(screen);
  screen_free(screen);
  if (!complete)
    return EXIT_TROUBLE;
  return screen->nselected > 0 ? EXIT_SELECTED : EXIT_NONE_SELECTED;
}

int screen_main(int argc, char **argv)
{
  struct screen screen = {0};
  parse_options(&argp, 0, argc, argv, &screen);
  open_sinks(&screen);
  if (screen.ndatabases > 0)
    open_databases(&screen);
  else if (screen.parquet.nnames == 0)
    load_filters(&screen);
  if (screen.which && !screen.quiet && screen.parquet.nnames == 0)
    label_sources(&screen);

  const struct input_messages messages = {.verb = "screen",
                                          .container_advice =
                                              screen.ndatabases > 0 ? "with --db there is no FILTER"
                                              : screen.parquet.nnames > 0
                                                  ? "with --parquet there is no FILTER"
                                                  : "give each of several filters by --filter, or "
                                                    "a list of them by --filters-from"};
  return run_screen(&screen, &messages);
}
