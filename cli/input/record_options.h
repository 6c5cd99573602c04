/* Declares the options that say where a record ends and which part of it is the key.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_RECORD_OPTIONS_H
#define LANEBLOOM_CLI_RECORD_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include <lanebloom.h>

#include "records.h"

/* The options -z, --width, --crlf and --decompress, together with the options of field_argp and
 * form_argp. Their input is a struct record_syntax. */
extern const struct argp record_argp;

/* The options -b, -d, -f, --csv, --tsv, --jsonl, --no-header and --missing. They are children of
 * record_argp and have the same input. */
extern const struct argp field_argp;

/* Parses a byte that separates fields. `\t' means a tab. */
char parse_separator(const struct argp_state *state, const char *option, const char *text);

/* Reports a usage error if --missing=keep was given. Verbs that print no records call this. */
void refuse_keep(const struct record_syntax *syntax, const struct argp_state *state);

/* The options --trim, --lower, --upper, --digest and --decode. They are children of record_argp and
 * have the same input. */
extern const struct argp form_argp;

/* Call this after the last option. If the key has several fields, this sets the flag
 * LANEBLOOM_KEY_JOINED in the form. */
void finish_form(struct record_syntax *syntax, const struct argp_state *state);

/* Sets the form of keys to the form of the filter. `path` is the path of the filter, and is
 * borrowed. If keys of this form cannot be made from text, or if options or an earlier filter
 * require another form, prints a message and returns false. */
bool take_form(struct record_syntax *syntax, const char *path, const lanebloom_filter *filter);

#endif
