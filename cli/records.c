/* Cuts records. Terminators are searched in blocks of 64 bytes.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "separated.h"

/* ---- Where records end ---- */

uint64_t count_lines(const char *data, size_t nbytes)
{
  uint64_t n = 0;
  for (size_t i = 0; i < nbytes; i++)
    n += data[i] == '\n';
  return n;
}

bool has_odd_quotes(const struct record_syntax *syntax, const char *data, size_t nbytes)
{
  unsigned char n = 0; /* modulo 256; compilers vectorise the sum of bytes */
  if (has_quotes(&syntax->fields))
    for (size_t i = 0; i < nbytes; i++)
      n = (unsigned char)(n + (data[i] == '"'));
  return n % 2;
}

size_t record_nbytes(const struct record_syntax *syntax, const char *data, size_t nbytes)
{
  if (syntax->width)
    return nbytes < syntax->width ? 0 : syntax->width;
  bool in_quotes = false;
  for (const char *from = data, *end = data + nbytes; from < end;) {
    const char *at = memchr(from, syntax->terminator, (size_t)(end - from));
    if (!at)
      return 0;
    in_quotes ^= has_odd_quotes(syntax, from, (size_t)(at - from));
    from = at + 1;
    if (!in_quotes)
      return (size_t)(from - data);
  }
  return 0;
}

/* A line end after an odd number of quotes is inside a field. If a quote stands where none may, the
 * chunk may end inside a record: that quote comes before this end, and the cutter finds it. */
size_t whole_nbytes(const struct record_syntax *syntax, const char *data, size_t nbytes,
                    size_t nnew, bool odd_quotes)
{
  if (syntax->width)
    return nbytes - nbytes % syntax->width;
  const char *begin = data + nbytes - nnew, *end = data + nbytes;
  for (const char *at; (at = memrchr(begin, syntax->terminator, (size_t)(end - begin))); end = at) {
    odd_quotes ^= has_odd_quotes(syntax, at, (size_t)(end - at));
    if (!odd_quotes)
      return (size_t)(at + 1 - data);
  }
  return 0;
}

/* ---- Cutting ---- */

void cutter_begin(struct cutter *cutter, const struct record_syntax *syntax, const char *data,
                  size_t nbytes, bool at_beginning)
{
  cutter->syntax = *syntax;
  cutter->next = data;
  cutter->end = data + nbytes;
  cutter->nrecords = cutter->nmissing = 0;
  cutter->nlines = 0;
  cutter->fault = (struct fault){.kind = FAULT_NONE};
  cutter->bom_nbytes = 0;
  if (syntax->fields.n == 0)
    return;
  order_fields(&syntax->fields, &cutter->order);
  cutter->bom_nbytes = at_beginning ? count_bom(&syntax->fields, data, nbytes) : 0;
  cutter->needed_nbytes = nbytes; /* joined by tabs, keys are no longer than their records */
}

void cutter_end(struct cutter *cutter)
{
  free(cutter->joined);
  cutter->joined = NULL;
  cutter->capacity = 0;
}

static void cut_fixed(struct cutter *cutter, struct batch *batch)
{
  const size_t nleft = (size_t)(cutter->end - cutter->next) / batch->width;
  batch->n = nleft < BATCH_NRECORDS ? nleft : BATCH_NRECORDS;
  batch->keys = lanebloom_keys_fixed(cutter->next, batch->width, batch->n);
  cutter->next += batch->n * batch->width;
}

static void drop_carriage_returns(lanebloom_slice *records, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const char *data = records[i].data;
    if (records[i].size > 0 && data[records[i].size - 1] == '\r')
      records[i].size--;
  }
}

/* Searches block by block, because one memchr() per line is slow for short lines. After a block
 * without a terminator, memchr() finds the next one, which is faster in long lines. Nanoseconds per
 * line, a search by words of 8 bytes and this one, gcc 12 on an AMD EPYC: lines of 12 bytes 2.1 and
 * 1.7, of 36 bytes 4.4 and 2.8, of 100 bytes 11 and 6.5, of 1000 bytes 104 and 18. */
