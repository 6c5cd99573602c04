/* Screens a CSV file that arrives in pieces, and collects the records that may be in the filter.
 * The code of the command cuts the records, so the result is what `lanebloom screen --csv' prints.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../cli/base/bits.h"
#include "../../../cli/base/find_last.h"
#include "../../../cli/input/chunk.h"
#include "../../../cli/input/file_kinds.h"
#include "../../../cli/input/key_form.h"
#include "../../../cli/input/records.h"

#define EXPORT(name) __attribute__((export_name(#name)))

enum {
  /* If no record has ended after this many bytes, the bytes are searched for a misplaced quote,
   * after which no record would end before the end of the file. */
  CHECK_NBYTES = 1 << 20,
  FIRST_NBYTES = 512, /* enough bytes to see what kind of file they begin */
  TAIL_NBYTES = 2     /* room for the line end of the last record, if it lacks one */
};

struct csv {
  const lanebloom_filter *filter; /* borrowed; NULL: only the columns are wanted */
  struct record_syntax syntax;
  struct cutter cutter;
  uint8_t bitmap[BATCH_NRECORDS / 8];

  char *buffer; /* first the output of the last call, and then the bytes of records without end */
  size_t nbytes, capacity;
  size_t noutput;            /* the size of the output */
  size_t nused;              /* the next call removes this many bytes at the beginning */
  size_t check_nbytes;       /* search for a misplaced quote if this many bytes have no record */
  bool odd_quotes;           /* the number of quotes after the bytes to be removed is odd */
  bool at_beginning;         /* no record has ended */
  bool needs_header;         /* the header has not ended */
  bool has_carriage_returns; /* the last record ended in CR LF */
  uint64_t nrecords, nselected, nmissing, nlines;
  char problem[400];
};

/* Begins a file whose keys are in one column, which is counted from 0. `missing` says what happens
 * to records without a key. Returns NULL if memory runs out. */
EXPORT(csv_create)
struct csv *csv_create(const lanebloom_filter *filter, size_t column, bool has_header,
                       char separator, enum missing missing)
{
  struct csv *csv = calloc(1, sizeof *csv);
  if (!csv)
    return NULL;
  csv->filter = filter;
  csv->syntax = (struct record_syntax){
      .terminator = '\n',
      .crlf = true,
      .fields = {.n = 1,
                 .fields = {{.number = column}},
                 .separator = separator,
                 .dialect = DIALECT_CSV,
                 .no_header = !has_header,
                 .missing = missing},
      .form = filter ? lanebloom_filter_key_form(filter) : (lanebloom_key_form){0},
  };
  csv->check_nbytes = CHECK_NBYTES;
  csv->at_beginning = true;
  csv->needs_header = has_header;
  return csv;
}

EXPORT(csv_free)
void csv_free(struct csv *csv)
{
  if (csv) {
    cutter_end(&csv->cutter);
    free(csv->buffer);
  }
  free(csv);
}

/* Returns room for the next n bytes of the file, or NULL if memory runs out. The output of the last
 * call is removed. */
EXPORT(csv_room)
char *csv_room(struct csv *csv, size_t n)
{
  csv->nbytes -= csv->nused;
  if (csv->nused > 0)
    memmove(csv->buffer, csv->buffer + csv->nused, csv->nbytes);
  csv->nused = csv->noutput = 0;
  if (n > (size_t)PTRDIFF_MAX / 2 - csv->nbytes)
    return NULL;
  const size_t needed = csv->nbytes + n + TAIL_NBYTES;
  if (needed > csv->capacity) {
    const size_t capacity = needed + csv->nbytes / 2;
    char *larger = realloc(csv->buffer, capacity);
    if (!larger)
      return NULL;
    csv->buffer = larger;
    csv->capacity = capacity;
  }
  return csv->buffer + csv->nbytes;
}

/* ---- Problems ---- */

__attribute__((format(printf, 2, 3))) static bool fail(struct csv *csv, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(csv->problem, sizeof csv->problem, format, arguments);
  va_end(arguments);
  return false;
}

