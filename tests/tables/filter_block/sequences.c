/* Sequences of calls: LevelDB's builder makes the same bytes, and its reader gives the same
 * answers.
 * SPDX-License-Identifier: MIT */
#include "filter_block.h"

static void check_sequences(lanebloom_format format, size_t nsequences, uint64_t stream)
{
  struct rng rng = rng_start(stream);
  struct sequence *sequence = test_alloc(sizeof *sequence);
  struct queries *queries = test_alloc(sizeof *queries);
  struct tally tally = {0};
  for (size_t s = 0; s < nsequences; s++) {
    const char *kernel = use_kernel(s % lanebloom_kernel_count());
    const int bits_per_key = (int)(rng_below(&rng, 8) == 0 ? rng_below(&rng, 130) : 10);
    test_context("%s, sequence %zu: %d bits, built by %s", lanebloom_format_name(format), s,
                 bits_per_key, kernel);
    sequence_draw(sequence, &rng, MAX_STEPS, MAX_KEYS);
    size_t size;
    uint8_t *bytes = build_by_leveldb(sequence, format, bits_per_key, LEVELDB_BASE_LG, &size);
    check_build(sequence, format, bits_per_key, LEVELDB_BASE_LG, bytes, size, &rng);
    all_keys_are_there(sequence, format, bytes, size);
    draw_queries(queries, sequence, &rng, 300);
    check_answers(format, bytes, size, queries, rng_below(&rng, NPLACES));
    tally_up(&tally, queries, size);
    free(bytes);
  }
  tally_check(&tally, 300 * nsequences);
  free(queries);
  free(sequence);
}

Test(filter_block, sequences)
{
  check_sequences(LANEBLOOM_LEVELDB, test_exhaustive() ? 2000 : 200, 1);
}

Test(filter_block, sequences_signed)
{
  check_sequences(LANEBLOOM_LEVELDB_SIGNED, test_exhaustive() ? 500 : 100, 2);
}

/* Converts an offset for LevelDB's base_lg to an offset for this base_lg, so that the same blocks
 * share a filter. If base_lg is large, the result must still fit. */
static uint64_t moved(uint64_t offset, unsigned base_lg)
{
  enum { MAX_MOVED = 40 };
  if (base_lg < LEVELDB_BASE_LG)
    return offset >> (LEVELDB_BASE_LG - base_lg);
  return offset << ((base_lg < MAX_MOVED ? base_lg : MAX_MOVED) - LEVELDB_BASE_LG);
}

/* base_lg is always 11 in LevelDB, but not in goleveldb. */
Test(filter_block, any_base_lg)
{
  struct rng rng = rng_start(3);
  struct sequence *sequence = test_alloc(sizeof *sequence);
  struct queries *queries = test_alloc(sizeof *queries);
  struct tally tally = {0};
  for (unsigned base_lg = 0; base_lg < BASE_LG_END; base_lg++)
    for (size_t s = 0; s < 5; s++) {
      use_kernel(s % lanebloom_kernel_count());
      test_context("base_lg %u, sequence %zu", base_lg, s);
      sequence_draw(sequence, &rng, 20, 200);
      for (size_t i = 0; i < sequence->nsteps; i++)
        sequence->steps[i].offset = moved(sequence->steps[i].offset, base_lg);
      sequence->end = moved(sequence->end, base_lg);
      size_t size;
      uint8_t *bytes = build_by_leveldb(sequence, LANEBLOOM_LEVELDB, 10, base_lg, &size);
      check_build(sequence, LANEBLOOM_LEVELDB, 10, base_lg, bytes, size, &rng);
      draw_queries(queries, sequence, &rng, 100);
      check_answers(LANEBLOOM_LEVELDB, bytes, size, queries, AT_END);
      tally_up(&tally, queries, size);
      free(bytes);
    }
  tally_check(&tally, (size_t)BASE_LG_END * 5 * 100);
  free(queries);
  free(sequence);
}
