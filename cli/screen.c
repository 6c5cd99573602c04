/* lanebloom screen: a grep that asks a filter, or the tables of databases.
 * SPDX-License-Identifier: MIT */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum { OPTION_PROGRESS = 0x100, OPTION_DB, OPTION_WHICH };

struct screen {
  struct record_syntax syntax;
  struct filter_source source;
  lanebloom_writer writer;
  const char *path;
  char **databases;
  size_t ndatabases; /* 0: a filter is asked */
  char **inputs;
  size_t ninputs;
  bool invert, count, quiet, number, which;
  struct job job;

  const lanebloom_filter *filter; /* NULL: tables are asked */
  struct database database;
  struct found *found; /* by each worker */
  uint64_t nselected;  /* delivered; of a quiet search, whether any is */
  char **labels;       /* "NAME\t" of each table, if they are printed; else NULL */
  uint64_t *nhits;     /* of each table, if they are counted; else NULL */
};

/* The first of what is named. Standard input can be read once. */
static void take_filter(struct screen *screen, const struct argp_state *state)
{
  if (screen->which || screen->writer)
    argp_error(state, "--which and --writer are of tables, which --db names");
  if (screen->ninputs == 0)
    argp_error(state, "which FILTER?");
  screen->path = *screen->inputs++;
  screen->ninputs--;
  if (!is_standard_input(screen->path))
    return;
  bool twice = screen->ninputs == 0;
  for (size_t i = 0; i < screen->ninputs; i++)
    twice |= is_standard_input(screen->inputs[i]);
  if (twice)
    argp_error(state, "FILTER and INPUT cannot both be standard input");
}

static void check_database_options(const struct screen *screen, const struct argp_state *state)
{
  if (screen->source.raw)
    argp_error(state, "--raw is of a FILTER, and with --db there is none");
  if (screen->which && screen->invert)
    argp_error(
        state,
        "--which and --invert-match exclude each other: what is in no table has no table to name");
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
    return 0;
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
  case OPTION_PROGRESS:
    screen->job.progress = true;
    return 0;
  case OPTION_DB:
    screen->databases =
        resize(screen->databases, (screen->ndatabases + 1) * sizeof *screen->databases);
    screen->databases[screen->ndatabases++] = text;
    return 0;
  case OPTION_WHICH:
    screen->which = true;
    return 0;
  case ARGP_KEY_ARGS: /* all options have been seen */
    screen->inputs = state->argv + state->next;
    screen->ninputs = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_END:
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
            {"invert-match", 'v', NULL, 0, "Select what is surely not there", 1},
            {"count", 'c', NULL, 0, "Print only how many records are selected", 1},
            {"quiet", 'q', NULL, 0, "Print nothing, stop at the first one", 1},
            {"number", 'n', NULL, 0, "Print \"NUMBER:\" before each record, from 1", 1},
            {"db", OPTION_DB, "PATH", 0,
             "Ask the tables of this folder, or this one, instead of FILTER; repeatable", 3},
            {"which", OPTION_WHICH, NULL, 0,
             "Print \"TABLE<tab>\" before each record, once for each table that may have it; "
             "with -c, how many each table may have",
             3},
            {"progress", OPTION_PROGRESS, NULL, 0, "Report the speed each second", 8},
            {0}},
    .parser = parse,
    .args_doc = "FILTER [INPUT...]\n--db PATH [INPUT...]",
    .doc = "Prints the records that may be in FILTER, or in any of the table files of a database. "
           "A record that is not "
           "printed is surely not in it.\n"
           "Without INPUT, or where it is `-', records come from standard input. Exit status, as "
           "grep's: 0 when "
           "something was selected, 1 when nothing was, 2 after an error. Unlike grep it compares "
           "whole records, and "
           "counts and numbers them over all inputs, whose names it does not print.\v"
           "Examples:\n"
           "  lanebloom screen words.lbf input.txt\n"
           "  tail -F log | lanebloom screen seen.lbf\n"
           "  find . -print0 | lanebloom screen -z -v known.lbf\n"
           "  lanebloom screen --width 16 -c uuids.lbf uuids.bin\n"
           "  lanebloom screen --db db --which keys.txt",
    .children = (const struct argp_child[]){{.argp = &record_argp},
                                            {.argp = &filter_argp},
                                            {.argp = &writer_argp},
                                            {.argp = &jobs_argp},
                                            {.argp = &kernel_argp},
                                            {0}},
};

/* Of a batch and one table. */
enum { ROW_NBYTES = BATCH_NRECORDS / 8 };

