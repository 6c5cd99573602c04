/* Adds the rows of Arrow arrays to builders.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../filter.h"
#include "keys.h"

static lanebloom_status add_block(lanebloom_builder *builder, const struct column *column,
                                  struct block *block, size_t *n)
{
  const lanebloom_keys keys = lanebloom_arrow_gather(column, block, *n);
  *n = 0;
  return lanebloom_builder_add(builder, &keys);
}

/* Adds the valid rows of a column. If `used` is not NULL, only rows whose bit is set in `used` are
 * added. */
static lanebloom_status add_rows(lanebloom_builder *builder, const struct column *column,
                                 const uint8_t *used)
{
  struct block block;
  size_t n = 0;
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t row = 0; row < column->n && !status; row++) {
    if (!is_valid(column, row) || (used && !hits_has_bit(used, row)))
      continue;
    block.rows[n++] = row;
    if (n == BLOCK_NROWS)
      status = add_block(builder, column, &block, &n);
  }
  return status || n == 0 ? status : add_block(builder, column, &block, &n);
}

/* Adds the values of the dictionary, each once. Values that no row uses are left out. */
static lanebloom_status add_used(lanebloom_builder *builder, const struct array *array,
                                 const struct problem *problem)
{
  uint8_t *used = calloc(hits_nbytes(array->values.n) + 1, 1);
  if (!used)
    return problem_memory(problem, hits_nbytes(array->values.n) + 1);
  for (size_t row = 0; row < array->rows.n; row++)
    if (is_valid(&array->rows, row))
      hits_set_bit(used, (size_t)integer_at(&array->rows, row));
  const lanebloom_status status = add_rows(builder, &array->values, used);
  free(used);
  return status ? problem_status(problem, status) : LANEBLOOM_OK;
}

lanebloom_status lanebloom_builder_add_arrow(lanebloom_builder *builder,
                                             const struct ArrowSchema *schema,
                                             const struct ArrowArray *arrow, char *text,
                                             size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  struct array array;
  lanebloom_status status = lanebloom_arrow_open(schema, arrow, &array, &problem);
  if (!status)
    status = lanebloom_arrow_check_form(&values_of(&array)->type,
                                        lanebloom_builder_key_form(builder), "builder", &problem);
  if (status)
    return status;
  /* Room for all keys is made first, so that either all keys are added or none. Rows are added
   * block by block: without the room, memory might run out between two blocks. */
  const size_t nrows = array.rows.n, nvalues = values_of(&array)->n;
  status = lanebloom_builder_reserve(builder, nrows < nvalues ? nrows : nvalues);
  if (!status && is_direct(&array) && !may_have_nulls(&array)) {
    const lanebloom_keys keys = lanebloom_arrow_direct_keys(&array.rows, 0, array.rows.n);
    status = lanebloom_builder_add(builder, &keys);
  } else if (!status && array.has_dictionary) {
    return add_used(builder, &array, &problem);
  } else if (!status) {
    status = add_rows(builder, &array.rows, NULL);
  }
  return status ? problem_status(&problem, status) : LANEBLOOM_OK;
}
