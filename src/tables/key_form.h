/* How a table stores keys, and whether they are in bytewise order.
 *
 * Databases store internal keys: a user key with 8 bytes behind it, which say when and how it was
 * written. RocksDB's and Pebble's tables always do. So do LevelDB's, unless a program wrote the
 * table and no database. The file does not say which; but its filter holds user keys, and so those
 * of the first and last data block are looked up in either form.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_KEY_FORM_H
#define LANEBLOOM_TABLES_KEY_FORM_H

#include "loader.h"

enum key_form { USER_KEYS, INTERNAL_KEYS, NKEY_FORMS };

/* Behind the user key. */
static const size_t suffix_nbytes[NKEY_FORMS] = {0, SUFFIX_NBYTES};

static inline lanebloom_slice user_key(lanebloom_slice stored, size_t suffix)
{
  return (lanebloom_slice){stored.data, stored.size - suffix};
}

/* The key before the one that is looked at. */
struct previous_key {
  uint8_t *bytes; /* room for any */
  size_t nbytes;
  bool is_there;
};

static inline void set_previous(struct previous_key *previous, lanebloom_slice key)
{
  if (key.size > 0)
    memcpy(previous->bytes, key.data, key.size);
  previous->nbytes = key.size;
  previous->is_there = true;
}

/* Keys of a block are examined until they come to so many bytes: they can share what they begin
 * with, and be many times their block. */
static inline size_t max_examined_nbytes(size_t block_nbytes)
{
  enum { MAX_GROWTH = 16, SMALL_NBYTES = 1 << 16 };
  return block_nbytes < SIZE_MAX / MAX_GROWTH - SMALL_NBYTES
             ? block_nbytes * MAX_GROWTH + SMALL_NBYTES
             : SIZE_MAX;
}

/* ---- key_form.c: the first and the last data block ---- */

struct ends {
  struct {
    bool is_possible;  /* can keys be stored so? */
    bool is_in_filter; /* and does the filter have them all? */
    bool ascends;
  } forms[NKEY_FORMS];
  bool is_form_known;          /* INTERNAL_KEYS: no form is examined */
  lanebloom_slice first, last; /* the table's first and last key as stored; for free() */
};

/* Errors: CORRUPT, LIMIT, MEMORY, IO. What was found stays, and lanebloom_ends_free() frees it. */
lanebloom_status lanebloom_ends_load(struct block_reader *reader, const lanebloom_table *table,
                                     const struct index *index, struct ends *ends);
void lanebloom_ends_free(struct ends *ends);

/* ---- key_order.c: all data blocks ---- */

enum key_order { ORDER_BYTEWISE, ORDER_OTHER, ORDER_UNKNOWN };

/* Is every key in bytewise order, and in the block to which separators lead? A damaged block is no
 * error: then the order is unknown. Errors: MEMORY, IO. */
lanebloom_status lanebloom_key_order_find(struct block_reader *reader, const struct index *index,
                                          size_t suffix, enum key_order *order);

#endif
