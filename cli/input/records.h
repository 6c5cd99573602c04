/* Records: cuts chunks of input into lines of text or JSON, NUL-terminated strings, keys of a fixed
 * width or CSV records, a batch at a time. The records of a batch are adjacent bytes of the chunk.
 * So are their keys, except keys that are joined from several fields, contained quotes or escapes,
 * or are converted.
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

/* The number of records of a batch. Slices and short records stay in the L2 cache: 256, 1024 and
 * 2048 lines of 12 bytes were equally fast. A multiple of 8, so that the bitmaps of full batches
 * are adjacent. */
enum { BATCH_NRECORDS = 2048 };

enum decompress {
  DECOMPRESS_DEFAULT, /* AUTO; NONE for records of fixed width, which may begin with any bytes */
  DECOMPRESS_AUTO,    /* decompress data whose first bytes show that they are compressed */
  DECOMPRESS_NONE
};

/* Says how an input is cut into records, and which part of a record is its key. */
struct record_syntax {
  size_t width;               /* bytes per record; 0: records end at the terminator */
  char terminator;            /* '\n' or '\0' */
  bool crlf;                  /* a carriage return before the terminator is not part of the key */
  enum decompress decompress; /* whether to decompress before cutting */
  struct field_syntax fields;

  /* Says how the text of a key becomes the key. JOINED also means that whole records are joined
   * fields. form_origin: what required this form, for messages; NULL: nothing. */
  lanebloom_key_form form;
  const char *form_origin;
  struct text_units units; /* zeros except for columns: the text of a decimal is its unscaled
                            * value */
  bool is_decoded; /* records hold keys that are decoded already, whatever form filters record */
};

/* Are inputs decompressed? */
static inline bool does_decompress(const struct record_syntax *syntax)
{
  return syntax->decompress == DECOMPRESS_AUTO ||
         (syntax->decompress == DECOMPRESS_DEFAULT && syntax->width == 0);
}

/* Is a byte order mark at the beginning of an input excluded from the first key? */
static inline bool may_have_bom(const struct record_syntax *syntax)
{
  return syntax->width == 0 && syntax->terminator == '\n';
}

/* Returns the size of the first record, terminator included; 0: it does not end in these bytes. */
size_t record_nbytes(const struct record_syntax *syntax, const char *data, size_t nbytes);

/* Returns how many of the bytes are whole records. The last `nnew` bytes are new: no record ends
 * before them. odd_quotes: is the number of quotes in all bytes odd? */
size_t whole_nbytes(const struct record_syntax *syntax, const char *data, size_t nbytes,
                    size_t nnew, bool odd_quotes);

/* Do the first of these bytes contain NULs although records are lines? JSON cannot contain NULs;
 * they are refused later. */
bool have_nuls(const struct record_syntax *syntax, const char *data, size_t nbytes);
#define NULS_TEXT                                                                                  \
  "warning: found NUL bytes in the first lines: records that end in NUL need --null (-z), and "    \
  "UTF-16 text needs `iconv'"

/* Are lines separated by carriage returns only, so that they would form one record? True if records
 * are lines and the bytes, which are a whole input, contain no line feed but a carriage return that
 * is not the last byte. CSV and TSV are recognized earlier, and JSON treats both characters as
 * spaces. */
bool is_line_of_returns(const struct record_syntax *syntax, const char *data, size_t nbytes);
#define LINE_OF_RETURNS_TEXT                                                                       \
  "expected lines that end in LF or in CR LF, found carriage returns (CR) alone: run tr '\\r' "    \
  "'\\n' <FILE | lanebloom ..., or give --null (-z) if this is one record"

/* Returns the number of newlines in the bytes. */
uint64_t count_lines(const char *data, size_t nbytes);

/* Is the number of quotes in the bytes odd? false if quotes have no meaning. */
bool has_odd_quotes(const struct record_syntax *syntax, const char *data, size_t nbytes);

/* Adjacent records of one chunk, at least one. Borrowed until the next batch. */
struct batch {
  lanebloom_keys keys; /* of every record; a record without a key has the empty key */
  size_t n;
  const char *data;               /* the first record */
  const lanebloom_slice *records; /* n records without their terminators, and a last one whose data
                                   * is the end of the batch; NULL for fixed width */
  size_t width;                   /* bytes per record; 0: `records` */
  lanebloom_slice *slices;        /* the keys; NULL for fixed width */
  uint8_t *missing; /* bit i: record i has no key, because fields are missing or malformed; NULL:
                     * all have a key */
};

