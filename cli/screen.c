/* lanebloom screen: a grep that asks a filter.
 * SPDX-License-Identifier: MIT */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum { OPTION_PROGRESS = 0x100 };

struct screen {
  struct record_syntax syntax;
  struct filter_source source;
  const char *path;
  char **inputs;
  size_t ninputs;
  bool invert, count, quiet, number;
  struct job job;

  const lanebloom_filter *filter;
  struct found *found; /* by each worker */
  uint64_t nselected;  /* delivered; of a quiet search, whether any is */
};

/* Standard input can be read once. */
static void check_inputs(const struct screen *screen, const struct argp_state *state)
{
  if (!is_standard_input(screen->path))
    return;
  bool twice = screen->ninputs == 0;
  for (size_t i = 0; i < screen->ninputs; i++)
    twice |= is_standard_input(screen->inputs[i]);
  if (twice)
    argp_error(state, "FILTER and INPUT cannot both be standard input");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  (void)text;
  struct screen *screen = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &screen->syntax;
    state->child_inputs[1] = &screen->source;
    state->child_inputs[2] = &screen->job.nworkers;
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
  case ARGP_KEY_ARGS:
    screen->path = state->argv[state->next];
    screen->inputs = state->argv + state->next + 1;
    screen->ninputs = (size_t)(state->argc - state->next - 1);
    check_inputs(screen, state);
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "which FILTER?");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){{"invert-match", 'v', NULL, 0, "Select what is surely not in the filter", 1},
                                     {"count", 'c', NULL, 0, "Print only how many records are selected", 1},
                                     {"quiet", 'q', NULL, 0, "Print nothing, stop at the first one", 1},
                                     {"number", 'n', NULL, 0, "Print \"NUMBER:\" before each record, from 1", 1},
                                     {"progress", OPTION_PROGRESS, NULL, 0, "Report the speed each second", 8},
                                     {0}},
    .parser = parse,
    .args_doc = "FILTER [INPUT...]",
    .doc = "Prints the records that may be in FILTER. A record that is not printed is surely not in it.\n"
           "Without INPUT, or where it is `-', records come from standard input. Exit status, as grep's: 0 when "
           "something was selected, 1 when nothing was, 2 after an error. Unlike grep it compares whole records, and "
           "counts and numbers them over all inputs, whose names it does not print.\v"
           "Examples:\n"
           "  lanebloom screen words.lbf input.txt\n"
           "  tail -F log | lanebloom screen seen.lbf\n"
           "  find . -print0 | lanebloom screen -z -v known.lbf\n"
           "  lanebloom screen --width 16 -c uuids.lbf uuids.bin",
    .children =
        (const struct argp_child[]){
            {.argp = &record_argp}, {.argp = &filter_argp}, {.argp = &jobs_argp}, {.argp = &kernel_argp}, {0}},
};

/* What a worker found in its piece. */
struct found {
  size_t nrecords, nselected;
  size_t noutput;                         /* bytes of the selected records, which stand at the front of the piece */
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

/* Moves the selected records down to `to`, behind those of earlier batches. Neighbours lie side by side and move in one
 * go; up to the first record that is left out nothing moves. Returns where they end. */
static char *gather(const struct screen *screen, const struct batch *batch, const uint8_t *bitmap, char *to)
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

static void screen_piece(void *context, size_t worker, struct cutter *cutter, struct piece *piece)
{
  const struct screen *screen = context;
  struct found *found = &screen->found[worker];
  char *end = piece->data;
  found->nselected = 0;
  for (struct batch batch; cutter_next(cutter, &batch);) {
    uint8_t *bitmap = found->bitmap + (cutter->nrecords - batch.n) / 8; /* batches before the last are full */
    size_t nhits = lanebloom_filter_screen(screen->filter, &batch.keys, bitmap);
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

/* first: the number of the piece's first record. */
static void print_numbered(const struct screen *screen, const struct found *found, const char *record, uint64_t first)
{
  const char *end = record + found->noutput, *next;
  for (size_t i = 0; record < end; i++, record = next) {
    i = find_bit(found->bitmap, i, found->nrecords, !screen->invert);
    next = screen->syntax.width ? record + screen->syntax.width
                                : (const char *)memchr(record, screen->syntax.terminator, (size_t)(end - record)) + 1;
    print_number(first + i);
    output(record, (size_t)(next - record));
  }
}

static void deliver_piece(void *context, size_t worker, struct piece *piece, uint64_t first)
{
  struct screen *screen = context;
  const struct found *found = &screen->found[worker];
  screen->nselected += found->nselected;
  if (screen->quiet && found->nselected > 0)
    job_exit(&screen->job, EXIT_SELECTED);
  if (screen->number)
    print_numbered(screen, found, piece->data, first);
  else
    output_whole(piece->data, found->noutput);
}

int screen_main(int argc, char **argv)
{
  struct screen screen = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &screen);
  lanebloom_filter *filter = load_filter(screen.path, &screen.source);
  if (!filter)
    return EXIT_TROUBLE;

  static struct inputs inputs;
  struct stat target = {0};
  if (!screen.count && !screen.quiet)
    fstat(STDOUT_FILENO, &target);
  inputs_begin(&inputs, &screen.syntax, screen.inputs, screen.ninputs, &target);
  screen.filter = filter;
  screen.found = calloc(screen.job.nworkers, sizeof *screen.found);
  if (!screen.found)
    die(NULL, "%s", strerror(ENOMEM));
  screen.job.inputs = &inputs;
  screen.job.context = &screen;
  screen.job.work = screen_piece;
  screen.job.deliver = deliver_piece;
  job_run(&screen.job);
  free(screen.found);
  lanebloom_filter_close(filter);

  if (screen.count && !screen.quiet)
    outputf("%" PRIu64 "\n", screen.nselected);
  if (screen.job.failed)
    return EXIT_TROUBLE;
  return screen.nselected > 0 ? EXIT_SELECTED : EXIT_NONE_SELECTED;
}
