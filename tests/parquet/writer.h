/* Parquet files made by hand: a footer, row groups that are all alike, and filters. Such files are
 * made by no writer, or only by old ones.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_PARQUET_WRITER_H
#define LANEBLOOM_TESTS_PARQUET_WRITER_H

#include "parquet.h"

/* ---- A writer of Thrift's compact protocol ---- */

enum { STOP, YES, NO, I8, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT };

struct writer {
  uint8_t *bytes;
  size_t n, room;
  int last_id[120]; /* on each level, the id of the last field */
  size_t depth;
};

/* Stores a number, little-endian. */
void store_le(__int128 value, size_t nbytes, uint8_t *to);

void write_bytes(struct writer *writer, const void *bytes, size_t nbytes);
void write_varint(struct writer *writer, uint64_t value);
void write_field(struct writer *writer, int id, int type);
void write_i32(struct writer *writer, int id, int32_t value);
void write_i64(struct writer *writer, int id, int64_t value);
void write_binary(struct writer *writer, int id, const void *bytes, size_t nbytes);
void write_list(struct writer *writer, int id, int element, size_t n);
void begin_struct(struct writer *writer, int id); /* 0: an element of a list */
void end_struct(struct writer *writer);

/* ---- Files ---- */

/* An entry of the key-value metadata. */
struct key_value {
  const char *key, *value; /* value may be NULL */
};

/* A minimum or maximum in statistics. */
struct value {
  bool is_there;
  uint8_t bytes[16];
  size_t nbytes;
};

enum { NO_LOGICAL = 0 };
#define NO_COUNT INT64_MIN

struct file_plan {
  /* the only column */
  const char *name; /* NULL: "column" */
  int32_t physical, length, converted /* -1: none */, scale, precision;
  int32_t logical, logical_unit, logical_nbits;
  bool logical_is_signed;

  int32_t order; /* the member of ColumnOrder that is written; 0: none */
  struct value old_min, old_max, min, max;
  int64_t nvalues, nnulls; /* NO_COUNT: none is written */

  /* the bytes in the place of the filter and its header; NULL: none */
  const uint8_t *filter;
  size_t filter_nbytes;
  int64_t length_in_footer; /* 0: none is written */
  int64_t offset_in_footer; /* 0: the right offset */
  int64_t filter_stride;    /* bytes from each filter to the next one */

  bool is_encrypted;
  const char *file_path;  /* NULL: this file */
  const char *chunk_path; /* NULL: the right path */
  bool without_path;      /* chunks have no path */
  bool with_empty_path;   /* chunks have a path without names */
  size_t nmore_orders;    /* orders beyond the column's */
  int32_t chunk_physical; /* negative: the right type */
  size_t nchunks;         /* in a row group; 1 is right */
  size_t nrow_groups;     /* 0: 1 */
  const char *magic;      /* NULL: "PAR1" */
  const char *created_by; /* NULL: "by hand" */
  const struct key_value *key_values;
  size_t nkey_values; /* 0: there is no list */
  lanebloom_parquet_bounds bounds;
};

/* Returns the plan of an INT32 column without annotations, statistics or filter. All bounds of the
 * file are used. */
struct file_plan plain_plan(void);

/* Returns the file's bytes. For free(). */
uint8_t *make_file(const struct file_plan *plan, size_t *nbytes);

/* Opens the file, which must succeed. After closing the file, free *bytes. */
lanebloom_parquet *open_planned(const struct file_plan *plan, uint8_t **bytes);

/* Writes the bytes to a temporary file, and opens that. */
lanebloom_parquet *open_as_file(const uint8_t *bytes, size_t nbytes);

/* The header of a filter. */
struct filter_header {
  int32_t nbytes, algorithm, hash, compression;
};
void write_filter_header(struct writer *writer, struct filter_header header);

#endif