static void cut_terminated(struct cutter *cutter, struct batch *batch)
{
  const char terminator = cutter->syntax.terminator;
  const char *start = cutter->next, *scan = start, *end = cutter->end, *stop;
  lanebloom_slice *records = cutter->records;
  size_t n = 0;
  while (end - scan >= BLOCK_NBYTES && n < BATCH_NRECORDS) {
    uint64_t marks = find_bytes(scan, &terminator, 1);
    if (marks == 0) {
      scan += BLOCK_NBYTES;
      scan = memchr(scan, terminator, (size_t)(end - scan)); /* there is one: records are whole */
      continue;
    }
    for (; marks; marks &= marks - 1) {
      stop = scan + __builtin_ctzll(marks);
      records[n++] = (lanebloom_slice){start, (size_t)(stop - start)};
      start = stop + 1;
    }
    scan += BLOCK_NBYTES;
  }
  while (n < BATCH_NRECORDS && start < end) {
    stop = memchr(scan, terminator, (size_t)(end - scan));
    records[n++] = (lanebloom_slice){start, (size_t)(stop - start)};
    start = scan = stop + 1;
  }
  records[n].data = start;
  batch->n =
      n < BATCH_NRECORDS ? n : BATCH_NRECORDS; /* surplus records of the last block are cut again */
  cutter->next = records[batch->n].data;
  if (cutter->syntax.crlf)
    drop_carriage_returns(records, batch->n);
  batch->records = batch->slices = records;
  batch->keys = lanebloom_keys_slices(records, batch->n);
}

bool cutter_next(struct cutter *cutter, struct batch *batch)
{
  if (cutter->next == cutter->end || cutter->fault.kind)
    return false;
  *batch = (struct batch){.data = cutter->next, .width = cutter->syntax.width};
  if (cutter->syntax.fields.n > 0)
    cut_separated(cutter, batch);
  else
    (batch->width ? cut_fixed : cut_terminated)(cutter, batch);
  cutter->nrecords += batch->n;
  return batch->n > 0;
}

void batch_drop_missing(struct batch *batch)
{
  if (!batch->missing)
    return;
  size_t n = 0;
  for (size_t i = 0; i < batch->n; i++)
    if (batch_has_key(batch, i))
      batch->slices[n++] = batch->slices[i];
  batch->keys = lanebloom_keys_slices(batch->slices, n);
}

/* ---- Faults ---- */

/* Returns the first field of the key that a record of so many fields lacks. */
static const struct field *missing_field(const struct field_syntax *fields, size_t nfields)
{
  const struct field *field = fields->fields;
  while (field->number < nfields)
    field++;
  return field;
}

void describe_fault(const struct cutter *cutter, char *text, size_t size)
{
  const struct fault *fault = &cutter->fault;
  const size_t column = fault->nfields + 1;
  const struct field *missing = NULL;
  switch (fault->kind) {
  case FAULT_NONE:
    *text = '\0';
    return;
  case FAULT_MEMORY:
    snprintf(text, size, "out of memory for the keys of a chunk");
    return;
  case FAULT_MISSING:
    missing = missing_field(&cutter->syntax.fields, fault->nfields);
    snprintf(text, size, "expected field %zu%s%.60s%s, found %zu field%s; see --missing",
             missing->number + 1, missing->name ? " '" : "", missing->name ? missing->name : "",
             missing->name ? "'" : "", fault->nfields, fault->nfields == 1 ? "" : "s");
    return;
  case FAULT_QUOTE:
    snprintf(text, size,
             "field %zu: expected quotes around the whole field, found one inside it; is the "
             "separator right? (-d)",
             column);
    return;
  case FAULT_AFTER:
    snprintf(text, size,
             "field %zu: expected a separator after the closing quote, found more text; is it the "
             "right one? (-d)",
             column);
    return;
  case FAULT_UNCLOSED:
    snprintf(text, size, "field %zu: expected a closing quote, found the end of the input", column);
    return;
  }
}
