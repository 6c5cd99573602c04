/* Makes lanebloom_keys and slices of the rows of Arrow arrays.
 * SPDX-License-Identifier: MIT */
#include "keys.h"

#include <string.h>

#include "../common/bytes.h"

/* Writes the key of a fixed-size value of at most MAX_NUMBER_NBYTES bytes. Numbers become
 * little-endian, and integers get at least 4 bytes. */
static inline void write_number(const struct column *column, size_t row, uint8_t *to)
{
  const struct type *type = &column->type;
  if (is_integer(type) && type->width < sizeof(uint32_t)) {
    store_le32(to, (uint32_t)integer_at(column, row));
    return;
  }
  const uint8_t *from = value_at(column, row).data;
  if (is_as_stored(type)) {
    memcpy(to, from, type->width);
    return;
  }
  for (size_t i = 0; i < type->width; i++)
    to[i] = from[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : type->width - 1 - i];
}

lanebloom_keys lanebloom_arrow_gather(const struct column *column, struct block *block, size_t n)
{
  const size_t nbytes = key_nbytes(&column->type);
  if (column->type.layout != FIXED || nbytes > MAX_NUMBER_NBYTES) {
    for (size_t i = 0; i < n; i++)
      block->slices[i] =
          block->rows[i] == NO_ROW ? (lanebloom_slice){EMPTY, 0} : value_at(column, block->rows[i]);
    return lanebloom_keys_slices(block->slices, n);
  }
  memset(block->numbers, 0, n * nbytes);
  for (size_t i = 0; i < n && nbytes > 0; i++) /* values without bytes may have no memory */
    if (block->rows[i] != NO_ROW)
      write_number(column, block->rows[i], block->numbers + i * nbytes);
  return lanebloom_keys_fixed(block->numbers, nbytes, n);
}

lanebloom_keys lanebloom_arrow_direct_keys(const struct column *column, size_t first, size_t n)
{
  const size_t at = column->first + first;
  if (column->type.layout == OFFSETS32)
    return lanebloom_keys_offsets32(column->values, (const uint32_t *)column->offsets + at, n);
  if (column->type.layout == OFFSETS64)
    return lanebloom_keys_offsets64(column->values, (const uint64_t *)column->offsets + at, n);
  return lanebloom_keys_fixed(value_at(column, first).data, column->type.width, n);
}

lanebloom_keys lanebloom_arrow_block_keys(const struct array *array, size_t first, size_t n,
                                          struct block *block)
{
  if (is_direct(array))
    return lanebloom_arrow_direct_keys(&array->rows, first, n);
  for (size_t i = 0; i < n; i++)
    block->rows[i] = value_row(array, first + i);
  return lanebloom_arrow_gather(values_of(array), block, n);
}

lanebloom_status lanebloom_arrow_slices(const struct ArrowSchema *schema,
                                        const struct ArrowArray *arrow, lanebloom_slice *slices,
                                        void *numbers, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  struct array array;
  const lanebloom_status status = lanebloom_arrow_open(schema, arrow, &array, &problem);
  if (status)
    return status;
  const struct column *values = values_of(&array);
  for (size_t row = 0; row < array.rows.n; row++) {
    const size_t value = value_row(&array, row);
    slices[row] = (lanebloom_slice){NULL, 0};
    if (value == NO_ROW)
      continue;
    if (values->type.layout != FIXED || is_as_stored(&values->type)) {
      slices[row] = value_at(values, value);
      continue;
    }
    uint8_t *number = (uint8_t *)numbers + row * MAX_NUMBER_NBYTES;
    write_number(values, value, number);
    slices[row] = (lanebloom_slice){number, key_nbytes(&values->type)};
  }
  return LANEBLOOM_OK;
}
