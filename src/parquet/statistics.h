/* Reads the statistics of a column chunk (bounds and the number of nulls), and decides which of
 * them can be relied on.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_STATISTICS_H
#define LANEBLOOM_PARQUET_STATISTICS_H

#include "schema.h"
#include "writer.h"

/* A bound of a chunk's values: no value is below it if it is a minimum, or above it if it is a
 * maximum. */
struct bound {
  bool is_there;
  lanebloom_slice value;
};

/* The fields of the struct Statistics. */
struct statistics {
  struct bound old_min, old_max; /* older fields: by signed comparison, for all types */
  struct bound min, max;         /* newer fields: by the order of the column */
  uint64_t nnulls;               /* or LANEBLOOM_UNKNOWN */
};

/* The facts about a chunk that can be relied on. */
struct certainties {
  bool has_no_values;    /* the chunk has no values, except perhaps nulls */
  struct bound min, max; /* no value, except NaN, is outside these bounds */
  const char *doubt;     /* static text: why an existing bound is left out; NULL: none is */
};

void lanebloom_statistics_read(struct thrift *thrift, struct thrift_field field,
                               struct statistics *statistics);

/* Decides which statistics can be relied on. nvalues: the number of the chunk's values, including
 * nulls. Some statistics are used from no writer: statistics that contradict each other, and bounds
 * whose size is not that of the type. */
struct certainties lanebloom_statistics_judge(const struct statistics *statistics,
                                              const struct column *column, uint64_t nvalues,
                                              const struct trust *trust);

#endif
