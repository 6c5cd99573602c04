/* Parses Pebble's columnar blocks. Offsets count from the first byte of the block.
 *
 *   block    custom header | format, 1 byte | number of columns, 2 | number of rows, 4
 *            | for each column: type, 1; offset, 4 | columns | 0
 *   numbers  encoding, 1 byte: bits 0 to 6 width; bit 7 has a base | base, 8 | padding to a
 *            multiple of the width | the numbers
 *   bytes    numbers: 0, then the end of each slice | the slices
 *   prefixes bundle shift, 1 byte | numbers: the end of each slice | the slices
 *
 * The slices of prefixes are: a prefix of all rows; then for each bundle a prefix of its rows, and
 * the rest of each row. If the rest is empty, the key equals the key of the row before it, or the
 * bundle's prefix if it is the first row.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "../../common/bytes.h"
#include "../block.h"
#include "columns.h"

enum { TYPE_NUMBERS = 2, TYPE_BYTES = 3, TYPE_PREFIXES = 4 };

static const struct layout {
  size_t header_nbytes; /* the custom header */
  size_t ncolumns;      /* further columns may follow */
  uint8_t types[MAX_NCOLUMNS];
} layouts[] = {
    [COLUMNS_NAMES] = {0, 2, {TYPE_BYTES, TYPE_BYTES}},
    [COLUMNS_INDEX] = {0, 3, {TYPE_BYTES, TYPE_NUMBERS, TYPE_NUMBERS}},
    [COLUMNS_KEYS] = {4, 3, {TYPE_PREFIXES, TYPE_BYTES, TYPE_NUMBERS}},
};

/* ---- Columns ---- */

/* Parses n numbers. */
static bool read_numbers(const uint8_t *block, struct cursor *rest, uint64_t n,
                         struct column *column)
{
  enum { HAS_BASE = 0x80, BASE_NBYTES = 8 };
  const uint8_t *encoding, *base, *padding;
  if (!cursor_bytes(rest, 1, &encoding))
    return false;
  const unsigned width = *encoding & (HAS_BASE - 1u);
  if (width > 8 || (width & (width - 1)) != 0)
    return false;
  *column = (struct column){.width = width};
  if (*encoding & HAS_BASE) {
    if (width == 8 || !cursor_bytes(rest, BASE_NBYTES, &base))
      return false;
    column->base = load_le64(base);
  }
  const size_t offset = (size_t)(rest->at - block);
  return (width == 0 || cursor_bytes(rest, (0 - offset) & (width - 1), &padding)) &&
         cursor_bytes(rest, n * width, &column->numbers);
}

static uint64_t number(const struct column *column, uint64_t i)
{
  uint64_t value = 0;
  for (unsigned at = 0; at < column->width; at++)
    value |= (uint64_t)column->numbers[i * column->width + at] << 8 * at;
  return column->base + value;
}

/* Finds slice i. Returns false if it is not within the column. */
static bool slice(const struct column *column, uint64_t i, struct cursor *found)
{
  const uint64_t begin = i > 0 ? number(column, i - 1) : 0, end = number(column, i);
  if (begin > end || end > column->nbytes)
    return false;
  *found = (struct cursor){column->bytes + begin, column->bytes + end};
  return true;
}

static bool read_slices(const uint8_t *block, struct cursor *rest, uint64_t n, bool has_begin,
                        struct column *column)
{
  if (!read_numbers(block, rest, n + has_begin, column))
    return false;
  if (has_begin) {
    if (number(column, 0) != 0)
      return false;
    column->numbers += column->width;
  }
  column->bytes = rest->at;
  column->nbytes = cursor_left(rest);
  return true;
}

static bool read_prefixes(const uint8_t *block, struct cursor *rest, struct columns *columns,
                          struct column *column)
{
  enum { MAX_SHIFT = 31 };
  const uint8_t *shift;
  if (!cursor_bytes(rest, 1, &shift) || *shift > MAX_SHIFT)
    return false;
  columns->bundle_shift = *shift;
  const uint64_t nbundles = ((uint64_t)(columns->nrows - 1) >> *shift) + 1;
  return read_slices(block, rest, 1 + nbundles + columns->nrows, false, column);
}

static bool read_column(uint8_t type, const uint8_t *block, struct cursor *rest,
                        struct columns *columns, struct column *column)
{
  return type == TYPE_NUMBERS ? read_numbers(block, rest, columns->nrows, column)
         : type == TYPE_BYTES ? read_slices(block, rest, columns->nrows, true, column)
                              : read_prefixes(block, rest, columns, column);
}

/* ---- The block ---- */

enum { NCOLUMNS_NBYTES = 2, NROWS_NBYTES = 4, COLUMN_NBYTES = 5 };

/* May a block of nbytes have so many rows? If not, a damaged number would make a small block take
 * long. A row takes at least a byte, because keys, or else their trailers or handles, differ. The
 * numbers of a row are the ends of its slices, and its trailer or handle. At most three rows have
 * the same numbers: one with a suffix, one without, and one that is only the prefix of all rows. So
 * if there are more rows than three times the values of two bytes, each takes three bytes. */
