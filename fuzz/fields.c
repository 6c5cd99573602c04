/* Fuzzes the reading of records with fields (CSV and the like) with any bytes, all in one call and
 * as chunks of an input that is read in pieces. The following must be true: records, keys and
 * faults are the same as the parser below finds. This parser follows the definition byte by byte. A
 * fault is a reason to refuse a record.
 *
 *   flags, 1 byte: 1 CSV, 2 semicolons, 4 keep records without a key, 8 fail at them,
 *     16 drop a carriage return | how often the bytes are repeated, 1 byte
 *   the key, 1 byte: 1 trimmed, 2 lower-cased, 4 decoded: from hex, or 8 from INT32;
 *     and 16 times the most bytes that a read returns, or 0 for no such limit
 *   fields of the key, 1 byte each, up to 0xff | bytes
 *
 * SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "fuzz.h"
#include "input/inputs.h"

enum { MAX_NBYTES = 64 << 10 };

/* ---- The definition ---- */

/* The state of the parser, which reads one record after the other. */
struct parser {
  const struct record_syntax *syntax;
  const char *at, *end;
  size_t bom_nbytes; /* the size of a byte order mark before the record */
  uint64_t line;     /* the number of lines before the record */
  enum fault_kind fault;
  size_t nfields;
  char fields[8][MAX_NBYTES]; /* the first fields, without quotes */
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

/* Parses a record, up to the beginning of the next one. After a fault, parser->at is undefined. */
static void parse_record(struct parser *parser)
{
  const bool quotes = parser->syntax->fields.dialect == DIALECT_CSV;
  parser->at += parser->bom_nbytes;
  parser->bom_nbytes = 0;
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
    parser->line += *begin == '\n'; /* line ends in quotes */
}

static bool has_all_fields(const struct parser *parser)
{
  const struct field_syntax *fields = &parser->syntax->fields;
  for (size_t i = 0; i < fields->n; i++)
    if (fields->fields[i].number >= parser->nfields)
      return false;
  return true;
}

/* Decodes hexadecimal digits in place. Returns the number of bytes, or -1 if the text is
 * malformed. */
static long decode_hex(char *key, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    if (!isxdigit((unsigned char)key[i]))
      return -1;
  for (size_t i = 0; i + 1 < nbytes; i += 2)
    key[i / 2] = (char)strtol((char[]){key[i], key[i + 1], 0}, NULL, 16);
  return nbytes % 2 ? -1 : (long)nbytes / 2;
}

/* Decodes a decimal number in place. Returns the number of bytes, or -1 if the text is
 * malformed. */
static long decode_int32(char *key, size_t nbytes)
{
  char *end;
  key[nbytes] = 0;
  const long number = strtol(key, &end, 10);
  if (end != key + nbytes || nbytes == 0 || isspace((unsigned char)*key) || number != (int)number)
    return -1;
  for (size_t i = 0; i < 4; i++)
    key[i] = (char)(number >> 8 * i);
  return 4;
}

/* Makes the key of the parsed record, which must have all fields of the key. Returns the number of
 * bytes, or -1 if the text is malformed. */
static long make_key(const struct parser *parser, char *key)
{
  const struct field_syntax *fields = &parser->syntax->fields;
  const lanebloom_key_form form = parser->syntax->form;
  size_t n = 0;
  for (size_t i = 0; i < fields->n; i++) {
    const size_t number = fields->fields[i].number;
    const char *begin = parser->fields[number], *end = begin + parser->nbytes[number];
    if (i > 0)
      key[n++] = '\t';
    if (form.flags & LANEBLOOM_KEY_TRIMMED) {
      for (; begin < end && memchr(" \t\r\n", *begin, 4); begin++)
        ;
      for (; begin < end && memchr(" \t\r\n", end[-1], 4); end--)
        ;
    }
    for (; begin < end; begin++)
      key[n++] = (char)(form.flags & LANEBLOOM_KEY_LOWERED && *begin >= 'A' && *begin <= 'Z'
                            ? *begin - 'A' + 'a'
                            : *begin);
  }
  return form.encoding == LANEBLOOM_HEX     ? decode_hex(key, n)
         : form.encoding == LANEBLOOM_INT32 ? decode_int32(key, n)
                                            : (long)n;
}

/* ---- Records ---- */

static char expected[MAX_NBYTES + 4]; /* the expected key of a record */

/* Checks record i of a batch, which is the parser's next record. */
static void check_record(struct parser *parser, const struct batch *batch, size_t i)
{
  const lanebloom_slice found = batch_key(batch, i);
  CHECK(batch_record(batch, i) == parser->at);
  parse_record(parser);
  CHECK(parser->fault == FAULT_NONE);
  CHECK(batch_record(batch, i + 1) == parser->at);
  const long nexpected = has_all_fields(parser) ? make_key(parser, expected) : -1;
  CHECK(batch_has_key(batch, i) == (nexpected >= 0));
  CHECK(found.size == (size_t)(nexpected < 0 ? 0 : nexpected));
  CHECK(memcmp(found.data, expected, found.size) == 0);
  CHECK(batch->keys.width == 0 || (batch->keys.width == found.size &&
                                   (const char *)batch->keys.data + i * found.size == found.data));
  CHECK(batch->keys.width > 0 || batch->keys.index == batch->slices);
  parser->line++;
}

/* Checks that the cutter (the code under test) has stopped at the end, or at the right fault. */
static void check_end(struct parser *parser, const struct cutter *cutter)
{
  CHECK(cutter->next == parser->at);
  if (parser->at == parser->end) {
    CHECK(cutter->fault.kind == FAULT_NONE && cutter->nlines == parser->line);
    return;
  }
  const uint64_t line = parser->line + 1;
  parse_record(parser);
  if (!parser->fault && cutter->syntax.fields.missing == MISSING_FAIL)
    parser->fault = !has_all_fields(parser)          ? FAULT_MISSING
                    : make_key(parser, expected) < 0 ? FAULT_TEXT
                                                     : FAULT_NONE;
  CHECK(parser->fault != FAULT_NONE && parser->fault == cutter->fault.kind);
  CHECK(cutter->fault.nfields == parser->nfields || parser->fault == FAULT_TEXT);
  CHECK(cutter->fault.line == line);
  char text[400];
  describe_fault(cutter, text, sizeof text);
  CHECK(strlen(text) > 0 && strlen(text) < sizeof text - 1);
}

/* Checks that the functions that search for the end of a record find the end of this record. No
 * record before this one has a fault. */
static void check_ends(const struct record_syntax *syntax, const char *data,
                       const lanebloom_slice *record, const char *next)
{
  const char *begin = record->data;
  CHECK(record_nbytes(syntax, begin, (size_t)(next - begin)) == (size_t)(next - begin));
  CHECK(record_nbytes(syntax, begin, (size_t)(next - begin) - 1) == 0);
  const size_t nbytes = (size_t)(next - data) - 1;
  const bool odd = has_odd_quotes(&syntax->fields, data, nbytes);
  CHECK(whole_nbytes(syntax, data, nbytes, nbytes, odd) == (size_t)(begin - data));
}

/* Checks the records in these bytes, which are whole records unless there is a fault. Returns how
 * many bytes were cut into records. */
static size_t check_records(const struct record_syntax *syntax, const char *data, size_t nbytes,
                            bool at_beginning)
{
  static struct cutter cutter;
  static struct parser parser;
  parser.syntax = syntax;
  parser.at = data;
  parser.end = data + nbytes;
  parser.bom_nbytes = at_beginning ? count_bom(data, nbytes) : 0;
  parser.line = 0;
  parser.fault = FAULT_NONE;
  cutter_begin(&cutter, syntax, data, nbytes, at_beginning);
  size_t n = 0;
  for (struct batch batch; cutter_next(&cutter, &batch); n += batch.n) {
    CHECK(n % BATCH_NRECORDS == 0 && batch.keys.n == batch.n);
    for (size_t i = 0; i < batch.n; i++) {
      check_record(&parser, &batch, i);
      if (i % 64 == 0)
        check_ends(syntax, data, &batch.records[i], batch_record(&batch, i + 1));
    }
  }
  CHECK(n == cutter.nrecords);
  check_end(&parser, &cutter);
  return (size_t)(cutter.next - data);
}

/* ---- An input from which read(2) returns a few bytes at a time ---- */

static const char *next, *end;
static size_t most_at_once;

ssize_t __wrap_read(int descriptor, void *to, size_t nbytes);

ssize_t __wrap_read(int descriptor, void *to, size_t nbytes)
{
  CHECK(descriptor == STDIN_FILENO);
  const size_t nleft = (size_t)(end - next), n = nbytes < most_at_once ? nbytes : most_at_once;
  const size_t nread = n < nleft ? n : nleft;
  memcpy(to, next, nread);
  next += nread;
  return (ssize_t)nread;
}

/* Checks the chunks of an input. Cutting the chunks into records must stop at byte `ncut`, as
 * cutting all bytes in one call did. */
static void check_input(const struct record_syntax *syntax, const char *data, size_t nbytes,
                        size_t ncut)
{
  static struct inputs inputs;
  static struct chunk chunk;
  const char *at = data;
  CHECK(chunk.buffer || chunk_create(&chunk, READ_NBYTES));
  next = data;
  end = data + nbytes;
  inputs_begin(&inputs, &(struct input_messages){.verb = "test", .container_advice = ""}, syntax,
               NULL, 0, NULL);
  for (size_t n = 0; inputs_next(&inputs, &chunk); at += n) {
    if (*chunk.error) { /* the input was refused for its first bytes */
      CHECK(at == data &&
            (strstr(chunk.error, "UTF-") || has_lone_return(&syntax->fields, data, nbytes) ||
             is_line_of_returns(syntax, data, nbytes)));
      return;
    }
    CHECK(chunk.at_beginning == (at == data));
    CHECK(chunk.nbytes <= (size_t)(end - at) + 2); /* plus a line end if a quote is not closed */
    n = check_records(syntax, chunk.data, chunk.nbytes, chunk.at_beginning);
    CHECK(memcmp(chunk.data, at, n) == 0);
    if (n < chunk.nbytes) {
      CHECK(at + n == data + ncut);
      return;
    }
  }
  CHECK(at == end && ncut == nbytes);
}

/* ---- The test ---- */

static struct record_syntax take_syntax(struct fuzz_input *input, unsigned *nrepeats)
{
  const uint8_t flags = input_byte(input);
  struct record_syntax syntax = {.terminator = '\n', .decompress = DECOMPRESS_NONE};
  *nrepeats = 1 + input_byte(input);
  const uint8_t how = input_byte(input);
  most_at_once = how / 16 ? how / 16 : SIZE_MAX;
  syntax.fields.dialect = flags & 1 ? DIALECT_CSV : DIALECT_NONE;
  syntax.fields.no_header = true;
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
  syntax.form.flags = (how & 1 ? LANEBLOOM_KEY_TRIMMED : 0) | (how & 2 ? LANEBLOOM_KEY_LOWERED : 0);
  if (syntax.fields.n > 1) /* keys of several fields are not decoded */
    syntax.form.flags |= LANEBLOOM_KEY_JOINED;
  else if (how & 4)
    syntax.form.encoding = how & 8 ? LANEBLOOM_INT32 : LANEBLOOM_HEX;
  return syntax;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  struct fuzz_input input = {bytes, size};
  unsigned nrepeats;
  const struct record_syntax syntax = take_syntax(&input, &nrepeats);
  if (input.left == 0 || input.left >= MAX_NBYTES)
    return 0;
  const size_t most = (MAX_NBYTES - 1) / input.left;
  nrepeats = nrepeats < most ? nrepeats : (unsigned)most;
  const bool lacks_end = bytes[size - 1] != '\n';
  const size_t nbytes = nrepeats * input.left + lacks_end;
  char *data = fuzz_alloc(nbytes); /* the exact size lets sanitizers detect reads past it */
  for (size_t i = 0; i < nrepeats; i++)
    memcpy(data + i * input.left, input.at, input.left);
  data[nbytes - 1] = '\n';
  if (!find_file_kind(data, nbytes)) /* bytes of another kind of file are refused */
    check_input(&syntax, data, nbytes, check_records(&syntax, data, nbytes, true));
  free(data);
  return 0;
}
