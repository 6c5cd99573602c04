/* lanebloom screen: a grep that asks a filter.
 * SPDX-License-Identifier: MIT */
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
  bool invert, count, quiet, number, progress;
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
    screen->progress = true;
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
        (const struct argp_child[]){{.argp = &record_argp}, {.argp = &filter_argp}, {.argp = &kernel_argp}, {0}},
};

/* The first of bits i to n - 1 that is `wanted`; n if none is. Bit n, where it is there, is 0. */
static size_t find_bit(const uint8_t *bitmap, size_t i, size_t n, bool wanted)
{
  while (i < n) {
    unsigned rest = (unsigned)(wanted ? bitmap[i / 8] : (uint8_t)~bitmap[i / 8]) >> i % 8;
    if (rest)
      return i + (size_t)__builtin_ctz(rest);
    i = (i / 8 + 1) * 8;
  }
  return n;
}

static void print_numbered(const struct batch *batch, size_t first, size_t end, uint64_t number)
{
  for (size_t i = first; i < end; i++) {
    const char *record = batch_record(batch, i);
    outputf("%" PRIu64 ":", number + i);
    output(record, (size_t)(batch_record(batch, i + 1) - record));
  }
}

/* Neighbours that are selected lie side by side, and are printed in one go. number: of the batch's first record. */
static void print_selected(const struct screen *screen, const struct batch *batch, const uint8_t *bitmap,
                           uint64_t number)
{
  for (size_t end, first = 0;; first = end) {
    first = find_bit(bitmap, first, batch->n, !screen->invert);
    if (first == batch->n)
      return;
    end = find_bit(bitmap, first, batch->n, screen->invert);
    const char *record = batch_record(batch, first);
    if (screen->number)
      print_numbered(batch, first, end, number);
    else
      output(record, (size_t)(batch_record(batch, end) - record));
  }
}

/* Returns how many records are selected; of a quiet search, whether any is. */
static uint64_t screen_records(const struct screen *screen, const lanebloom_filter *filter, struct records *records)
{
  uint64_t nselected = 0;
  struct batch batch;
  while (records_next(records, &batch)) {
    uint8_t bitmap[(BATCH_NRECORDS + 7) / 8];
    size_t nhits = lanebloom_filter_screen(filter, &batch.keys, bitmap);
    size_t n = screen->invert ? batch.n - nhits : nhits;
    nselected += n;
    if (screen->quiet && n > 0)
      break;
    if (!screen->quiet && !screen->count && n > 0)
      print_selected(screen, &batch, bitmap, records->nrecords - batch.n + 1);
  }
  return nselected;
}

int screen_main(int argc, char **argv)
{
  struct screen screen = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &screen);
  lanebloom_filter *filter = load_filter(screen.path, &screen.source);
  if (!filter)
    return EXIT_TROUBLE;

  static struct records records;
  struct stat target = {0};
  if (!screen.count && !screen.quiet)
    fstat(STDOUT_FILENO, &target);
  records_begin(&records, &screen.syntax, screen.inputs, screen.ninputs, &target);
  records.progress = screen.progress;
  uint64_t nselected = screen_records(&screen, filter, &records);
  records_end(&records);
  lanebloom_filter_close(filter);

  if (screen.count && !screen.quiet)
    outputf("%" PRIu64 "\n", nselected);
  if (records.failed && !(screen.quiet && nselected > 0))
    return EXIT_TROUBLE;
  return nselected > 0 ? EXIT_SELECTED : EXIT_NONE_SELECTED;
}
