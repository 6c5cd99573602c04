/* lanebloom screen: prints the records that may be in filters, databases or Parquet files.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../answer/filters.h"
#include "../answer/parquet.h"
#include "../answer/sstable_filters.h"
#include "../answer/tables.h"
#include "../base/report.h"
#include "../input/partition_key.h"
#include "../input/record_options.h"
#include "../options/options.h"
#include "../output/parquet_results.h"
#include "../output/screen.h"
#include "verbs.h"

enum { OPTION_DB = 0x100, OPTION_FILTER, OPTION_FILTERS_FROM, OPTION_TYPE, OPTION_WHICH };

/* Exactly one of filters, tables, sstables and parquet is used, and becomes the answer.
 * tables.names also has the names of SSTables. */
struct query {
  struct screen screen;
  struct filters filters;
  struct tables tables;
  struct sstable_filters sstables;
  struct partition_key partition_key; /* the types that --type names */
  struct parquet_query parquet;
};

/* ---- options ---- */

/* Checks the options for filters. If --filter was not given, takes the first name as the FILTER. */
static void check_filter_options(struct query *query, const struct argp_state *state)
{
  struct screen *screen = &query->screen;
  if (has_database_options(&query->tables.options))
    argp_error(state, "--writer, --all-files, --column-family, --wal-dir and --db-path need --db "
                      "PATH");
  const bool has_filters = query->filters.n > 0 || query->filters.list;
  if (!has_filters && screen->ninputs == 0)
    argp_error(state, "expected a FILTER, --db PATH or --parquet PATH, found none");
  if (!has_filters) {
    filters_add(&query->filters, take_first_input(screen));
    query->filters.source.inputs = screen->inputs;
    query->filters.source.ninputs = screen->ninputs;
  }
  check_standard_input(screen, state, query->filters.paths, query->filters.n, "FILTER");
  if (query->filters.list)
    check_standard_input(screen, state, &query->filters.list, 1, "--filters-from");
}

static void check_database_options(struct query *query, const struct argp_state *state)
{
  if (query->filters.n > 0 || query->filters.list)
    argp_error(state, "give only one of --filter, --filters-from and --db");
  if (query->filters.source.raw)
    argp_error(state,
               "give only one of --raw and --db: --raw describes a FILTER, and --db takes none");
}

static void check_parquet_options(const struct query *query, const struct argp_state *state)
{
  const struct screen *screen = &query->screen;
  if (query->filters.n > 0 || query->filters.list || query->tables.n > 0)
    argp_error(state, "give only one of --filter, --filters-from, --db and --parquet");
  if (query->filters.source.raw || query->filters.source.format)
    argp_error(state, "--raw and --format describe a FILTER, and --parquet takes none");
  if (has_database_options(&query->tables.options))
    argp_error(state, "--writer, --all-files, --column-family, --wal-dir and --db-path need --db "
                      "PATH");
  if (query->parquet.prune && screen->which)
    argp_error(state, "give only one of --prune and --which");
  if ((query->parquet.prune || screen->which) &&
      (screen->number || screen->max_nselected || screen->annotation || screen->unmatched_path))
    argp_error(state, "--number, --max-count, --annotate and --unmatched apply to records: with "
                      "--parquet give them without --prune and --which");
  if (query->parquet.prune && screen->invert)
    argp_error(state, "give only one of --prune and --invert-match: files that --prune does not "
                      "name certainly have none of the keys");
}

