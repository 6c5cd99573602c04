/* Screens the records of chunks and prints those that are selected.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "screen.h"
#include "source_lists.h"

/* The result of a worker for its chunk. */
struct chunk_result {
  size_t nrecords, nselected;
  size_t noutput;             /* bytes of the selected records, which gather() moves to the front */
  bool begins_input;          /* the first record is the first of its input */
  bool short_of_memory;       /* then the chunk was not screened */
  size_t *counts;             /* hits of each source: of the batch, then of the chunk; or NULL */
  struct source_lists *lists; /* of the first selected records, as many as fit; or NULL */
  uint8_t bitmap[CHUNK_NRECORDS / 8 + 8]; /* hits of the chunk; find_bit() reads whole words */
};

void results_create(struct screen *screen)
{
  screen->results = calloc(screen->job.nworkers, sizeof *screen->results);
  if (!screen->results)
    die(NULL, "%s", strerror(ENOMEM));
}

void results_destroy(struct screen *screen)
{
  for (size_t i = 0; i < screen->job.nworkers; i++) {
    struct chunk_result *result = &screen->results[i];
    free(result->counts);
    if (result->lists)
      source_lists_destroy(result->lists);
    free(result->lists);
  }
  free(screen->results);
}

/* ---- working ---- */

/* Allocates what a worker needs, at its first chunk. false: memory ran out. */
static bool prepare(const struct screen *screen, struct chunk_result *result)
{
  if (!screen->labels)
    return true;
  if (screen->nhits)
    return result->counts ||
           (result->counts = calloc(2 * screen->sources.n, sizeof *result->counts));
  if (result->lists)
    return true;
  return (result->lists = calloc(1, sizeof *result->lists)) &&
         source_lists_create(result->lists, &screen->sources);
}

static size_t screen_batch(const struct screen *screen, struct chunk_result *result,
                           const struct batch *batch, uint8_t *bitmap, bool *lists_are_full)
{
  const lanebloom_keys *keys = &batch->keys;
  if (screen->exact)
    return key_set_match(screen->exact, batch, bitmap);
  if (result->lists)
    return source_lists_screen(result->lists, keys, bitmap, lists_are_full);
  const struct sources *sources = &screen->sources;
  const size_t nhits = sources_screen(sources, keys, bitmap, NULL, result->counts);
  for (size_t i = 0; result->counts && i < sources->n; i++)
    result->counts[sources->n + i] += result->counts[i];
  return nhits;
}

/* Makes records without a key selected or not, as --missing says. Returns the number of hits. */
static size_t set_missing(const struct screen *screen, const struct batch *batch, uint8_t *bitmap,
                          size_t nhits)
{
  const bool keep = screen->syntax.fields.missing == MISSING_KEEP;
  const bool hit = keep != screen->invert;
  for (size_t i = 0; i < batch->n; i++) {
    if (batch_has_key(batch, i))
      continue;
    const uint8_t bit = (uint8_t)(1 << i % 8);
    nhits -= bitmap[i / 8] & bit ? 1 : 0;
    nhits += hit;
    bitmap[i / 8] = (uint8_t)(hit ? bitmap[i / 8] | bit : bitmap[i / 8] & ~bit);
  }
  return nhits;
}

/* Moves the selected records of the batch to `to`, the end of those of earlier batches, and returns
 * their end. Adjacent records move in one memmove(). Until a record is left out nothing moves. */
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

void screen_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk)
{
  const struct screen *screen = context;
  struct chunk_result *result = &screen->results[worker];
  char *end = chunk->data;
  bool lists_are_full = false;
  result->nselected = 0;
  result->begins_input = chunk->at_beginning && chunk->header_nlines == 0;
  result->short_of_memory = !prepare(screen, result);
  if (result->short_of_memory)
    return;
  if (result->lists)
    result->lists->nrecords = 0;
  for (struct batch batch; cutter_next(cutter, &batch);) {
    const size_t ndone = cutter->nrecords - batch.n; /* batches before the last are full */
    uint8_t *bitmap = result->bitmap + ndone / 8;
    size_t nhits = screen_batch(screen, result, &batch, bitmap, &lists_are_full);
    if (batch.missing)
      nhits = set_missing(screen, &batch, bitmap, nhits);
    size_t n = screen->invert ? batch.n - nhits : nhits;
    result->nselected += n;
    if (screen->quiet && n > 0)
      break;
    if (!screen->quiet && !screen->count && n > 0)
      end = gather(screen, &batch, bitmap, end);
  }
  result->nrecords = cutter->nrecords;
  result->noutput = (size_t)(end - chunk->data);
}

/* ---- printing ---- */

/* A selected record of a chunk. */
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