/* Returns the beginning of record i, which is at most n. The record ends, terminator included,
 * where record i + 1 begins. */
static inline const char *batch_record(const struct batch *batch, size_t i)
{
  return batch->records ? batch->records[i].data : batch->data + i * batch->width;
}

/* Returns the key of record i. */
static inline lanebloom_slice batch_key(const struct batch *batch, size_t i)
{
  return batch->slices ? batch->slices[i]
                       : (lanebloom_slice){batch->data + i * batch->width, batch->width};
}

/* Does record i have a key? */
static inline bool batch_has_key(const struct batch *batch, size_t i)
{
  return !batch->missing || !(batch->missing[i / 8] >> i % 8 & 1);
}

/* Returns the phrase, in the plural, that describes records without a key. */
static inline const char *missing_text(const struct record_syntax *syntax)
{
  return syntax->form.encoding ? "have no key, or malformed text" : "lack a field of the key";
}

/* Removes from `keys` the records that have no key. `keys` may then have fewer than n. */
void batch_drop_missing(struct batch *batch);

/* Says why a chunk could not be cut to its end. */
enum fault_kind {
  FAULT_NONE,
  FAULT_MEMORY,
  FAULT_MISSING,  /* fewer fields than the key needs */
  FAULT_QUOTE,    /* a quote inside a field that does not begin with one */
  FAULT_AFTER,    /* neither separator nor line end after the closing quote */
  FAULT_UNCLOSED, /* no closing quote */
  FAULT_TEXT,     /* the text of a key cannot be decoded, or the value of a member is not text */
  FAULT_JSON      /* the line is not JSON */
};

struct fault {
  enum fault_kind kind;
  uint64_t line;  /* of the chunk, from 1 */
  size_t nfields; /* of the record, up to the fault */
  char text[256]; /* for a text or JSON: a description */
};

/* Says whether keys end in the carriage returns of Windows' line ends, which --crlf removes. */
enum returns {
  RETURNS_UNKNOWN, /* there are no keys, or carriage returns do not end lines */
  RETURNS_NONE,
  RETURNS_SOME,
  RETURNS_ALL
};

#define SOME_RETURNS_TEXT                                                                          \
  "warning: some of the first keys end in a carriage return (CR), and others do not: --crlf "      \
  "leaves it out of keys"

/* Cuts bytes that are whole records, terminators included, into batches. */
struct cutter {
  struct record_syntax syntax;
  const char *next, *end; /* the bytes still to be cut */
  size_t nrecords;        /* in all batches so far */
  size_t nmissing;        /* records of them without a key */
  uint64_t nlines;        /* line ends in all records so far, also inside quotes */
  struct fault fault;     /* what stopped the cutter before the end */
  enum returns returns;   /* of the first batch of an input */

  /* private */
  bool at_beginning;        /* the next batch is the first of an input */
  size_t bom_nbytes;        /* size of the byte order mark at the beginning of the next record */
  struct field_order order; /* of the fields of a key */
  char *joined;             /* keys of a batch that are not contiguous in their record, or NULL */
  size_t capacity;          /* of `joined` */
  size_t needed_nbytes;     /* the most bytes that the chunk's keys take */
  size_t njoined;           /* bytes */
  uint8_t *converted;       /* keys of a batch whose text was converted, or NULL */
  size_t converted_capacity;
  struct json_parser *json; /* for lines of JSON and the fields of the first syntax; NULL: none
                             * yet */
  lanebloom_slice records[BATCH_NRECORDS + MARKED_NBYTES + 1];
  lanebloom_slice keys[BATCH_NRECORDS];
  uint8_t missing[BATCH_NRECORDS / 8];
};

/* Begins to cut these bytes, which are borrowed. at_beginning: the bytes are the beginning of an
 * input. The cutter must be zeroed before its first use. For JSON, the fields must stay the same
 * until cutter_end(). */
void cutter_begin(struct cutter *cutter, const struct record_syntax *syntax, const char *data,
                  size_t nbytes, bool at_beginning);

/* Cuts the next batch of BATCH_NRECORDS records; only the last batch has fewer. false: no bytes are
 * left, or there was a fault. */
bool cutter_next(struct cutter *cutter, struct batch *batch);

/* Describes the fault in `text`: what was expected, and what was found. */
void describe_fault(const struct cutter *cutter, char *text, size_t size);

/* Makes room in `joined' for the keys of the chunk, unless a key of the batch is in it already.
 * false: memory ran out. */
bool cutter_reserve(struct cutter *cutter);

/* Frees what the cutter allocated. */
void cutter_end(struct cutter *cutter);

#endif