static bool may_have_rows(size_t nbytes, uint32_t nrows)
{
  enum { MAX_NEQUAL = 3, MAX_NSHORT = MAX_NEQUAL << 16, LONG_NBYTES = 3 };
  return nrows <= (nrows > MAX_NSHORT ? nbytes / LONG_NBYTES : nbytes);
}

uint8_t lanebloom_columns_format(enum column_layout layout, const uint8_t *bytes, size_t nbytes)
{
  const size_t at = layouts[layout].header_nbytes;
  return at < nbytes ? bytes[at] : 0;
}

bool lanebloom_columns_begin(enum column_layout layout, const uint8_t *bytes, size_t nbytes,
                             struct columns *columns)
{
  const struct layout *expected = &layouts[layout];
  struct cursor rest = {bytes, bytes + nbytes};
  const uint8_t *ignored, *ncolumns, *nrows, *list;
  if (!cursor_bytes(&rest, expected->header_nbytes + 1, &ignored) ||
      !cursor_bytes(&rest, NCOLUMNS_NBYTES, &ncolumns) ||
      !cursor_bytes(&rest, NROWS_NBYTES, &nrows))
    return false;
  const size_t n = (size_t)(ncolumns[0] | ncolumns[1] << 8);
  *columns = (struct columns){.layout = layout, .nrows = load_le32(nrows)};
  if (n < expected->ncolumns || !may_have_rows(nbytes, columns->nrows) ||
      !cursor_bytes(&rest, n * COLUMN_NBYTES, &list))
    return false;
  uint64_t begin = (uint64_t)(rest.at - bytes);
  for (size_t i = 0; i < expected->ncolumns; i++) {
    /* Columns do not overlap, so a key takes no more bytes than its block. */
    const uint8_t *column = list + i * COLUMN_NBYTES;
    const uint64_t end = i + 1 < n ? load_le32(column + COLUMN_NBYTES + 1) : (uint64_t)(nbytes - 1);
    if (column[0] != expected->types[i] || load_le32(column + 1) < begin ||
        load_le32(column + 1) > end || end > nbytes)
      return false;
    begin = end;
    rest = (struct cursor){bytes + load_le32(column + 1), bytes + end};
    if (columns->nrows > 0 && !read_column(column[0], bytes, &rest, columns, &columns->columns[i]))
      return false;
  }
  return true;
}

/* ---- Rows ---- */

/* Replaces the key's bytes from `at` on. */
static size_t put(struct entries *entries, size_t at, const struct cursor *part)
{
  const size_t nbytes = cursor_left(part);
  memcpy(entries->key + at, part->at, nbytes);
  return at + nbytes;
}

/* Makes the user key's prefix. It differs from the previous key only in its last slice, or in the
 * last two at the beginning of a bundle. */
static bool next_prefix(struct columns *columns, struct entries *entries)
{
  const struct column *column = &columns->columns[0];
  const uint32_t row = columns->row;
  const uint64_t bundle = row >> columns->bundle_shift;
  const uint64_t rest_of_row = 2 + bundle + row; /* the rows and prefixes before it */
  struct cursor part;
  if ((bundle << columns->bundle_shift) == row) {
    if (!slice(column, 0, &part))
      return false;
    const size_t nbytes = row == 0 ? put(entries, 0, &part) : cursor_left(&part);
    if (!slice(column, rest_of_row - 1, &part))
      return false;
    columns->shared_nbytes = columns->prefix_nbytes = put(entries, nbytes, &part);
  }
  if (!slice(column, rest_of_row, &part))
    return false;
  if (cursor_left(&part) > 0)
    columns->prefix_nbytes = put(entries, columns->shared_nbytes, &part);
  return true;
}

/* Makes the internal key. */
static bool next_key(struct columns *columns, struct entries *entries)
{
  struct cursor suffix;
  if (!next_prefix(columns, entries) || !slice(&columns->columns[1], columns->row, &suffix))
    return false;
  columns->has_suffixes |= cursor_left(&suffix) > 0;
  const size_t nbytes = put(entries, columns->prefix_nbytes, &suffix);
  store_le64(entries->key + nbytes, number(&columns->columns[2], columns->row));
  entries->key_nbytes = nbytes + sizeof(uint64_t);
  return true;
}

bool lanebloom_columns_next(struct columns *columns, struct entries *entries)
{
  if (columns->layout == COLUMNS_KEYS) {
    if (!next_key(columns, entries))
      return false;
  } else {
    struct cursor name;
    if (!slice(&columns->columns[0], columns->row, &name))
      return false;
    entries->key_nbytes = put(entries, 0, &name);
  }
  if (columns->layout == COLUMNS_NAMES &&
      !slice(&columns->columns[1], columns->row, &entries->value))
    return false;
  if (columns->layout == COLUMNS_INDEX)
    entries->handle = (struct handle){number(&columns->columns[1], columns->row),
                                      number(&columns->columns[2], columns->row)};
  columns->row++;
  return true;
}
