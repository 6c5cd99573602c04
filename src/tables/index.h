/* An index in memory finds the block that may have a key. The blocks are data blocks, or partitions
 * of filters. The index has a separator for each block: a key that is not below any key of the
 * block, but below all keys of the next block. A prepared index does not change any more, so
 * threads may share it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_INDEX_H
#define LANEBLOOM_TABLES_INDEX_H

#include "block.h"

struct index {
  size_t n;
  struct handle *handles;
  uint8_t *separators;    /* the bytes of all separators */
  size_t *begins;         /* separator i is separators[begins[i] .. begins[i + 1]) */
  size_t suffix_nbytes;   /* bytes that follow the user key in each separator */
  lanebloom_slice common; /* the common prefix of all separators */
  uint64_t *windows;      /* the windows of all separators; see window.h */
  size_t room, separators_room;
};

/* Appends the entries of an index block. what: the block's name in error messages. Errors: CORRUPT,
 * MEMORY, IO; LIMIT if the index would be too large for such a file. */
lanebloom_status lanebloom_index_read(struct block_reader *reader, struct handle handle,
                                      struct entry_form form, const char *what,
                                      struct index *index);
void lanebloom_index_free(struct index *index);

/* Returns separator i without its suffix, borrowed from the index. */
lanebloom_slice lanebloom_index_separator(const struct index *index, size_t i);

/* Does every separator have a suffix of this size, and do the separators ascend when the suffixes
 * are ignored? */
bool lanebloom_index_ascends(const struct index *index, size_t suffix_nbytes);

/* Prepares an index for lanebloom_index_find(). The separators must ascend. Returns false if memory
 * ran out. */
bool lanebloom_index_prepare(struct index *index, size_t suffix_nbytes);

/* Returns the number of the first block whose separator is not below the user key, or n if all
 * separators are below it. Suffixes are ignored, so the block is the one to search for the newest
 * version of the key, which comes before all other versions. near: the block at which the search
 * begins, at most n. Cost: O(log d) if the result is d blocks after `near`; O(log n) if it is
 * before `near`. */
size_t lanebloom_index_find(const struct index *index, lanebloom_slice key, size_t near);

/* Compares user keys in bytewise order, and returns a number as memcmp() does. A prefix of a key is
 * below the key. */
int lanebloom_key_compare(lanebloom_slice a, lanebloom_slice b);

#endif