/* Iterates over the selected records of a chunk. */
struct selection {
  const struct screen *screen;
  const struct chunk_result *result;
  const char *next, *end;
  size_t i;       /* index of the next record in the chunk, selected or not */
  uint64_t first; /* number of the chunk's first record */
};

static struct selected take_selected(struct selection *selection)
{
  const struct record_syntax *syntax = &selection->screen->syntax;
  struct selected record = {.bytes = selection->next};
  const size_t i = find_bit(selection->result->bitmap, selection->i, selection->result->nrecords,
                            !selection->screen->invert);
  const size_t nleft = (size_t)(selection->end - record.bytes);
  record.end = record.bytes + record_nbytes(syntax, record.bytes, nleft);
  record.number = selection->first + i;
  selection->i = i + 1;
  selection->next = record.end;
  return record;
}

/* Prints each record that has a list, once for each source on it. */
static void print_listed(struct selection *selection, const struct source_lists *lists)
{
  const struct screen *screen = selection->screen;
  uint32_t at = 0;
  for (size_t i = 0; i < lists->nrecords; i++) {
    const struct selected record = take_selected(selection);
    for (; at < lists->ends[i]; at++) {
      const char *label = screen->labels[lists->indices[at]];
      output(label, strlen(label));
      print_record(screen, &record);
    }
  }
}

/* Prints the records that have lists. If lists did not fit, screens the other records again, part
 * by part; printing them takes longer than that. */
static void print_with_sources(struct selection *selection, struct source_lists *lists)
{
  static struct cutter cutter; /* used with the output token */
  print_listed(selection, lists);
  /* nothing listed, and the first record selected: it stands first again */
  const bool at_beginning = selection->result->begins_input && selection->i == 0 &&
                            find_bit(selection->result->bitmap, 0, 1, true) == 0;
  cutter_begin(&cutter, &selection->screen->job.inputs->syntax, selection->next,
               (size_t)(selection->end - selection->next), at_beginning);
  for (struct batch batch; cutter_next(&cutter, &batch);)
    for (size_t first = 0; first < batch.n;) {
      const lanebloom_keys rest = lanebloom_keys_part(&batch.keys, first, batch.n - first);
      first += source_lists_restart(lists, &rest);
      print_listed(selection, lists);
    }
  if (cutter.fault.kind) { /* memory ran out: there was no other fault the first time */
    char text[200];
    describe_fault(&cutter, text, sizeof text);
    die(NULL, "%s", text);
  }
}

static void print_each(const struct screen *screen, struct chunk_result *result,
                       const char *records, uint64_t first)
{
  struct selection selection = {.screen = screen,
                                .result = result,
                                .next = records,
                                .end = records + result->noutput,
                                .first = first};
  if (result->lists) {
    print_with_sources(&selection, result->lists);
    return;
  }
  while (selection.next < selection.end) {
    const struct selected record = take_selected(&selection);
    print_record(screen, &record);
  }
}

static void take_counts(struct screen *screen, struct chunk_result *result)
{
  const size_t nsources = screen->sources.n;
  for (size_t i = 0; i < nsources; i++) {
    screen->nhits[i] += result->counts[nsources + i];
    result->counts[nsources + i] = 0;
  }
}

void deliver_header(void *context, const char *header, size_t nbytes)
{
  const struct screen *screen = context;
  if (!screen->count && !screen->quiet)
    output(header, nbytes);
}

/* Leaves out the records after the last one that --max-count allows. */
static void limit(const struct screen *screen, struct chunk_result *result, const char *records)
{
  const uint64_t nleft = screen->max_nselected - screen->nselected;
  if (screen->max_nselected == 0 || result->nselected <= nleft)
    return;
  size_t nbytes = 0;
  for (uint64_t i = 0; i < nleft && nbytes < result->noutput; i++)
    nbytes += record_nbytes(&screen->syntax, records + nbytes, result->noutput - nbytes);
  result->noutput = nbytes;
  result->nselected = (size_t)nleft;
  if (result->lists && result->lists->nrecords > nleft)
    result->lists->nrecords = (size_t)nleft;
}

void deliver_chunk(void *context, size_t worker, struct chunk *chunk, uint64_t first)
{
  struct screen *screen = context;
  struct chunk_result *result = &screen->results[worker];
  if (result->short_of_memory)
    die(NULL, "%s", strerror(ENOMEM));
  limit(screen, result, chunk->data);
  screen->nselected += result->nselected;
  if (screen->nhits)
    take_counts(screen, result);
  if (screen->quiet && result->nselected > 0)
    job_exit(&screen->job, EXIT_SELECTED);
  if (screen->number || screen->labels)
    print_each(screen, result, chunk->data, first);
  else
    output_whole(chunk->data, result->noutput);
  if (screen->nselected == screen->max_nselected && screen->max_nselected > 0)
    end_early(screen);
}
