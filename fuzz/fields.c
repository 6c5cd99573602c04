/* Any bytes as records with fields. Records, keys and faults are those of a parser that follows the
 * definition byte by byte.
 *
 *   flags, 1 byte: 1 CSV, 2 semicolons, 4 keep records without a key, 8 fail at them,
 *     16 drop a carriage return | how often the bytes are repeated, 1 byte
 *   fields of the key, 1 byte each, up to 0xff | bytes
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "records.h"

enum { MAX_NBYTES = 64 << 10 };

/* ---- The definition ---- */

/* Parses one record after the other. */
struct parser {
  const struct record_syntax *syntax;
  const char *at, *end;
  uint64_t line; /* of the record */
  enum fault_kind fault;
  size_t nfields;
  char fields[8][MAX_NBYTES]; /* the first ones, without quotes */
  size_t nbytes[8];
};

static void put(struct parser *parser, char c)
{
  if (parser->nfields < 8)
    parser->fields[parser->nfields][parser->nbytes[parser->nfields]++] = c;
}

static bool ends_record(const struct parser *parser)
{
  const bool crlf = parser->syntax->crlf && parser->end - parser->at >= 2 &&
                    parser->at[0] == '\r' && parser->at[1] == '\n';
  return crlf || *parser->at == '\n';
}

static bool ends_field(const struct parser *parser)
{
  return *parser->at == parser->syntax->fields.separator || ends_record(parser);
}

static void parse_quoted(struct parser *parser)
{
  for (parser->at++; parser->at < parser->end; parser->at++) {
    if (*parser->at != '"') {
      put(parser, *parser->at);
    } else if (parser->at + 1 < parser->end && parser->at[1] == '"') {
      put(parser, '"');
      parser->at++;
    } else {
      parser->at++;
      parser->fault = ends_field(parser) ? FAULT_NONE : FAULT_AFTER;
      return;
    }
  }
  parser->fault = FAULT_UNCLOSED;
}

static void parse_plain(struct parser *parser, bool quotes)
{
  for (; !ends_field(parser); parser->at++) {
    if (quotes && *parser->at == '"') {
      parser->fault = FAULT_QUOTE;
      return;
    }
    put(parser, *parser->at);
  }
}

/* Parses up to the next record. After a fault the place is undefined. */
static void parse_record(struct parser *parser)
{
  const bool quotes = parser->syntax->fields.dialect == DIALECT_CSV;
  const char *begin = parser->at;
  memset(parser->nbytes, 0, sizeof parser->nbytes);
  for (parser->nfields = 0;; parser->at++) {
    if (quotes && *parser->at == '"')
      parse_quoted(parser);
    else
      parse_plain(parser, quotes);
    if (parser->fault)
      return;
    parser->nfields++;
    if (ends_record(parser))
      break;
  }
  parser->at += *parser->at == '\r' ? 2 : 1;
  for (; begin < parser->at - 1; begin++)
    parser->line += *begin == '\n'; /* in quotes */
}

/* Is it the key of the parsed record? */
static bool is_key(const struct parser *parser, const lanebloom_slice *key)
{
  const struct field_syntax *fields = &parser->syntax->fields;
  const char *at = key->data, *end = at + key->size;
  for (size_t i = 0; i < fields->n; i++) {
    const size_t number = fields->fields[i].number, nbytes = parser->nbytes[number];
    if (i > 0 && (at == end || *at++ != '\t'))
      return false;
    if ((size_t)(end - at) < nbytes || memcmp(at, parser->fields[number], nbytes) != 0)
      return false;
    at += nbytes;
  }
  return at == end;
}

static bool has_all_fields(const struct parser *parser)
{
  const struct field_syntax *fields = &parser->syntax->fields;
  for (size_t i = 0; i < fields->n; i++)
    if (fields->fields[i].number >= parser->nfields)
      return false;
  return true;
}

/* ---- The test ---- */

/* Checks the next record of a batch. */
static void check_record(struct parser *parser, const struct batch *batch, size_t i)
{
  static lanebloom_slice found; /* the batch has its keys as slices */
  CHECK(batch_record(batch, i) == parser->at);
  parse_record(parser);
  CHECK(parser->fault == FAULT_NONE);
  CHECK(batch_record(batch, i + 1) == parser->at);
  found = ((const lanebloom_slice *)batch->keys.index)[i];
  CHECK(batch_has_key(batch, i) == has_all_fields(parser));
  CHECK(batch_has_key(batch, i) ? is_key(parser, &found) : found.size == 0);
  parser->line++;
}

