/* An exact set of keys: a filter first, then the keys themselves.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_KEY_SET_H
#define LANEBLOOM_CLI_KEY_SET_H

#include "../../src/common/memory.h"
#include "../input/inputs.h"
#include "../input/records.h"

/* A growing buffer. It uses huge pages, because keys are looked up at random. */
struct buffer {
  char *data; /* in `memory` */
  size_t nbytes;
  struct memory memory;
};

struct key_set {
  struct record_syntax syntax; /* of the keys */

  enum returns returns; /* of the first keys */
  uint64_t nkeys;

  /* private */
  bool is_packed;     /* keys of fields, each preceded by its size; false: whole records */
  struct buffer keys; /* all keys, one after the other */
  lanebloom_filter *filter;
  struct memory table;
  uint64_t *slots; /* in `table`: a hash table with linear probing, of the keys' offsets */
  size_t nslots;
  uint8_t secret[192]; /* of the table's hash function */
};

/* Reads the keys of a file, which may change afterwards; "-" is standard input. Keys may repeat.
 * Memory: the keys, plus about 14 bytes for each whole record, or 22 for each key of fields. A
 * record that lacks a field of the key is an error, or is counted and has no key, as --missing
 * says. On failure prints a message and exits. Threads: afterwards, any number may query the
 * set. */
void key_set_read(struct key_set *set, const char *path, const struct record_syntax *syntax,
                  const struct input_messages *messages);

/* Sets bit i of the bitmap if record i's key is in the set, and returns how many are. bitmap: as
 * for lanebloom_filter_screen(), in whole words of 8 bytes. */
size_t key_set_match(const struct key_set *set, const struct batch *batch, uint8_t *bitmap);

/* Is the first key, a whole record, a header that has these fields? */
bool key_set_begins_with_header(const struct key_set *set, const struct field_syntax *fields);

/* Does any key contain this byte? May return true if none does. */
bool key_set_has_byte(const struct key_set *set, char byte);

void key_set_free(struct key_set *set);

#endif
