/* Statistics of a column chunk, and which of them can be trusted.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_STATISTICS_H
#define LANEBLOOM_PARQUET_STATISTICS_H

#include "schema.h"
#include "writer.h"

/* A value such that no value is below it, or none is above it. */
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

/* The facts that can be relied on. */
struct certainties {
  bool has_no_values;    /* except nulls */
  struct bound min, max; /* no value is below or above them; NaN is no value here */
  const char *doubt;     /* why an existing bound is left out; NULL: none is. Static */
};

void lanebloom_statistics_read(struct thrift *thrift, struct thrift_field field,
                               struct statistics *statistics);

/* Decides which statistics can be relied on. nvalues: of the chunk, nulls included. Statistics that
 * contradict each other, or have another size than the type, are not used, whoever wrote them. */
struct certainties lanebloom_statistics_judge(const struct statistics *statistics,
                                              const struct column *column, uint64_t nvalues,
                                              const struct trust *trust);

#endif
