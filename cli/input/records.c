/* Cuts records and makes their keys. Searches for the terminators of records in blocks of 64 bytes.
 * SPDX-License-Identifier: MIT */
#include "records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/bits.h"
#include "../base/characters.h"
#include "../base/find_last.h"
#include "byte_ranges.h"
#include "json.h"
#include "json_lines.h"
#include "key_form.h"
#include "separated.h"

/* ---- Ends of records ---- */

uint64_t count_lines(const char *data, size_t nbytes)
{
  uint64_t n = 0;
  for (size_t i = 0; i < nbytes; i++)
    n += data[i] == '\n';
  return n;
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
    in_quotes ^= has_odd_quotes(&syntax->fields, from, (size_t)(at - from));
    from = at + 1;
    if (!in_quotes)
      return (size_t)(from - data);
  }
  return 0;
}

/* Searches backwards for a line end with an even number of quotes before it. A line end after an
 * odd number of quotes is inside a field. If a quote is misplaced, the result may end inside a
 * record. This does no harm, because the cutter meets the misplaced quote first and reports it. */
size_t whole_nbytes(const struct record_syntax *syntax, const char *data, size_t nbytes,
                    size_t nnew, bool odd_quotes)
{
  if (syntax->width)
    return nbytes - nbytes % syntax->width;
  const char *begin = data + nbytes - nnew, *end = data + nbytes;
  for (const char *at; (at = find_last(begin, syntax->terminator, (size_t)(end - begin)));
       end = at) {
    odd_quotes ^= has_odd_quotes(&syntax->fields, at, (size_t)(end - at));
    if (!odd_quotes)
      return (size_t)(at + 1 - data);
  }
  return 0;
}

bool have_nuls(const struct record_syntax *syntax, const char *data, size_t nbytes)
{
  enum { MAX_NBYTES = 1 << 16 };
  return syntax->width == 0 && syntax->terminator == '\n' && !is_json(&syntax->fields) &&
         memchr(data, '\0', nbytes < MAX_NBYTES ? nbytes : MAX_NBYTES);
}

bool is_line_of_returns(const struct record_syntax *syntax, const char *data, size_t nbytes)
{
  const bool are_lines = syntax->width == 0 && syntax->terminator == '\n' &&
                         !is_json(&syntax->fields) && !has_quotes(&syntax->fields);
  const char *first = are_lines ? memchr(data, '\r', nbytes) : NULL;
  return first && first + 1 < data + nbytes && !memchr(data, '\n', nbytes);
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
  cutter->returns = RETURNS_UNKNOWN;
  cutter->at_beginning = at_beginning;
  cutter->bom_nbytes = at_beginning && may_have_bom(syntax) ? count_bom(data, nbytes) : 0;
  if (syntax->fields.n == 0)
    return;
  order_fields(&syntax->fields, &cutter->order);
  /* Fields joined by tabs have at most as many bytes as their record. Ranges of bytes have no
   * separators, but each has a byte, so their tabs are fewer than their bytes. */
  cutter->needed_nbytes = takes_bytes(&syntax->fields) ? 2 * nbytes : nbytes;
}

void cutter_end(struct cutter *cutter)
{
  free(cutter->joined);
  free(cutter->converted);
  cutter->joined = NULL;
  cutter->converted = NULL;
  cutter->capacity = cutter->converted_capacity = 0;
#if defined(LANEBLOOM_WITH_JSON)
  json_parser_destroy(cutter->json);
  cutter->json = NULL;
#endif
}

bool cutter_reserve(struct cutter *cutter)
{
  if (cutter->njoined > 0 || cutter->capacity >= cutter->needed_nbytes)
    return true;
  free(cutter->joined);
  cutter->joined = malloc(cutter->needed_nbytes);
  cutter->capacity = cutter->joined ? cutter->needed_nbytes : 0;
  return cutter->joined != NULL;
}

static void cut_fixed(struct cutter *cutter, struct batch *batch)
{
  const size_t nleft = (size_t)(cutter->end - cutter->next) / batch->width;
  batch->n = nleft < BATCH_NRECORDS ? nleft : BATCH_NRECORDS;
  batch->key_width = batch->width;
  batch->keys = lanebloom_keys_fixed(cutter->next, batch->width, batch->n);
  cutter->next += batch->n * batch->width;
}

