/* Reads the statistics of a column chunk (bounds and the number of nulls), and decides which of
 * them can be relied on.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_STATISTICS_H
#define LANEBLOOM_PARQUET_STATISTICS_H

#include "schema.h"
#include "writer.h"

/* A bound of a chunk's values. If the bound is a minimum, no value is below it; if it is a maximum,
 * no value is above it. */
struct bound {
  bool is_there;
  lanebloom_slice value;
};

/* The fields of the struct Statistics. */
struct statistics {
  struct bound old_min, old_max; /* older fields, in signed order for all types */
  struct bound min, max;         /* newer fields, in the order of the column */
  uint64_t nnulls;               /* or LANEBLOOM_UNKNOWN */
};

/* The facts about a chunk that can be relied on. */
struct certainties {
  bool has_no_values;    /* the chunk has no values, except perhaps nulls */
  struct bound min, max; /* no value, except NaN, is outside these bounds */
  const char *doubt;     /* static text: why bounds are left out; NULL if none are */
};

void lanebloom_statistics_read(struct thrift *thrift, struct thrift_field field,
                               struct statistics *statistics);

/* Decides which statistics can be relied on. nvalues: the number of the chunk's values, including
 * nulls. Two kinds of statistics are never used, whoever wrote them: statistics that contradict
 * each other, and bounds that do not have the size of the type's values. */
struct certainties lanebloom_statistics_judge(const struct statistics *statistics,
                                              const struct column *column, uint64_t nvalues,
                                              const struct trust *trust);

#endif
