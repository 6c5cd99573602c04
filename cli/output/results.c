/* Screens the records of chunks and prints the selected ones.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../answer/source_lists.h"
#include "../base/bits.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../input/chunk_keys.h"
#include "../input/inputs.h"
#include "../input/records.h"
#include "screen.h"

/* Records that a worker has collected for printing. */
struct records {
  char *data;
  size_t nbytes;
  size_t capacity; /* 0: `data' is memory of the chunk */
};

/* The result of a worker for its chunk. */
struct chunk_result {
  size_t nrecords, nselected;
  struct records output;      /* the selected records, which were moved to the beginning of the
                               * chunk; or all records, annotated */
  struct records rest;        /* the records that are not selected, for --unmatched */
  bool begins_input;          /* the chunk begins with the first record of an input */
  bool short_of_memory;       /* memory ran out, so the chunk was not screened to its end */
  size_t *counts;             /* the number of hits for each source in the batch, followed by the
                               * number of hits for each source in the chunk; or NULL */
  struct chunk_keys keys;     /* empty unless screens_whole_chunks() */
  struct source_lists *lists; /* the sources of the first selected records, for as many records as
                               * fit; or NULL */
  uint8_t *bitmap;            /* bit i is set if record i is a hit; find_bit() reads whole words */
  uint8_t *missing;           /* with --missing: bit i is set if record i has no key */
};

void results_create(struct screen *screen, size_t read_nbytes)
{
  const size_t nbytes = read_nbytes / 8 + 8;
  screen->results = calloc(screen->job.nworkers, sizeof *screen->results);
  if (!screen->results)
    die(NULL, "%s", strerror(ENOMEM));
  for (size_t i = 0; i < screen->job.nworkers; i++) {
    uint8_t *bitmaps = resize(NULL, 2 * nbytes);
    memset(bitmaps, 0, 2 * nbytes);
    screen->results[i].bitmap = bitmaps;
    screen->results[i].missing = bitmaps + nbytes;
  }
}

void results_destroy(struct screen *screen)
{
  for (size_t i = 0; i < screen->job.nworkers; i++) {
    struct chunk_result *result = &screen->results[i];
    free(result->counts);
    free(result->bitmap);
    chunk_keys_free(&result->keys);
    if (result->lists)
      source_lists_destroy(result->lists);
    free(result->lists);
    free(result->output.capacity > 0 ? result->output.data : NULL);
    free(result->rest.data);
  }
  free(screen->results);
}

/* ---- screening, without a token ---- */

/* Allocates the memory of a worker's result when its first chunk is screened. Returns false if
 * memory ran out. */
static bool prepare(const struct screen *screen, struct chunk_result *result)
{
  if (!screen->labels)
    return true;
  if (screen->nhits)
    return result->counts ||
           (result->counts = calloc(2 * screen->answer.sources->n, sizeof *result->counts));
  if (result->lists)
    return true;
  return (result->lists = calloc(1, sizeof *result->lists)) &&
         source_lists_create(result->lists, screen->answer.sources);
}

static size_t screen_batch(struct screen *screen, struct chunk_result *result,
                           const struct batch *batch, uint8_t *bitmap, bool *lists_are_full)
{
  const struct answer *answer = &screen->answer;
  if (result->lists)
    return source_lists_screen(result->lists, &batch->keys, bitmap, lists_are_full);
  const size_t nhits = answer->kind->screen(answer->context, batch, bitmap, result->counts);
  for (size_t i = 0; result->counts && i < answer->sources->n; i++)
    result->counts[answer->sources->n + i] += result->counts[i];
  return nhits;
}

/* Screens the keys of a chunk, and sets the cutter back to its beginning. Returns false if memory
 * ran out. */
static bool screen_keys(struct screen *screen, struct chunk_result *result, struct cutter *cutter,
                        const struct chunk *chunk)
{
  const struct chunk_keys *keys = &result->keys;
  if (!chunk_keys_take(&result->keys, cutter, chunk, result->begins_input))
    return false;
  const struct batch all = {.keys = lanebloom_keys_offsets64(keys->bytes, keys->offsets, keys->n),
                            .n = keys->n};
  if (keys->n > 0)
    screen_batch(screen, result, &all, result->bitmap, &(bool){false});
  return true;
}

/* Decides whether records without a key are selected, as --missing says, and sets their bits.
 * Returns the new number of hits. */
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

