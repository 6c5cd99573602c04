/* Write-ahead logs: collects the keys of a log.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_WRITE_LOG_H
#define LANEBLOOM_TABLES_WRITE_LOG_H

#include <lanebloom_tables.h>

#include "../input.h"
#include "key_hashes.h"

/* The sizes of the timestamps that end the keys of column families; ascending by id. */
struct timestamps {
  struct timestamp {
    uint32_t family;
    uint32_t nbytes;
  } * list;
  size_t n;
};

enum { DAMAGE_NBYTES = 160 };

/* The facts about a log that was read. */
struct write_log {
  uint64_t number;
  uint64_t index;    /* Pebble may split a log; else 0 */
  uint64_t nbytes;   /* that were read */
  uint64_t nentries; /* of all kinds, deletions too */
  uint64_t sequence; /* the highest, or 0 */
  bool is_torn;      /* does it end within a record? */
  uint64_t *tables;  /* the numbers of tables that only this log adds to the database */
  size_t ntables;

  /* The number of damaged spots; the offset of the first, and what was expected and found there. */
  uint64_t ndamages, damage_offset;
  char damage[DAMAGE_NBYTES];
};

/* Reads the log, whose number and index are set. lanebloom_write_log_free() frees it, also after an
 * error.
 *
 * Adds to the collector the keys to which the log gives a value; `place` is the log's index in
 * their entries. Deletions are ignored: a key that is deleted later stays. So do keys of incomplete
 * batches, and of transactions that are never committed.
 *
 * timestamps: those that the MANIFEST names; the log may name more. Errors: IO, MEMORY, KERNEL. */
lanebloom_status lanebloom_write_log_read(struct write_log *log, const struct input *input,
                                          lanebloom_engine engine, uint32_t place,
                                          const struct timestamps *timestamps,
                                          struct key_collector *collector,
                                          const struct problem *problem);
void lanebloom_write_log_free(struct write_log *log);

#endif