static bool fail_by_fault(struct csv *csv)
{
  char text[200];
  describe_fault(&csv->cutter, text, sizeof text);
  return fail(csv, "line %" PRIu64 ": %s", csv->nlines + csv->cutter.fault.line, text);
}

/* Checks the first bytes of a file, as the command does. */
static bool check_beginning(struct csv *csv, bool ends)
{
  const struct file_kind *kind = find_file_kind(csv->buffer, csv->nbytes);
  if (csv->nbytes == 0)
    return fail(csv, "expected %s, found an empty file",
                csv->needs_header ? "a header" : "records");
  if (kind && (csv->nbytes >= kind->nbytes || (ends && is_stump(kind, csv->nbytes))))
    return fail(csv, "expected CSV, found %s", kind->name);
  const size_t nfirst = csv->nbytes < READ_NBYTES ? csv->nbytes : READ_NBYTES;
  if (has_lone_return(&csv->syntax.fields, csv->buffer, nfirst))
    return fail(csv, LONE_RETURN_TEXT);
  return true;
}

/* Cuts the first n bytes of the buffer without making keys, and returns the first fault. */
static enum fault_kind find_fault(struct csv *csv, size_t n)
{
  struct record_syntax syntax = csv->syntax;
  syntax.fields.fields[0].number = SIZE_MAX - 1; /* no record has it, so the cutter makes no keys */
  syntax.fields.missing = MISSING_DROP;
  syntax.form = (lanebloom_key_form){0};
  cutter_begin(&csv->cutter, &syntax, csv->buffer, n, csv->at_beginning);
  for (struct batch batch; cutter_next(&csv->cutter, &batch);)
    ;
  return csv->cutter.fault.kind;
}

/* Searches bytes in which no record ends for a misplaced quote. */
static bool check_quotes(struct csv *csv)
{
  const char *last = find_last(csv->buffer, '\n', csv->nbytes);
  const enum fault_kind kind =
      last ? find_fault(csv, (size_t)(last + 1 - csv->buffer)) : FAULT_NONE;
  return (kind != FAULT_QUOTE && kind != FAULT_AFTER) || fail_by_fault(csv);
}

/* ---- Records ---- */

/* Completes the last record of a file if it lacks its line end. */
static void complete_tail(struct csv *csv)
{
  if (csv->nbytes == 0 || csv->buffer[csv->nbytes - 1] == '\n')
    return;
  if (csv->has_carriage_returns && csv->buffer[csv->nbytes - 1] != '\r')
    csv->buffer[csv->nbytes++] = '\r';
  csv->buffer[csv->nbytes++] = '\n';
}

/* Selects the records without a key, or does not, as `missing` says. */
static void set_missing(const struct csv *csv, const struct batch *batch, uint8_t *bitmap)
{
  const bool keep = csv->syntax.fields.missing == MISSING_KEEP;
  for (size_t i = 0; i < batch->n; i++)
    if (!batch_has_key(batch, i))
      bitmap[i / 8] = (uint8_t)(keep ? bitmap[i / 8] | 1 << i % 8 : bitmap[i / 8] & ~(1 << i % 8));
}

/* Screens the whole records between the output and the end of the used bytes, and appends the
 * selected ones to the output. */
static bool screen_records(struct csv *csv, bool at_beginning)
{
  char *to = csv->buffer + csv->noutput;
  cutter_begin(&csv->cutter, &csv->syntax, to, csv->nused - csv->noutput, at_beginning);
  for (struct batch batch; cutter_next(&csv->cutter, &batch);) {
    lanebloom_filter_screen(csv->filter, &batch.keys, csv->bitmap);
    if (batch.missing)
      set_missing(csv, &batch, csv->bitmap);
    csv->nselected += count_bits(csv->bitmap, (batch.n + 7) / 8);
    to = batch_gather(&batch, csv->bitmap, true, to);
  }
  csv->noutput = (size_t)(to - csv->buffer);
  csv->nrecords += csv->cutter.nrecords;
  csv->nmissing += csv->cutter.nmissing;
  if (csv->cutter.fault.kind)
    return fail_by_fault(csv);
  csv->nlines += csv->cutter.nlines;
  return true;
}

