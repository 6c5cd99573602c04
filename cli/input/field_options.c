/* Parses the options that say which fields of a record are its key.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/report.h"
#include "../options/options.h"
#include "json.h"
#include "record_options.h"
#include "records.h"

enum { OPTION_CSV = 0x100, OPTION_TSV, OPTION_JSONL, OPTION_NO_HEADER, OPTION_MISSING };

#if defined(LANEBLOOM_WITH_JSON)
static const bool with_json = true;
#else
static const bool with_json = false;
#endif

char parse_separator(const struct argp_state *state, const char *option, const char *text)
{
  if (strcmp(text, "\\t") == 0)
    text = "\t";
  if (strlen(text) != 1 || strchr("\n\r\"", *text))
    usage_error(state, "%s: expected one byte that is no quote and no line end, found '%s'", option,
                text);
  return *text;
}

static void set_missing(struct record_syntax *syntax, const char *text, struct argp_state *state)
{
  static const char *const names[] = {
      [MISSING_FAIL] = "fail", [MISSING_KEEP] = "keep", [MISSING_DROP] = "drop"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(text, names[i]) == 0) {
      syntax->fields.missing = (enum missing)i;
      return;
    }
  usage_error(state, "--missing: expected fail, keep or drop, found '%s'", text);
}

static void keep_list(struct field_syntax *fields, char *list, const struct argp_state *state)
{
  if (fields->nlists == MAX_NFIELDS)
    argp_error(state, "-f: expected at most %d fields, found more", MAX_NFIELDS);
  fields->lists[fields->nlists++] = list;
}

static void set_dialect(struct field_syntax *fields, int key, const struct argp_state *state)
{
  const enum dialect dialect = key == OPTION_CSV   ? DIALECT_CSV
                               : key == OPTION_TSV ? DIALECT_TSV
                                                   : DIALECT_JSON;
  if (dialect == DIALECT_JSON && !with_json)
    argp_error(state, "--jsonl: this lanebloom was built without simdjson, which reads JSON");
  if (fields->dialect && fields->dialect != dialect)
    argp_error(state, "give only one of %s--csv, --tsv and --jsonl",
               fields->dialect == DIALECT_BYTES ? "-b, " : "");
  fields->dialect = dialect;
}

static void add_ranges(struct field_syntax *fields, const char *list,
                       const struct argp_state *state)
{
  char problem[200];
  if (fields->dialect && fields->dialect != DIALECT_BYTES)
    argp_error(state, "give only one of -b, --csv, --tsv and --jsonl");
  fields->dialect = DIALECT_BYTES;
  if (!add_byte_ranges(fields, list, problem, sizeof problem))
    usage_error(state, "-b: %s", problem);
}

static void add_lists(struct field_syntax *fields, const struct argp_state *state)
{
  char problem[200];
  for (size_t i = 0; i < fields->nlists; i++)
    if (!add_fields(fields, fields->lists[i], problem, sizeof problem))
      usage_error(state, "-f: %s", problem);
}

#if defined(LANEBLOOM_WITH_JSON)
static void run_out_of_memory(void)
{
  die(NULL, "%s", strerror(ENOMEM));
}
#endif

/* Reports a usage error if an option was given that does not apply to JSON. */
static void check_json(const struct field_syntax *fields, const struct argp_state *state)
{
  if (fields->separator)
    argp_error(state, "give only one of --jsonl and -d: members have no separator");
  if (fields->no_header)
    argp_error(state, "give only one of --jsonl and --no-header: JSON has no header");
#if defined(LANEBLOOM_WITH_JSON)
  json_prepare(run_out_of_memory);
#endif
}

/* Reports a usage error if an option was given that does not apply to ranges of bytes. */
static void check_ranges(struct field_syntax *fields, const struct argp_state *state)
{
  if (fields->nlists > 0)
    argp_error(state, "give only one of -b and -f");
  if (fields->separator)
    argp_error(state, "give only one of -b and -d: bytes have no separator");
  if (fields->no_header)
    argp_error(state, "--no-header needs --csv or --tsv");
  fields->separator = '\t'; /* --annotate adds a field after it */
}

