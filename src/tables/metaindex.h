/* The metaindex: a block that maps names of other blocks to their handles.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_METAINDEX_H
#define LANEBLOOM_TABLES_METAINDEX_H

#include "block.h"

struct metaindex {
  bool has_properties, has_index, has_dictionary;
  struct handle properties, index, dictionary;

  /* If there are several filters, the one that RocksDB would use. */
  lanebloom_table_filter filter_kind;
  struct handle filter;
  lanebloom_format filter_format; /* 0: depends on the writer */
  size_t filter_rank;             /* of its name; lower is preferred */
  char *filter_name;              /* for free(); NULL: no filter */
};

/* Loads the metaindex. Errors: CORRUPT: damaged, or without an index; LIMIT, MEMORY, IO. On an
 * error there is nothing to free. */
lanebloom_status lanebloom_metaindex_load(struct block_reader *reader, struct metaindex *metaindex);
void lanebloom_metaindex_free(struct metaindex *metaindex);

#endif