/* What a worker found in its piece. */
struct found {
  size_t nrecords, nselected;
  size_t noutput;        /* bytes of the selected records, which stand at the front of the piece */
  bool short_of_memory;  /* and so nothing */
  uint8_t **rows;        /* of the batch, one for each table; NULL: none wanted */
  uint8_t *answers;      /* the rows of all batches */
  size_t answers_nbytes; /* that there is room for */
  size_t *counts; /* of the batch, one for each table, then of the piece; NULL: none wanted */
  uint8_t bitmap[PIECE_NRECORDS / 8 + 8]; /* and 8 bytes that may be read with the last bit */
};

/* The first of bits i to n - 1 that is `wanted`; n if none is. Reads whole words of 8 bytes. */
static size_t find_bit(const uint8_t *bitmap, size_t i, size_t n, bool wanted)
{
  while (i < n) {
    uint64_t word;
    memcpy(&word, bitmap + i / 64 * 8, sizeof word);
    uint64_t rest = (wanted ? le64toh(word) : ~le64toh(word)) >> i % 64;
    if (rest) {
      i += (size_t)__builtin_ctzll(rest);
      return i < n ? i : n;
    }
    i = (i / 64 + 1) * 64;
  }
  return n;
}

/* Moves the selected records down to `to`, behind those of earlier batches. Neighbours lie side by
 * side and move in one go; up to the first record that is left out nothing moves. Returns where
 * they end. */
static char *gather(const struct screen *screen, const struct batch *batch, const uint8_t *bitmap,
                    char *to)
{
  for (size_t end, first = 0;; first = end) {
    first = find_bit(bitmap, first, batch->n, !screen->invert);
    if (first == batch->n)
      return to;
    end = find_bit(bitmap, first, batch->n, screen->invert);
    const char *record = batch_record(batch, first);
    const size_t nbytes = (size_t)(batch_record(batch, end) - record);
    if (to != record)
      memmove(to, record, nbytes);
    to += nbytes;
  }
}

/* Where the answers of one more batch go. */
static bool prepare(const struct screen *screen, struct found *found, size_t nbatches)
{
  const size_t ntables = screen->database.ntables;
  if (!screen->labels)
    return true;
  if (screen->nhits)
    return found->counts || (found->counts = calloc(2 * ntables, sizeof *found->counts));
  if (!found->rows && !(found->rows = calloc(ntables, sizeof *found->rows)))
    return false;
  const size_t batch_nbytes = ntables * ROW_NBYTES, nbytes = (nbatches + 1) * batch_nbytes;
  if (nbytes > found->answers_nbytes) {
    uint8_t *larger = realloc(found->answers, 2 * nbytes);
    if (!larger)
      return false;
    found->answers = larger;
    found->answers_nbytes = 2 * nbytes;
  }
  for (size_t table = 0; table < ntables; table++)
    found->rows[table] = found->answers + nbatches * batch_nbytes + table * ROW_NBYTES;
  return true;
}

static bool has_hit(const struct screen *screen, const struct found *found, size_t record,
                    size_t table)
{
  const size_t row = record / BATCH_NRECORDS * screen->database.ntables + table,
               bit = record % BATCH_NRECORDS;
  return found->answers[row * ROW_NBYTES + bit / 8] >> bit % 8 & 1;
}

static size_t screen_batch(const struct screen *screen, struct found *found,
                           const lanebloom_keys *keys, uint8_t *bitmap)
{
  if (screen->filter)
    return lanebloom_filter_screen(screen->filter, keys, bitmap);
  const struct database *database = &screen->database;
  size_t nhits = lanebloom_tables_screen(database->tables, database->ntables, keys, bitmap,
                                         found->rows, found->counts);
  for (size_t table = 0; found->counts && table < database->ntables; table++)
    found->counts[database->ntables + table] += found->counts[table];
  return nhits;
}

static void screen_piece(void *context, size_t worker, struct cutter *cutter, struct piece *piece)
{
  const struct screen *screen = context;
  struct found *found = &screen->found[worker];
  char *end = piece->data;
  found->nselected = 0;
  for (struct batch batch; cutter_next(cutter, &batch);) {
    const size_t ndone = cutter->nrecords - batch.n; /* batches before the last are full */
    if (!prepare(screen, found, ndone / BATCH_NRECORDS)) {
      found->short_of_memory = true;
      break;
    }
    uint8_t *bitmap = found->bitmap + ndone / 8;
    size_t nhits = screen_batch(screen, found, &batch.keys, bitmap);
    size_t n = screen->invert ? batch.n - nhits : nhits;
    found->nselected += n;
    if (screen->quiet && n > 0)
      break;
    if (!screen->quiet && !screen->count && n > 0)
      end = gather(screen, &batch, bitmap, end);
  }
  found->nrecords = cutter->nrecords;
  found->noutput = (size_t)(end - piece->data);
}

static void print_number(uint64_t number)
{
  char text[sizeof "18446744073709551615"], *end = text + sizeof text, *digit = end;
  *--digit = ':';
  do
    *--digit = (char)('0' + number % 10);
  while (number /= 10);
  output(digit, (size_t)(end - digit));
}