/* Longer lines are not compared with each other, because memchr() is faster (Zen 3: the comparison
 * gains 8 ns per line of 300 bytes, and loses 15 ns per line of 1,000 bytes). */
enum { ALIKE_NBYTES = 512 };

/* Returns how many of the first n lines have the size of the first line, which is `width` bytes
 * including its terminator. The lines must have room for n lines of this size. If every byte is a
 * terminator exactly if the byte one width later is, all lines end at the same distances. Compilers
 * vectorize this comparison. */
static size_t count_alike(const char *lines, size_t width, size_t n, char terminator)
{
  enum { COMPARED_NBYTES = 1024 };
  const size_t nbytes = (n - 1) * width;
  for (size_t at = 0; at < nbytes; at += COMPARED_NBYTES) {
    const char *const line = lines + at, *const next = line + width;
    const size_t nleft = nbytes - at < COMPARED_NBYTES ? nbytes - at : COMPARED_NBYTES;
    unsigned char differences = 0;
    for (size_t i = 0; i < nleft; i++)
      differences |= (unsigned char)((line[i] == terminator) ^ (next[i] == terminator));
    if (differences)
      return at / width + 1;
  }
  return n;
}

/* Returns how many of n lines of one size end in a carriage return before their terminator. */
static size_t count_returns(const char *lines, size_t width, size_t n)
{
  size_t nreturns = 0;
  for (size_t i = 0; i < n && width > 1; i++)
    nreturns += lines[i * width + width - 2] == '\r';
  return nreturns;
}

static void drop_carriage_returns(lanebloom_slice *records, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const char *data = records[i].data;
    if (records[i].size > 0 && data[records[i].size - 1] == '\r')
      records[i].size--;
  }
}

/* Cuts the lines from the cutter's next byte on that have the size of the first of them, at most
 * BATCH_NRECORDS. Returns their number. If they are a whole batch, the batch consists of them, and
 * batch->n is set. Otherwise their slices are stored as the first records of the cutter. */
static size_t cut_alike(struct cutter *cutter, struct batch *batch)
{
  const char terminator = cutter->syntax.terminator, *lines = cutter->next;
  const size_t nleft = (size_t)(cutter->end - lines);
  const char *first_end =
      memchr(lines, terminator, nleft); /* never NULL, since records are whole */
  const size_t width = (size_t)(first_end + 1 - lines);
  const size_t most = width > ALIKE_NBYTES ? 1 : nleft / width;
  const size_t n =
      count_alike(lines, width, most < BATCH_NRECORDS ? most : BATCH_NRECORDS, terminator);
  const size_t nreturns = cutter->syntax.crlf ? count_returns(lines, width, n) : 0;
  if ((n < BATCH_NRECORDS && n * width < nleft) || (nreturns > 0 && nreturns < n)) {
    for (size_t i = 0; i < n; i++)
      cutter->records[i] = (lanebloom_slice){lines + i * width, width - 1};
    return n;
  }
  batch->n = n;
  batch->width = width;
  batch->key_width = width - 1 - (nreturns > 0);
  batch->keys = lanebloom_keys_strided(lines, batch->key_width, width, n);
  cutter->next += n * width;
  return n;
}

/* Cuts records at their terminators. Searches block by block, because one memchr() per line is slow
 * if lines are short. If a block has no terminator, memchr() finds the next terminator, because
 * memchr() is faster in long lines. With gcc 12 on an AMD EPYC, the search takes, in ns per line:
 *
 *   bytes of a line         12    36   100   1000
 *   by words of 8 bytes    2.1   4.4    11    104
 *   this search            1.7   2.8   6.5     18 */