/* Checks --type, and sets how the text of keys is read. */
static void check_type(struct query *query, const struct argp_state *state)
{
  struct record_syntax *syntax = &query->screen.syntax;
  const uint32_t others = ~(uint32_t)(LANEBLOOM_KEY_TRIMMED | LANEBLOOM_KEY_JOINED);
  if (query->parquet.nnames > 0 || (query->tables.n == 0 && !query->filters.source.raw))
    argp_error(state, "--type needs --db PATH with SSTables of Cassandra, or --raw");
  if (syntax->form.encoding || syntax->is_decoded || syntax->form.flags & others)
    argp_error(state, "give only one of --type, --decode, --digest, --lower and --upper");
  if (syntax->fields.n > 1 && syntax->fields.n != query->partition_key.n)
    argp_error(state, "expected as many fields as --type has columns, which are %zu, found %zu",
               query->partition_key.n, syntax->fields.n);
  syntax->units.partition_key = &query->partition_key;
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
  struct query *query = state->input;
  struct tables *tables = &query->tables;
  char problem[256];
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &query->screen.syntax;
    state->child_inputs[1] = &query->filters.source;
    state->child_inputs[2] = &tables->options;
    state->child_inputs[3] = &query->screen.job.nworkers;
    state->child_inputs[4] = &query->screen.job.progress;
    state->child_inputs[5] = &query->screen;
    state->child_inputs[6] = &query->parquet;
    return 0;
  case OPTION_DB:
    tables_add(tables, text);
    return 0;
  case OPTION_FILTER:
    if (!filters_add(&query->filters, text))
      usage_error(state, "--filter: expected each filter once, found '%s' twice", text);
    return 0;
  case OPTION_FILTERS_FROM:
    query->filters.list = text;
    return 0;
  case OPTION_TYPE:
    if (!parse_partition_key(text, &query->partition_key, problem, sizeof problem))
      usage_error(state, "--type: %s", problem);
    return 0;
  case OPTION_WHICH:
    query->screen.which = true;
    return 0;
  case ARGP_KEY_END:
    if (query->screen.which)
      check_which(&query->screen, state);
    if (query->partition_key.n > 0)
      check_type(query, state);
    if (query->parquet.nnames > 0)
      check_parquet_options(query, state);
    else
      (tables->n > 0 ? check_database_options : check_filter_options)(query, state);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"filter", OPTION_FILTER, "FILTER", 0,
             "Select the records that may be in this filter, or in any of several; repeatable. "
             "Keys are hashed once for all, and every argument is an INPUT",
             3},
            {"filters-from", OPTION_FILTERS_FROM, "FILE", 0,
             "Read the names of filters from FILE, one per line; `-' is standard input", 3},
            {"db", OPTION_DB, "PATH", 0,
             "Query the database in this folder, its logs included, or this table file, instead of "
             "FILTER; repeatable. In a folder of SSTables of Cassandra or ScyllaDB, the filters "
             "alone are queried",
             3},
            {"type", OPTION_TYPE, "LIST", 0,
             "The columns of Cassandra's partition key, as in text or text,int: " COLUMN_TYPES_TEXT
             " (in hexadecimal). Tabs separate several columns in the text of a key. Without this "
             "option, a key is one column of text",
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
    .doc = "Prints the records that may be in FILTER, in any of several filters, in any table of a "
           "database, or in a column of Parquet files. A record that is not printed is certainly "
           "not in it.\n"
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

static void load_filters(struct query *query)
{
  struct screen *screen = &query->screen;
  if (query->filters.list)
    filters_read_list(&query->filters);
  for (size_t i = 0; i < query->filters.n; i++)
    check_is_no_output(screen, query->filters.paths[i]);
  screen->answer = filters_answer(&query->filters, &screen->syntax);
}

static void open_tables(struct query *query)
{
  struct screen *screen = &query->screen;
  char *const *names = query->tables.names;
  if (are_sstables(names, query->tables.n)) {
    if (has_database_options(&query->tables.options))
      die(names[0], "--writer, --all-files, --column-family, --wal-dir and --db-path do not apply "
                    "to SSTables");
    screen->answer = sstables_answer(&query->sstables, names, query->tables.n);
    free(query->tables.names);
    for (size_t i = 0; i < screen->answer.sources->n; i++)
      check_is_no_output(screen, screen->answer.sources->all[i].name);
    return;
  }
  if (query->partition_key.n > 0)
    die(names[0], "--type applies to SSTables of Cassandra, and this is something else");
  screen->answer = tables_answer(&query->tables);
  for (size_t i = 0; i < query->tables.database.ntables; i++)
    check_is_no_output(screen, query->tables.database.paths[i]);
}

int screen_main(int argc, char **argv)
{
  struct query query = {.parquet = {.nnames = 0}};
  struct screen *screen = &query.screen;
  struct input_messages messages = {.verb = "screen"};
  parse_options(&argp, 0, argc, argv, &query);
  open_sinks(screen);
  if (query.tables.n > 0) {
    open_tables(&query);
    messages.container_advice = "--db takes no FILTER";
  } else if (query.parquet.nnames > 0) {
    messages.container_advice = "--parquet takes no FILTER";
    return screen_parquet(screen, &query.parquet, &messages);
  } else {
    load_filters(&query);
    messages.container_advice =
        "give each of several filters by --filter, or a list of them by --filters-from";
  }
  return run_screen(screen, &messages);
}
