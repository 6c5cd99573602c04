/* Blocks: reads a block by its handle, verifies and decompresses it, and parses its entries. A
 * reader and what it reads belong to one thread.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_BLOCK_H
#define LANEBLOOM_TABLES_BLOCK_H

#include "footer.h"

/* The state for reading the blocks of one table. */
struct block_reader {
  const struct input *input;
  struct footer footer;
  lanebloom_slice dictionary; /* of data blocks; {NULL, 0}: none */

  /* Limits: bytes that may still be read, and bytes that may still be made by decompressing. They
   * protect against a small file whose handles all name one block. */
  uint64_t nbytes_left, decompressed_left;
  bool is_too_large; /* did the last block fail because of decompressed_left? */

  const struct problem *problem;
};

struct block {
  const uint8_t *bytes;
  size_t nbytes;
  uint64_t offset; /* in the file */
  uint8_t *memory; /* owns the bytes; NULL: they are borrowed from the input */
};

/* DATA may need the dictionary. PROPERTIES may have changed after their checksum was made. */
enum block_kind { BLOCK_META, BLOCK_PROPERTIES, BLOCK_DATA };

/* Reads a block; lanebloom_block_free() frees it. what: the block's name in problems. Errors:
 * CORRUPT; LIMIT: a codec that this build does not have, or too large; MEMORY; IO. On an error
 * there is nothing to free. */
lanebloom_status lanebloom_block_read(struct block_reader *reader, struct handle handle,
                                      enum block_kind kind, const char *what, struct block *block);
void lanebloom_block_free(struct block *block);

/* The encoding of a block's entries. */
struct entry_form {
  bool has_handles;   /* values are handles, as in an index */
  bool has_deltas;    /* values have no size, and most handles are relative to the one before */
  bool has_first_key; /* each handle is followed by the first key of its block */
};

/* Iterates over the entries of a block, whose bytes are borrowed. */
struct entries {
  struct entry_form form;
  struct cursor rest;
  uint64_t offset; /* of the block, in the file */
  bool damaged;    /* parsing stopped at a damaged entry */

  /* The current entry; valid until the next one. */
  uint8_t *key; /* room for any key of the block */
  size_t key_nbytes;
  struct cursor value;
  struct handle handle;
};

/* Begins before the first entry. Errors: CORRUPT; LIMIT: a layout that is not supported; MEMORY. On
 * an error there is nothing to end. */
lanebloom_status lanebloom_entries_begin(const struct block *block, struct entry_form form,
                                         lanebloom_engine engine, const struct problem *problem,
                                         struct entries *entries);

/* Parses the next entry. false: the block ends, or the entry is damaged. */
bool lanebloom_entries_next(struct entries *entries);

/* Frees the key. Errors: CORRUPT: an entry was damaged. */
lanebloom_status lanebloom_entries_end(struct entries *entries, const char *what,
                                       const struct problem *problem);

#endif
