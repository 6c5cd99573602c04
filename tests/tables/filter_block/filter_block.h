/* Functions and types that the tests of filter blocks share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_FILTER_BLOCK_H
#define LANEBLOOM_TESTS_FILTER_BLOCK_H

#include <criterion/criterion.h>
#include <lanebloom_tables.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "oracle.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
  LEVELDB_BASE_LG = 11,
  BASE_LG_END = 64, /* from 64 on LevelDB's shift is undefined, and every key passes */
  TRAILER_NBYTES = 5,
};

static const lanebloom_format formats[] = {LANEBLOOM_LEVELDB, LANEBLOOM_LEVELDB_SIGNED};

const char *use_kernel(size_t i);

/* ---- Queries ---- */

enum { MAX_QUERIES = 6000 };

/* Keys, the data block to query for each of them, and LevelDB's answers. */
struct queries {
  size_t n;
  uint64_t offsets[MAX_QUERIES];
  lanebloom_slice slices[MAX_QUERIES];
  bool expected[MAX_QUERIES];
};

void queries_add(struct queries *queries, uint64_t offset, lanebloom_slice key);

void expect_leveldb(lanebloom_format format, const void *bytes, size_t size,
                    struct queries *queries);

/* Checks the answers to a batch. The bitmap is beside an unmapped page. */
void check_batch(const lanebloom_filter_block *block, const struct queries *queries,
                 const uint64_t *offsets, const lanebloom_keys *keys, size_t place);

void check_singles(const lanebloom_filter_block *block, const struct queries *queries);

lanebloom_filter_block *open_block(lanebloom_format format, const void *bytes, size_t size);

/* Checks that every kernel gives LevelDB's answers for these bytes. Depending on `place`, the bytes
 * end or begin at an unmapped page. */
void check_answers(lanebloom_format format, const void *bytes, size_t size, struct queries *queries,
                   size_t place);

/* ---- Call sequences ---- */

enum { POOL_NBYTES = 1 << 14, MAX_KEY_NBYTES = 40, MAX_KEYS = 2000, MAX_STEPS = 60 };

/* A data block: first it is started, unless it is the first block and `starts` is false. Then its
 * keys are added. */
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
  uint64_t end; /* the start of the last block */
};

/* Draws blocks of one size, from many blocks per filter to many filters per block, with few keys or
 * many. One key in eight is a copy of an earlier one. Some blocks start at the same offset as the
 * block before, and some have no keys. */
void sequence_draw(struct sequence *sequence, struct rng *rng, size_t max_steps, size_t max_keys);

uint8_t *build_by_leveldb(const struct sequence *sequence, lanebloom_format format,
                          int bits_per_key, unsigned base_lg, size_t *size);

/* Builds the sequence, with keys in parts of any size, even empty parts. Checks that the bytes
 * equal LevelDB's. */
void check_build(const struct sequence *sequence, lanebloom_format format, int bits_per_key,
                 unsigned base_lg, const uint8_t *expected, size_t expected_size, struct rng *rng);

/* Draws a query for every key in its own block, and other queries in any block, also beyond the
 * last block and beyond any file. Queries of one block are adjacent, unless they are shuffled. */
void draw_queries(struct queries *queries, const struct sequence *sequence, struct rng *rng,
                  size_t nothers);

void all_keys_are_there(const struct sequence *sequence, lanebloom_format format,
                        const uint8_t *bytes, size_t size);

struct tally {
  size_t nblocks, nbytes, nqueries, nhits;
};

void tally_up(struct tally *tally, const struct queries *queries, size_t nbytes);

/* Checks that there were enough queries, and that both answers were frequent. */
void tally_check(const struct tally *tally, size_t least_nqueries);

/* ---- Many runs ---- */

enum { WIDTH = 9, NFILTERS = 30, KEYS_PER_FILTER = 25, EMPTY = 3, FULL = 4 };

/* Makes a filter for each group of the pool's first keys, in order. One filter has no keys, and
 * another one lets every key pass. */
struct guarded build_mixed(lanebloom_format format, const uint8_t *pool, size_t place);

/* Draws runs of the pool's keys. Each run queries one of the filters, or one of two that do not
 * exist. About half of the keys in a run are in the filter that it queries. */
void draw_runs(struct queries *queries, uint8_t *pool, struct rng *rng);

#endif
