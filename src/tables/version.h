/* Versions: the files that belong to a database according to CURRENT and the MANIFEST. A MANIFEST
 * is a log whose records are edits: lists of tags, each followed by its values.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_VERSION_H
#define LANEBLOOM_TABLES_VERSION_H

#include <lanebloom_tables.h>

#include "../input.h"

struct family {
  uint32_t id;
  bool is_dropped;
  bool is_wanted; /* false until the owner of the version sets it */
  char *name;
  char *comparator;    /* its name; NULL: no edit has it */
  uint64_t log_number; /* entries of lower logs are in tables */
};

struct live_table {
  uint64_t number;
  uint64_t nbytes;
  uint32_t family; /* its id */
  uint32_t level;
  uint32_t path; /* RocksDB: index in its db_paths or cf_paths */
  /* Pebble: the table whose file has this one's keys, besides others; 0: this table has a file.
   * Once a version is read, it lists only tables that have files. */
  uint64_t backing;
};

struct version {
  uint64_t sequence;
  uint64_t previous_log;   /* LevelDB: live, too; 0: none */
  uint64_t min_log;        /* the lowest log that may hold entries that are in no table */
  struct family *families; /* ascending by id */
  size_t nfamilies;
  struct live_table *tables; /* ascending by number */
  size_t ntables;
  uint64_t *logs; /* those that RocksDB says exist, ascending */
  size_t nlogs;
};

/* Reads a MANIFEST to its end. If the last edit, or the last group of edits, is incomplete, it is
 * still being written and does not count. Time: n log n. Errors: CORRUPT; LIMIT: a tag that is not
 * known; MEMORY, IO. */
lanebloom_status lanebloom_version_read(struct version *version, const struct input *input,
                                        lanebloom_engine engine, const struct problem *problem);
void lanebloom_version_free(struct version *version);

/* The family of this id that is not dropped; NULL: there is none. */
const struct family *lanebloom_version_family(const struct version *version, uint32_t id);

bool lanebloom_version_needs_log(const struct version *version, uint64_t number);

/* Do entries of this family in this log count? */
bool lanebloom_version_counts(const struct version *version, uint64_t log, uint32_t family,
                              bool is_prepared);

#endif