static void print_record(const struct screen *screen, uint64_t number, const char *record,
                         size_t nbytes)
{
  if (screen->number)
    print_number(number);
  output(record, nbytes);
}

/* Records with what is to stand before them. first: the number of the piece's first record. */
static void print_each(const struct screen *screen, const struct found *found, const char *record,
                       uint64_t first)
{
  const char *end = record + found->noutput, *next;
  for (size_t i = 0; record < end; i++, record = next) {
    i = find_bit(found->bitmap, i, found->nrecords, !screen->invert);
    next =
        screen->syntax.width
            ? record + screen->syntax.width
            : (const char *)memchr(record, screen->syntax.terminator, (size_t)(end - record)) + 1;
    const size_t nbytes = (size_t)(next - record);
    if (!screen->labels)
      print_record(screen, first + i, record, nbytes);
    for (size_t table = 0; screen->labels && table < screen->database.ntables; table++)
      if (has_hit(screen, found, i, table)) {
        output(screen->labels[table], strlen(screen->labels[table]));
        print_record(screen, first + i, record, nbytes);
      }
  }
}

static void take_counts(struct screen *screen, struct found *found)
{
  const size_t ntables = screen->database.ntables;
  for (size_t table = 0; table < ntables; table++) {
    screen->nhits[table] += found->counts[ntables + table];
    found->counts[ntables + table] = 0;
  }
}

static void deliver_piece(void *context, size_t worker, struct piece *piece, uint64_t first)
{
  struct screen *screen = context;
  struct found *found = &screen->found[worker];
  if (found->short_of_memory)
    die(NULL, "%s", strerror(ENOMEM));
  screen->nselected += found->nselected;
  if (screen->nhits)
    take_counts(screen, found);
  if (screen->quiet && found->nselected > 0)
    job_exit(&screen->job, EXIT_SELECTED);
  if (screen->number || screen->labels)
    print_each(screen, found, piece->data, first);
  else
    output_whole(piece->data, found->noutput);
}

/* ---- the verb ---- */

static void open_databases(struct screen *screen)
{
  for (size_t i = 0; i < screen->ndatabases;
       i++) /* first: what is in a log now may be in a new table after listing */
    warn_of_logs(screen->databases[i]);
  screen->database = database_open(screen->databases, screen->ndatabases, screen->writer);
}

/* As bytes do that have another format than was said. */
static void warn_of_constant(const char *path, const lanebloom_filter *filter)
{
  lanebloom_filter_info info;
  if (!lanebloom_filter_may_contain(filter, NULL, 0))
    return;
  lanebloom_filter_describe(filter, &info, sizeof info);
  if (info.model_rate >= 1)
    complain(input_name(path), "warning: this filter lets every key pass");
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

static void print_counts(const struct screen *screen)
{
  if (!screen->labels)
    outputf("%" PRIu64 "\n", screen->nselected);
  for (size_t i = 0; screen->labels && i < screen->database.ntables; i++)
    outputf("%s%" PRIu64 "\n", screen->labels[i], screen->nhits[i]);
}

static void screen_free(struct screen *screen)
{
  for (size_t i = 0; i < screen->job.nworkers; i++) {
    free(screen->found[i].rows);
    free(screen->found[i].answers);
    free(screen->found[i].counts);
  }
  free(screen->found);
  for (size_t i = 0; screen->labels && i < screen->database.ntables; i++)
    free(screen->labels[i]);
  free(screen->labels);
  free(screen->nhits);
  free(screen->databases);
  database_close(&screen->database);
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
  if (screen.which && !screen.quiet)
    label_tables(&screen);

  static const struct reader reader = {
      .verb = "screen", .container_advice = "`screen' takes one FILTER; run it once for each"};
  static struct inputs inputs;
  struct stat target = {0};
  if (!screen.count && !screen.quiet)
    fstat(STDOUT_FILENO, &target);
  inputs_begin(&inputs, &reader, &screen.syntax, screen.inputs, screen.ninputs, &target);
  screen.filter = filter;
  screen.found = calloc(screen.job.nworkers, sizeof *screen.found);
  if (!screen.found)
    die(NULL, "%s", strerror(ENOMEM));
  screen.job.inputs = &inputs;
  screen.job.context = &screen;
  screen.job.work = screen_piece;
  screen.job.deliver = deliver_piece;
  job_run(&screen.job);
  if (screen.count && !screen.quiet)
    print_counts(&screen);
  screen_free(&screen);
  lanebloom_filter_close(filter);
  if (screen.job.failed)
    return EXIT_TROUBLE;
  return screen.nselected > 0 ? EXIT_SELECTED : EXIT_NONE_SELECTED;
}
