/* A set of keys that is asked exactly: a filter in front, the keys behind it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_KEY_SET_H
#define LANEBLOOM_CLI_KEY_SET_H

#include "../src/memory.h"

#include "inputs.h"
#include "records.h"

/* Bytes that become more. They are on huge pages, as keys are looked up at random. */
struct buffer {
  char *data; /* in `memory` */
  size_t nbytes;
  struct memory memory;
};

struct key_set {
  struct record_syntax syntax; /* of the keys */

  enum returns returns; /* of its first keys */
  uint64_t nkeys;

  /* private */
  bool is_packed;     /* keys of fields, each after its size; else whole records */
  struct buffer keys; /* one after the other */
  lanebloom_filter *filter;
  struct memory table;
  uint64_t *slots; /* in it: a hash table with linear probing: where the keys begin */
  size_t nslots;
  uint8_t secret[192]; /* of the table's hash */
};

/* Reads the keys of a file, which may change afterwards; "-" is standard input. Keys may repeat.
 * Memory: the keys, and about 14 bytes for each; of fields, 22. A record that lacks a field of the
 * key is an error, or no key and counted, as --missing says. On failure prints a message and exits.
 * Threads: any number may then ask. */
void key_set_read(struct key_set *set, const char *path, const struct record_syntax *syntax,
                  const struct input_messages *messages);

/* Sets bit i of the bitmap if record i's key is in the set, and returns how many are. bitmap: as
 * for lanebloom_filter_screen(), in whole words of 8 bytes. */
size_t key_set_match(const struct key_set *set, const struct batch *batch, uint8_t *bitmap);

/* Is the first key, a whole record, a header that has these fields? */
bool key_set_begins_with_header(const struct key_set *set, const struct field_syntax *fields);

/* Has any key this byte? May say so if none has. */
bool key_set_has_byte(const struct key_set *set, char byte);

void key_set_free(struct key_set *set);

#endif
