/* A table in memory. The loader makes the table. After that the table never changes, so any number
 * of threads may use it at once. The list shows which files make or use a table, with their inputs
 * and outputs.
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
#include "compression.h"
#include "extractor.h"
#include "index.h"
#include "key_hashes.h"

enum { WARNING_NBYTES = 512 };

struct lanebloom_table {
  lanebloom_engine engine;
  uint32_t version;
  enum checksum checksum;
  uint64_t file_nbytes;
  uint64_t nentries; /* or LANEBLOOM_UNKNOWN */
  char codecs[CODECS_NBYTES];

  lanebloom_table_filter kind;
  bool uses_filter;      /* false: every key in range may be in the table */
  bool asks_all_filters; /* BLOCK, PARTITIONED: keys have no order that selects one filter */
  bool has_whole_keys, has_prefixes;
  struct extractor extractor;
  lanebloom_format hash; /* the format for which keys are hashed */

  /* The filters, by the kind of the table's filter. FULL: one filter. PARTITIONED: one filter for
   * each partition. In both cases, filters[i] is NULL if filter i cannot be used, and every key may
   * then be in it. BLOCK: filter_data[0] has the bytes of a filter block, and filter_blocks[0] is
   * made from them. If the writer is unknown, filter_blocks[1] is made from the same bytes, for
   * LANEBLOOM_LEVELDB_SIGNED. */
  size_t nfilters;
  struct block *filter_data;
  lanebloom_filter **filters;
  lanebloom_filter_block *filter_blocks[2];
  struct index index; /* PARTITIONED: finds filters; BLOCK: finds data blocks */

  /* KEYS: the hashes of the keys. Keys that did not fit into this set are in filters[0]. */
  struct hash_set key_hashes;

  bool is_empty; /* the table has no keys */
  bool has_range;
  lanebloom_slice smallest, largest;

  char *filter_name, *comparator, *prefix_extractor; /* filter_name NULL: no filter */
  char warning[WARNING_NBYTES];
};

/* Appends a text to the table's warnings, which are separated by "; ". Warnings are cut to
 * WARNING_NBYTES. */
void lanebloom_table_warn(lanebloom_table *table, const char *text);

/* Is this the name of the comparator that all three engines use by default? This comparator
 * compares keys as unsigned bytes. No other order is supported. */
static inline bool is_bytewise(const char *comparator)
{
  return strcmp(comparator, "leveldb.BytewiseComparator") == 0;
}

#endif
