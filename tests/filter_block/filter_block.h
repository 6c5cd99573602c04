/* What the tests of filter blocks share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_FILTER_BLOCK_H
#define LANEBLOOM_TESTS_FILTER_BLOCK_H

#include <criterion/criterion.h>
#include <lanebloom_tables.h>
#include <stdlib.h>
#include <string.h>

#include "../support.h"
#include "bytes.h"
#include "oracle.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
  LEVELDB_BASE_LG = 11,
  BASE_LG_END = 64, /* from here on LevelDB's shift is undefined, and every key may be there */
  TRAILER_NBYTES = 5,
};

static const lanebloom_format formats[] = {LANEBLOOM_LEVELDB, LANEBLOOM_LEVELDB_SIGNED};

const char *use_kernel(size_t i);

/* ---- Queries ---- */

enum { MAX_QUERIES = 6000 };

/* Keys, each with the data block that it is asked of, and what LevelDB answers. */
struct queries {
  size_t n;
  uint64_t offsets[MAX_QUERIES];
  lanebloom_slice slices[MAX_QUERIES];
  bool expected[MAX_QUERIES];
};

void queries_add(struct queries *queries, uint64_t offset, lanebloom_slice key);

void expect_leveldb(lanebloom_format format, const void *bytes, size_t size,
                    struct queries *queries);

/* The answers to a batch, in a bitmap beside an unmapped page. */
void check_batch(const lanebloom_filter_block *block, const struct queries *queries,
                 const uint64_t *offsets, const lanebloom_keys *keys, size_t place);

void check_singles(const lanebloom_filter_block *block, const struct queries *queries);

lanebloom_filter_block *open_block(lanebloom_format format, const void *bytes, size_t size);

/* Of these bytes, beside an unmapped page, LevelDB's answers must come from every kernel. */
void check_answers(lanebloom_format format, const void *bytes, size_t size, struct queries *queries,
                   size_t place);

/* ---- Call sequences ---- */

enum { POOL_NBYTES = 1 << 14, MAX_KEY_NBYTES = 40, MAX_KEYS = 2000, MAX_STEPS = 60 };

/* A data block: it starts, unless it is the first and `starts` says no, and its keys are added. */
struct step {
  bool starts;
  uint64_t offset;
  size_t first, nkeys;
};

struct sequence {
  uint8_t pool[POOL_NBYTES];
  struct step steps[MAX_STEPS];
  size_t nsteps;
  lanebloom_slice keys[MAX_KEYS];
  size_t nkeys;
  uint64_t end; /* where the last block starts */
};

/* Blocks of one size, from many to a filter to many filters to a block, with few keys or many; one
 * in eight a copy of an earlier one. Some blocks start where the one before did, some have no
 * keys. */
void sequence_draw(struct sequence *sequence, struct rng *rng, size_t max_steps, size_t max_keys);

uint8_t *build_by_leveldb(const struct sequence *sequence, lanebloom_format format,
                          int bits_per_key, unsigned base_lg, size_t *size);

/* The same in parts of any size, none included. Blocks and keys are as in LevelDB's; bytes must
 * be, too. */
void check_build(const struct sequence *sequence, lanebloom_format format, int bits_per_key,
                 unsigned base_lg, const uint8_t *expected, size_t expected_size, struct rng *rng);

/* Every key where it is; then others anywhere, beyond the last block and beyond all files too.
 * Those of a block follow each other, unless they are shuffled. */
void draw_queries(struct queries *queries, const struct sequence *sequence, struct rng *rng,
                  size_t nothers);

void all_keys_are_there(const struct sequence *sequence, lanebloom_format format,
                        const uint8_t *bytes, size_t size);

struct tally {
  size_t nblocks, nbytes, nqueries, nhits;
};

void tally_up(struct tally *tally, const struct queries *queries, size_t nbytes);

/* Enough was asked to tell, and neither answer is rare. */
void tally_check(const struct tally *tally, size_t least_nqueries);

/* ---- Many runs ---- */

enum { WIDTH = 9, NFILTERS = 30, KEYS_PER_FILTER = 25, EMPTY = 3, FULL = 4 };

/* Filters of the pool's first keys, in this order, but that one has no keys and that one lets every
 * key pass. */
struct guarded build_mixed(lanebloom_format format, const uint8_t *pool, size_t place);

/* The pool's keys, in runs that ask one filter, or one of two that are not there; about half of
 * them it has. */
void draw_runs(struct queries *queries, uint8_t *pool, struct rng *rng);

#endif
