/* Parses lines of JSON that consist of all sequences of a few tokens and of a few escapes, and
 * checks the results against the definition.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "input/json.h"
#include "support.h"

enum { MAX_NPIECES = 7, MAX_NBYTES = 256 };

/* Parses a copy of a line. After the copy there is only padding. */
static enum json_status parse(struct json_parser *parser, const char *line, char padding,
                              struct json_value *value)
{
  const size_t nbytes = strlen(line);
  const char *found;
  char *copy = test_alloc(nbytes + JSON_PADDING_NBYTES);
  memcpy(copy, line, nbytes);
  memset(copy + nbytes, padding, JSON_PADDING_NBYTES);
  const enum json_status status = json_parse(parser, copy, nbytes, value, &found);
  free(copy);
  return status;
}

static struct json_parser *create_parser(void)
{
  static const struct field_syntax fields = {
      .fields = {{.name = "a"}}, .n = 1, .dialect = DIALECT_JSON};
  struct json_parser *parser = json_parser_create(&fields);
  cr_assert(parser);
  return parser;
}

/* Writes number `number` of the sequences of n pieces to `sequence`, as indices of pieces. Returns
 * false if there are fewer sequences. */
static bool make_sequence(size_t number, size_t npieces, size_t n, size_t *sequence)
{
  for (size_t i = 0; i < n; i++, number /= npieces)
    sequence[i] = number % npieces;
  return number == 0;
}

static void join(const char *const *pieces, const size_t *sequence, size_t n, char *line)
{
  *line = '\0';
  for (size_t i = 0; i < n; i++)
    line = stpcpy(line, pieces[sequence[i]]);
}

/* ---- The grammar of RFC 8259, sections 2 to 5 ---- */

enum token { OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COLON, COMMA, STRING, NUMBER };
static const char *const tokens[] = {"{", "}", "[", "]", ":", ",", "\"a\"", "1 "};
enum { NTOKENS = sizeof tokens / sizeof *tokens };

struct cursor {
  const size_t *at, *end;
};

static bool take(struct cursor *cursor, enum token token)
{
  const bool takes = cursor->at < cursor->end && *cursor->at == token;
  cursor->at += takes;
  return takes;
}

static bool take_value(struct cursor *cursor);

/* Accepts the rest after an opening bracket: nothing, or items with commas between them. */
static bool take_items(struct cursor *cursor, enum token close, bool have_names)
{
  if (take(cursor, close))
    return true;
  do
    if ((have_names && !(take(cursor, STRING) && take(cursor, COLON))) || !take_value(cursor))
      return false;
  while (take(cursor, COMMA));
  return take(cursor, close);
}

static bool take_value(struct cursor *cursor)
{
  if (take(cursor, OPEN_OBJECT))
    return take_items(cursor, CLOSE_OBJECT, true);
  if (take(cursor, OPEN_ARRAY))
    return take_items(cursor, CLOSE_ARRAY, false);
  return take(cursor, STRING) || take(cursor, NUMBER);
}

Test(json, tokens_are_json_if_the_grammar_says_so)
{
  struct json_parser *parser = create_parser();
  struct json_value value;
  size_t sequence[MAX_NPIECES];
  char line[MAX_NBYTES];
  for (size_t n = 1; n <= (test_exhaustive() ? MAX_NPIECES : 6); n++)
    for (size_t number = 0; make_sequence(number, NTOKENS, n, sequence); number++) {
      struct cursor cursor = {sequence, sequence + n};
      const bool is_json = take_value(&cursor) && cursor.at == cursor.end;
      join(tokens, sequence, n, line);
      const char *padding = number % 2 ? "]\"" : "}1";
      for (; *padding; padding++)
        if (parse(parser, line, *padding, &value) != (is_json ? JSON_OK : JSON_INVALID))
          test_fatal("%s, then %c: expected %s", line, *padding, is_json ? "JSON" : "no JSON");
    }
  json_parser_destroy(parser);
}

/* ---- Escapes of RFC 8259, sections 7 and 8.2 ---- */

static const char *const escapes[] = {"\\ud800", "\\uDFFF", "\\u00e9", "\\\"",
                                      "x",       "\\u12g4", "\\x"};
enum { HIGH, LOW, FIRST_MALFORMED = 5, NESCAPES = sizeof escapes / sizeof *escapes };

static bool are_well_formed(const size_t *sequence, size_t n)
{
  bool are = true;
  for (size_t i = 0; i < n; i++)
    are &= sequence[i] < FIRST_MALFORMED;
  return are;
}

static bool has_lone_surrogate(const size_t *sequence, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (sequence[i] == HIGH && i + 1 < n && sequence[i + 1] == LOW)
      i++;
    else if (sequence[i] == HIGH || sequence[i] == LOW)
      return true;
  return false;
}

static void check_escapes(struct json_parser *parser, const char *before, const char *string,
                          const char *after, bool is_json, enum json_kind kind)
{
  struct json_value value;
  char line[MAX_NBYTES];
  snprintf(line, sizeof line, "%s%s%s", before, string, after);
  const enum json_status status = parse(parser, line, '"', &value);
  if (status != (is_json ? JSON_OK : JSON_INVALID) || (is_json && value.kind != kind))
    test_fatal("%s: found status %d, kind %d", line, status, value.kind);
}

Test(json, lone_surrogates_are_json_and_no_text)
{
  struct json_parser *parser = create_parser();
  size_t sequence[MAX_NPIECES];
  char string[MAX_NBYTES];
  for (size_t n = 1; n <= 4; n++)
    for (size_t number = 0; make_sequence(number, NESCAPES, n, sequence); number++) {
      const bool is_json = are_well_formed(sequence, n);
      const enum json_kind kind = has_lone_surrogate(sequence, n) ? JSON_SURROGATE : JSON_TEXT;
      join(escapes, sequence, n, string);
      check_escapes(parser, "{\"a\":\"", string, "\"}", is_json, kind);
      check_escapes(parser, "{\"b\":\"", string, "\",\"a\":1}", is_json, JSON_TEXT);
      check_escapes(parser, "{\"", string, "\":1,\"a\":1}", is_json, JSON_TEXT);
    }
  json_parser_destroy(parser);
}
