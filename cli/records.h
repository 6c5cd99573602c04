/* Records: cuts chunks of input into lines of text or JSON, NUL-terminated strings, keys of a fixed
 * width or CSV records, a batch at a time. The records of a batch are adjacent bytes of the chunk;
 * so are their keys, except those that are joined from several fields, had quotes or escapes in
 * them or are converted.
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

/* Records of a batch. Slices and short records stay in the L2 cache; 256, 1024 and 2048 lines of 12
 * bytes measured alike. A multiple of 8, so that the bitmaps of full batches are adjacent. */
enum { BATCH_NRECORDS = 2048 };

enum decompress {
  DECOMPRESS_DEFAULT, /* AUTO; NONE for records of fixed width, which may begin with any bytes */
  DECOMPRESS_AUTO,    /* what is compressed, by its first bytes */
  DECOMPRESS_NONE
};

/* How an input is cut into records, and what of a record is its key. */
struct record_syntax {
  size_t width;               /* bytes per record; 0: records end at the terminator */
  char terminator;            /* '\n' or '\0' */
  bool crlf;                  /* a carriage return before the terminator is no part of the key */
  enum decompress decompress; /* before it is cut */
  struct field_syntax fields;

  /* How the text of a key becomes the key. JOINED also says that whole records are joined fields.
   * form_origin: who says so, for messages; NULL: nobody. */
  lanebloom_key_form form;
  const char *form_origin;
  struct text_units units; /* zeros but for columns: the text of a decimal is its unscaled value */
  bool is_decoded; /* records are what text would be decoded to, whatever form filters record */
};

/* Are inputs decompressed? */
static inline bool does_decompress(const struct record_syntax *syntax)
{
  return syntax->decompress == DECOMPRESS_AUTO ||
         (syntax->decompress == DECOMPRESS_DEFAULT && syntax->width == 0);
}

/* Is a byte order mark at the beginning of an input no part of the first key? */
static inline bool may_have_bom(const struct record_syntax *syntax)
{
  return syntax->width == 0 && syntax->terminator == '\n';
}

/* How many of the bytes are the first record, terminator included; 0: it does not end in them. */
size_t record_nbytes(const struct record_syntax *syntax, const char *data, size_t nbytes);

/* How many of the bytes are whole records. The last `nnew` bytes are new: no record ends before
 * them. odd_quotes: is the number of quotes in all bytes odd? */
size_t whole_nbytes(const struct record_syntax *syntax, const char *data, size_t nbytes,
                    size_t nnew, bool odd_quotes);

/* Are there NULs in the first of these bytes, though records are lines? Those of JSON, which has
 * none, are refused later. */
bool have_nuls(const struct record_syntax *syntax, const char *data, size_t nbytes);
#define NULS_TEXT                                                                                  \
  "warning: found NUL bytes in the first lines: records that end in NUL need --null (-z), and "    \
  "UTF-16 text needs `iconv'"

/* Records are lines, and these are all bytes of an input: is there no line feed, but a carriage
 * return that something follows? Then lines end in carriage returns, and would be one record. CSV
 * and TSV are told earlier, and JSON takes both for spaces. */
bool is_line_of_returns(const struct record_syntax *syntax, const char *data, size_t nbytes);
#define LINE_OF_RETURNS_TEXT                                                                       \
  "expected lines that end in LF or in CR LF, found carriage returns (CR) alone: run tr '\\r' "    \
  "'\\n' <FILE | lanebloom ..., or give --null (-z) if this is one record"

/* The number of newlines in the bytes. */
uint64_t count_lines(const char *data, size_t nbytes);

/* Is the number of quotes in the bytes odd? false if quotes have no meaning. */
bool has_odd_quotes(const struct record_syntax *syntax, const char *data, size_t nbytes);

/* Adjacent records of one chunk, at least one; borrowed until the next batch. */
struct batch {
  lanebloom_keys keys; /* of every record; of a record without a key, the empty one */
  size_t n;
  const char *data;               /* the first record */
  const lanebloom_slice *records; /* n records without their terminators, and a last one whose data
                                     is the end of the batch; NULL for fixed width */
  size_t width;                   /* bytes per record; 0: `records` */
  lanebloom_slice *slices;        /* the keys; NULL for fixed width */
  uint8_t *missing; /* bit i: record i has no key, as its fields are missing or malformed; NULL: all
                       have one */
};

