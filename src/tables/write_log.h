/* Reads a write-ahead log, and collects the keys to which the log gives values.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_WRITE_LOG_H
#define LANEBLOOM_TABLES_WRITE_LOG_H

#include <lanebloom_tables.h>

#include "../input.h"
#include "key_hashes.h"

/* A list of the column families whose keys end in a timestamp, with the sizes of their timestamps.
 * The list is sorted by family. */
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
  uint64_t index;    /* Pebble: the number of a file of a split log, or 0 */
  uint64_t nbytes;   /* the bytes that were read */
  uint64_t nentries; /* entries of all kinds, including deletions */
  uint64_t sequence; /* the highest sequence number, or 0 */
  bool is_torn;      /* does the log end within a record? */
  uint64_t *tables;  /* the numbers of tables that the log adds to the database (Pebble) */
  size_t ntables;

  /* The number of damaged spots, the offset of the first one, and a text that says what was
   * expected and found there. */
  uint64_t ndamages, damage_offset;
  char damage[DAMAGE_NBYTES];
};

/* Reads a log; log->number and log->index must be set. lanebloom_write_log_free() must be called
 * afterwards, even after an error.
 *
 * Adds to the collector the keys to which the log gives a value. `place` is the index of the log
 * that the collector stores with each key. Deletions are ignored, so a key that is deleted later
 * stays in the collector. Keys of incomplete batches, and of transactions that are never committed,
 * also stay.
 *
 * timestamps: the families with timestamps according to the MANIFEST. The log itself may name more.
 * Errors: IO, MEMORY, KERNEL. */
lanebloom_status lanebloom_write_log_read(struct write_log *log, const struct input *input,
                                          lanebloom_engine engine, uint32_t place,
                                          const struct timestamps *timestamps,
                                          struct key_collector *collector,
                                          const struct problem *problem);
void lanebloom_write_log_free(struct write_log *log);

#endif
