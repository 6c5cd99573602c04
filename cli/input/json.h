/* JSON: reads the values of some members of a line. json.cc, the only C++ file, implements this
 * with simdjson. A build without simdjson has neither these functions nor --jsonl.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_JSON_H
#define LANEBLOOM_CLI_JSON_H

#include "fields.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of bytes after a line that may be read. */
enum { JSON_PADDING_NBYTES = 64 };

/* The most levels of nested objects and arrays; more are an error. A level takes 230 bytes of
 * stack, of which a worker has 512 KiB. With the address sanitizer a level takes 3 KiB, which is
 * too much. */
enum { JSON_MAX_NLEVELS = 512 };

enum json_kind {
  JSON_ABSENT, /* no such member exists */
  JSON_NULL,
  JSON_OBJECT,
  JSON_ARRAY,
  JSON_SURROGATE, /* a string with a lone surrogate, such as \ud800: it has no UTF-8 text */
  JSON_TEXT /* a string, unescaped and without quotes; or the text of a number, true or false */
};

struct json_value {
  enum json_kind kind;
  lanebloom_slice text; /* of JSON_TEXT; in the line, or in memory of the parser */
};

enum json_status {
  JSON_OK,
  JSON_EMPTY,        /* no value, only white space or nothing */
  JSON_INVALID,      /* not JSON, or nested too deeply */
  JSON_OUT_OF_MEMORY /* the parser must not be used again */
};

/* Finds out which instructions this CPU has. Call it once, before any thread starts. If memory runs
 * out, calls out_of_memory(), which must not return: simdjson cannot report this in another way. */
void json_prepare(void (*out_of_memory)(void));

struct json_parser;

/* Creates a parser for the members that these fields name. NULL: memory ran out. */
struct json_parser *json_parser_create(const struct field_syntax *fields);

void json_parser_destroy(struct json_parser *parser);

/* Parses one whole line and sets a value for each field. If several members have the same name, the
 * last one counts. The line and the values are borrowed until the next call. JSON_INVALID: *found
 * describes the part that is not JSON. */
enum json_status json_parse(struct json_parser *parser, const char *line, size_t nbytes,
                            struct json_value *values, const char **found);

#ifdef __cplusplus
}
#endif

#endif