/* Makes room for nbytes more. Returns false if memory ran out. */
static bool reserve(struct records *records, size_t nbytes)
{
  const size_t needed = records->nbytes + nbytes;
  if (needed <= records->capacity)
    return true;
  const size_t capacity = needed + needed / 2;
  char *larger = realloc(records->data, capacity);
  if (!larger)
    return false;
  records->data = larger;
  records->capacity = capacity;
  return true;
}

/* Returns the size of the line end of a record. The line end is also the end of the last field. */
static size_t line_end_nbytes(const struct record_syntax *syntax, const char *record, size_t nbytes)
{
  return syntax->crlf && nbytes > 1 && record[nbytes - 2] == '\r' ? 2 : 1;
}

/* Copies a record to `to' and adds a field before its line end. Returns the end of the copy. */
static char *annotate(const struct record_syntax *syntax, const char *record, size_t nbytes,
                      const char *field, size_t field_nbytes, char *to)
{
  const size_t tail_nbytes = line_end_nbytes(syntax, record, nbytes);
  const size_t body_nbytes = nbytes - tail_nbytes;
  memcpy(to, record, body_nbytes);
  to += body_nbytes;
  *to = '\t';
  if (syntax->fields.n > 0)
    *to = syntax->fields.separator;
  to++;
  memcpy(to, field, field_nbytes);
  memcpy(to + field_nbytes, record + body_nbytes, tail_nbytes);
  return to + field_nbytes + tail_nbytes;
}

/* Is record i omitted from all outputs because it has no key? */
static bool is_dropped(const struct screen *screen, const struct batch *batch, size_t i)
{
  return screen->syntax.fields.missing == MISSING_DROP && !batch_has_key(batch, i);
}

/* Copies all records of the batch except dropped ones. Adds the field 1 to selected records and 0
 * to the others. Returns the end of the copy. */
static char *annotate_batch(const struct screen *screen, const struct batch *batch,
                            const uint8_t *bitmap, char *to)
{
  for (size_t i = 0; i < batch->n; i++) {
    if (is_dropped(screen, batch, i))
      continue;
    const char *record = batch_record(batch, i);
    const bool hit = bitmap[i / 8] >> i % 8 & 1;
    to = annotate(&screen->syntax, record, (size_t)(batch_record(batch, i + 1) - record),
                  hit != screen->invert ? "1" : "0", 1, to);
  }
  return to;
}

/* Inverts the bits of the dropped records. Calling this twice restores the bits. */
static void flip_dropped(const struct screen *screen, const struct batch *batch, uint8_t *bitmap)
{
  for (size_t i = 0; i < batch->n; i++)
    if (is_dropped(screen, batch, i))
      bitmap[i / 8] ^= (uint8_t)(1 << i % 8);
}

/* Appends those records of the batch that are neither selected nor dropped to `rest`. While
 * batch_gather() runs, the bits of dropped records are inverted, so that it omits these records,
 * too. */
static void collect_rest(const struct screen *screen, struct records *rest,
                         const struct batch *batch, uint8_t *bitmap)
{
  flip_dropped(screen, batch, bitmap);
  const char *end = batch_gather(batch, bitmap, screen->invert, rest->data + rest->nbytes);
  rest->nbytes = (size_t)(end - rest->data);
  flip_dropped(screen, batch, bitmap);
}

/* Collects the records of the batch for the outputs that will be written. Returns false if memory
 * ran out. */
static bool collect(const struct screen *screen, struct chunk_result *result,
                    const struct batch *batch, uint8_t *bitmap)
{
  enum { ANNOTATION_NBYTES = 2 }; /* the separator and the digit */
  const size_t nbytes = (size_t)(batch_record(batch, batch->n) - batch->data);
  struct records *output = &result->output, *rest = &result->rest;
  if ((screen->annotation && !reserve(output, nbytes + batch->n * ANNOTATION_NBYTES)) ||
      (screen->unmatched_path && !reserve(rest, nbytes)))
    return false;
  if (screen->unmatched_path) /* this comes first, because the rest may be overwritten */
    collect_rest(screen, rest, batch, bitmap);
  char *end = output->data + output->nbytes;
  if (screen->annotation)
    end = annotate_batch(screen, batch, bitmap, end);
  else if (!screen->count)
    end = batch_gather(batch, bitmap, !screen->invert, end);
  output->nbytes = (size_t)(end - output->data);
  return true;
}

