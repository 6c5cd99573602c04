/* Finds how a table stores keys, and whether they are in bytewise order.
 *
 * Databases store internal keys: a user key, then a suffix of 8 bytes with sequence number and
 * type. RocksDB's and Pebble's tables always have internal keys. LevelDB's have them too, unless a
 * program wrote the table without a database. The file does not say which form its keys have, but
 * its filter holds user keys. So the keys of the first and last data block are probed in both
 * forms.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_KEY_FORM_H
#define LANEBLOOM_TABLES_KEY_FORM_H

#include "loader.h"

enum key_form { USER_KEYS, INTERNAL_KEYS, NKEY_FORMS };

/* Bytes after the user key. */
static const size_t suffix_nbytes[NKEY_FORMS] = {0, SUFFIX_NBYTES};

static inline lanebloom_slice user_key(lanebloom_slice stored, size_t suffix)
{
  return (lanebloom_slice){stored.data, stored.size - suffix};
}

/* The key before the one that is examined. */
struct previous_key {
  uint8_t *bytes; /* room for any key */
  size_t nbytes;
  bool is_there; /* false: the examined key is the first */
};

static inline void set_previous(struct previous_key *previous, lanebloom_slice key)
{
  if (key.size > 0)
    memcpy(previous->bytes, key.data, key.size);
  previous->nbytes = key.size;
  previous->is_there = true;
}

/* The most bytes of keys that are examined in a block. Keys share prefixes, so together they can be
 * many times as large as their block. */
static inline size_t max_examined_nbytes(size_t block_nbytes)
{
  enum { MAX_GROWTH = 16, SMALL_NBYTES = 1 << 16 };
  return block_nbytes < SIZE_MAX / MAX_GROWTH - SMALL_NBYTES
             ? block_nbytes * MAX_GROWTH + SMALL_NBYTES
             : SIZE_MAX;
}

/* ---- key_form.c: reads the first and the last data block ---- */

/* The facts about keys that the first and the last data block show. */
struct ends {
  struct {
    bool is_possible;  /* may all keys have this form? */
    bool is_in_filter; /* if they have it, may all be in the filter? */
    bool ascends;      /* if they have it, are they in bytewise order? */
  } forms[NKEY_FORMS];
  bool is_form_known;          /* keys are INTERNAL_KEYS, and `forms` is not used */
  lanebloom_slice first, last; /* the table's first and last key as stored */
};

/* Reads both blocks; index->n is at least 1. Errors: CORRUPT, LIMIT, MEMORY, IO.
 * lanebloom_ends_free() must be called, even after an error. */
lanebloom_status lanebloom_ends_load(struct block_reader *reader, const lanebloom_table *table,
                                     const struct index *index, struct ends *ends);
void lanebloom_ends_free(struct ends *ends);

/* ---- key_order.c: reads all data blocks ---- */

enum key_order { ORDER_BYTEWISE, ORDER_OTHER, ORDER_UNKNOWN };

/* Finds the order of keys. BYTEWISE: all keys ascend, and each is in the block that the index finds
 * for it. UNKNOWN: a block is damaged or too large. Errors: MEMORY, IO. Cost: reads the whole
 * table. */
lanebloom_status lanebloom_key_order_find(struct block_reader *reader, const struct index *index,
                                          size_t suffix, enum key_order *order);

#endif