static void check_fields(struct record_syntax *syntax, const struct argp_state *state)
{
  struct field_syntax *fields = &syntax->fields;
  if (fields->dialect == DIALECT_BYTES) {
    check_ranges(fields, state);
    return;
  }
  add_lists(fields, state);
  if (fields->n == 0 && (fields->dialect || fields->separator || fields->no_header))
    argp_error(state, "expected -f FIELDS, the fields that are the key; found none");
  if (fields->n == 0)
    return;
  if (syntax->width)
    argp_error(state, "give only one of --width and -f: records of N bytes have no fields");
  if (fields->dialect && syntax->terminator == '\0')
    argp_error(state, "give only one of --null and --csv, --tsv or --jsonl, whose records are "
                      "lines");
  if (fields->dialect == DIALECT_JSON) {
    check_json(fields, state);
    return;
  }
  if (fields->dialect == DIALECT_TSV && fields->separator && fields->separator != '\t')
    argp_error(state, "give only one of --tsv and -d; for another separator, give --csv -d C");
  if (fields->no_header && !fields->dialect)
    argp_error(state, "--no-header needs --csv or --tsv");
  syntax->crlf |= fields->dialect != DIALECT_NONE;
  if (!fields->separator)
    fields->separator = fields->dialect == DIALECT_CSV ? ',' : '\t';
  for (size_t i = 0; i < fields->n && !has_header(fields); i++) {
    const char *name = fields->fields[i].name;
    if (name && lanebloom_system_exists(name))
      usage_error(state,
                  "-f: expected numbers, found the name '%s', which is a file: files are named "
                  "without -f, as in `%s %s'",
                  name, state->name, name);
    if (name)
      usage_error(state,
                  "-f: expected numbers, found the name '%s': names need a header, --csv or --tsv",
                  name);
  }
}

static error_t parse_field_option(int key, char *text, struct argp_state *state)
{
  struct record_syntax *syntax = state->input;
  switch (key) {
  case 'b':
    add_ranges(&syntax->fields, text, state);
    return 0;
  case 'd':
    syntax->fields.separator = parse_separator(state, "--delimiter", text);
    return 0;
  case 'f':
    keep_list(&syntax->fields, text, state);
    return 0;
  case OPTION_CSV:
  case OPTION_TSV:
  case OPTION_JSONL:
    set_dialect(&syntax->fields, key, state);
    return 0;
  case OPTION_NO_HEADER:
    syntax->fields.no_header = true;
    return 0;
  case OPTION_MISSING:
    set_missing(syntax, text, state);
    return 0;
  case ARGP_KEY_END:
    check_fields(syntax, state);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

void refuse_keep(const struct record_syntax *syntax, const struct argp_state *state)
{
  if (syntax->fields.missing == MISSING_KEEP)
    argp_error(state, "--missing: expected fail or drop: a record without a key has no hash");
}

const struct argp field_argp = {
    .options =
        (const struct argp_option[]){
            {NULL, 0, NULL, 0, "The key is the whole record, or some of its fields or bytes:", 6},
            {"fields", 'f', "LIST", 0,
             "These fields are the key: numbers from 1, as in 3 or 1,4-5, or names of a header; "
             "several fields are joined by tabs, in this order",
             6},
            {"bytes", 'b', "LIST", 0,
             "These bytes are the key: ranges as `cut -b' takes them, as in 1-9 or 3,10-; several "
             "ranges are joined by tabs, in this order. A record that lacks the first byte of a "
             "range has no key",
             6},
            {"delimiter", 'd', "C", 0, "Fields are separated by this byte (tab; with --csv, comma)",
             6},
            {"csv", OPTION_CSV, NULL, 0,
             "Records are CSV, as RFC 4180 defines it: quoted fields may hold separators, line "
             "ends and \"\". The first record of each input is its header, which must be the same "
             "in all inputs",
             6},
            {"tsv", OPTION_TSV, NULL, 0,
             "Fields are separated by tabs and not quoted. The first line of each input is its "
             "header; for lines without one, give -f alone",
             6},
            {"jsonl", OPTION_JSONL, NULL, 0,
             "Each line is a JSON value. -f takes names of members of its object, as in id,user, "
             "or JSON pointers, as in /user/id or /tags/0. The key is the text of a string, or a "
             "number, true or false as written; null, objects and arrays count as missing",
             6},
            {"no-header", OPTION_NO_HEADER, NULL, 0, "The first record is data, not a header", 6},
            {"missing", OPTION_MISSING, "WHAT", 0,
             "Handle a record without a key, which has too few fields or text that cannot be "
             "decoded: `fail' (the default) ends the command, `drop' skips the record, `keep' "
             "selects it if the verb selects records. An empty field is an empty key; invalid CSV "
             "or JSON always ends the command",
             6},
            {0}},
    .parser = parse_field_option,
};