void screen_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk)
{
  struct screen *screen = context;
  struct chunk_result *result = &screen->results[worker];
  bool is_screened = screens_whole_chunks(screen), lists_are_full = false;
  result->nselected = result->output.nbytes = result->rest.nbytes = 0;
  if (!screen->annotation)
    result->output.data = chunk->data;
  result->begins_input = chunk->at_beginning && chunk->header_nlines == 0;
  result->short_of_memory =
      !prepare(screen, result) || (is_screened && !screen_keys(screen, result, cutter, chunk));
  if (result->short_of_memory)
    return;
  if (result->lists)
    result->lists->nrecords = 0;
  if (screen->syntax.fields.missing)
    memset(result->missing, 0, screen->job.inputs->read_nbytes / 8);
  for (struct batch batch; cutter_next(cutter, &batch);) {
    const size_t ndone = cutter->nrecords - batch.n; /* a multiple of BATCH_NRECORDS, because all
                                                      * batches except the last are full */
    uint8_t *bitmap = result->bitmap + ndone / 8;
    size_t nhits = is_screened ? count_bits(bitmap, (batch.n + 7) / 8)
                               : screen_batch(screen, result, &batch, bitmap, &lists_are_full);
    if (batch.missing) {
      nhits = set_missing(screen, &batch, bitmap, nhits);
      memcpy(result->missing + ndone / 8, batch.missing, (batch.n + 7) / 8);
    }
    result->nselected += screen->invert ? batch.n - nhits : nhits;
    if (screen->quiet && result->nselected > 0)
      break;
    if (!screen->quiet && !collect(screen, result, &batch, bitmap)) {
      result->short_of_memory = true;
      return;
    }
  }
  result->nrecords = cutter->nrecords;
}

/* ---- printing, with the output token ---- */

/* A selected record of the chunk. */
struct selected {
  const char *bytes, *end; /* with the terminator */
  uint64_t number;
};

static void print_number(struct sink *sink, uint64_t number)
{
  char text[sizeof "18446744073709551615"], *end = text + sizeof text, *digit = end;
  *--digit = ':';
  do
    *--digit = (char)('0' + number % 10);
  while (number /= 10);
  sink_write(sink, digit, (size_t)(end - digit));
}

/* Prints a record. A record of fixed width has no terminator; if records are numbered, adds a line
 * end. */
static void print_record(struct screen *screen, const struct selected *record)
{
  if (screen->number)
    print_number(&screen->output, record->number);
  sink_write(&screen->output, record->bytes, (size_t)(record->end - record->bytes));
  if (screen->number && screen->syntax.width)
    sink_write(&screen->output, "\n", 1);
}

