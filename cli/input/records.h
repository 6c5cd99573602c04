/* Cuts chunks of input into records, a batch of records at a time. Records are lines of text or
 * JSON, NUL-terminated strings, keys of a fixed width, or CSV records. The records of a batch are
 * adjacent in the chunk. A key usually consists of bytes of its record. If a key is joined from
 * several fields, contained quotes or escapes, or is converted, it is a copy.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_RECORDS_H
#define LANEBLOOM_CLI_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

#include "fields.h"
#include "marks.h"
#include "typed_text.h"

/* The number of records of a batch. The number is so small that the records and their slices stay
 * in the L2 cache: batches of 256, 1024 and 2048 lines of 12 bytes were equally fast. It is a
 * multiple of 8, so that the bitmaps of full batches are adjacent. */
enum { BATCH_NRECORDS = 2048 };

enum decompress {
  DECOMPRESS_DEFAULT, /* NONE for records of fixed width, because they may begin with any bytes;
                       * otherwise AUTO */
  DECOMPRESS_AUTO,    /* decompress an input if its first bytes show that it is compressed */
  DECOMPRESS_NONE
};

/* Says how an input is cut into records, and which part of a record is its key. */
struct record_syntax {
  size_t width;               /* the size of each record; 0: records end at the terminator */
  char terminator;            /* '\n' or '\0' */
  bool crlf;                  /* a carriage return before the terminator does not belong to the
                               * key */
  enum decompress decompress; /* whether inputs are decompressed before they are cut */
  struct field_syntax fields;

  /* Says how a key is made from its text. The flag JOINED also means that a whole record consists
   * of joined fields. form_origin names the option or the filter that required this form, for
   * messages. It is NULL if nothing has required a form. */
  lanebloom_key_form form;
  const char *form_origin;
  struct text_units units; /* how the values of a table's column are written as text. If the keys
                            * belong to no column, all members are 0, and the text of a decimal is
                            * its unscaled value */
  bool makes_digests; /* the option --digest was given: the filter may have been built from digests
                       * instead of texts */
  bool is_decoded; /* the option --decode=none was given: the text of a key is the key, even if the
                    * filter's form says that keys are decoded */
};

/* Are inputs decompressed? */
static inline bool does_decompress(const struct record_syntax *syntax)
{
  return syntax->decompress == DECOMPRESS_AUTO ||
         (syntax->decompress == DECOMPRESS_DEFAULT && syntax->width == 0);
}

/* May an input begin with a byte order mark? If so, the mark does not belong to the first key. */
static inline bool may_have_bom(const struct record_syntax *syntax)
{
  return syntax->width == 0 && syntax->terminator == '\n';
}

/* Returns the size of the first record, including its terminator, or 0 if these bytes do not
 * contain its end. */
size_t record_nbytes(const struct record_syntax *syntax, const char *data, size_t nbytes);

/* Returns how many of the bytes are whole records. Only the last `nnew` bytes are searched, because
 * no record ends before them. `odd_quotes` says whether the number of quotes in all the bytes is
 * odd. */
size_t whole_nbytes(const struct record_syntax *syntax, const char *data, size_t nbytes,
                    size_t nnew, bool odd_quotes);

/* Are records lines, although the first of these bytes contain NULs? Returns false for JSON: NULs
 * in JSON are an error, which is reported later. */
bool have_nuls(const struct record_syntax *syntax, const char *data, size_t nbytes);
#define NULS_TEXT                                                                                  \
  "warning: found NUL bytes in the first lines: records that end in NUL need --null (-z), and "    \
  "UTF-16 text needs `iconv'"

/* Do lines end in carriage returns only, so that the whole input would be one record? Call this
 * with all bytes of an input. Returns true if records are lines, and the bytes contain no line
 * feed, but contain a carriage return before the last byte. Returns false for CSV and TSV, because
 * such inputs are refused earlier, and for JSON, because both characters are spaces in JSON. */
bool is_line_of_returns(const struct record_syntax *syntax, const char *data, size_t nbytes);
#define LINE_OF_RETURNS_TEXT                                                                       \
  "expected lines that end in LF or in CR LF, found carriage returns (CR) alone: run tr '\\r' "    \
  "'\\n' <FILE | lanebloom ..., or give --null (-z) if this is one record"

/* Returns the number of line feeds in the bytes. */
uint64_t count_lines(const char *data, size_t nbytes);

/* Adjacent records of one chunk, at least one. They are borrowed from the cutter until it cuts the
 * next batch. */
struct batch {
  lanebloom_keys keys; /* the key of each record; the key is empty if the record has none */
  size_t n;
  const char *data;               /* the beginning of the first record */
  const lanebloom_slice *records; /* n records without their terminators, and one more element,
                                   * whose data is the end of the batch; NULL if all records have
                                   * one size */
  size_t width;            /* the size of each record, including its terminator; 0: the sizes are in
                            * `records` */
  lanebloom_slice *slices; /* the keys; NULL: each record begins with its key */
  size_t key_width;        /* the size of each key, if `slices` is NULL */
  uint8_t *missing; /* bit i is set if record i has no key, because fields are missing or malformed;
                     * NULL: all records have keys */
};

/* Returns the beginning of record i. For i = n, returns the end of the batch. A record and its
 * terminator end where the next record begins. */
static inline const char *batch_record(const struct batch *batch, size_t i)
{
  return batch->records ? batch->records[i].data : batch->data + i * batch->width;
}

