/* Reads the values of chosen members from a line of JSON. json.cc, the only C++ file, implements
 * these functions with simdjson. A build without simdjson has neither these functions nor the
 * option --jsonl.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_JSON_H
#define LANEBLOOM_CLI_JSON_H

#include "fields.h"

#ifdef __cplusplus
extern "C" {
#endif

/* This many bytes after a line must be readable. */
enum { JSON_PADDING_NBYTES = 64 };

/* The most levels of objects and arrays inside each other. A line with more levels is an error. A
 * level takes 230 bytes of stack, and a worker has 512 KiB of stack. With the address sanitizer a
 * level takes 3 KiB, so the deepest lines overflow the stack. */
enum { JSON_MAX_NLEVELS = 512 };

enum json_kind {
  JSON_ABSENT, /* the line has no such member */
  JSON_NULL,
  JSON_OBJECT,
  JSON_ARRAY,
  JSON_SURROGATE, /* a string with a lone surrogate such as \ud800, which UTF-8 cannot represent */
  JSON_TEXT /* the text of a string, without quotes and escapes, or of a number, true or false */
};

struct json_value {
  enum json_kind kind;
  lanebloom_slice text; /* for JSON_TEXT: bytes of the line, or of memory of the parser */
};

enum json_status {
  JSON_OK,
  JSON_EMPTY,        /* the line is empty or has only white space */
  JSON_INVALID,      /* the line is not JSON, or is nested too deeply */
  JSON_OUT_OF_MEMORY /* the parser must not be used any more */
};

/* Prepares simdjson: finds out which instructions this CPU has. Call this once, before any thread
 * starts. If memory runs out, calls out_of_memory(), which must not return, because simdjson cannot
 * report this error in another way. */
void json_prepare(void (*out_of_memory)(void));

struct json_parser;

/* Creates a parser for the members that these fields name. Returns NULL if memory ran out. */
struct json_parser *json_parser_create(const struct field_syntax *fields);

void json_parser_destroy(struct json_parser *parser);

/* Parses one whole line and sets one value for each field. If several members have the same name,
 * the last one counts. The line and the values are borrowed until the next call. For JSON_INVALID,
 * *found describes the part of the line that is not JSON. */
enum json_status json_parse(struct json_parser *parser, const char *line, size_t nbytes,
                            struct json_value *values, const char **found);

#ifdef __cplusplus
}
#endif

#endif
