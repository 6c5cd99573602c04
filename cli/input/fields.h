/* Fields: the parts of a record that form its key, and how they are separated and quoted.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FIELDS_H
#define LANEBLOOM_CLI_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

/* The most fields of one key. */
enum { MAX_NFIELDS = 64 };

/* Says what happens to a record that has fewer fields than its key needs. */
enum missing { MISSING_FAIL, MISSING_KEEP, MISSING_DROP };

struct field {
  const char *name; /* NULL: given by number; for JSON, a member or a JSON pointer */
  size_t number;    /* from 0; of a name, known once the header is read */
};

/* File formats whose records have a syntax of their own. CSV and TSV have a header, and rules for
 * line ends. */
enum dialect {
  DIALECT_NONE,
  DIALECT_CSV, /* RFC 4180: a field in double quotes may hold separators, line ends and "" for " */
  DIALECT_TSV,
  DIALECT_JSON /* a JSON value on each line */
};

/* Says which fields are the key of a record. Several fields are joined in this order by a tab,
 * whatever the separator is: keys of a file with commas then equal those of a file with tabs. */
struct field_syntax {
  struct field fields[MAX_NFIELDS];
  size_t n; /* fields of a key; 0: the whole record is the key, and the other members have no
             * meaning */
  char *lists[MAX_NFIELDS]; /* the values of -f, until the dialect is known */
  size_t nlists;
  char separator; /* 0: not given */
  enum dialect dialect;
  bool no_header;  /* of a dialect; false: the first record of an input names its fields */
  bool is_of_keys; /* of KEYS, whose options begin with --keys- */
  enum missing missing;
};

static inline bool has_header(const struct field_syntax *syntax)
{
  return syntax->n > 0 && !syntax->no_header &&
         (syntax->dialect == DIALECT_CSV || syntax->dialect == DIALECT_TSV);
}

/* Returns what follows "--" in the names of these options. */
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

/* Adds fields to a key. list: numbers from 1, ranges of numbers, or names, separated by commas;
 * text in double quotes is always a name. Some dialects accept only names, so the dialect must be
 * set before. The list is borrowed and changed. false: `problem` says why. */
bool add_fields(struct field_syntax *syntax, char *list, char *problem, size_t problem_size);

/* Finds the named fields in a header, a record without its terminator. false: `problem` says why.
 * If memory runs out, prints a message and exits. */
bool find_fields(struct field_syntax *syntax, const char *header, size_t nbytes, char *problem,
                 size_t problem_size);

/* Is there a carriage return outside quotes that is not followed by a line feed? Such lines end in
 * carriage returns alone, or in two of them and a line feed, and would be cut incorrectly. */
bool has_lone_return(const struct field_syntax *syntax, const char *data, size_t nbytes);
#define LONE_RETURN_TEXT                                                                           \
  "expected lines that end in LF or in CR LF, found a carriage return (CR) alone: run `tr' or "    \
  "`dos2unix' on a copy, or put the field into double quotes"

/* Returns the number of bytes of a byte order mark at the beginning, or 0. The mark is no part of a
 * key. */
size_t count_bom(const char *data, size_t nbytes);

/* The fields of a key in the order of their numbers. */
struct field_order {
  struct {
    size_t number;    /* of the last element: SIZE_MAX */
    size_t key_index; /* the position of the field in the key */
  } fields[MAX_NFIELDS + 1];
};

void order_fields(const struct field_syntax *syntax, struct field_order *order);

#endif
