/* Which records of a piece are selected, and what is printed of them.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "screen.h"
#include "which.h"

/* What a worker found in its piece. */
struct found {
  size_t nrecords, nselected;
  size_t noutput;       /* bytes of the selected records, which stand at the front of the piece */
  bool short_of_memory; /* and so nothing */
  size_t *counts;       /* of the batch, one for each table, then of the piece; NULL: none wanted */
  struct which *which;  /* lists for the first of the selected records; NULL: none wanted */
  uint8_t bitmap[PIECE_NRECORDS / 8 + 8]; /* and 8 bytes that may be read with the last bit */
};

void found_create(struct screen *screen)
{
  screen->found = calloc(screen->job.nworkers, sizeof *screen->found);
  if (!screen->found)
    die(NULL, "%s", strerror(ENOMEM));
}

void found_destroy(struct screen *screen)
{
  for (size_t i = 0; i < screen->job.nworkers; i++) {
    struct found *found = &screen->found[i];
    free(found->counts);
    if (found->which)
      which_destroy(found->which);
    free(found->which);
  }
  free(screen->found);
}

/* ---- working ---- */

/* Of a worker's first piece. */
static bool prepare(const struct screen *screen, struct found *found)
{
  if (!screen->labels)
    return true;
  if (screen->nhits)
    return found->counts ||
           (found->counts = calloc(2 * screen->database.ntables, sizeof *found->counts));
  if (found->which)
    return true;
  return (found->which = calloc(1, sizeof *found->which)) &&
         which_create(found->which, &screen->database);
}

static size_t screen_batch(const struct screen *screen, struct found *found,
                           const lanebloom_keys *keys, uint8_t *bitmap, bool *lists_are_full)
{
  if (screen->filter)
    return lanebloom_filter_screen(screen->filter, keys, bitmap);
  if (found->which)
    return which_screen(found->which, keys, bitmap, lists_are_full);
  const struct database *database = &screen->database;
  const size_t nhits = lanebloom_tables_screen(database->tables, database->ntables, keys, bitmap,
                                               NULL, found->counts);
  for (size_t table = 0; found->counts && table < database->ntables; table++)
    found->counts[database->ntables + table] += found->counts[table];
  return nhits;
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

void screen_piece(void *context, size_t worker, struct cutter *cutter, struct piece *piece)
{
  const struct screen *screen = context;
  struct found *found = &screen->found[worker];
  char *end = piece->data;
  bool lists_are_full = false;
  found->nselected = 0;
  found->short_of_memory = !prepare(screen, found);
  if (found->short_of_memory)
    return;
  if (found->which)
    found->which->nrecords = 0;
  for (struct batch batch; cutter_next(cutter, &batch);) {
    const size_t ndone = cutter->nrecords - batch.n; /* batches before the last are full */
    uint8_t *bitmap = found->bitmap + ndone / 8;
    size_t nhits = screen_batch(screen, found, &batch.keys, bitmap, &lists_are_full);
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

/* ---- printing ---- */

/* A selected record of a piece. */
struct selected {
  const char *bytes, *end; /* terminator included */
  uint64_t number;
};

static void print_number(uint64_t number)
{
  char text[sizeof "18446744073709551615"], *end = text + sizeof text, *digit = end;
  *--digit = ':';
  do
    *--digit = (char)('0' + number % 10);
  while (number /= 10);
  output(digit, (size_t)(end - digit));
}

static void print_record(const struct screen *screen, const struct selected *record)
{
  if (screen->number)
    print_number(record->number);
  output(record->bytes, (size_t)(record->end - record->bytes));
}

/* The selected records of a piece, one after the other. */
struct selection {
  const struct screen *screen;
  const struct found *found;
  const char *next, *end;
  size_t i;       /* the next record, selected or not, of the piece */
  uint64_t first; /* number of the piece's first record */
};

static struct selected take_selected(struct selection *selection)
{
  const struct record_syntax *syntax = &selection->screen->syntax;
  struct selected record = {.bytes = selection->next};
  const size_t i = find_bit(selection->found->bitmap, selection->i, selection->found->nrecords,
                            !selection->screen->invert);
  const size_t nleft = (size_t)(selection->end - record.bytes);
  record.end = syntax->width ? record.bytes + syntax->width
                             : (const char *)memchr(record.bytes, syntax->terminator, nleft) + 1;
  record.number = selection->first + i;
  selection->i = i + 1;
  selection->next = record.end;
  return record;
}

/* Once for each table on its list. */
static void print_listed(struct selection *selection, const struct which *which)
{
  const struct screen *screen = selection->screen;
  uint32_t at = 0;
  for (size_t i = 0; i < which->nrecords; i++) {
    const struct selected record = take_selected(selection);
    for (; at < which->ends[i]; at++) {
      const char *label = screen->labels[which->tables[at]];
      output(label, strlen(label));
      print_record(screen, &record);
    }
  }
}

/* Where lists became full, the rest are made now: such a piece takes longer to print than to
 * screen. */
static void print_which(struct selection *selection, struct which *which)
{
  static struct cutter cutter; /* the output turn's */
  print_listed(selection, which);
  cutter_begin(&cutter, &selection->screen->syntax, selection->next,
               (size_t)(selection->end - selection->next));
  for (struct batch batch; cutter_next(&cutter, &batch);)
    for (size_t first = 0; first < batch.n;) {
      const lanebloom_keys rest = lanebloom_keys_part(&batch.keys, first, batch.n - first);
      first += which_restart(which, &rest);
      print_listed(selection, which);
    }
}

static void print_each(const struct screen *screen, struct found *found, const char *records,
                       uint64_t first)
{
  struct selection selection = {.screen = screen,
                                .found = found,
                                .next = records,
                                .end = records + found->noutput,
                                .first = first};
  if (found->which) {
    print_which(&selection, found->which);
    return;
  }
  while (selection.next < selection.end) {
    const struct selected record = take_selected(&selection);
    print_record(screen, &record);
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

void deliver_piece(void *context, size_t worker, struct piece *piece, uint64_t first)
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
