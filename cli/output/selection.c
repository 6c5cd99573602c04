/* Parses the options of `screen' and `match' that say which records are printed, where and how.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "../base/paths.h"
#include "../options/numbers.h"
#include "../options/options.h"
#include "screen.h"

enum { OPTION_ANNOTATE = 0x100, OPTION_UNMATCHED, OPTION_SUMMARY, OPTION_SUMMARY_FILE };

static void set_annotation(struct screen *screen, const char *name, const struct argp_state *state)
{
  screen->annotation = name ? name : "lanebloom";
  if (strpbrk(screen->annotation, ",;\t\"\r\n"))
    usage_error(state, "--annotate: expected a name without separators and quotes, found '%s'",
                name);
}

static void set_summary(struct screen *screen, const char *text, const struct argp_state *state)
{
  if (text && strcmp(text, "text") != 0 && strcmp(text, "json") != 0)
    usage_error(state, "--summary: expected text or json, found '%s'", text);
  screen->summary = text && *text == 'j' ? SUMMARY_JSON : SUMMARY_TEXT;
}

/* Reports a usage error if an option conflicts with --annotate, which prints every record once and
 * adds only a field. */
static void check_annotation(const struct screen *screen, const struct argp_state *state)
{
  const char separator[2] = {screen->syntax.fields.separator};
  if (strpbrk(screen->annotation, separator))
    usage_error(state, "--annotate: expected a name without the separator, found '%s'",
                screen->annotation);
  if (screen->count || screen->quiet || screen->number || screen->which)
    argp_error(state, "give only one of --annotate, --count, --quiet, --number and --which");
  if (screen->unmatched_path)
    argp_error(state, "give only one of --annotate, which prints every record, and --unmatched");
  if (screen->syntax.width)
    argp_error(state, "give only one of --annotate and --width: records of N bytes have no fields");
  if (screen->syntax.fields.dialect == DIALECT_JSON)
    argp_error(state, "give only one of --annotate and --jsonl: one more field would not be JSON");
}

static void check_selection(struct screen *screen, const struct argp_state *state)
{
  if (screen->annotation)
    check_annotation(screen, state);
  if (screen->output_path && (screen->count || screen->quiet))
    argp_error(state,
               "give only one of --output, --count and --quiet: the last two print no records");
  if (screen->unmatched_path && screen->quiet)
    argp_error(state, "give only one of --unmatched and --quiet, which stops at the first selected "
                      "record");
  if (screen->summary_path && !screen->summary)
    screen->summary = SUMMARY_TEXT;
}

static error_t parse_selection(int key, char *text, struct argp_state *state)
{
  struct screen *screen = state->input;
  switch (key) {
  case 'v':
    screen->invert = true;
    return 0;
  case 'c':
    screen->count = true;
    return 0;
  case 'q':
    screen->quiet = true;
    return 0;
  case 'n':
    screen->number = true;
    return 0;
  case 'm':
    screen->max_nselected = parse_count(state, "--max-count", text, UINT64_MAX);
    return 0;
  case 'o':
    screen->output_path = text;
    return 0;
  case OPTION_ANNOTATE:
    set_annotation(screen, text, state);
    return 0;
  case OPTION_UNMATCHED:
    screen->unmatched_path = text;
    return 0;
  case OPTION_SUMMARY:
    set_summary(screen, text, state);
    return 0;
  case OPTION_SUMMARY_FILE:
    screen->summary_path = text;
    return 0;
  case ARGP_KEY_ARGS: /* argp passes this after all options */
    screen->inputs = state->argv + state->next;
    screen->ninputs = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_END:
    check_selection(screen, state);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp selection_argp = {
    .options =
        (const struct argp_option[]){
            {"invert-match", 'v', NULL, 0,
             "Select the other records; with a filter, they are certainly absent", 1},
            {"count", 'c', NULL, 0, "Print only the number of selected records", 1},
            {"quiet", 'q', NULL, 0, "Print nothing; stop at the first selected record", 1},
            {"number", 'n', NULL, 0,
             "Print \"NUMBER:\" before each record, from 1; with --width, a newline after it", 1},
            {"max-count", 'm', "N", 0, "Stop after N selected records", 1},
            {"annotate", OPTION_ANNOTATE, "NAME", OPTION_ARG_OPTIONAL,
             "Print every record with one more field at its end: 1 if it is selected, else 0. NAME "
             "is the field's name in a header (lanebloom)",
             1},
            {"output", 'o', "FILE", 0,
             "Write the records to FILE instead of standard output. FILE is replaced when all are "
             "written, and not changed after an error",
             2},
            {"unmatched", OPTION_UNMATCHED, "FILE", 0,
             "Write the records that are not selected to FILE, which is replaced like that of -o",
             2},
            {"summary", OPTION_SUMMARY, "FORM", OPTION_ARG_OPTIONAL,
             "At the end, print on standard error how many records were read and selected, whether "
             "all keys that passed may be false positives, and more, as `text' (also without FORM) "
             "or `json'",
             2},
            {"summary-file", OPTION_SUMMARY_FILE, "FILE", 0, "Write the summary to FILE instead",
             2},
            {0}},
    .parser = parse_selection,
};

char *take_first_input(struct screen *screen)
{
  screen->ninputs--;
  return *screen->inputs++;
}

void check_standard_input(const struct screen *screen, const struct argp_state *state,
                          char *const *paths, size_t npaths, const char *what)
{
  size_t npipes = screen->ninputs == 0, nothers = 0;
  for (size_t i = 0; i < screen->ninputs; i++)
    npipes += is_standard_input(screen->inputs[i]);
  for (size_t i = 0; i < npaths; i++)
    nothers += is_standard_input(paths[i]);
  if (nothers > 1)
    argp_error(state, "only one %s can be standard input", what);
  if (nothers > 0 && npipes > 0)
    argp_error(state, "%s and INPUT cannot both be standard input", what);
}
