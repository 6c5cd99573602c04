/* Statistics of a column chunk, and which of its bounds can be trusted.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_STATISTICS_H
#define LANEBLOOM_PARQUET_STATISTICS_H

#include "schema.h"

/* A value that all others are not below, or not above. */
struct bound {
  bool is_there;
  lanebloom_slice value;
};

/* The fields of the struct Statistics. */
struct statistics {
  struct bound old_min, old_max; /* by signed comparison, whatever the type */
  struct bound min, max;         /* by the order of the column */
  uint64_t nnulls;               /* LANEBLOOM_UNKNOWN */
};

void lanebloom_statistics_read(struct thrift *thrift, struct thrift_field field,
                               struct statistics *statistics);

/* The bounds of the values, as far as they can be trusted. */
void lanebloom_statistics_bounds(const struct statistics *statistics, const struct column *column,
                                 struct bound *min, struct bound *max);

#endif
