/* Parses the options -z, --width, --crlf and --decompress, which say where a record ends.
 * SPDX-License-Identifier: MIT */
#include "record_options.h"

#include <string.h>

#include "../options/numbers.h"
#include "../options/options.h"
#include "records.h"

enum { OPTION_WIDTH = 0x100, OPTION_CRLF, OPTION_DECOMPRESS };

static enum decompress parse_decompress(const struct argp_state *state, const char *text)
{
  if (strcmp(text, "auto") != 0 && strcmp(text, "none") != 0)
    usage_error(state, "--decompress: expected auto or none, found '%s'", text);
  return strcmp(text, "auto") == 0 ? DECOMPRESS_AUTO : DECOMPRESS_NONE;
}

static error_t parse_record_option(int key, char *text, struct argp_state *state)
{
  struct record_syntax *syntax = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    *syntax = (struct record_syntax){.terminator = '\n'};
    state->child_inputs[0] = state->child_inputs[1] = syntax;
    return 0;
  case 'z':
    syntax->terminator = '\0';
    return 0;
  case OPTION_CRLF:
    syntax->crlf = true;
    return 0;
  case OPTION_DECOMPRESS:
    syntax->decompress = parse_decompress(state, text);
    return 0;
  case OPTION_WIDTH:
    syntax->width = parse_count(state, "--width", text, SIZE_MAX);
    return 0;
  case ARGP_KEY_END:
    if ((syntax->width > 0) + (syntax->terminator == '\0') + syntax->crlf > 1)
      argp_error(state, "give only one of --width, --null and --crlf");
    finish_form(syntax, state);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp record_argp = {
    .options =
        (const struct argp_option[]){
            {NULL, 0, NULL, 0, "Records are lines, unless one of these is given:", 5},
            {"null", 'z', NULL, 0, "Records end with a NUL byte", 5},
            {"width", OPTION_WIDTH, "N", 0,
             "Every record is N bytes, without a terminator. Such records may begin like a filter "
             "or a compressed file, which are refused otherwise",
             5},
            {"crlf", OPTION_CRLF, NULL, 0,
             "Remove a carriage return before the newline from the key, as --csv and --tsv do", 5},
            {"decompress", OPTION_DECOMPRESS, "HOW", 0,
             "`auto' (the default) decompresses an input whose first bytes are those of gzip or "
             "zstd; `none' (the default with --width) never decompresses",
             5},
            {0}},
    .parser = parse_record_option,
    .children = (const struct argp_child[]){{.argp = &field_argp}, {.argp = &form_argp}, {0}},
};
