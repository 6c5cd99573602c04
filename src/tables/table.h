/* What a table is inside the library.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_TABLE_H
#define LANEBLOOM_TABLES_TABLE_H

#include <lanebloom_tables.h>
#include <string.h>

#include "index.h"
#include "properties.h"

/* What a filter is asked for: a key, or what it begins with. */
struct extractor {
  enum {
    EXTRACT_KEY,
    EXTRACT_FIXED,
    EXTRACT_CAPPED
  } kind; /* fixed: shorter keys have no prefix; capped: they do */
  size_t nbytes;
};

enum {
  WARNING_NBYTES = 512,
  SUFFIX_NBYTES = 8, /* behind a user key: when and how it was written */
};

/* The one order that is searched in. */
static inline bool is_bytewise(const char *comparator)
{
  return strcmp(comparator, "leveldb.BytewiseComparator") == 0;
}

struct lanebloom_table {
  lanebloom_engine engine;
  uint32_t version;
  enum checksum checksum;
  uint64_t file_nbytes;
  uint64_t nentries; /* LANEBLOOM_UNKNOWN */

  lanebloom_table_filter kind;
  bool is_asked; /* is the filter of use? Else every key in range may be in the table */
  bool has_whole_keys, has_prefixes;
  struct extractor extractor;
  lanebloom_format hash;       /* what to hash keys for */
  struct block *filter_blocks; /* their bytes: one, or one for each partition */
  size_t nfilter_blocks;
  lanebloom_filter *
      *filters; /* FULL: one, PARTITIONED: one for each; NULL: every key may be in it */
  lanebloom_filter_block *of_offsets[2]; /* BLOCK; the second one where the writer is not known */
  struct index index; /* PARTITIONED: of the filters, BLOCK: of the data blocks */

  bool is_empty; /* no keys at all */
  bool has_range;
  lanebloom_slice smallest, largest;

  const char *filter_name;
  char *named; /* for free(): the filter's name, where it is not one of ours */
  char *comparator, *prefix_extractor;
  char warning[WARNING_NBYTES];
};

/* Adds one to the table's warnings. */
void lanebloom_table_warn(lanebloom_table *table, const char *text);

/* ---- Opening: what its steps share ---- */

struct opening {
  lanebloom_table *table;
  const char *path; /* NULL: memory */
  lanebloom_writer writer;
  struct block_reader reader;
  const struct problem *problem;
  struct properties properties;
  bool has_properties, has_columns; /* columns: Pebble's newer data blocks, which are not read */

  /* From the metaindex. */
  size_t filter_rank; /* of the best filter's name so far, once there is one */
  struct handle filter_handle;
  lanebloom_format filter_format;
};

/* filters.c. A name in the metaindex: is it a filter's, and a better one than what was there?
 * Errors: MEMORY. */
lanebloom_status lanebloom_opening_take_filter(struct opening *opening, lanebloom_slice name,
                                               struct handle handle);

/* filters.c. Reads the filter, for a key order that is not judged yet. */
lanebloom_status lanebloom_opening_read_filter(struct opening *opening);

/* range.c. Reads index and first and last key; decides what of it can be relied upon. */
lanebloom_status lanebloom_opening_read_range(struct opening *opening, struct handle index_handle);

#endif