/* Returns the key of record i. */
static inline lanebloom_slice batch_key(const struct batch *batch, size_t i)
{
  return batch->slices ? batch->slices[i]
                       : (lanebloom_slice){batch->data + i * batch->width, batch->key_width};
}

/* Does record i have a key? */
static inline bool batch_has_key(const struct batch *batch, size_t i)
{
  return !batch->missing || !(batch->missing[i / 8] >> i % 8 & 1);
}

/* Returns the words that follow "N of M records" in messages about records without a key. */
static inline const char *missing_text(const struct record_syntax *syntax)
{
  return syntax->form.encoding || syntax->form.flags & LANEBLOOM_KEY_DIGEST ||
                 syntax->units.partition_key
             ? "have no key, or malformed text"
         : takes_bytes(&syntax->fields) ? "lack a byte of the key"
                                        : "lack a field of the key";
}

/* Removes the records that have no key from `keys`, so `keys` may have fewer than n. All other
 * members stay. */
void batch_drop_missing(struct batch *batch);

/* Copies the records of the batch whose bit equals `wanted` to `to`, and returns the end of the
 * copy. `to` may be in the chunk, before the batch or at the beginning of the batch. Adjacent
 * records are moved by one memmove(). If `to' is the beginning of the batch, the records before the
 * first omitted one are not moved. */
char *batch_gather(const struct batch *batch, const uint8_t *bitmap, bool wanted, char *to);

/* Says why a chunk could not be cut to its end. */
enum fault_kind {
  FAULT_NONE,
  FAULT_MEMORY,
  FAULT_MISSING,  /* the record has fewer fields than the key needs */
  FAULT_QUOTE,    /* there is a quote inside a field that does not begin with a quote */
  FAULT_AFTER,    /* something other than a separator or a line end follows a closing quote */
  FAULT_UNCLOSED, /* a closing quote is missing */
  FAULT_TEXT,     /* the text of a key cannot be decoded, or the value of a JSON member has no
                   * text */
  FAULT_JSON      /* the line is not JSON */
};

struct fault {
  enum fault_kind kind;
  uint64_t line;  /* the line of the chunk, from 1 */
  size_t nfields; /* the number of fields of the record that ended before the fault */
  char text[256]; /* describes a fault of a text or of JSON */
};

/* Says whether the first keys end in carriage returns. Windows ends lines in CR LF; --crlf removes
 * the CR from keys. */
enum returns {
  RETURNS_UNKNOWN, /* there are no keys, or the CR is no part of a line end */
  RETURNS_NONE,
  RETURNS_SOME,
  RETURNS_ALL
};

#define SOME_RETURNS_TEXT                                                                          \
  "warning: some of the first keys end in a carriage return (CR), and others do not: --crlf "      \
  "leaves it out of keys"

/* Cuts bytes into batches. The bytes are whole records, including their terminators. */
struct cutter {
  struct record_syntax syntax;
  const char *next, *end; /* the bytes that are not cut yet */
  size_t nrecords;        /* the number of records in all batches so far */
  size_t nmissing;        /* how many of these records have no key */
  uint64_t nlines;        /* the number of line ends in all records so far, including line ends
                           * inside quotes */
  struct fault fault;     /* says why the cutter stopped before the end of the bytes */
  enum returns returns;   /* says how the keys in the first batch of an input end */

  /* private */
  bool at_beginning;        /* true until the first batch of an input was cut */
  size_t bom_nbytes;        /* the size of the byte order mark at the beginning of the next
                             * record */
  struct field_order order; /* the fields of a key in the order of their numbers */
  char *joined;             /* those keys of a batch that are not adjacent bytes of their record, or
                             * NULL */
  size_t capacity;          /* the size of `joined` */
  size_t needed_nbytes;     /* the most bytes that the keys of the chunk may take */
  size_t njoined;           /* how many bytes of `joined` are used */
  uint8_t *converted;       /* those keys of a batch whose text was converted, or NULL */
  size_t converted_capacity;
  struct json_parser *json; /* parses lines of JSON for the fields of the first syntax; NULL: not
                             * created yet */
  lanebloom_slice records[BATCH_NRECORDS + MARKED_NBYTES + 1];
  lanebloom_slice keys[BATCH_NRECORDS];
  uint8_t missing[BATCH_NRECORDS / 8];
};

/* Begins to cut these bytes, which are borrowed. at_beginning says that an input begins with these
 * bytes. The cutter must be zeroed before its first use. If records are JSON, all calls until
 * cutter_end() must have the same fields. */
void cutter_begin(struct cutter *cutter, const struct record_syntax *syntax, const char *data,
                  size_t nbytes, bool at_beginning);

/* Cuts the next batch, of BATCH_NRECORDS records; only the last batch may have fewer. Returns false
 * if no bytes are left, or if no record could be cut because of a fault. */
bool cutter_next(struct cutter *cutter, struct batch *batch);

/* Describes the fault in `text`: what was expected and what was found. */
void describe_fault(const struct cutter *cutter, char *text, size_t size);

/* Makes room in `joined' for all keys of the chunk. Does nothing if keys of this batch are in
 * `joined' already, since there is room then. Returns false if memory ran out. */
bool cutter_reserve(struct cutter *cutter);

/* Frees the memory that the cutter allocated. */
void cutter_end(struct cutter *cutter);

#endif
