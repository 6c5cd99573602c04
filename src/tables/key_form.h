/* Finds the form in which a table stores its keys, and whether the keys are in bytewise order.
 *
 * There are two forms. Databases store internal keys: a user key, then a suffix of 8 bytes with
 * sequence number and type. Tables of RocksDB and Pebble always have internal keys. Tables of
 * LevelDB databases have internal keys, too. But if a program wrote a table of LevelDB without a
 * database, the table has plain user keys. A table of LevelDB does not say which form its keys
 * have, but its filter always holds user keys. So the filter is queried for the keys of the first
 * and the last data block, once for the whole keys and once for the keys without their last 8
 * bytes. If the filter lacks a key in one form, the table's keys do not have that form.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_KEY_FORM_H
#define LANEBLOOM_TABLES_KEY_FORM_H

#include "loader.h"

enum key_form { USER_KEYS, INTERNAL_KEYS, NKEY_FORMS };

/* The number of bytes that follow the user key, by form. */
static const size_t suffix_nbytes[NKEY_FORMS] = {0, SUFFIX_NBYTES};

static inline lanebloom_slice user_key(lanebloom_slice stored, size_t suffix)
{
  return (lanebloom_slice){stored.data, stored.size - suffix};
}

/* A copy of the last key that was examined, to compare the next key with it. */
struct previous_key {
  uint8_t *bytes; /* room for any key */
  size_t nbytes;
  bool is_there; /* false: no key was examined yet */
};

static inline void set_previous(struct previous_key *previous, lanebloom_slice key)
{
  if (key.size > 0)
    memcpy(previous->bytes, key.data, key.size);
  previous->nbytes = key.size;
  previous->is_there = true;
}

/* Returns how many bytes of keys are examined in a block, at most. Keys share prefixes, so all keys
 * together can be many times as large as their block. With a limit, even a damaged block takes
 * little time. */
static inline size_t max_examined_nbytes(size_t block_nbytes)
{
  enum { MAX_GROWTH = 16, SMALL_NBYTES = 1 << 16 };
  return block_nbytes < SIZE_MAX / MAX_GROWTH - SMALL_NBYTES
             ? block_nbytes * MAX_GROWTH + SMALL_NBYTES
             : SIZE_MAX;
}

/* ---- key_form.c: reads the first and the last data block ---- */

/* The findings from the keys of the first and the last data block. */
struct ends {
  struct {
    bool is_possible;  /* can all examined keys have this form? */
    bool is_in_filter; /* if so, may all of them be in the filter? */
    bool ascends;      /* if so, are they in bytewise order? */
  } forms[NKEY_FORMS];
  bool is_form_known;          /* keys are INTERNAL_KEYS, so `forms` is not used */
  bool is_split;               /* the comparer of Pebble extracts parts of keys */
  bool has_values_apart;       /* an end has a form that is not read, so its key is not known */
  lanebloom_slice first, last; /* the table's first and last key as stored */
};

/* Reads the first and the last data block; index->n must be at least 1. Errors: CORRUPT, LIMIT,
 * MEMORY, IO. The caller must call lanebloom_ends_free(), even after an error. */
lanebloom_status lanebloom_ends_load(struct block_reader *reader, const lanebloom_table *table,
                                     const struct index *index, struct ends *ends);
void lanebloom_ends_free(struct ends *ends);

/* ---- key_order.c: reads all data blocks ---- */

enum key_order { ORDER_BYTEWISE, ORDER_OTHER, ORDER_UNKNOWN };

/* Finds the order of keys. If all keys ascend, and each key is in the block that the index finds
 * for the key, *order becomes BYTEWISE. If a block is damaged or too large, it becomes UNKNOWN. In
 * all other cases it becomes OTHER. Errors: MEMORY, IO. Cost: reads the whole table. */
lanebloom_status lanebloom_key_order_find(struct block_reader *reader, const struct index *index,
                                          size_t suffix, enum key_order *order);

#endif
