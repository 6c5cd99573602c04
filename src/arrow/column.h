/* A column describes the values of an Arrow array, which stay where they are in memory. An array
 * with a dictionary has two columns. The functions that read single rows are here, so that they are
 * inlined.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_ARROW_COLUMN_H
#define LANEBLOOM_ARROW_COLUMN_H

#include "../hits.h"
#include "type.h"

struct column {
  struct type type;
  size_t first;         /* the array's offset, in rows */
  size_t n;             /* rows */
  const uint8_t *valid; /* one bit per row, from `first` on; NULL if there are no nulls */
  /* FIXED: values; VIEWS: views; otherwise bytes. NULL if there are no bytes */
  const uint8_t *values;
  const void *offsets; /* OFFSETS32 and OFFSETS64 */

  const void *const *buffers; /* VIEWS: the buffers of long strings */
  const int64_t *buffer_nbytes;
  size_t nbuffers;
};

/* Without a dictionary, `rows` are the values. With a dictionary, `rows` are indices into
 * `values`. */
struct array {
  struct column rows;   /* with the validity bits of rows */
  struct column values; /* only if has_dictionary is set */
  bool has_dictionary;
};

/* Opens and checks an array. */
lanebloom_status lanebloom_arrow_open(const struct ArrowSchema *schema,
                                      const struct ArrowArray *arrow, struct array *array,
                                      const struct problem *problem);

static inline const struct column *values_of(const struct array *array)
{
  return array->has_dictionary ? &array->values : &array->rows;
}

/* ---- Rows ---- */

static inline bool is_valid(const struct column *column, size_t row)
{
  return !column->valid || hits_has_bit(column->valid, column->first + row);
}

/* Returns the integer of a row, as two's complement of 64 bits. */
static inline uint64_t integer_at(const struct column *column, size_t row)
{
  const uint8_t *at = column->values + (column->first + row) * column->type.width;
  const bool is_signed = column->type.is_signed;
  uint8_t value8;
  uint16_t value16;
  uint32_t value32;
  uint64_t value64;
  switch (column->type.width) {
  case sizeof value8:
    value8 = *at;
    return is_signed ? (uint64_t)(int8_t)value8 : value8;
  case sizeof value16:
    memcpy(&value16, at, sizeof value16);
    return is_signed ? (uint64_t)(int16_t)value16 : value16;
  case sizeof value32:
    memcpy(&value32, at, sizeof value32);
    return is_signed ? (uint64_t)(int32_t)value32 : value32;
  default:
    memcpy(&value64, at, sizeof value64);
    return value64;
  }
}

/* Stands for a row that has no value, because it is null. Its key is empty, or 0. */
static const size_t NO_ROW = SIZE_MAX;

/* Returns the row of values_of(array) that has the value of this row of the array. If the row is
 * null, returns NO_ROW. */
static inline size_t value_row(const struct array *array, size_t row)
{
  if (!is_valid(&array->rows, row))
    return NO_ROW;
  if (!array->has_dictionary)
    return row;
  const size_t value = (size_t)integer_at(&array->rows, row);
  return is_valid(&array->values, value) ? value : NO_ROW;
}

static inline bool may_have_nulls(const struct array *array)
{
  return array->rows.valid || (array->has_dictionary && array->values.valid);
}

/* Arrow's string view begins with the size of the string. If the string has at most 12 bytes, the
 * string itself follows; otherwise 4 bytes of prefix, the number of a buffer, and the string's
 * offset in this buffer follow. */
enum { ARROW_VIEW_NBYTES = 16, AT_INLINE = 4, MAX_INLINE = 12, AT_BUFFER = 8, AT_OFFSET = 12 };

static inline int32_t int32_at(const uint8_t *bytes)
{
  int32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static inline const uint8_t *view_at(const struct column *column, size_t row)
{
  return column->values + (column->first + row) * ARROW_VIEW_NBYTES;
}

/* If a column has no bytes, this is the address of its values, because arithmetic on NULL would be
 * undefined. */
static const uint8_t EMPTY[1];

static inline lanebloom_slice value_at(const struct column *column, size_t row)
{
  const size_t at = column->first + row;
  switch (column->type.layout) {
  case OFFSETS32: {
    const uint32_t *offsets = column->offsets;
    return (lanebloom_slice){column->values ? column->values + offsets[at] : EMPTY,
                             offsets[at + 1] - offsets[at]};
  }
  case OFFSETS64: {
    const uint64_t *offsets = column->offsets;
    return (lanebloom_slice){column->values ? column->values + offsets[at] : EMPTY,
                             offsets[at + 1] - offsets[at]};
  }
  case VIEWS: {
    const uint8_t *view = view_at(column, row);
    const int32_t size = int32_at(view);
    const uint8_t *bytes = view + AT_INLINE;
    if (size > MAX_INLINE)
      bytes =
          (const uint8_t *)column->buffers[int32_at(view + AT_BUFFER)] + int32_at(view + AT_OFFSET);
    return (lanebloom_slice){bytes, (size_t)size};
  }
  case FIXED:
    break;
  }
  return (lanebloom_slice){column->values ? column->values + at * column->type.width : EMPTY,
                           column->type.width};
}

#endif
