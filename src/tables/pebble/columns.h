/* Reads the columnar blocks of Pebble's tables. Such a block stores its entries in columns: first a
 * column of all keys, then columns of other fields. The entries are parsed one after another, and
 * become equal to the entries of a block in rows (block.h).
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_PEBBLE_COLUMNS_H
#define LANEBLOOM_TABLES_PEBBLE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct entries;

/* The columns that a block begins with. */
enum column_layout {
  NO_COLUMNS,    /* entries are in rows */
  COLUMNS_NAMES, /* names, values: metaindex and properties */
  COLUMNS_INDEX, /* separators without a suffix, offsets, sizes */
  COLUMNS_KEYS,  /* the default schema of data blocks: prefixes, suffixes, trailers of keys */
};

enum { COLUMNS_FORMAT = 1, MAX_NCOLUMNS = 3 };

/* A column of numbers or of slices. Number i is `base` plus the `width` bytes at numbers + i *
 * width. In a column of slices, number i is where slice i ends in `bytes`; there the next slice
 * begins. */
struct column {
  uint64_t base;
  unsigned width;
  const uint8_t *numbers;
  const uint8_t *bytes;
  uint64_t nbytes;
};

struct columns {
  enum column_layout layout;
  uint32_t nrows, row; /* row: the next one */
  struct column columns[MAX_NCOLUMNS];

  /* KEYS: prefixes are compressed. 2^bundle_shift rows are a bundle. */
  unsigned bundle_shift;
  size_t shared_nbytes; /* of the key: what all rows of the bundle share */
  size_t prefix_nbytes; /* of the key: all but suffix and trailer */
  bool has_suffixes;    /* did a row have a suffix? */
};

/* Returns the format of a block of nbytes, which is COLUMNS_FORMAT in all blocks that are known.
 * Returns 0 if the block has no byte for it. */
uint8_t lanebloom_columns_format(enum column_layout layout, const uint8_t *bytes, size_t nbytes);

/* Positions *columns before the first row. The bytes are borrowed. Returns false if the block is
 * damaged. Cost: O(1). */
bool lanebloom_columns_begin(enum column_layout layout, const uint8_t *bytes, size_t nbytes,
                             struct columns *columns);

/* Returns the most bytes that a key of a block of nbytes may have. */
static inline size_t columns_max_key_nbytes(size_t nbytes)
{
  enum { KEY_TRAILER_NBYTES = 8 };
  return nbytes + KEY_TRAILER_NBYTES;
}

/* Makes the entry of the next row: its key, and its value or handle. Returns false if the row is
 * damaged. The caller must check that there is a next row. */
bool lanebloom_columns_next(struct columns *columns, struct entries *entries);

#endif
