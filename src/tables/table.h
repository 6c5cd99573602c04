/* A table in memory. The loader makes it; then it never changes, and any number of threads may use
 * it.
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
#include "key_hashes.h"

enum { WARNING_NBYTES = 512 };

struct lanebloom_table {
  lanebloom_engine engine;
  uint32_t version;
  enum checksum checksum;
  uint64_t file_nbytes;
  uint64_t nentries; /* LANEBLOOM_UNKNOWN */

  lanebloom_table_filter kind;
  bool uses_filter;      /* false: every key in range may be in the table */
  bool asks_all_filters; /* BLOCK, PARTITIONED: the order of keys does not select one */
  bool has_whole_keys, has_prefixes;
  struct extractor extractor;
  lanebloom_format hash; /* keys are hashed for this format */

  /* FULL: one filter. PARTITIONED: one for each partition. filters[i] is NULL if filter i cannot be
   * used: every key may be in it. BLOCK: one filter block in filter_data[0], which filter_blocks[0]
   * parses; if the writer is unknown, filter_blocks[1] parses it for LANEBLOOM_LEVELDB_SIGNED. */
  size_t nfilters;
  struct block *filter_data;
  lanebloom_filter **filters;
  lanebloom_filter_block *filter_blocks[2];
  struct index index; /* PARTITIONED: of the filters; BLOCK: of the data blocks */

  /* KEYS: the hashes of keys. Keys beyond their limit are in one filter. */
  struct hash_set key_hashes;

  bool is_empty; /* the table has no keys */
  bool has_range;
  lanebloom_slice smallest, largest;

  char *filter_name, *comparator, *prefix_extractor; /* filter_name NULL: no filter */
  char warning[WARNING_NBYTES];
};

/* Appends to the table's warnings, separated by "; " and cut to WARNING_NBYTES. */
void lanebloom_table_warn(lanebloom_table *table, const char *text);

/* Is this the name of LevelDB's default order, the only one that is supported? */
static inline bool is_bytewise(const char *comparator)
{
  return strcmp(comparator, "leveldb.BytewiseComparator") == 0;
}

#endif
