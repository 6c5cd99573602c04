/* Blocks: one by where it lies, with its checksum verified and decompressed; and the entries of
 * one.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_BLOCK_H
#define LANEBLOOM_TABLES_BLOCK_H

#include "footer.h"

/* What all blocks of a table share. */
struct block_reader {
  const struct input *input;
  struct footer footer;
  lanebloom_slice dictionary; /* of data blocks; {NULL, 0}: none */
  uint64_t
      nbytes_left; /* what may yet be read: blocks that many others name must not take all memory */
  uint64_t unpacked_left; /* and what it may become */
  bool is_too_large;      /* is that why the last block was not read? */
  const struct problem *problem;
};

struct block {
  const uint8_t *bytes;
  size_t nbytes;
  uint64_t offset; /* in the file */
  uint8_t *memory; /* NULL: bytes are the input's */
};

/* Data blocks alone may need the dictionary; of properties the checksum may have been made before a
 * number changed. */
enum block_kind { BLOCK_META, BLOCK_PROPERTIES, BLOCK_DATA };

/* what: the block's name in problems. Errors: CORRUPT, LIMIT, MEMORY, IO. */
lanebloom_status lanebloom_block_read(struct block_reader *reader, struct handle handle,
                                      enum block_kind kind, const char *what, struct block *block);
void lanebloom_block_free(struct block *block);

/* How the entries of a block are written. */
struct entry_form {
  bool has_handles; /* values are handles: an index */
  bool has_deltas; /* in an index: no sizes of values, and handles are relative to the one before */
  bool has_first_key; /* in an index: a block's first key follows its handle */
};

struct entries {
  struct entry_form form;
  struct cursor rest;
  uint64_t offset; /* of the block */
  bool damaged;    /* why there was no next one */

  /* The entry. */
  uint8_t *key; /* room for every key of the block */
  size_t key_nbytes;
  struct cursor value;
  struct handle handle;
};

/* Before the first entry. Errors: CORRUPT; LIMIT: a layout that is not read; MEMORY. */
lanebloom_status lanebloom_entries_begin(const struct block *block, struct entry_form form,
                                         lanebloom_engine engine, const struct problem *problem,
                                         struct entries *entries);

/* false: there is none, or it is damaged. */
bool lanebloom_entries_next(struct entries *entries);

/* Frees. Errors: CORRUPT where the last call found damage. */
lanebloom_status lanebloom_entries_end(struct entries *entries, const char *what,
                                       const struct problem *problem);

#endif
