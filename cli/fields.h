/* Fields: which part of a record is its key, and how fields are separated and quoted.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FIELDS_H
#define LANEBLOOM_CLI_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

/* The most fields of one key. */
enum { MAX_NFIELDS = 64 };

/* What happens to a record that has fewer fields than its key needs. */
enum missing { MISSING_FAIL, MISSING_KEEP, MISSING_DROP };

struct field {
  const char *name; /* NULL: given by its number; of JSON, a member or a JSON pointer */
  size_t number;    /* from 0; of a name, known when the header is */
};

/* Files whose records have a syntax of their own. CSV and TSV have a header, and rules for line
 * ends. */
enum dialect {
  DIALECT_NONE,
  DIALECT_CSV, /* RFC 4180: a field in double quotes may hold separators, line ends and "" for " */
  DIALECT_TSV,
  DIALECT_JSON /* a JSON value on each line */
};

/* Which fields are the key of a record. Several are joined by a tab, in this order, whatever the
 * separator: then keys of a file with commas equal those of a file with tabs. */
struct field_syntax {
  struct field fields[MAX_NFIELDS];
  size_t n; /* fields of a key; 0: the whole record is the key, and the rest has no meaning */
  char *lists[MAX_NFIELDS]; /* the values of -f, until the dialect is known */
  size_t nlists;
  char separator; /* 0: not given */
  enum dialect dialect;
  bool no_header;  /* of a dialect; else the first record of an input names its fields */
  bool is_of_keys; /* of KEYS, whose options begin with --keys- */
  enum missing missing;
};

static inline bool has_header(const struct field_syntax *syntax)
{
  return syntax->n > 0 && !syntax->no_header &&
         (syntax->dialect == DIALECT_CSV || syntax->dialect == DIALECT_TSV);
}

/* What its options begin with, after "--". */
static inline const char *option_prefix(const struct field_syntax *syntax)
{
  return syntax->is_of_keys ? "keys-" : "";
}

static inline bool is_json(const struct field_syntax *syntax)
{
  return syntax->n > 0 && syntax->dialect == DIALECT_JSON;
}

static inline bool has_quotes(const struct field_syntax *syntax)
{
  return syntax->n > 0 && syntax->dialect == DIALECT_CSV;
}

/* Adds fields to a key. list: numbers from 1, ranges of numbers, or names, separated by commas; in
 * double quotes, always a name. The dialect, which must be set, may have names alone. The list is
 * borrowed and changed. false: `problem` says why not. */
bool add_fields(struct field_syntax *syntax, char *list, char *problem, size_t problem_size);

/* Finds the named fields in a header, a record without its terminator. false: `problem` says why
 * not. If memory runs out, prints a message and exits. */
bool find_fields(struct field_syntax *syntax, const char *header, size_t nbytes, char *problem,
                 size_t problem_size);

/* Is there a carriage return that is in no quotes, and that no line feed follows? Then lines end in
 * carriage returns alone, or in two of them and a line feed, and would be cut wrongly. */
bool has_lone_return(const struct field_syntax *syntax, const char *data, size_t nbytes);
#define LONE_RETURN_TEXT                                                                           \
  "expected lines that end in LF or in CR LF, found a carriage return (CR) alone: run `tr' or "    \
  "`dos2unix' on a copy, or put the field into double quotes"

/* The bytes of a byte order mark, with which text may begin and which belongs to no key; or 0. */
size_t count_bom(const char *data, size_t nbytes);

/* The fields of a key in the order of their numbers. */
struct field_order {
  struct {
    size_t number;    /* of the last element: SIZE_MAX */
    size_t key_index; /* its place in the key */
  } fields[MAX_NFIELDS + 1];
};

void order_fields(const struct field_syntax *syntax, struct field_order *order);

#endif