/* Returns how many bytes are whole records. The last n bytes are new. If the file ends, all of them
 * are: if a quote is open, the cutter reports it. */
static size_t take_whole(struct csv *csv, size_t n, bool ends)
{
  const size_t nwhole = whole_nbytes(&csv->syntax, csv->buffer, csv->nbytes,
                                     csv->at_beginning ? csv->nbytes : n, csv->odd_quotes);
  if (nwhole > 0)
    csv->has_carriage_returns = nwhole > 1 && csv->buffer[nwhole - 2] == '\r';
  if (!ends)
    return nwhole;
  complete_tail(csv);
  return csv->nbytes;
}

/* Takes n bytes, which the caller has written into the memory of csv_room(), and screens the
 * records that have ended. `ends` says that the file ends with these bytes. The output becomes the
 * selected records, after the header if it has ended in this call. Returns false, with a problem,
 * if the file is refused; the output has the selected records before the fault. */
EXPORT(csv_push)
bool csv_push(struct csv *csv, size_t n, bool ends)
{
  const struct field_syntax *fields = &csv->syntax.fields;
  csv->odd_quotes ^= has_odd_quotes(fields, csv->buffer + csv->nbytes, n);
  csv->nbytes += n;
  if (csv->at_beginning && csv->nbytes < FIRST_NBYTES && !ends)
    return true;
  if (csv->at_beginning && !check_beginning(csv, ends))
    return false;
  const size_t nwhole = take_whole(csv, n, ends);
  if (nwhole == 0 && csv->nbytes >= csv->check_nbytes) {
    csv->check_nbytes = 2 * csv->nbytes;
    return check_quotes(csv);
  }
  if (nwhole == 0)
    return true;

  const bool begins_with_record = csv->at_beginning && !csv->needs_header;
  csv->at_beginning = false;
  csv->check_nbytes = CHECK_NBYTES;
  csv->odd_quotes = has_odd_quotes(fields, csv->buffer + nwhole, csv->nbytes - nwhole);
  csv->nused = nwhole;
  if (csv->needs_header) {
    csv->noutput = record_nbytes(&csv->syntax, csv->buffer, nwhole);
    if (csv->noutput == 0) { /* a quote is misplaced, or open */
      find_fault(csv, nwhole);
      return fail_by_fault(csv);
    }
    csv->nlines = count_lines(csv->buffer, csv->noutput);
    csv->needs_header = false;
  }
  return !csv->filter || screen_records(csv, begins_with_record);
}

/* ---- Results ---- */

/* What a caller reads after a call. JavaScript reads these numbers by their offsets. */
struct csv_state {
  const char *output;
  size_t noutput;
  double nrecords, nselected, nmissing;
};

EXPORT(csv_describe)
void csv_describe(const struct csv *csv, struct csv_state *state)
{
  *state = (struct csv_state){.output = csv->buffer,
                              .noutput = csv->noutput,
                              .nrecords = (double)csv->nrecords,
                              .nselected = (double)csv->nselected,
                              .nmissing = (double)csv->nmissing};
}

EXPORT(csv_problem)
const char *csv_problem(const struct csv *csv)
{
  return csv->problem;
}

/* Finds field `column` of the first record that was pushed, without its quotes, and stores it in
 * *text. Returns false if the record has no such field, or has a fault, which is then a problem.
 * Call this if `filter` is NULL, after a call of csv_push() in which a record has ended. */
EXPORT(csv_column)
bool csv_column(struct csv *csv, size_t column, lanebloom_slice *text)
{
  struct record_syntax syntax = csv->syntax;
  struct batch batch;
  syntax.fields.fields[0].number = column;
  syntax.fields.missing = MISSING_KEEP;
  cutter_begin(&csv->cutter, &syntax, csv->buffer,
               record_nbytes(&csv->syntax, csv->buffer, csv->nused), true);
  const bool is_whole = cutter_next(&csv->cutter, &batch);
  if (csv->cutter.fault.kind) {
    csv->nlines = 0;
    fail_by_fault(csv);
  }
  if (!is_whole || !batch_has_key(&batch, 0))
    return false;
  *text = batch_key(&batch, 0);
  return true;
}
