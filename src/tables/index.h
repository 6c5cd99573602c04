/* An index in memory: it finds the block of a key. Each block has a separator that is no less than
 * its keys and less than the keys of the next block.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_INDEX_H
#define LANEBLOOM_TABLES_INDEX_H

#include "block.h"

struct index {
  size_t n;
  struct handle *handles;
  uint8_t *separators;    /* one behind the other */
  size_t *begins;         /* n + 1 of them */
  size_t suffix_nbytes;   /* behind the user key in each */
  lanebloom_slice common; /* what all separators begin with */
  uint64_t *windows;      /* of each, for searching */
  size_t room, separators_room;
};

/* Appends the entries of an index block. Errors: CORRUPT, LIMIT, MEMORY, IO. */
lanebloom_status lanebloom_index_read(struct block_reader *reader, struct handle handle,
                                      struct entry_form form, const char *what,
                                      struct index *index);
void lanebloom_index_free(struct index *index);

lanebloom_slice lanebloom_index_separator(const struct index *index, size_t i);

/* Has every separator a suffix of this size, and do they ascend without it? */
bool lanebloom_index_ascends(const struct index *index, size_t suffix_nbytes);

/* Makes an ascending index ready for searching. false: memory is short. */
bool lanebloom_index_prepare(struct index *index, size_t suffix_nbytes);

/* The first block whose separator is no less than the key; n if all are less. near: a guess, at
 * most n. An engine looks for the newest version of a key, which comes before all others of the
 * same user key: so suffixes of separators never decide. */
size_t lanebloom_index_find(const struct index *index, lanebloom_slice key, size_t near);

/* As memcmp(), of user keys in bytewise order. */
int lanebloom_key_compare(lanebloom_slice a, lanebloom_slice b);

#endif
