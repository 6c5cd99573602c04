/* Write batches: the records of LevelDB's, RocksDB's and Pebble's write-ahead logs.
 *
 *   sequence number, 8 bytes | number of entries, 4 | entry | entry | ...
 *   entry: tag, 1 byte | [column family, varint] | strings: length, varint | bytes
 *
 * A batch is parsed piece by piece, so that memory does not depend on its size.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_BATCH_H
#define LANEBLOOM_TABLES_BATCH_H

#include <lanebloom_tables.h>

enum { BATCH_MAX_KEY_NBYTES = 64 << 20 };

enum batch_kind {
  BATCH_UNKNOWN, /* the first two are never passed to the callback */
  BATCH_MARKER,
  BATCH_DELETES, /* deletes a key, or changes range keys */
  BATCH_GIVES,   /* gives the key a value */
  BATCH_INGESTS, /* Pebble: the key is the number of a table, a varint */
};

/* An entry that names a key. */
struct batch_entry {
  uint32_t family; /* id of the column family; LevelDB, Pebble: 0 */
  enum batch_kind kind;
  /* Is it part of a transaction, which counts once a later batch commits it? */
  bool is_prepared;
  lanebloom_slice key; /* borrowed */
};

/* The callback for an entry. If it returns another status than OK, the batch ends. */
typedef lanebloom_status batch_take(void *context, const struct batch_entry *entry);

struct batch_parser {
  const struct tag *tags; /* of the engine */
  batch_take *take;
  void *context;
  uint64_t sequence;   /* of the first entry */
  const char *problem; /* what was expected and found if the batch is damaged; else NULL */
  bool has_large_key;  /* was a key of more than BATCH_MAX_KEY_NBYTES left out? */

  /* private */
  enum batch_state { BATCH_HEADER, BATCH_TAG, BATCH_FAMILY, BATCH_LENGTH, BATCH_BYTES } state;
  uint64_t nparsed;     /* bytes of the header */
  uint8_t header[12];   /* the sequence number and the number of entries */
  char unknown[64];     /* a problem that names a tag */
  uint32_t nentries;    /* entries that the header counts */
  enum batch_kind kind; /* of the entry */
  unsigned nstrings;    /* strings of the entry that are left */
  uint64_t number;      /* a varint that is parsed in part */
  unsigned number_nbits;
  uint64_t nbytes_left; /* of the string */
  bool is_key;          /* is the string the key? */
  bool is_prepared;     /* of the entries that follow */
  uint32_t family;
  uint8_t *key; /* the bytes of a key that comes in pieces */
  size_t key_nbytes, key_room;
};

/* Makes a parser of the engine's batches that passes each entry to `take`. */
void lanebloom_batch_init(struct batch_parser *parser, lanebloom_engine engine, batch_take *take,
                          void *context);
void lanebloom_batch_free(struct batch_parser *parser);

/* Begins a batch. The one before may be incomplete. */
void lanebloom_batch_begin(struct batch_parser *parser);

/* Parses the next bytes of the batch; those of a damaged batch are ignored. Errors: MEMORY, and
 * those of `take`. */
lanebloom_status lanebloom_batch_feed(struct batch_parser *parser, const uint8_t *bytes,
                                      size_t nbytes);

/* Ends the batch. false: it is damaged, as parser->problem says. */
bool lanebloom_batch_end(struct batch_parser *parser);

/* The number of entries that the header states; 0 before the header was parsed. */
uint32_t lanebloom_batch_count(const struct batch_parser *parser);

#endif
