/* The metaindex: a block of names, each with the handle of what it names.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_METAINDEX_H
#define LANEBLOOM_TABLES_METAINDEX_H

#include "block.h"

struct metaindex {
  bool has_properties, has_index, has_dictionary;
  struct handle properties, index, dictionary;

  /* Of several filters the one that RocksDB would use. */
  lanebloom_table_filter filter_kind;
  struct handle filter;
  lanebloom_format filter_format; /* of a filter block; 0: the writer decides */
  size_t filter_rank;             /* among the names that are known: lower ones win */
  char *filter_name;              /* for free(); NULL: no filter */
};

/* Errors: CORRUPT, also where nothing names the index; LIMIT, MEMORY, IO. */
lanebloom_status lanebloom_metaindex_load(struct block_reader *reader, struct metaindex *metaindex);
void lanebloom_metaindex_free(struct metaindex *metaindex);

#endif
