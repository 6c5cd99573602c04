/* Opens Arrow arrays, and checks their contents as far as the structs allow.
 * SPDX-License-Identifier: MIT */
#include "column.h"

static lanebloom_status refuse(const struct problem *problem, const char *text)
{
  return problem_set(problem, LANEBLOOM_ERR_ARGUMENT, "Arrow array: %s", text);
}

/* The highest number of rows, and of bytes of strings, that is accepted. No memory holds more, and
 * sizes that are computed from these numbers do not overflow. */
static const int64_t MAX_COUNT = PTRDIFF_MAX / 64;

static bool rows_fit(const struct type *type, const struct ArrowArray *array)
{
  int64_t end, nbytes;
  return array->length >= 0 && array->offset >= 0 &&
         !__builtin_add_overflow(array->length, array->offset, &end) && end <= MAX_COUNT &&
         !__builtin_mul_overflow(end, (int64_t)type->width, &nbytes);
}

static lanebloom_status open_column(const struct type *type, const struct ArrowArray *array,
                                    struct column *column, const struct problem *problem)
{
  static const int64_t NBUFFERS[] = {[FIXED] = 2, [OFFSETS32] = 3, [OFFSETS64] = 3, [VIEWS] = 3};
  const enum array_layout layout = type->layout;
  if (!array->release)
    return refuse(problem, "it is released");
  if (!rows_fit(type, array))
    return refuse(problem, "its length or offset is negative or too large");
  *column =
      (struct column){.type = *type, .first = (size_t)array->offset, .n = (size_t)array->length};
  if (array->length == 0)
    return LANEBLOOM_OK;
  if (array->n_buffers < NBUFFERS[layout] || !array->buffers)
    return refuse(problem, "it has fewer buffers than its type needs");
  if (array->null_count != 0)
    column->valid = array->buffers[0];
  column->values = array->buffers[layout == OFFSETS32 || layout == OFFSETS64 ? 2 : 1];
  if (layout == VIEWS) {
    column->nbuffers = (size_t)array->n_buffers - 3;
    column->buffers = array->buffers + 2;
    column->buffer_nbytes = array->buffers[array->n_buffers - 1];
    if (column->nbuffers > 0 &&
        (!column->buffer_nbytes || (uintptr_t)column->buffer_nbytes % sizeof(int64_t) != 0))
      return refuse(problem, "the sizes of its buffers are missing or not aligned");
  } else if (layout != FIXED) {
    column->offsets = array->buffers[1];
    if (!column->offsets || (uintptr_t)column->offsets % (layout == OFFSETS32 ? 4 : 8) != 0)
      return refuse(problem, "its offsets are missing or not aligned");
  }
  if (!column->values && (layout == VIEWS || (layout == FIXED && type->width > 0)))
    return refuse(problem, "its values are missing");
  return LANEBLOOM_OK;
}

/* ---- Checks of the arrays' contents ---- */

static lanebloom_status corrupt(const struct problem *problem, const char *what, size_t row)
{
  return problem_set(problem, LANEBLOOM_ERR_CORRUPT, "Arrow array: row %zu has %s", row, what);
}

/* Checks that offsets never descend, are not negative and not too large, and are all equal if there
 * are no bytes. The loops have no branches, so that compilers turn them into vectors. */
static bool offsets_ascend(const struct column *column)
{
  bool ascend = true;
  if (column->type.layout == OFFSETS32) {
    const int32_t *offsets = (const int32_t *)column->offsets + column->first;
    for (size_t i = 0; i < column->n; i++)
      ascend &= offsets[i] <= offsets[i + 1];
    return ascend && offsets[0] >= 0 && (column->values || offsets[column->n] == offsets[0]);
  }
  const int64_t *offsets = (const int64_t *)column->offsets + column->first;
  for (size_t i = 0; i < column->n; i++)
    ascend &= offsets[i] <= offsets[i + 1];
  return ascend && offsets[0] >= 0 && offsets[column->n] <= MAX_COUNT &&
         (column->values || offsets[column->n] == offsets[0]);
}

static bool view_is_right(const struct column *column, const uint8_t *view)
{
  const int64_t size = int32_at(view), buffer = int32_at(view + AT_BUFFER),
                offset = int32_at(view + AT_OFFSET);
  if (size <= MAX_INLINE)
    return size >= 0;
  return buffer >= 0 && (size_t)buffer < column->nbuffers && column->buffers[buffer] &&
         offset >= 0 && offset + size <= column->buffer_nbytes[buffer];
}

static lanebloom_status check_column(const struct column *column, const struct problem *problem)
{
  const enum array_layout layout = column->type.layout;
  if (layout == FIXED || column->n == 0)
    return LANEBLOOM_OK;
  if (layout != VIEWS)
    return offsets_ascend(column) ? LANEBLOOM_OK
                                  : problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                                                "Arrow array: its offsets fall, or are negative or "
                                                "too large");
  for (size_t row = 0; row < column->n; row++)
    if (is_valid(column, row) && !view_is_right(column, view_at(column, row)))
      return corrupt(problem, "a view that points outside its buffers", row);
  return LANEBLOOM_OK;
}

static lanebloom_status check_indices(const struct array *array, const struct problem *problem)
{
  for (size_t row = 0; row < array->rows.n; row++)
    if (is_valid(&array->rows, row) && integer_at(&array->rows, row) >= array->values.n)
      return corrupt(problem, "an index that is not in the dictionary", row);
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_arrow_open(const struct ArrowSchema *schema,
                                      const struct ArrowArray *arrow, struct array *array,
                                      const struct problem *problem)
{
  struct type rows, values;
  lanebloom_status status = lanebloom_arrow_find_types(schema, &rows, &values, problem);
  if (status)
    return status;
  *array = (struct array){.has_dictionary = schema->dictionary};
  status = open_column(&rows, arrow, &array->rows, problem);
  if (status)
    return status;
  if (!array->has_dictionary)
    return check_column(&array->rows, problem);
  if (!arrow->dictionary)
    return refuse(problem, "its dictionary is missing");
  status = open_column(&values, arrow->dictionary, &array->values, problem);
  if (!status)
    status = check_column(&array->values, problem);
  return status ? status : check_indices(array, problem);
}