/* The position in a chunk whose selected records are taken one after the other. */
struct selection {
  struct screen *screen;
  const struct chunk_result *result;
  const char *next, *end;
  size_t i;       /* the index in the chunk of the next record, whether it is selected or not */
  uint64_t first; /* the number of the first record of the chunk */
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

/* For each record that has a list, prints the record once for each source in the list. */
static void print_listed(struct selection *selection, const struct source_lists *lists)
{
  struct screen *screen = selection->screen;
  uint32_t at = 0;
  for (size_t i = 0; i < lists->nrecords; i++) {
    const struct selected record = take_selected(selection);
    for (; at < lists->ends[i]; at++) {
      const char *label = screen->labels[lists->indices[at]];
      sink_write(&screen->output, label, strlen(label));
      print_record(screen, &record);
    }
  }
}

/* Prints the records that have lists. If the lists of some records did not fit, screens these
 * records again, part by part, which takes less time than to print them. */
static void print_with_sources(struct selection *selection, struct source_lists *lists)
{
  static struct cutter cutter; /* only the worker with the output token uses it */
  print_listed(selection, lists);
  /* If no record was printed so far, and the first record of the chunk is selected, the cutter
   * begins with this record. Only this record may have a byte order mark. */
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
  if (cutter.fault.kind) { /* memory ran out; any other fault would have been found in the first
                            * pass */
    char text[200];
    describe_fault(&cutter, text, sizeof text);
    die(NULL, "%s", text);
  }
}

static void print_each(struct screen *screen, struct chunk_result *result, uint64_t first)
{
  struct selection selection = {.screen = screen,
                                .result = result,
                                .next = result->output.data,
                                .end = result->output.data + result->output.nbytes,
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
  const size_t nsources = screen->answer.sources->n;
  for (size_t i = 0; i < nsources; i++) {
    screen->nhits[i] += result->counts[nsources + i];
    result->counts[nsources + i] = 0;
  }
}

/* If the header already has a field with the name of the annotation, prints a message and exits.
 * Two fields with the same name would be ambiguous. */
static void check_annotation_is_new(const struct screen *screen, const char *header, size_t nbytes)
{
  struct field_syntax same = screen->syntax.fields;
  char problem[200];
  same.n = 1;
  same.fields[0] = (struct field){.name = screen->annotation};
  if (find_fields(&same, header, nbytes - 1, problem, sizeof problem))
    die(NULL,
        "--annotate: expected a name that the header does not have, found '%s'; "
        "--annotate=NAME gives another",
        screen->annotation);
}

void deliver_header(void *context, const char *header, size_t nbytes)
{
  struct screen *screen = context;
  if (screen->unmatched_path)
    sink_write(&screen->unmatched, header, nbytes);
  if (screen->count || screen->quiet)
    return;
  if (!screen->annotation) {
    sink_write(&screen->output, header, nbytes);
    return;
  }
  check_annotation_is_new(screen, header, nbytes);
  const size_t name_nbytes = strlen(screen->annotation);
  char *annotated = resize(NULL, nbytes + 1 + name_nbytes);
  const char *end =
      annotate(&screen->syntax, header, nbytes, screen->annotation, name_nbytes, annotated);
  sink_write(&screen->output, annotated, (size_t)(end - annotated));
  free(annotated);
}

/* Keeps the first n records and removes the others. */
static void keep_first(const struct screen *screen, struct records *records, size_t n)
{
  size_t nbytes = 0;
  for (size_t i = 0; i < n && nbytes < records->nbytes; i++)
    nbytes += record_nbytes(&screen->syntax, records->data + nbytes, records->nbytes - nbytes);
  records->nbytes = nbytes;
}

/* Returns how many of the records in [first, end) have no key. */
static size_t count_missing(const struct chunk_result *result, size_t first, size_t end)
{
  size_t n = 0;
  for (size_t i = first; (i = find_bit(result->missing, i, end, true)) < end; i++)
    n++;
  return n;
}

/* Limits the selected records to the number that --max-count or --quiet allows. Removes all records
 * after the last selected one, and counts the removed records as not read. */
static void limit(struct screen *screen, struct chunk_result *result)
{
  const uint64_t nleft = screen->max_nselected - screen->nselected;
  if (screen->max_nselected == 0 || result->nselected < nleft)
    return;
  result->nselected = (size_t)nleft;
  size_t end = 0; /* the number of the records that remain */
  for (size_t i = 0; i < nleft; i++)
    end = find_bit(result->bitmap, end, result->nrecords, !screen->invert) + 1;
  const bool drops = screen->syntax.fields.missing == MISSING_DROP;
  const size_t nprinted = end - (drops ? count_missing(result, 0, end) : 0);
  keep_first(screen, &result->output, screen->annotation ? nprinted : result->nselected);
  keep_first(screen, &result->rest, nprinted - result->nselected);
  if (result->lists && result->lists->nrecords > nleft)
    result->lists->nrecords = (size_t)nleft;
  screen->job.nmissing -= count_missing(result, end, result->nrecords);
  screen->job.nrecords -= result->nrecords - end;
}

void deliver_chunk(void *context, size_t worker, struct chunk *chunk, uint64_t first)
{
  struct screen *screen = context;
  struct chunk_result *result = &screen->results[worker];
  if (result->short_of_memory)
    die(NULL, "%s", strerror(ENOMEM));
  const struct answer *answer = &screen->answer;
  /* The chunk still begins with its own records, since none was selected and moved. */
  if (first == 1 && result->nselected == 0 && answer->kind->inspect_unselected)
    answer->kind->inspect_unselected(answer->context, &screen->syntax, chunk);
  limit(screen, result);
  screen->nselected += result->nselected;
  if (screen->nhits)
    take_counts(screen, result);
  if (screen->number || screen->labels)
    print_each(screen, result, first);
  else
    sink_write_whole(&screen->output, result->output.data, result->output.nbytes);
  if (screen->unmatched_path)
    sink_write_whole(&screen->unmatched, result->rest.data, result->rest.nbytes);
  sink_flush(&screen->output);
  if (screen->nselected == screen->max_nselected && screen->max_nselected > 0)
    end_early(screen);
}
