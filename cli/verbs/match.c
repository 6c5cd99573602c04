/* lanebloom match: prints the records whose key is exactly one of the keys in a file.
 * SPDX-License-Identifier: MIT */
#include "../answer/exact.h"
#include "../base/report.h"
#include "../input/file_kinds.h"
#include "../input/record_options.h"
#include "../input/records.h"
#include "../options/options.h"
#include "../output/screen.h"
#include "verbs.h"

struct match {
  struct screen screen;
  char *keys; /* the path of the file of keys */
  struct field_syntax key_fields;
};

enum { OPTION_FIELD = 0x100, OPTION_DELIMITER, OPTION_CSV, OPTION_TSV, OPTION_NO_HEADER };

static void check_key_fields(struct match *match, const struct argp_state *state)
{
  struct field_syntax *fields = &match->key_fields;
  const struct record_syntax *syntax = &match->screen.syntax;
  if (fields->n == 0 && (fields->dialect || fields->no_header || fields->separator))
    argp_error(state,
               "expected --keys-field LIST, the fields of KEYS that are the key; found none");
  fields->missing = syntax->fields.missing;
  fields->is_of_keys = true;
  if (fields->n == 0)
    return;
  if (syntax->width)
    argp_error(state, "give only one of --width and --keys-field: records of N bytes have no "
                      "fields");
  if (fields->dialect && syntax->terminator == '\0')
    argp_error(state, "give only one of --null and --keys-csv or --keys-tsv, whose records are "
                      "lines");
  if (fields->no_header && !fields->dialect)
    argp_error(state, "--keys-no-header needs --keys-csv or --keys-tsv");
  if (fields->dialect == DIALECT_TSV && fields->separator && fields->separator != '\t')
    argp_error(state,
               "give only one of --keys-tsv and --keys-delimiter; --keys-csv takes any separator");
  if (!fields->separator)
    fields->separator = fields->dialect == DIALECT_CSV ? ',' : '\t';
  for (size_t i = 0; i < fields->n && !has_header(fields); i++)
    if (fields->fields[i].name)
      usage_error(state,
                  "--keys-field: expected numbers, found the name '%s': names need a header, "
                  "--keys-csv or --keys-tsv",
                  fields->fields[i].name);
}

/* Returns the syntax of KEYS. It is the syntax of INPUT, except that the fields of KEYS have
 * options of their own. */
static struct record_syntax keys_syntax(const struct match *match)
{
  struct record_syntax syntax = match->screen.syntax;
  syntax.fields = match->key_fields;
  syntax.crlf |= match->key_fields.dialect != DIALECT_NONE;
  return syntax;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct match *match = state->input;
  struct screen *screen = &match->screen;
  char problem[200];
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &screen->syntax;
    state->child_inputs[1] = &screen->job.nworkers;
    state->child_inputs[2] = &screen->job.progress;
    state->child_inputs[3] = screen;
    return 0;
  case OPTION_FIELD:
    if (!add_fields(&match->key_fields, text, problem, sizeof problem))
      usage_error(state, "--keys-field: %s", problem);
    return 0;
  case OPTION_DELIMITER:
    match->key_fields.separator = parse_separator(state, "--keys-delimiter", text);
    return 0;
  case OPTION_CSV:
  case OPTION_TSV:
    if (match->key_fields.dialect)
      argp_error(state, "give only one of --keys-csv and --keys-tsv, once");
    match->key_fields.dialect = key == OPTION_CSV ? DIALECT_CSV : DIALECT_TSV;
    return 0;
  case OPTION_NO_HEADER:
    match->key_fields.no_header = true;
    return 0;
  case ARGP_KEY_END:
    check_key_fields(match, state);
    if (screen->ninputs == 0)
      argp_error(state, "expected KEYS, a file of keys; found none");
    match->keys = take_first_input(screen);
    check_standard_input(screen, state, &match->keys, 1, "KEYS");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {NULL, 0, NULL, 0, "The key in KEYS is the whole record, or some of its fields:", 4},
            {"keys-field", OPTION_FIELD, "LIST", 0,
             "These fields of KEYS are the key; LIST is written as for -f", 4},
            {"keys-delimiter", OPTION_DELIMITER, "C", 0,
             "Fields of KEYS are separated by this byte (tab; with --keys-csv, comma)", 4},
            {"keys-csv", OPTION_CSV, NULL, 0, "KEYS is CSV, with a header", 4},
            {"keys-tsv", OPTION_TSV, NULL, 0, "KEYS is TSV, with a header", 4},
            {"keys-no-header", OPTION_NO_HEADER, NULL, 0,
             "The first record of KEYS is data, not a header", 4},
            {0}},
    .parser = parse,
    .args_doc = "KEYS [INPUT...]",
    .doc =
        "Prints the records of INPUT whose key is in the file KEYS. KEYS comes first, as the "
        "pattern does for grep. If INPUT comes first, records of KEYS are printed without a "
        "warning, because either file could be the keys. Unlike `screen', `match' is exact: a "
        "filter rules out most records, and the others are compared with the keys themselves.\n"
        "-b, -f, -d, --csv, --tsv, --jsonl and --no-header apply to INPUT alone; all other options "
        "of records apply to both, and so do the line ends of --csv, --tsv and --jsonl. KEYS is "
        "read into memory first. Keys may repeat. Each key takes about 14 more bytes of memory, or "
        "22 if it is a field. While fields are read, KEYS and up to two copies of its keys are in "
        "memory; a copy takes 8 more bytes per key. Records come from INPUT, or from standard "
        "input if there is none or it is `-'. The exit status is 0 if a record was selected, 1 if "
        "none was, 2 after an error.\v"
        "Examples:\n"
        "  lanebloom match users.txt seen.txt\n"
        "  lanebloom match --csv -f user_id users.txt events.csv\n"
        "  lanebloom match --keys-csv --keys-field id ids.csv --csv -f user events.csv\n"
        "  lanebloom match -v --tsv -f 2 blocked.txt requests.tsv\n"
        "  cut -f 1 a.tsv | lanebloom match -f 1 - b.tsv",
    .children = (const struct argp_child[]){{.argp = &record_argp},
                                            {.argp = &jobs_argp},
                                            {.argp = &progress_argp},
                                            {.argp = &selection_argp},
                                            {.argp = &kernel_argp},
                                            {0}},
};

int match_main(int argc, char **argv)
{
  struct input_messages messages = {.verb = "match",
                                    .container_advice =
                                        "`match' compares keys; `lanebloom screen' takes a filter"};
  struct match match = {.keys = NULL};
  struct exact exact = {0};
  parse_options(&argp, 0, argc, argv, &match);
  open_sinks(&match.screen);
  check_is_no_output(&match.screen, match.keys);
  const struct record_syntax syntax = keys_syntax(&match);
  match.screen.answer = exact_answer(&exact, match.keys, &syntax, &messages);
  if (key_set_begins_with_header(&exact.keys, &match.screen.syntax.fields))
    messages.header_advice = "; KEYS has it: KEYS comes first, then INPUT";
  return run_screen(&match.screen, &messages);
}
