/* Reads a version: the list of the files that belong to a database, according to its MANIFEST. A
 * MANIFEST is a log whose records are called edits. An edit is a list of tags, each followed by its
 * values. It changes the version that the edits before it made.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_VERSION_H
#define LANEBLOOM_TABLES_VERSION_H

#include <lanebloom_tables.h>

#include "../input.h"

struct family {
  uint32_t id;
  bool is_dropped;
  bool is_wanted; /* false until the version's user sets it */
  char *name;
  char *comparator;    /* its name; NULL: no edit names it */
  uint64_t log_number; /* the family's entries in logs with lower numbers are in tables */
};

struct live_table {
  uint64_t number;
  uint64_t nbytes;
  uint32_t family; /* its id */
  uint32_t level;
  uint32_t path; /* RocksDB: index of the folder in its db_paths or cf_paths */
  /* Pebble: the number of the table whose file has the keys of this table, among other keys; 0 if
   * this table has a file of its own. After a version is read, its list of tables has only tables
   * that have files of their own. */
  uint64_t backing;
};

struct version {
  uint64_t sequence;
  uint64_t previous_log;   /* LevelDB: another log that is needed; 0: none */
  uint64_t min_log;        /* logs with lower numbers hold only entries that are in tables */
  struct family *families; /* ascending by id */
  size_t nfamilies;
  struct live_table *tables; /* ascending by number */
  size_t ntables;
  uint64_t *logs; /* logs that exist according to RocksDB's MANIFEST, ascending */
  size_t nlogs;
};

/* Reads a MANIFEST to its end. If the last edit, or the last group of edits, is incomplete, the
 * engine is still writing it, so it is ignored. Cost: O(n log n) for n edits, tables and logs.
 * Errors: CORRUPT, MEMORY, IO; LIMIT if an edit has an unknown tag or field. */
lanebloom_status lanebloom_version_read(struct version *version, const struct input *input,
                                        lanebloom_engine engine, const struct problem *problem);
void lanebloom_version_free(struct version *version);

/* Returns the family of this id, or NULL if there is no such family or it was dropped. */
const struct family *lanebloom_version_family(const struct version *version, uint32_t id);

bool lanebloom_version_needs_log(const struct version *version, uint64_t number);

/* Does an entry of this family in this log count? An entry counts if it is part of the database and
 * may not be in a table yet. is_prepared: the entry belongs to a prepared transaction. For such an
 * entry the family's log number does not matter, because a batch in a later log may commit the
 * transaction. */
bool lanebloom_version_counts(const struct version *version, uint64_t log, uint32_t family,
                              bool is_prepared);

#endif