/* Where record i begins, i at most n. It ends, terminator included, where record i + 1 begins. */
static inline const char *batch_record(const struct batch *batch, size_t i)
{
  return batch->records ? batch->records[i].data : batch->data + i * batch->width;
}

/* The key of record i. */
static inline lanebloom_slice batch_key(const struct batch *batch, size_t i)
{
  return batch->slices ? batch->slices[i]
                       : (lanebloom_slice){batch->data + i * batch->width, batch->width};
}

/* Has record i a key? */
static inline bool batch_has_key(const struct batch *batch, size_t i)
{
  return !batch->missing || !(batch->missing[i / 8] >> i % 8 & 1);
}

/* What records without a key are said to do, in the plural. */
static inline const char *missing_text(const struct record_syntax *syntax)
{
  return syntax->form.encoding ? "have no key, or malformed text" : "lack a field of the key";
}

/* Takes the records that have no key out of `keys`, which then has fewer than n. */
void batch_drop_missing(struct batch *batch);

/* Why a chunk could not be cut to its end. */
enum fault_kind {
  FAULT_NONE,
  FAULT_MEMORY,
  FAULT_MISSING,  /* fewer fields than the key needs */
  FAULT_QUOTE,    /* a quote inside a field that does not begin with one */
  FAULT_AFTER,    /* neither separator nor line end after the closing quote */
  FAULT_UNCLOSED, /* no closing quote */
  FAULT_TEXT,     /* the text of a key cannot be decoded, or a member is no text */
  FAULT_JSON      /* the line is not JSON */
};

struct fault {
  enum fault_kind kind;
  uint64_t line;  /* of the chunk, from 1 */
  size_t nfields; /* of the record, up to the fault */
  char text[256]; /* of a text or of JSON: what is wrong */
};

/* Whether keys end in the carriage returns of Windows' line ends, which --crlf leaves out. */
enum returns {
  RETURNS_UNKNOWN, /* there are no keys, or a carriage return is no line end */
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
  const char *next, *end; /* the bytes that are not cut yet */
  size_t nrecords;        /* in the batches so far */
  size_t nmissing;        /* of those, the ones without a key */
  uint64_t nlines;        /* line ends in those records, also inside quotes */
  struct fault fault;     /* what ended cutting before the end */
  enum returns returns;   /* of the first batch of an input */

  /* private */
  bool at_beginning;        /* of an input: the next batch is the first */
  size_t bom_nbytes;        /* at the beginning of the next record */
  struct field_order order; /* of the fields of a key */
  char *joined;             /* keys of a batch that are not in one piece in their record, or NULL */
  size_t capacity;          /* of `joined` */
  size_t needed_nbytes;     /* the most that the chunk's keys take */
  size_t njoined;           /* bytes */
  uint8_t *converted;       /* keys of a batch whose text was converted, or NULL */
  size_t converted_capacity;
  struct json_parser *json; /* of lines of JSON, for the fields of the first; NULL: none yet */
  lanebloom_slice records[BATCH_NRECORDS + MARKED_NBYTES + 1];
  lanebloom_slice keys[BATCH_NRECORDS];
  uint8_t missing[BATCH_NRECORDS / 8];
};

/* Begins to cut these bytes, which are borrowed. at_beginning: of an input. The cutter must be
 * zeroed before its first use. Of JSON, the fields are the same until cutter_end(). */
void cutter_begin(struct cutter *cutter, const struct record_syntax *syntax, const char *data,
                  size_t nbytes, bool at_beginning);

/* Cuts the next batch: BATCH_NRECORDS records, fewer only in the last batch. false: no bytes are
 * left, or there was a fault. */
bool cutter_next(struct cutter *cutter, struct batch *batch);

/* Puts into `text` what the fault is: expected and found. */
void describe_fault(const struct cutter *cutter, char *text, size_t size);

/* Makes room in `joined' for the keys of the chunk, unless a key of the batch is in it. false:
 * memory ran out. */
bool cutter_reserve(struct cutter *cutter);

/* Frees what the cutter allocated. */
void cutter_end(struct cutter *cutter);

#endif
