/* Parses the options that say how filters are read and written: --raw, --format and --force.
 * SPDX-License-Identifier: MIT */
#include "../options/options.h"
#include "filters.h"

enum { OPTION_FORCE = 0x600, OPTION_RAW, OPTION_FORMAT };

static error_t parse_force_option(int key, char *text, struct argp_state *state)
{
  (void)text;
  if (key != OPTION_FORCE)
    return ARGP_ERR_UNKNOWN;
  *(bool *)state->input = true;
  return 0;
}

const struct argp force_argp = {
    .options =
        (const struct argp_option[]){
            {"force", OPTION_FORCE, NULL, 0,
             "Replace FILE even if it holds something other than a container, or if the new filter "
             "has no keys and FILE may have some",
             1},
            {0}},
    .parser = parse_force_option,
};

static error_t parse_filter_option(int key, char *text, struct argp_state *state)
{
  struct filter_source *source = state->input;
  switch (key) {
  case OPTION_RAW:
    source->raw = true;
    return 0;
  case OPTION_FORMAT:
    source->format = parse_format(state, text);
    return 0;
  case ARGP_KEY_END:
    if (source->raw != (source->format != 0))
      argp_error(state,
                 "give both --raw and --format, or neither: a container states its format itself");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static char *filter_option_help(int key, const char *text, void *input)
{
  (void)input;
  return key == OPTION_FORMAT ? with_formats(text, false) : (char *)text;
}

const struct argp filter_argp = {
    .options =
        (const struct argp_option[]){
            {"raw", OPTION_RAW, NULL, 0,
             "FILTER is an engine's bare bytes, in the format that --format names", 3},
            {"format", OPTION_FORMAT, "NAME", 0, "The format of --raw bytes. ", 3},
            {0}},
    .parser = parse_filter_option,
    .help_filter = filter_option_help,
};
