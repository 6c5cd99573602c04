/* Random keys for the real engines and for lanebloom.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_KEY_SET_H
#define LANEBLOOM_TESTS_KEY_SET_H

#include <criterion/criterion.h>
#include <lanebloom.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MAX_KEYS = 5000, MAX_LENGTH = 300 };

/* Keys that share a pool of random bytes. */
struct key_set {
  uint8_t *pool;
  lanebloom_slice slices[MAX_KEYS];
  lanebloom_keys keys;
};

struct key_set *key_set_make(struct rng *rng);
void key_set_free(struct key_set *set);

/* Draws n keys: short, long or both. One key in eight is a copy of the key before it, which RocksDB
 * does not count. Another one in eight is a copy of any earlier key, which every engine counts. */
void key_set_draw(struct key_set *set, struct rng *rng, size_t n);

/* Returns the number of keys of set i: ten sets have each small number, and later sets have any
 * number, mostly below a thousand. */
size_t draw_nkeys(struct rng *rng, size_t i);

/* Draws bytes that may be a LevelDB filter: random bits, from sparse to full, with every unusual
 * number of probes. i is the number of the call: in every eighth call the bytes are too short.
 * Returns the number of bytes, at most max. */
size_t leveldb_bytes_draw(struct rng *rng, size_t i, uint8_t *bytes, size_t max);

#endif
