/* Damaged blocks: the answers are still LevelDB's.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "filter_block.h"

/* Draws a small block, some of whose filters have many keys and some few, and queries for present
 * and absent keys. */
static uint8_t *draw_small(struct sequence *sequence, struct queries *queries, struct rng *rng,
                           size_t *size)
{
  do
    sequence_draw(sequence, rng, 12, 60);
  while (sequence->nkeys < 10);
  draw_queries(queries, sequence, rng, 60);
  return build_by_leveldb(sequence, LANEBLOOM_LEVELDB, 10, LEVELDB_BASE_LG, size);
}

/* Flips every bit of every byte, and sets all bits of every byte to 0 or to 1. */
Test(filter_block, flipped)
{
  struct rng rng = rng_start(4);
  struct sequence *sequence = test_alloc(sizeof *sequence);
  struct queries *queries = test_alloc(sizeof *queries);
  struct tally tally = {0};
  const size_t nblocks = test_exhaustive() ? 10 : 1;
  for (size_t s = 0; s < nblocks; s++) {
    size_t size;
    uint8_t *bytes = draw_small(sequence, queries, &rng, &size);
    for (size_t i = 0; i < size; i++)
      for (unsigned change = 0; change < 10; change++) {
        test_context("block %zu, byte %zu of %zu, change %u", s, i, size, change);
        const uint8_t byte = bytes[i];
        bytes[i] = (uint8_t)(change < 8 ? byte ^ 1 << change : change == 8 ? 0 : 0xff);
        check_answers(LANEBLOOM_LEVELDB, bytes, size, queries, AT_END);
        tally_up(&tally, queries, size);
        bytes[i] = byte;
      }
    free(bytes);
  }
  tally_check(&tally, 10000 * nblocks);
  free(queries);
  free(sequence);
}

/* Cuts off the end of the block, or its beginning. */
Test(filter_block, truncated)
{
  struct rng rng = rng_start(5);
  struct sequence *sequence = test_alloc(sizeof *sequence);
  struct queries *queries = test_alloc(sizeof *queries);
  size_t nblocks = 0;
  const size_t nwhole = test_exhaustive() ? 40 : 5;
  for (size_t s = 0; s < nwhole; s++) {
    size_t size;
    uint8_t *bytes = draw_small(sequence, queries, &rng, &size);
    for (size_t left = 0; left < size; left++, nblocks += 2) {
      test_context("block %zu, %zu of %zu bytes", s, left, size);
      check_answers(LANEBLOOM_LEVELDB, bytes, left, queries, AT_END);
      check_answers(LANEBLOOM_LEVELDB, bytes + size - left, left, queries, AT_BEGIN);
    }
    free(bytes);
  }
  fprintf(stderr, "# %zu truncated blocks\n", nblocks);
  free(queries);
  free(sequence);
}

/* Draws bytes without meaning. Half of them are small, so that they have few bits or are possible
 * numbers of probes. Filters are mostly inside the block, one after another. */
static void draw_bytes(struct rng *rng, uint8_t *bytes, size_t size)
{
  for (size_t i = 0; i < size; i++)
    bytes[i] = (uint8_t)rng_below(rng, rng_below(rng, 2) ? 8 : 256);
  if (size < TRAILER_NBYTES || rng_below(rng, 16) == 0)
    return;
  const size_t max_end = size - TRAILER_NBYTES, end = rng_below(rng, max_end + 2);
  store_le32(bytes + max_end, (uint32_t)end);
  for (size_t i = end, at = 0; i + 4 <= max_end; i += 4, at += rng_below(rng, 8))
    if (rng_below(rng, 16) > 0)
      store_le32(bytes + i, (uint32_t)at);
  if (rng_below(rng, 16) > 0)
    bytes[size - 1] = LEVELDB_BASE_LG;
}

Test(filter_block, any_bytes)
{
  enum { MAX_SIZE = 100 };
  const size_t nblocks = test_exhaustive() ? 20000 : 2000;
  struct rng rng = rng_start(6);
  struct sequence *sequence = test_alloc(sizeof *sequence);
  struct queries *queries = test_alloc(sizeof *queries);
  struct tally tally = {0};
  rng_fill(&rng, sequence->pool, sizeof sequence->pool);
  sequence->end = 3 << LEVELDB_BASE_LG;
  for (size_t b = 0; b < nblocks; b++) {
    uint8_t bytes[MAX_SIZE];
    const size_t size = rng_below(&rng, MAX_SIZE + 1);
    test_context("block %zu of %zu bytes", b, size);
    draw_bytes(&rng, bytes, size);
    draw_queries(queries, sequence, &rng, 40);
    check_answers(LANEBLOOM_LEVELDB, bytes, size, queries, AT_END);
    tally_up(&tally, queries, size);
  }
  tally_check(&tally, 40 * nblocks);
  free(queries);
  free(sequence);
}

/* In LevelDB, a shift by 64 or more has undefined behaviour. */
Test(filter_block, a_base_lg_above_63_lets_every_key_pass)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("abcdefghijklmnopqrstuvwxyz", 1, 26);
  const uint64_t offsets[26] = {0};
  for (unsigned base_lg = 0; base_lg < 256; base_lg++) {
    const uint8_t bytes[] = {
        0, 0, 0, 0, 0, 0, 0, 0, (uint8_t)base_lg}; /* one filter, without keys */
    lanebloom_filter_block *block = open_block(LANEBLOOM_LEVELDB, bytes, sizeof bytes);
    const bool every = base_lg >= BASE_LG_END;
    cr_assert(lanebloom_filter_block_may_contain(block, 0, "a", 1) == every, "base_lg %u", base_lg);
    cr_assert(lanebloom_filter_block_screen(block, offsets, &keys, NULL) == (every ? 26 : 0),
              "base_lg %u", base_lg);
    lanebloom_filter_block_free(block);
  }
}
