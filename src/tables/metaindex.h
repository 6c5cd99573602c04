/* Reads the metaindex: the block of a table that maps the names of the table's other blocks to
 * their handles (positions).
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_METAINDEX_H
#define LANEBLOOM_TABLES_METAINDEX_H

#include "block.h"

struct metaindex {
  bool has_properties, has_index, has_dictionary;
  struct handle properties, index, dictionary;

  /* If the table has several filters, this is the one that RocksDB would use. */
  lanebloom_table_filter filter_kind;
  struct handle filter;
  lanebloom_format filter_format; /* 0: it depends on the writer */
  size_t filter_rank;             /* its rank in RocksDB's order; lower is preferred */
  char *filter_name;              /* for free(); NULL: no filter */
};

/* Loads the metaindex. Errors: CORRUPT if it is damaged or names no index; LIMIT, MEMORY, IO. On an
 * error there is nothing to free. */
lanebloom_status lanebloom_metaindex_load(struct block_reader *reader, struct metaindex *metaindex);
void lanebloom_metaindex_free(struct metaindex *metaindex);

#endif
