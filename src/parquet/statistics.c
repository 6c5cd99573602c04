/* Statistics of a column chunk.
 * Source: parquet-format, parquet.thrift (Statistics, ColumnOrder).
 * SPDX-License-Identifier: MIT */
#include "statistics.h"

void lanebloom_statistics_read(struct thrift *thrift, struct thrift_field field,
                               struct statistics *statistics)
{
  struct bound *const bounds[] = {[1] = &statistics->old_max,
                                  [2] = &statistics->old_min,
                                  [5] = &statistics->max,
                                  [6] = &statistics->min};
  if (!lanebloom_thrift_enter(thrift, field))
    return;
  for (struct thrift_field inner = {0}; lanebloom_thrift_next(thrift, &inner);)
    switch (inner.id) {
    case 1:
    case 2:
    case 5:
    case 6:
      bounds[inner.id]->value = lanebloom_thrift_binary(thrift, inner);
      bounds[inner.id]->is_there = true;
      break;
    case 3:
      statistics->nnulls = lanebloom_thrift_size(thrift, inner);
      break;
    default:
      lanebloom_thrift_skip(thrift, inner);
    }
}

static bool has_value(const struct column_type *type, const struct bound *bound)
{
  if (!bound->is_there)
    return false;
  if (type->order == ORDER_BYTES) /* which may be cut */
    return true;
  return bound->value.size == type->value_nbytes &&
         !(type->order == ORDER_FLOAT &&
           lanebloom_value_ordinal(type, bound->value) == ORDINAL_NAN);
}

void lanebloom_statistics_bounds(const struct statistics *statistics, const struct column *column,
                                 struct bound *min, struct bound *max)
{
  const struct column_type *type = &column->type;
  /* Old writers compared bytes as signed, too; of numbers that are signed the order is the same. */
  const bool is_signed = type->order == ORDER_SIGNED || type->order == ORDER_FLOAT;
  *min = *max = (struct bound){0};
  if (type->order == ORDER_NONE)
    return;
  if (column->has_order) {
    *min = statistics->min;
    *max = statistics->max;
  }
  if (is_signed && !min->is_there && !max->is_there) {
    *min = statistics->old_min;
    *max = statistics->old_max;
  }
  min->is_there = has_value(type, min);
  max->is_there = has_value(type, max);
  if (min->is_there && max->is_there &&
      lanebloom_value_compare(type, min->value, max->value) > 0) /* one of them is wrong */
    min->is_there = max->is_there = false;
}