static void cut_terminated(struct cutter *cutter, struct batch *batch)
{
  const char terminator = cutter->syntax.terminator;
  lanebloom_slice *records = cutter->records;
  size_t n = 0;
  const char *start = cutter->next, *end = cutter->end, *stop;
  if (cutter->bom_nbytes == 0 && !is_json(&cutter->syntax.fields)) {
    n = cut_alike(cutter, batch);
    if (batch->n > 0)
      return;
    start = (const char *)records[n - 1].data + records[n - 1].size + 1;
  }
  const char *scan = start;
  while (end - scan >= MARKED_NBYTES && n < BATCH_NRECORDS) {
    uint64_t marks = find_bytes(scan, &terminator, 1);
    if (marks == 0) {
      scan += MARKED_NBYTES;
      scan = memchr(scan, terminator, (size_t)(end - scan)); /* never NULL, since records are
                                                              * whole */
      continue;
    }
    for (; marks; marks &= marks - 1) {
      stop = scan + __builtin_ctzll(marks);
      records[n++] = (lanebloom_slice){start, (size_t)(stop - start)};
      start = stop + 1;
    }
    scan += MARKED_NBYTES;
  }
  while (n < BATCH_NRECORDS && start < end) {
    stop = memchr(scan, terminator, (size_t)(end - scan));
    records[n++] = (lanebloom_slice){start, (size_t)(stop - start)};
    start = scan = stop + 1;
  }
  records[n].data = start;
  batch->n =
      n < BATCH_NRECORDS ? n : BATCH_NRECORDS; /* the last block may have more records than the
                                                * batch; they are cut again */
  cutter->next = records[batch->n].data;
  if (cutter->syntax.crlf)
    drop_carriage_returns(records, batch->n);
  batch->records = batch->slices = records;
  batch->keys = lanebloom_keys_slices(records, batch->n);
}

/* Excludes the byte order mark from the key of the first record. The mark stays in the record. */
static void drop_bom(struct cutter *cutter, struct batch *batch)
{
  memcpy(cutter->keys, cutter->records, batch->n * sizeof *cutter->keys);
  cutter->keys->data = (const char *)cutter->keys->data + cutter->bom_nbytes;
  cutter->keys->size -= cutter->bom_nbytes;
  cutter->bom_nbytes = 0;
  batch->slices = cutter->keys;
  batch->keys = lanebloom_keys_slices(cutter->keys, batch->n);
}

/* ---- Converting keys ---- */

/* Makes each whole record a key, and trims it if the form requires this. Stores the slices of the
 * keys in cutter->keys, because the next steps change these slices, and batch->slices may be the
 * slices of the records. */
static void take_whole_records(struct cutter *cutter, struct batch *batch)
{
  const unsigned flags = cutter->syntax.form.flags;
  const bool trims = flags & LANEBLOOM_KEY_TRIMMED && !(flags & LANEBLOOM_KEY_JOINED);
  for (size_t i = 0; i < batch->n; i++) {
    const lanebloom_slice record = batch_key(batch, i);
    cutter->keys[i] = trims ? trim_text(record) : record;
  }
  memset(cutter->missing, 0, sizeof cutter->missing);
  cutter->nlines += batch->n;
}

/* Makes room for the converted keys. Returns false if memory ran out. */
static bool reserve_converted(struct cutter *cutter, size_t n)
{
  size_t needed = 0;
  for (size_t i = 0; i < n; i++)
    needed += max_key_nbytes(&cutter->syntax.units, cutter->keys[i].size);
  if (needed <= cutter->converted_capacity)
    return true;
  free(cutter->converted);
  cutter->converted = malloc(needed);
  cutter->converted_capacity = cutter->converted ? needed : 0;
  return cutter->converted != NULL;
}

/* Ends the batch before record i and stores a fault of this kind. `nlines` is the number of lines
 * before the batch. */
static void stop_at(struct cutter *cutter, struct batch *batch, size_t i, uint64_t nlines,
                    enum fault_kind kind)
{
  const char *record = batch_record(batch, i);
  uint64_t line = nlines + 1;
  for (const char *at = batch->data; at < record && !batch->width; at++)
    line += *at == cutter->syntax.terminator;
  cutter->fault = (struct fault){.kind = kind, .line = batch->width ? line + i : line};
  cutter->next = record;
  batch->n = i;
}

