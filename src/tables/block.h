/* Reads the blocks that tables consist of: finds a block by its handle (offset and size), verifies
 * its checksum, decompresses it, and parses its entries. Only one thread may use a reader and the
 * blocks that it read.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_BLOCK_H
#define LANEBLOOM_TABLES_BLOCK_H

#include "footer.h"
#include "pebble/columns.h"

/* The state for reading the blocks of one table. */
struct block_reader {
  const struct input *input;
  struct footer footer;
  lanebloom_slice dictionary; /* for decompressing data blocks; {NULL, 0}: none */

  /* Limits: the bytes that may still be read, the bytes that decompression may still produce, and
   * those that it may produce of one block. Without limits, a small damaged file whose handles all
   * name one block could take very long. */
  uint64_t nbytes_left, decompressed_left, max_block_nbytes;
  bool is_too_large; /* did the last block fail because of the limits of decompression? */
  uint32_t codecs;   /* bit i: a block with the codec i was decompressed */

  const struct problem *problem;
};

struct block {
  const uint8_t *bytes;
  size_t nbytes;
  uint64_t offset; /* in the file */
  uint8_t *memory; /* owns the bytes; NULL: the bytes are borrowed from the input */
  enum column_layout layout;
};

/* Kinds of blocks that need special treatment: a DATA block may need the dictionary, and a
 * PROPERTIES block may have changed after its checksum was made. In Pebble, the kind and the
 * table's version decide how entries are stored. Blocks of all other kinds are META, and have no
 * columns. */
enum block_kind { BLOCK_META, BLOCK_METAINDEX, BLOCK_PROPERTIES, BLOCK_INDEX, BLOCK_DATA };

/* Returns the layout of such a block in a table with this footer. */
enum column_layout lanebloom_block_layout(const struct footer *footer, enum block_kind kind);

/* Reads a block; lanebloom_block_free() frees it. what: the block's name in error messages. Errors:
 * CORRUPT, MEMORY, IO; LIMIT if this build lacks the block's codec or the block exceeds a limit of
 * the reader. On an error there is nothing to free. */
lanebloom_status lanebloom_block_read(struct block_reader *reader, struct handle handle,
                                      enum block_kind kind, const char *what, struct block *block);
void lanebloom_block_free(struct block *block);

/* The encoding of a block's entries. Deltas and first keys are found only in rows. */
struct entry_form {
  bool has_handles; /* values are handles, as in an index */
  bool has_deltas;  /* values have no size, and most handles are relative to the previous handle */
  bool has_first_key; /* each handle is followed by the first key of its block */
};

/* Iterates over the entries of a block. The bytes of the block are borrowed. */
struct entries {
  struct entry_form form;
  struct cursor rest;     /* of the block, if entries are in rows */
  struct columns columns; /* if they are in columns */
  uint64_t offset;        /* where the block begins in the file */
  bool damaged;           /* parsing stopped at a damaged entry */

  /* The current entry; valid until the next one. */
  uint8_t *key; /* room for any key of the block */
  size_t key_nbytes;
  struct cursor value;
  struct handle handle;
};

/* Does the block store its values apart from their keys, as data blocks of RocksDB 11 may? The
 * entries of such a block cannot be read. */
bool lanebloom_block_has_values_apart(const struct block *block, lanebloom_engine engine);

/* Positions *entries before the first entry. Errors: CORRUPT, MEMORY; LIMIT if the layout of the
 * block is not supported. On an error, lanebloom_entries_end() need not be called. */
lanebloom_status lanebloom_entries_begin(const struct block *block, struct entry_form form,
                                         lanebloom_engine engine, const struct problem *problem,
                                         struct entries *entries);

/* Parses the next entry. Returns false if the block ends or the entry is damaged;
 * lanebloom_entries_end() tells these cases apart. */
bool lanebloom_entries_next(struct entries *entries);

/* Ends the iteration, and frees the key. what: the block's name in the error message. Errors:
 * CORRUPT if an entry was damaged. */
lanebloom_status lanebloom_entries_end(struct entries *entries, const char *what,
                                       const struct problem *problem);

#endif
