/* Describes fields: how the fields of a record are separated and quoted, and which of them form its
 * key. Ranges of bytes are fields, too.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FIELDS_H
#define LANEBLOOM_CLI_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

/* The largest number of fields in a key. */
enum { MAX_NFIELDS = 64 };

/* Says what happens to a record that lacks a field of its key. */
enum missing { MISSING_FAIL, MISSING_KEEP, MISSING_DROP };

struct field {
  const char *name; /* the name in a header, or for JSON a member or a JSON pointer; NULL: the field
                     * was given by its number */
  size_t number;    /* counted from 0; the number of a named field is found when the header is
                     * read. For DIALECT_BYTES: the first byte of the range */
  size_t last;      /* for DIALECT_BYTES: the last byte, counted from 0; SIZE_MAX: the last byte of
                     * the record */
};

/* The syntax of the records. CSV and TSV have a header, and rules for line ends. */
enum dialect {
  DIALECT_NONE,
  DIALECT_CSV, /* as in RFC 4180: a field in double quotes may contain separators and line ends, and
                * "" means " */
  DIALECT_TSV,
  DIALECT_JSON, /* a JSON value on each line */
  DIALECT_BYTES /* each field of the key is a range of bytes; records are lines, or end in NUL, or
                 * have a fixed width */
};

/* Says which fields are the key of a record. Several fields are joined by tabs, in the order of
 * `fields', even if the separator is another byte. So the keys of a file with commas equal the keys
 * of a file with tabs. */
struct field_syntax {
  struct field fields[MAX_NFIELDS];
  size_t n; /* the number of fields of a key; 0: the whole record is the key, and the other members
             * mean nothing */
  char *lists[MAX_NFIELDS]; /* the values of -f, which are parsed when the dialect is known */
  size_t nlists;
  char separator; /* the byte between two fields; 0: not given */
  enum dialect dialect;
  bool no_header;  /* for CSV and TSV: inputs have no header; false: the first record of each input
                    * names its fields */
  bool is_of_keys; /* the syntax belongs to KEYS, whose options begin with --keys- */
  enum missing missing;
};

static inline bool has_header(const struct field_syntax *syntax)
{
  return syntax->n > 0 && !syntax->no_header &&
         (syntax->dialect == DIALECT_CSV || syntax->dialect == DIALECT_TSV);
}

/* Returns the part of the options' names that follows "--", for messages. */
static inline const char *option_prefix(const struct field_syntax *syntax)
{
  return syntax->is_of_keys ? "keys-" : "";
}

static inline bool is_json(const struct field_syntax *syntax)
{
  return syntax->n > 0 && syntax->dialect == DIALECT_JSON;
}

static inline bool takes_bytes(const struct field_syntax *syntax)
{
  return syntax->n > 0 && syntax->dialect == DIALECT_BYTES;
}

/* Returns the option that says which fields are the key, for messages. */
static inline const char *fields_option(const struct field_syntax *syntax)
{
  return takes_bytes(syntax) ? "-b" : "-f";
}

static inline bool has_quotes(const struct field_syntax *syntax)
{
  return syntax->n > 0 && syntax->dialect == DIALECT_CSV;
}

/* Adds fields to the key. `list` has numbers from 1, ranges of numbers, or names, separated by
 * commas. A text in double quotes is always a name. For JSON, every item is a name, so set the
 * dialect before. The list is borrowed and changed. On an error returns false and writes a message
 * into `problem`. */
bool add_fields(struct field_syntax *syntax, char *list, char *problem, size_t problem_size);

/* Adds ranges of bytes to the key. `list` has ranges as `cut -b' takes them: N, N-, N-M or -M,
 * separated by commas. On an error returns false and writes a message into `problem`. */
bool add_byte_ranges(struct field_syntax *syntax, const char *list, char *problem,
                     size_t problem_size);

/* Finds the numbers of the named fields in a header, which is a record without its terminator. On
 * an error returns false and writes a message into `problem`. If memory runs out, prints a message
 * and exits. */
bool find_fields(struct field_syntax *syntax, const char *header, size_t nbytes, char *problem,
                 size_t problem_size);

/* Is the number of quotes in the bytes odd? Returns false if quotes have no meaning in these
 * records. */
bool has_odd_quotes(const struct field_syntax *syntax, const char *data, size_t nbytes);

/* For CSV and TSV: does any byte except a line feed follow a carriage return outside quotes? If so,
 * lines end in CR alone or in CR CR LF. They would be cut wrongly, so the input must be refused. */
bool has_lone_return(const struct field_syntax *syntax, const char *data, size_t nbytes);
#define LONE_RETURN_TEXT                                                                           \
  "expected lines that end in LF or in CR LF, found a carriage return (CR) alone: run `tr' or "    \
  "`dos2unix' on a copy, or put the field into double quotes"

/* Returns the size of the byte order mark at the beginning of the data, or 0 if there is none. The
 * mark does not belong to a key. */
size_t count_bom(const char *data, size_t nbytes);

/* The fields of a key in the order of their numbers. */
struct field_order {
  struct {
    size_t number;    /* SIZE_MAX in the element after the last field */
    size_t key_index; /* the position of the field in the key */
  } fields[MAX_NFIELDS + 1];
};

void order_fields(const struct field_syntax *syntax, struct field_order *order);

#endif