/* Describes what is wrong with the text of record i. If the text is part of the record, adds the
 * column. A key that was joined from fields is in other memory and has no column. */
static void explain_fault(struct cutter *cutter, const struct batch *batch, size_t i)
{
  const lanebloom_slice text = cutter->keys[i];
  const uintptr_t begin = (uintptr_t)batch_record(batch, i);
  const uintptr_t end = (uintptr_t)batch_record(batch, i + 1);
  char problem[sizeof cutter->fault.text - sizeof "column 18446744073709551615: "];
  const size_t at =
      explain_text(cutter->syntax.form, &cutter->syntax.units, text, problem, sizeof problem);
  const uintptr_t place = (uintptr_t)text.data;
  if (place >= begin && place < end)
    snprintf(cutter->fault.text, sizeof cutter->fault.text, "column %zu: %s",
             (size_t)(place - begin) + at + 1, problem);
  else
    snprintf(cutter->fault.text, sizeof cutter->fault.text, "%s", problem);
}

/* Converts the text of each key to the key. If a text is malformed, its record has no key, or the
 * batch ends with a fault, depending on --missing. `nlines` is the number of lines before the
 * batch. */
static void convert_keys(struct cutter *cutter, struct batch *batch, lanebloom_key_form form,
                         uint64_t nlines)
{
  const size_t nmissing = cutter->nmissing;
  if (!reserve_converted(cutter, batch->n)) {
    stop_at(cutter, batch, 0, nlines, FAULT_MEMORY);
    return;
  }
  uint8_t *to = cutter->converted;
  for (size_t i = 0; i < batch->n; i++) {
    if (!batch_has_key(batch, i))
      continue;
    lanebloom_slice *key = &cutter->keys[i];
    uint8_t *end = convert_text(form, &cutter->syntax.units, *key, to);
    if (!end && cutter->syntax.fields.missing == MISSING_FAIL) {
      stop_at(cutter, batch, i, nlines, FAULT_TEXT);
      explain_fault(cutter, batch, i);
      return;
    }
    if (!end) {
      cutter->missing[i / 8] |= (uint8_t)(1 << i % 8);
      cutter->nmissing++;
      end = to;
    }
    *key = (lanebloom_slice){to, (size_t)(end - to)};
    to = end;
  }
  if (cutter->nmissing > nmissing)
    batch->missing = cutter->missing;
}

static bool have_one_size(const lanebloom_slice *keys, size_t n)
{
  size_t differences = 0;
  for (size_t i = 0; i < n; i++)
    differences |= keys[i].size ^ keys[0].size;
  return n > 0 && keys[0].size > 0 && differences == 0;
}

/* Makes the keys of a batch from their text. Fields of a record were already trimmed and joined; a
 * whole record is trimmed here. */
static void make_keys(struct cutter *cutter, struct batch *batch, uint64_t nlines)
{
  const uint32_t joined = LANEBLOOM_KEY_JOINED;
  lanebloom_key_form form = cutter->syntax.form;
  if (cutter->syntax.fields.n == 0)
    take_whole_records(cutter, batch);
  else
    form.flags &= ~joined;
  const bool converts = form.encoding || form.flags & ~(uint32_t)LANEBLOOM_KEY_TRIMMED ||
                        cutter->syntax.units.partition_key;
  if (converts)
    convert_keys(cutter, batch, form, nlines);
  batch->slices = cutter->keys;
  if (converts && !batch->missing && have_one_size(cutter->keys, batch->n)) /* converted keys are
                                                                             * adjacent in memory */
    batch->keys = lanebloom_keys_fixed(cutter->keys->data, cutter->keys->size, batch->n);
  else
    batch->keys = lanebloom_keys_slices(cutter->keys, batch->n);
}

/* Returns the bytes of record i that may end in a carriage return: the key, or if the key is a
 * digest, the record without its terminator. */
static lanebloom_slice text_before_return(const struct record_syntax *syntax,
                                          const struct batch *batch, size_t i)
{
  const char *record = batch_record(batch, i);
  return syntax->form.flags & LANEBLOOM_KEY_DIGEST
             ? (lanebloom_slice){record, (size_t)(batch_record(batch, i + 1) - 1 - record)}
             : batch_key(batch, i);
}

