/* JSON: the values of some members of a line. json.cc, the only file in C++, has these functions by
 * simdjson. A build without simdjson has none of them, and no --jsonl.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_JSON_H
#define LANEBLOOM_CLI_JSON_H

#include "fields.h"

#ifdef __cplusplus
extern "C" {
#endif

/* So many bytes after a line may be read. */
enum { JSON_PADDING_NBYTES = 64 };

/* More levels of objects and arrays, one in the other, are an error. A level takes 230 bytes of
 * stack, of which a worker has 512 KiB; with the address sanitizer it takes 3 KiB: too much. */
enum { JSON_MAX_NLEVELS = 512 };

enum json_kind {
  JSON_ABSENT, /* there is no such member */
  JSON_NULL,
  JSON_OBJECT,
  JSON_ARRAY,
  JSON_SURROGATE, /* a string with a lone surrogate, as \ud800 is: it has no text in UTF-8 */
  JSON_TEXT /* a string, without quotes and escapes; or a number, true or false, as it stands */
};

struct json_value {
  enum json_kind kind;
  lanebloom_slice text; /* of JSON_TEXT; in the line, or in memory of the parser */
};

enum json_status {
  JSON_OK,
  JSON_EMPTY,        /* no value, but white space at most */
  JSON_INVALID,      /* not JSON, or nested too deep */
  JSON_OUT_OF_MEMORY /* the parser cannot be used any more */
};

/* Finds out what this CPU can do. Call it once, before there are threads. If memory runs out, calls
 * out_of_memory(), which does not return: simdjson has no other way to say so. */
void json_prepare(void (*out_of_memory)(void));

struct json_parser;

/* For the members that these fields name. NULL: memory ran out. */
struct json_parser *json_parser_create(const struct field_syntax *fields);

void json_parser_destroy(struct json_parser *parser);

/* Parses a line, all of it, and sets a value for each field. Of members that have the same name the
 * last one counts. Both the line and the values are borrowed until the next call. JSON_INVALID:
 * *found says what there is that is not JSON. */
enum json_status json_parse(struct json_parser *parser, const char *line, size_t nbytes,
                            struct json_value *values, const char **found);

#ifdef __cplusplus
}
#endif

#endif
