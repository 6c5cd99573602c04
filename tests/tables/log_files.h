/* MANIFESTs and write-ahead logs made by hand.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_LOG_FILES_H
#define LANEBLOOM_TESTS_LOG_FILES_H

#include <stddef.h>
#include <stdint.h>

/* ---- Fragments ---- */

/* A header has a checksum, a length and a type. */
enum { AT_LENGTH = 4, AT_TYPE = 6, HEADER_NBYTES = 7 };

/* Types of fragments. Pebble adds SYNCED to the first ones. */
enum { FULL = 1, FIRST, MIDDLE, LAST, RECYCLABLE_FULL, SYNCED = 8, TIMESTAMPS = 10 };

/* Makes a fragment. Returns its size. number: 0 if this type has none. */
size_t fragment_make(uint8_t *to, unsigned type, uint32_t number, const void *content,
                     size_t nbytes);

/* ---- Files ---- */

/* A growing file. If all fields are zero, it is empty. */
struct log_file {
  uint8_t *bytes;
  size_t n, room;
};

/* Appends a record, divided into as many fragments as the blocks require. */
void log_add(struct log_file *log, const void *record, size_t nbytes);

/* Appends one fragment, in the next block if it does not fit into this one. */
void log_add_fragment(struct log_file *log, unsigned type, const void *content, size_t nbytes);

void log_clear(struct log_file *log);

/* Writes the file to a folder, and empties it. */
void log_write(struct log_file *log, const char *folder, const char *name);

/* Parts of the edits in a MANIFEST: log 5, next file 9 and sequence 100; and the bounds of
 * a table. */
#define NUMBERS "\2\5\3\11\4\144"
#define BOUNDS "\11k-1234567\11k-1234567"

/* Turns an empty folder into a RocksDB database, whose MANIFEST is named MANIFEST_NAME. */
#define MANIFEST_NAME "MANIFEST-000001"
void database_make(const char *folder);

#endif
