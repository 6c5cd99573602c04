/* Makes lanebloom_keys of the rows of an array. If lanebloom_keys has a layout for the rows, they
 * are used where they are. The rows of other arrays, such as arrays with a dictionary, are gathered
 * in blocks.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_ARROW_KEYS_H
#define LANEBLOOM_ARROW_KEYS_H

#include "column.h"

/* BLOCK_NROWS is the number of rows that are gathered at once. Blocks are on the stack, whose use
 * lanebloom.h documents under "Stack". */
enum { BLOCK_NROWS = 512, MAX_NUMBER_NBYTES = 16 };

struct block {
  size_t rows[BLOCK_NROWS];
  union {
    lanebloom_slice slices[BLOCK_NROWS];
    uint8_t numbers[BLOCK_NROWS * MAX_NUMBER_NBYTES];
  };
};

/* Returns the keys of the first n rows of block->rows. Short values of fixed size are copied to the
 * block; other values become slices. */
lanebloom_keys lanebloom_arrow_gather(const struct column *column, struct block *block, size_t n);

/* Checks whether rows can be used as lanebloom_keys without copying. Rows that are null are used,
 * too, with whatever values they have. If the array has no bytes, its offsets cannot be used,
 * because they may point anywhere. */
static inline bool is_direct(const struct array *array)
{
  const struct column *rows = &array->rows;
  return !array->has_dictionary && rows->type.layout != VIEWS && is_as_stored(&rows->type) &&
         (rows->type.layout == FIXED || rows->values);
}

/* Returns the keys of rows [first, first + n), without copying. is_direct() must be true. */
lanebloom_keys lanebloom_arrow_direct_keys(const struct column *column, size_t first, size_t n);

/* Returns the keys of rows [first, first + n) of any array; n is at most BLOCK_NROWS. Rows that are
 * null get a key, too, which the caller must ignore. */
lanebloom_keys lanebloom_arrow_block_keys(const struct array *array, size_t first, size_t n,
                                          struct block *block);

/* If nleft rows are left, returns how many of them the next block has. */
static inline size_t block_nrows(size_t nleft)
{
  return nleft < BLOCK_NROWS ? nleft : BLOCK_NROWS;
}

#endif
