/* Logs: the framing of MANIFEST files and of write-ahead logs, by LevelDB, RocksDB and Pebble.
 *
 *   block of 32 KiB:  fragment | fragment | ... | fewer than 7 bytes, which are ignored
 *   fragment:         checksum, 4 bytes | length, 2 | type, 1 | [log number, 4 | [synced, 8]]
 *                     | content
 *   record:           one fragment of type FULL, or FIRST, MIDDLE..., LAST
 *
 * The checksum covers everything after the length. RocksDB and Pebble recycle logs: they write a
 * new log over an old one, whose tail remains. The fragments of such logs have the log number.
 * Newer versions of Pebble also write how many bytes of the log were on disk.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_LOG_H
#define LANEBLOOM_TABLES_LOG_H

#include <lanebloom_tables.h>

#include "../input.h"

enum { LOG_BLOCK_NBYTES = 32 << 10 };

enum log_find {
  LOG_FRAGMENT,
  LOG_TIMESTAMPS, /* the bytes of timestamps in keys, by column family */
  LOG_BAD,        /* damage; the rest of its block and the record that it is in are skipped */
  LOG_END,
  LOG_TORN, /* the end, within a record: its writer is at work, or was ended */
};

/* The result of lanebloom_log_next(). */
struct log_found {
  enum log_find what;
  uint64_t offset; /* in the file: of the fragment, or of the damage */

  /* FRAGMENT: whether it is the first or the last of its record. The reader lets a record begin
   * only after the end of the one before, or after BAD. */
  bool is_first, is_last;
  lanebloom_slice bytes; /* FRAGMENT, TIMESTAMPS; borrowed until the next call */

  const char *expected; /* BAD: what was expected and found */
  uint64_t found;
};

struct log_reader {
  const struct input *input;
  bool is_pebble;        /* else LevelDB or RocksDB; they give some types of fragments a meaning of
                            their own */
  uint32_t number;       /* the low half of the log's number */
  bool is_compressed;    /* is the content of each record one frame of Zstandard? */
  bool is_recyclable;    /* then damage is the end of the log */
  uint64_t block_offset; /* of the block that is read next */

  /* private */
  const uint8_t *at, *end; /* in the block */
  bool is_in_record, is_in_gap, is_lost, is_begun;
  uint64_t record_offset, record_nbytes;
  bool is_seen;     /* was the log read to its end, to find `nsynced`? */
  uint64_t nsynced; /* bytes that were on disk, as the fragments say */
  uint8_t block[LOG_BLOCK_NBYTES];
};

/* Begins to read a log, or a MANIFEST if the number is 0. Only the bytes are read that the input
 * had when it was opened. */
void lanebloom_log_begin(struct log_reader *reader, const struct input *input,
                         lanebloom_engine engine, uint64_t number);

/* Finds the next fragment, damage or end. After END or TORN the same is found again. If the file
 * becomes shorter, BAD is found there, unless the log is recyclable, and then END. Errors: IO. */
lanebloom_status lanebloom_log_next(struct log_reader *reader, struct log_found *found,
                                    const struct problem *problem);

#endif