/* Finds out how the keys end. If keys were decoded or are not text, a carriage return at their end
 * means nothing, so the result is RETURNS_UNKNOWN. So it is if keys are digests of a part of the
 * record or of trimmed text. */
static enum returns find_returns(const struct record_syntax *syntax, const struct batch *batch)
{
  if (syntax->width || syntax->terminator != '\n' || syntax->crlf || syntax->form.encoding ||
      syntax->units.partition_key)
    return RETURNS_UNKNOWN;
  if (syntax->form.flags & LANEBLOOM_KEY_DIGEST &&
      (syntax->fields.n > 0 || syntax->form.flags & LANEBLOOM_KEY_TRIMMED))
    return RETURNS_UNKNOWN;
  size_t nkeys = 0, nreturns = 0;
  for (size_t i = 0; i < batch->n; i++) {
    const lanebloom_slice key = text_before_return(syntax, batch, i);
    nkeys += batch_has_key(batch, i);
    nreturns += key.size > 0 && ((const char *)key.data)[key.size - 1] == '\r';
  }
  return nkeys == 0          ? RETURNS_UNKNOWN
         : nreturns == 0     ? RETURNS_NONE
         : nreturns == nkeys ? RETURNS_ALL
         : is_text(batch->data, (size_t)(batch_record(batch, batch->n) - batch->data))
             ? RETURNS_SOME
             : RETURNS_UNKNOWN;
}

bool cutter_next(struct cutter *cutter, struct batch *batch)
{
  if (cutter->next == cutter->end || cutter->fault.kind)
    return false;
  const uint64_t nlines = cutter->nlines;
  *batch = (struct batch){.data = cutter->next, .width = cutter->syntax.width};
  const struct field_syntax *fields = &cutter->syntax.fields;
  if (fields->n > 0 && !is_json(fields) && !takes_bytes(fields))
    cut_separated(cutter, batch);
  else
    (batch->width ? cut_fixed : cut_terminated)(cutter, batch);
#if defined(LANEBLOOM_WITH_JSON)
  if (is_json(fields))
    take_json_keys(cutter, batch);
#endif
  if (cutter->bom_nbytes > 0) /* the functions that cut fields have already removed the mark */
    drop_bom(cutter, batch);
  if (takes_bytes(fields))
    take_byte_ranges(cutter, batch);
  if (form_converts(cutter->syntax.form) || cutter->syntax.units.partition_key)
    make_keys(cutter, batch, nlines);
  if (cutter->at_beginning)
    cutter->returns = find_returns(&cutter->syntax, batch);
  cutter->at_beginning = false;
  cutter->nrecords += batch->n;
  return batch->n > 0;
}

char *batch_gather(const struct batch *batch, const uint8_t *bitmap, bool wanted, char *to)
{
  for (size_t end, first = 0;; first = end) {
    first = find_bit(bitmap, first, batch->n, wanted);
    if (first == batch->n)
      return to;
    end = find_bit(bitmap, first, batch->n, !wanted);
    const char *record = batch_record(batch, first);
    const size_t nbytes = (size_t)(batch_record(batch, end) - record);
    if (to != record)
      memmove(to, record, nbytes);
    to += nbytes;
  }
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

/* Returns the first field of the key that is missing in a record of nfields fields. */
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
             "separator right? (--%sdelimiter)",
             column, option_prefix(&cutter->syntax.fields));
    return;
  case FAULT_AFTER:
    snprintf(text, size,
             "field %zu: expected a separator after the closing quote, found more text; is the "
             "separator right? (--%sdelimiter)",
             column, option_prefix(&cutter->syntax.fields));
    return;
  case FAULT_UNCLOSED:
    snprintf(text, size, "field %zu: expected a closing quote, found the end of the input", column);
    return;
  case FAULT_TEXT:
    snprintf(text, size, "%s; see --missing%s", fault->text,
             cutter->syntax.form.encoding ? " and --decode" : "");
    return;
  case FAULT_JSON:
    snprintf(text, size, "%s", fault->text);
    return;
  }
}
