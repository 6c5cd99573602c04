/* Parses write batches. A batch is one record of a write-ahead log of LevelDB, RocksDB or Pebble,
 * and holds the writes (entries) that a program made in one call.
 *
 *   sequence number, 8 bytes | number of entries, 4 | entry | entry | ...
 *   entry: tag, 1 byte | [column family, varint] | strings: length, varint | bytes
 *
 * A batch is parsed piece by piece, so the memory that parsing needs does not depend on the size of
 * the batch.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_BATCH_H
#define LANEBLOOM_TABLES_BATCH_H

#include <lanebloom_tables.h>

enum { BATCH_MAX_KEY_NBYTES = 64 << 20 };

enum batch_kind {
  BATCH_UNKNOWN, /* UNKNOWN and MARKER are never passed to the callback */
  BATCH_MARKER,
  BATCH_DELETES, /* deletes a key or a range, or changes range keys */
  BATCH_GIVES,   /* gives the key a value */
  BATCH_INGESTS, /* Pebble: adds a table; the key is the table's number, a varint */
};

/* The entry that is passed to the callback. */
struct batch_entry {
  uint32_t family; /* id of the column family; LevelDB, Pebble: 0 */
  enum batch_kind kind;
  /* Is the entry part of a transaction? Such an entry counts once a later batch commits the
   * transaction. */
  bool is_prepared;
  lanebloom_slice key; /* borrowed */
};

/* The callback, called for each entry. If it returns another status than OK, parsing stops and
 * lanebloom_batch_feed() returns that status. */
typedef lanebloom_status batch_take(void *context, const struct batch_entry *entry);

struct batch_parser {
  const struct tag *tags; /* the tags of the engine */
  batch_take *take;
  void *context;
  uint64_t sequence;   /* the sequence number of the first entry */
  const char *problem; /* what was expected and found; NULL if the batch is not damaged */
  bool has_large_key;  /* was a key of more than BATCH_MAX_KEY_NBYTES left out? */

  /* private */
  enum batch_state { BATCH_HEADER, BATCH_TAG, BATCH_FAMILY, BATCH_LENGTH, BATCH_BYTES } state;
  uint64_t nparsed;     /* bytes of the header */
  uint8_t header[12];   /* the sequence number and the number of entries */
  char unknown[64];     /* the text of `problem` if it names a tag */
  uint32_t nentries;    /* entries parsed so far, without markers */
  enum batch_kind kind; /* the kind of the entry */
  unsigned nstrings;    /* strings of the entry that are not parsed yet */
  uint64_t number;      /* the part of a varint that is parsed so far */
  unsigned number_nbits;
  uint64_t nbytes_left; /* bytes of the string that are not parsed yet */
  bool is_key;          /* is the string the key? */
  bool is_prepared;     /* are the next entries part of a transaction? */
  uint32_t family;
  uint8_t *key; /* the bytes parsed so far of a key that is in several pieces */
  size_t key_nbytes, key_room;
};

/* Makes a parser for batches of `engine`. The parser passes each entry to `take`. */
void lanebloom_batch_init(struct batch_parser *parser, lanebloom_engine engine, batch_take *take,
                          void *context);
void lanebloom_batch_free(struct batch_parser *parser);

/* Begins a batch, even if the previous batch is incomplete. */
void lanebloom_batch_begin(struct batch_parser *parser);

/* Parses the next bytes of the batch. After damage, the rest of the batch is ignored. Errors:
 * MEMORY, and the errors that `take` returns. */
lanebloom_status lanebloom_batch_feed(struct batch_parser *parser, const uint8_t *bytes,
                                      size_t nbytes);

/* Ends the batch. Returns false if the batch is damaged; parser->problem then says how. */
bool lanebloom_batch_end(struct batch_parser *parser);

/* Returns the number of entries that the header states, or 0 before the header was parsed. */
uint32_t lanebloom_batch_count(const struct batch_parser *parser);

#endif
