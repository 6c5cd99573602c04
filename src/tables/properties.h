/* Reads properties: facts that RocksDB and Pebble store about a table in a block of its own. Reads
 * only the properties that queries need.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_PROPERTIES_H
#define LANEBLOOM_TABLES_PROPERTIES_H

#include "block.h"

enum { INDEX_TWO_LEVELS = 2, INDEX_WITH_FIRST_KEYS = 3 }; /* RocksDB's values of index_type */

struct properties {
  uint64_t nentries; /* or LANEBLOOM_UNKNOWN */
  uint64_t nrange_deletions;
  uint64_t index_type;
  bool index_has_user_keys, index_has_deltas;
  bool says_whole_keys; /* does the table store has_whole_keys? */
  bool has_whole_keys;
  bool has_prefixes;
  char *comparator, *prefix_extractor; /* NULL: not stored */
  char *key_schema; /* Pebble: the columns of keys in data blocks; NULL: not stored */
};

/* Reads a properties block. Errors: CORRUPT, LIMIT, MEMORY, IO. On an error there is nothing to
 * free. */
lanebloom_status lanebloom_properties_read(struct block_reader *reader, struct handle handle,
                                           struct properties *properties);
void lanebloom_properties_free(struct properties *properties);

/* Does the table store keys in columns by Pebble's default schema of this comparer? A schema
 * decides where the suffix of a key begins, and filters hold what is before it, even if the table's
 * comparer splits keys elsewhere (Pebble 2.1.7, sstable/colblk_writer.go). */
bool lanebloom_properties_have_default_schema(const struct properties *properties,
                                              const char *comparer);

#endif
