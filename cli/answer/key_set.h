/* An exact set of keys. A query asks a filter first, and compares the key itself only if the key
 * passes the filter.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_KEY_SET_H
#define LANEBLOOM_CLI_KEY_SET_H

#include "../../src/common/memory.h"
#include "../input/inputs.h"
#include "../input/records.h"

/* A buffer that grows. Its memory has huge pages, because keys are read at random positions. */
struct buffer {
  char *data; /* the beginning of `memory` */
  size_t nbytes;
  struct memory memory;
};

struct key_set {
  struct record_syntax syntax; /* how the keys are cut out of their file */

  enum returns returns; /* whether the first keys end in carriage returns */
  uint64_t nkeys;

  /* private */
  bool is_packed;     /* true if keys are fields or converted: `keys' contains copies of them, each
                       * after its size; false: `keys' contains the whole records of the file */
  struct buffer keys; /* all keys, one after the other */
  lanebloom_filter *filter;
  struct memory table;
  uint64_t *slots; /* a hash table in `table`, with linear probing; its slots contain the positions
                    * of keys */
  size_t nregions, region_nslots; /* regions of the table, and slots of each region */
  uint64_t position_mask;         /* the bits of a slot that contain a position */
  uint8_t secret[192];            /* the secret of the hash function of `table` */
};

/* Reads the keys of a file. The file may change afterwards. The path "-" is standard input. A key
 * may occur several times. If a record lacks a field of the key, --missing decides: the command
 * exits, or the record is counted and has no key. On any failure prints a message and exits.
 * Memory for a key that is a whole record: its bytes and about 14 more. Memory for a key that
 * consists of fields: its bytes and about 22 more. While fields are read, the file and up to two
 * copies of the keys are in memory, and a copy takes 8 more bytes per key. Threads: after this
 * call, several may query the set at once. */
void key_set_read(struct key_set *set, const char *path, const struct record_syntax *syntax,
                  const struct input_messages *messages);

/* Sets bit i of the bitmap if the key of record i is in the set. Returns how many such keys there
 * are. The bitmap is as for lanebloom_filter_screen(), and must have whole words of 8 bytes. */
size_t key_set_match(const struct key_set *set, const struct batch *batch, uint8_t *bitmap);

/* Is the first key a whole record that looks like a header with these fields? */
bool key_set_begins_with_header(const struct key_set *set, const struct field_syntax *fields);

/* Does any key contain this byte? The result true may be wrong. */
bool key_set_has_byte(const struct key_set *set, char byte);

void key_set_free(struct key_set *set);

#endif