static void check_end(struct parser *parser, const struct cutter *cutter)
{
  CHECK(cutter->next == parser->at);
  if (parser->at == parser->end) {
    CHECK(cutter->fault.kind == FAULT_NONE && cutter->nlines == parser->line);
    return;
  }
  const uint64_t line = parser->line + 1;
  parse_record(parser);
  if (!parser->fault && cutter->syntax.fields.missing == MISSING_FAIL && !has_all_fields(parser))
    parser->fault = FAULT_MISSING;
  CHECK(parser->fault != FAULT_NONE && parser->fault == cutter->fault.kind);
  CHECK(cutter->fault.nfields == parser->nfields && cutter->fault.line == line);
  char text[200];
  describe_fault(cutter, text, sizeof text);
  CHECK(strlen(text) > 0 && strlen(text) < sizeof text - 1);
}

/* Records end where the parts of the bytes say it, if there is no fault before. */
static void check_ends(const struct record_syntax *syntax, const char *data,
                       const lanebloom_slice *record, const char *next)
{
  const char *begin = record->data;
  CHECK(record_nbytes(syntax, begin, (size_t)(next - begin)) == (size_t)(next - begin));
  CHECK(record_nbytes(syntax, begin, (size_t)(next - begin) - 1) == 0);
  const size_t nbytes = (size_t)(next - data) - 1;
  const bool odd = has_odd_quotes(syntax, data, nbytes);
  CHECK(whole_nbytes(syntax, data, nbytes, nbytes, odd) == (size_t)(begin - data));
}

static struct record_syntax take_syntax(struct fuzz_input *input, unsigned *nrepeats)
{
  const uint8_t flags = input_byte(input);
  struct record_syntax syntax = {.terminator = '\n'};
  *nrepeats = 1 + input_byte(input);
  syntax.fields.dialect = flags & 1 ? DIALECT_CSV : DIALECT_NONE;
  syntax.fields.separator = flags & 2 ? ';' : ',';
  syntax.fields.missing = flags & 8 ? MISSING_FAIL : flags & 4 ? MISSING_KEEP : MISSING_DROP;
  syntax.crlf = flags & 17;
  unsigned taken = 0;
  for (uint8_t number; input->left > 0 && (number = input_byte(input)) != 0xff;)
    if (!(taken >> number % 8 & 1)) {
      syntax.fields.fields[syntax.fields.n++].number = number % 8;
      taken |= 1u << number % 8;
    }
  if (syntax.fields.n == 0)
    syntax.fields.n = 1;
  return syntax;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  static struct cutter cutter;
  static struct parser parser;
  static char data[MAX_NBYTES];
  struct fuzz_input input = {bytes, size};
  unsigned nrepeats;
  const struct record_syntax syntax = take_syntax(&input, &nrepeats);
  size_t nbytes = 0;
  for (; nrepeats > 0 && input.left > 0 && nbytes + input.left < MAX_NBYTES; nrepeats--) {
    memcpy(data + nbytes, bytes + (size - input.left), input.left);
    nbytes += input.left;
  }
  if (nbytes == 0)
    return 0;
  if (data[nbytes - 1] != '\n')
    data[nbytes++] = '\n';
  parser.syntax = &syntax;
  parser.at = data;
  parser.end = data + nbytes;
  parser.line = 0;
  parser.fault = FAULT_NONE;
  cutter_begin(&cutter, &syntax, data, nbytes, false);
  size_t n = 0;
  for (struct batch batch; cutter_next(&cutter, &batch); n += batch.n) {
    CHECK(n % BATCH_NRECORDS == 0 && batch.keys.n == batch.n);
    for (size_t i = 0; i < batch.n; i++) {
      check_record(&parser, &batch, i);
      if (i % 64 == 0)
        check_ends(&syntax, data, &batch.records[i], batch_record(&batch, i + 1));
    }
  }
  CHECK(n == cutter.nrecords);
  check_end(&parser, &cutter);
  return 0;
}
