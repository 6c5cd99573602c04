/* The options that say what a record is, and what of it is the key.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_RECORD_OPTIONS_H
#define LANEBLOOM_CLI_RECORD_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include <lanebloom.h>

#include "records.h"

/* -z, --width, --crlf, --decompress, and the options of fields and key forms. Input: struct
 * record_syntax. */
extern const struct argp record_argp;

/* -d, -f, --csv, --tsv, --jsonl, --no-header, --missing. A child of record_argp, with the same
 * input. */
extern const struct argp field_argp;

/* Parses the byte that separates fields. */
char parse_separator(const struct argp_state *state, const char *option, const char *text);

/* Reports a usage error for --missing=keep. For verbs that print no records. */
void refuse_keep(const struct record_syntax *syntax, const struct argp_state *state);

/* --trim, --lower, --decode. A child of record_argp, with the same input. */
extern const struct argp form_argp;

/* Call this after the last option: a key of several fields has a form, too. */
void finish_form(struct record_syntax *syntax, const struct argp_state *state);

/* The number of bytes that the text of any form fits into. */
enum { FORM_TEXT_NBYTES = 80 };

/* Describes a form for people: "hex, trimmed". */
void describe_form(lanebloom_key_form form, char text[FORM_TEXT_NBYTES]);

/* Makes keys in the form of the filter at `path`. If text cannot have this form, or if options or
 * another filter require a different one, prints a message and returns false. path: borrowed. */
bool take_form(struct record_syntax *syntax, const char *path, const lanebloom_filter *filter);

#endif
