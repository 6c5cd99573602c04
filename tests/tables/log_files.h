/* MANIFESTs and write-ahead logs made by hand.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_LOG_FILES_H
#define LANEBLOOM_TESTS_LOG_FILES_H

#include <stddef.h>
#include <stdint.h>

enum { FRAGMENT_FULL = 1, FRAGMENT_FIRST, FRAGMENT_MIDDLE, FRAGMENT_LAST, FRAGMENT_TIMES = 10 };

/* Makes a fragment and returns its size. number: 0 if its type has none. */
size_t fragment_make(uint8_t *to, unsigned type, uint32_t number, const void *content,
                     size_t nbytes);

/* A growing file. All zeros are an empty one. */
struct log_file {
  uint8_t *bytes;
  size_t n, room;
};

/* Appends a record in as many fragments as the blocks require. */
void log_add(struct log_file *log, const void *record, size_t nbytes);

/* Appends one fragment, in the next block if it does not fit in this one. */
void log_add_fragment(struct log_file *log, unsigned type, const void *content, size_t nbytes);

/* Writes the file to a folder, and empties it. */
void log_write(struct log_file *log, const char *folder, const char *name);

/* Makes an empty folder that of a RocksDB database, whose MANIFEST is named MANIFEST_NAME. */
#define MANIFEST_NAME "MANIFEST-000001"
void database_make(const char *folder);

#endif
