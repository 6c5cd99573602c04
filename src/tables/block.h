/* Blocks: reading one by its handle (checksum verified, decompressed), and parsing its entries.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_BLOCK_H
#define LANEBLOOM_TABLES_BLOCK_H

#include "footer.h"

/* What all blocks of a table share. */
struct block_reader {
  const struct input *input;
  struct footer footer;
  lanebloom_slice dictionary; /* of data blocks; {NULL, 0}: none */

  /* How much may still be read, and how much it may become when decompressed. A small file whose
   * handles all name one block must not take all memory. */
  uint64_t nbytes_left, decompressed_left;
  bool is_too_large; /* did the last block fail because of decompressed_left? */

  const struct problem *problem;
};

struct block {
  const uint8_t *bytes;
  size_t nbytes;
  uint64_t offset; /* in the file */
  uint8_t *memory; /* NULL: bytes are the input's */
};

/* DATA: may need the dictionary. PROPERTIES: the checksum may be older than a number in it. */
enum block_kind { BLOCK_META, BLOCK_PROPERTIES, BLOCK_DATA };

/* what: the block's name in problems. Errors: CORRUPT, LIMIT, MEMORY, IO. */
lanebloom_status lanebloom_block_read(struct block_reader *reader, struct handle handle,
                                      enum block_kind kind, const char *what, struct block *block);
void lanebloom_block_free(struct block *block);

/* How entries are written. */
struct entry_form {
  bool has_handles;   /* values are handles: an index */
  bool has_deltas;    /* an index without sizes of values, each handle relative to the last */
  bool has_first_key; /* an index where a block's first key follows its handle */
};

struct entries {
  struct entry_form form;
  struct cursor rest;
  uint64_t offset; /* of the block */
  bool damaged;    /* parsing stopped for it */

  /* The current entry. */
  uint8_t *key; /* room for every key of the block */
  size_t key_nbytes;
  struct cursor value;
  struct handle handle;
};

/* Starts before the first entry. Errors: CORRUPT; LIMIT: a layout that is not read; MEMORY. */
lanebloom_status lanebloom_entries_begin(const struct block *block, struct entry_form form,
                                         lanebloom_engine engine, const struct problem *problem,
                                         struct entries *entries);

/* Parses the next entry. false: there is none, or it is damaged. */
bool lanebloom_entries_next(struct entries *entries);

/* Frees the key. Errors: CORRUPT if an entry was damaged. */
lanebloom_status lanebloom_entries_end(struct entries *entries, const char *what,
                                       const struct problem *problem);

#endif
