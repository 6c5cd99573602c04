/* An index in memory finds the block of a key. Each block has a separator: a key that is not below
 * the keys of the block, but below those of the next one. Once prepared, an index is only read.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_INDEX_H
#define LANEBLOOM_TABLES_INDEX_H

#include "block.h"

struct index {
  size_t n;
  struct handle *handles;
  uint8_t *separators;    /* the bytes of all separators */
  size_t *begins;         /* separator i is separators[begins[i] .. begins[i + 1]) */
  size_t suffix_nbytes;   /* bytes after the user key in each separator */
  lanebloom_slice common; /* the common prefix of all separators */
  uint64_t *windows;      /* of all separators; see window.h */
  size_t room, separators_room;
};

/* Appends the entries of an index block. what: its name in problems. Errors: CORRUPT; LIMIT: too
 * large for the file; MEMORY; IO. */
lanebloom_status lanebloom_index_read(struct block_reader *reader, struct handle handle,
                                      struct entry_form form, const char *what,
                                      struct index *index);
void lanebloom_index_free(struct index *index);

/* Separator i without its suffix, borrowed. */
lanebloom_slice lanebloom_index_separator(const struct index *index, size_t i);

/* Does every separator have a suffix of this size, and do they ascend without it? */
bool lanebloom_index_ascends(const struct index *index, size_t suffix_nbytes);

/* Prepares an ascending index for searching. false: memory ran out. */
bool lanebloom_index_prepare(struct index *index, size_t suffix_nbytes);

/* Returns the first block whose separator is not below the user key; n if all are below. Suffixes
 * do not matter: an engine searches for the newest version of a key, which comes before all others.
 * near: the block at which the search begins, at most n. Cost: O(log d) for a block that is d
 * blocks after `near`, else O(log n). */
size_t lanebloom_index_find(const struct index *index, lanebloom_slice key, size_t near);

/* Compares user keys in bytewise order; the result is like memcmp()'s. */
int lanebloom_key_compare(lanebloom_slice a, lanebloom_slice b);

#endif
