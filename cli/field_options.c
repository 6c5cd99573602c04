/* The options of fields: which part of a record is its key.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli.h"

enum { OPTION_CSV = 0x100, OPTION_TSV, OPTION_NO_HEADER, OPTION_MISSING };

static void set_separator(struct record_syntax *syntax, const char *text, struct argp_state *state)
{
  if (strcmp(text, "\\t") == 0)
    text = "\t";
  if (strlen(text) != 1 || strchr("\n\r\"", *text))
    usage_error(
        state, "--delimiter: expected one byte that is no quote and no line end, found '%s'", text);
  syntax->fields.separator = *text;
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

static void check_fields(struct record_syntax *syntax, const struct argp_state *state)
{
  struct field_syntax *fields = &syntax->fields;
  if (fields->n == 0 && (fields->dialect || fields->separator || fields->no_header))
    argp_error(state, "expected -f FIELDS, which of the fields are the key; found none");
  if (fields->n == 0)
    return;
  if (syntax->width)
    argp_error(state, "give only one of --width and -f: records of N bytes have no fields");
  if (fields->dialect && syntax->terminator == '\0')
    argp_error(state, "give only one of --null and --csv or --tsv, whose records are lines");
  if (fields->dialect == DIALECT_TSV && fields->separator && fields->separator != '\t')
    argp_error(state, "give only one of --tsv and -d; --csv -d C has another separator");
  if (fields->no_header && !fields->dialect)
    argp_error(state, "--no-header needs --csv or --tsv");
  syntax->crlf |= fields->dialect != DIALECT_NONE;
  if (!fields->separator)
    fields->separator = fields->dialect == DIALECT_CSV ? ',' : '\t';
  for (size_t i = 0; i < fields->n && !has_header(fields); i++)
    if (fields->fields[i].name)
      usage_error(state,
                  "-f: expected numbers, found the name '%s': names need a header, --csv or --tsv",
                  fields->fields[i].name);
}

static error_t parse_field_option(int key, char *text, struct argp_state *state)
{
  struct record_syntax *syntax = state->input;
  const enum dialect dialect = key == OPTION_CSV ? DIALECT_CSV : DIALECT_TSV;
  char problem[200];
  switch (key) {
  case 'd':
    set_separator(syntax, text, state);
    return 0;
  case 'f':
    if (!add_fields(&syntax->fields, text, problem, sizeof problem))
      usage_error(state, "-f: %s", problem);
    return 0;
  case OPTION_CSV:
  case OPTION_TSV:
    if (syntax->fields.dialect && syntax->fields.dialect != dialect)
      argp_error(state, "give only one of --csv and --tsv");
    syntax->fields.dialect = dialect;
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
            {NULL, 0, NULL, 0, "The key is the whole record, or some of its fields:", 6},
            {"fields", 'f', "LIST", 0,
             "The key is these fields: numbers from 1 as in 3 or 1,4-5, or names of a header; "
             "several are joined by a tab, in this order",
             6},
            {"delimiter", 'd', "C", 0, "Fields are separated by this byte (tab; with --csv, comma)",
             6},
            {"csv", OPTION_CSV, NULL, 0,
             "Records are CSV, as RFC 4180 defines it: quoted fields may hold separators, line "
             "ends and \"\". The first record of an input is its header, the same in all inputs",
             6},
            {"tsv", OPTION_TSV, NULL, 0,
             "Fields are separated by tabs, without quotes. The first line of an input is its "
             "header; for lines without one, give -f alone",
             6},
            {"no-header", OPTION_NO_HEADER, NULL, 0, "The first record is like any other", 6},
            {"missing", OPTION_MISSING, "WHAT", 0,
             "A record without a key, because it has fewer fields or malformed text: `fail' ends "
             "the command (the "
             "default), `drop' leaves it out, `keep' selects it, where records are selected. A "
             "field "
             "that is empty is an empty key",
             6},
            {0}},
    .parser = parse_field_option,
};
