/* Reads logs: finds the records in MANIFEST files and in write-ahead logs of LevelDB, RocksDB and
 * Pebble. A record may be split into fragments. This is the framing:
 *
 *   block of 32 KiB:  fragment | fragment | ... | fewer than 7 bytes, which are ignored
 *   fragment:         checksum, 4 bytes | length, 2 | type, 1 | [log number, 4 | [synced, 8]]
 *                     | content
 *   record:           one fragment of type FULL, or FIRST, MIDDLE..., LAST
 *
 * The checksum covers everything after the length. RocksDB and Pebble recycle logs: they write a
 * new log over the file of an old one, whose last bytes remain after the new log. In such a
 * recyclable log, each fragment has the number of its log, so the old log's fragments are
 * recognized. Newer versions of Pebble also write into each fragment how many bytes of the log were
 * on disk then ("synced").
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_LOG_H
#define LANEBLOOM_TABLES_LOG_H

#include <lanebloom_tables.h>

#include "../input.h"

enum { LOG_BLOCK_NBYTES = 32 << 10 };

enum log_find {
  LOG_FRAGMENT,
  LOG_TIMESTAMPS, /* a list: the size of timestamps in keys, by column family */
  LOG_BAD,        /* damage; the rest of its record and, in most cases, of its block is skipped */
  LOG_END,
  LOG_TORN, /* the end, inside a record: the log is still being written, or its writer crashed */
};

/* The result of lanebloom_log_next(). */
struct log_found {
  enum log_find what;
  uint64_t offset; /* where the fragment or the damage begins in the file */

  /* FRAGMENT: Is it the first fragment of its record? Is it the last? After a last fragment, or
   * after BAD, the next fragment that is found is a first one. */
  bool is_first, is_last;
  lanebloom_slice bytes; /* FRAGMENT, TIMESTAMPS: the content, borrowed until the next call */

  const char *expected; /* BAD: the message is "expected EXPECTED FOUND" */
  uint64_t found;
};

struct log_reader {
  const struct input *input;
  bool is_pebble;        /* false: LevelDB or RocksDB, which have other types of fragments */
  uint32_t number;       /* the low 32 bits of the log's number */
  bool is_compressed;    /* is each record one frame of Zstandard? */
  bool is_recyclable;    /* may an old log's bytes follow? Damage then counts as the end */
  uint64_t block_offset; /* where the next block to read begins */

  /* private */
  const uint8_t *at, *end; /* in the block */
  bool is_in_record, is_in_gap, is_lost, is_begun;
  uint64_t record_offset, record_nbytes;
  bool is_seen;     /* was the log read to its end, to find `nsynced`? */
  uint64_t nsynced; /* bytes that were on disk, according to fragments */
  uint8_t block[LOG_BLOCK_NBYTES];
};

/* Begins to read a log, or a MANIFEST if the number is 0. Bytes that are appended to the file after
 * `input` was opened are not read. */
void lanebloom_log_begin(struct log_reader *reader, const struct input *input,
                         lanebloom_engine engine, uint64_t number);

/* Finds the next fragment, damage or end. After END or TORN, every further call finds the same
 * again. If the file has become shorter since it was opened, a call finds END if the log is
 * recyclable. If the log is not recyclable, the call finds BAD, and the next call finds END.
 * Errors: IO. */
lanebloom_status lanebloom_log_next(struct log_reader *reader, struct log_found *found,
                                    const struct problem *problem);

#endif
