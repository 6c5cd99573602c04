/* A table in memory. The loader fills it in; describing and screening only read it.
 *
 *   input, block, footer, index, ...    bytes of a file    parsers
 *   loader.h                            parsers            -> table
 *   describe.c, screen.c                table              -> results
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_TABLE_H
#define LANEBLOOM_TABLES_TABLE_H

#include <lanebloom_tables.h>
#include <string.h>

#include "checksum.h"
#include "extractor.h"
#include "index.h"

enum { WARNING_NBYTES = 512 };

struct lanebloom_table {
  lanebloom_engine engine;
  uint32_t version;
  enum checksum checksum;
  uint64_t file_nbytes;
  uint64_t nentries; /* LANEBLOOM_UNKNOWN */

  lanebloom_table_filter kind;
  bool uses_filter; /* else every key in range may be in the table */
  bool has_whole_keys, has_prefixes;
  struct extractor extractor;
  lanebloom_format hash; /* the format that keys are hashed for */

  /* The filters' bytes: of one filter, or of one for each partition. FULL and PARTITIONED open each
   * as a filter; NULL: every key may be in it. BLOCK opens the one as a filter block, and once more
   * for the other hash where the writer is unknown. */
  size_t nfilters;
  struct block *filter_data;
  lanebloom_filter **filters;
  lanebloom_filter_block *filter_blocks[2];
  struct index index; /* PARTITIONED: of the filters; BLOCK: of the data blocks */

  bool is_empty; /* no keys at all */
  bool has_range;
  lanebloom_slice smallest, largest;

  char *filter_name, *comparator, *prefix_extractor; /* filter_name NULL: no filter */
  char warning[WARNING_NBYTES];
};

/* Adds one to the table's warnings. */
void lanebloom_table_warn(lanebloom_table *table, const char *text);

/* The one order that is searched in. */
static inline bool is_bytewise(const char *comparator)
{
  return strcmp(comparator, "leveldb.BytewiseComparator") == 0;
}

#endif
