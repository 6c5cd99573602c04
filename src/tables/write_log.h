/* Write-ahead logs: collects the keys of one.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_WRITE_LOG_H
#define LANEBLOOM_TABLES_WRITE_LOG_H

#include <lanebloom_tables.h>

#include "../input.h"
#include "key_hashes.h"

/* How many bytes the timestamps have that end the keys of column families; ascending by id. */
struct timestamps {
  struct timestamp {
    uint32_t family;
    uint32_t nbytes;
  } * list;
  size_t n;
};

enum { DAMAGE_NBYTES = 160 };

/* What is known of a log when it was read. */
struct write_log {
  uint64_t number;
  uint64_t index;    /* Pebble may split a log; else 0 */
  uint64_t nbytes;   /* that were read */
  uint64_t nentries; /* of all kinds, deletions too */
  uint64_t sequence; /* the highest, or 0 */
  bool is_torn;      /* does it end within a record? */
  uint64_t *tables;  /* the numbers of tables that belong to the database by this log alone */
  size_t ntables;

  /* Bad spots. The first one: its offset, what was expected and found. */
  uint64_t ndamages, damage_offset;
  char damage[DAMAGE_NBYTES];
};

/* Reads the log, of which number and index are known. lanebloom_write_log_free() frees it, also
 * after an error.
 *
 * Adds the keys that the log gives a value to the collector, with this place of the log. Deletions
 * are not taken into account: a key that is deleted later stays. So do keys of batches that are not
 * whole, and of transactions that are never committed.
 *
 * timestamps: as the MANIFEST says; the log may say more. Errors: IO, MEMORY, KERNEL. */
lanebloom_status lanebloom_write_log_read(struct write_log *log, const struct input *input,
                                          lanebloom_engine engine, uint32_t place,
                                          const struct timestamps *timestamps,
                                          struct key_collector *collector,
                                          const struct problem *problem);
void lanebloom_write_log_free(struct write_log *log);

#endif
