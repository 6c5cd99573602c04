/* Reads and judges the statistics of a column chunk.
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
      statistics->nnulls = (uint64_t)lanebloom_thrift_i64(thrift, inner); /* -1: unknown */
      break;
    default:
      lanebloom_thrift_skip(thrift, inner);
    }
}

/* Checks whether the bound has the size of the type's values. A bound of byte strings may be a
 * shortened value, so any size is right. */
static bool has_size(const struct column_type *type, const struct bound *bound)
{
  return !bound->is_there || type->order == ORDER_BYTES || bound->value.size == type->value_nbytes;
}

static bool is_nan(const struct column_type *type, const struct bound *bound)
{
  return bound->is_there && type->order == ORDER_FLOAT &&
         lanebloom_value_ordinal(type, bound->value) == ORDINAL_NAN;
}

/* Chooses the newer or the older bounds. Stores the bounds that are valid for the column's type in
 * *min and *max. */
static void choose(const struct statistics *statistics, const struct column *column,
                   struct bound *min, struct bound *max)
{
  const enum value_order order = column->type.order;
  /* The writers of the older fields compared all types as signed, even bytes. So the older fields
   * are valid only for signed numbers and floats. */
  const bool is_signed = order == ORDER_SIGNED || order == ORDER_FLOAT;
  *min = *max = (struct bound){0};
  if (order == ORDER_NONE)
    return;
  if (column->has_order) {
    *min = statistics->min;
    *max = statistics->max;
  }
  if (is_signed && !min->is_there && !max->is_there) {
    *min = statistics->old_min;
    *max = statistics->old_max;
  }
}

/* Checks that these statistics and bounds do not contradict each other. */
static bool agrees(const struct statistics *statistics, const struct column_type *type,
                   uint64_t nvalues, const struct bound *min, const struct bound *max)
{
  const bool has_bounds = statistics->min.is_there || statistics->max.is_there ||
                          statistics->old_min.is_there || statistics->old_max.is_there;
  const bool has_nnulls = statistics->nnulls != LANEBLOOM_UNKNOWN;
  if (has_nnulls && statistics->nnulls > nvalues)
    return false;
  if (has_bounds && (nvalues == 0 || statistics->nnulls == nvalues))
    return false;
  if (!has_size(type, min) || !has_size(type, max))
    return false;
  return !min->is_there || !max->is_there || is_nan(type, min) || is_nan(type, max) ||
         lanebloom_value_compare(type, min->value, max->value) <= 0;
}

struct certainties lanebloom_statistics_judge(const struct statistics *statistics,
                                              const struct column *column, uint64_t nvalues,
                                              const struct trust *trust)
{
  const struct column_type *type = &column->type;
  struct bound min, max;
  choose(statistics, column, &min, &max);
  const bool has_bounds = min.is_there || max.is_there;
  if (!agrees(statistics, type, nvalues, &min, &max))
    return (struct certainties){.doubt = "contradictory"};
  struct certainties known = {.has_no_values =
                                  trust->counts && (nvalues == 0 || statistics->nnulls == nvalues)};
  if (!(trust->orders & 1u << type->order))
    known.doubt = has_bounds ? trust->doubt : NULL;
  else if (is_nan(type, &min) || is_nan(type, &max))
    known.doubt = "nan";
  else {
    known.min = min;
    known.max = max;
  }
  return known;
}
