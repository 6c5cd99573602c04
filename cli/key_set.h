/* A set of keys that is asked exactly: a filter in front, the keys behind it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_KEY_SET_H
#define LANEBLOOM_CLI_KEY_SET_H

#include "../src/memory.h"

#include "inputs.h"
#include "mapped.h"
#include "records.h"

struct key_set {
  struct record_syntax syntax; /* of the keys */

  /* private */
  bool is_packed;     /* keys of fields, each after its size in `copy`; else whole records */
  struct mapped file; /* or, if it cannot be mapped, or if the set is packed: */
  char *copy;
  const char *data; /* of the keys, one after the other */
  size_t nbytes;
  lanebloom_filter *filter;
  struct memory table;
  uint64_t *slots; /* in it: a hash table with linear probing: where in `data` the keys begin */
  size_t nslots;
};

/* Reads the keys of a file; "-" is standard input. Keys may repeat. A regular file is mapped, and
 * must not change until key_set_free(); others are copied, and so are keys that are fields. Memory:
 * about 14 bytes per key; of a field also the key and 8 bytes. A record that lacks a field of the
 * key is an error, or no key and counted, as --missing says. On failure prints a message and exits.
 * Threads: any number may then ask. */
void key_set_read(struct key_set *set, const char *path, const struct record_syntax *syntax,
                  const struct input_messages *messages);

/* Sets bit i of the bitmap if record i's key is in the set, and returns how many are. bitmap: as
 * for lanebloom_filter_screen(), in whole words of 8 bytes. */
size_t key_set_match(const struct key_set *set, const struct batch *batch, uint8_t *bitmap);

void key_set_free(struct key_set *set);

#endif
