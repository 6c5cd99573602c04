/* Memory that runs out. The linker makes the library call the allocation functions of this file
 * (tests/tables/CMakeLists.txt).
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "filter_block.h"

void *__real_malloc(size_t size);
void *__real_realloc(void *bytes, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *bytes, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static size_t allocations_left = SIZE_MAX;

static bool allowed(void)
{
  if (allocations_left == SIZE_MAX)
    return true;
  if (allocations_left == 0)
    return false;
  allocations_left--;
  return true;
}

void *__wrap_malloc(size_t size)
{
  return allowed() ? __real_malloc(size) : NULL;
}

void *__wrap_realloc(void *bytes, size_t size)
{
  return allowed() ? __real_realloc(bytes, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  return allowed() ? __real_aligned_alloc(alignment, size) : NULL;
}

/* The calls that build the block of a sequence: create, then start and add in turns, then
 * finish. */
struct build {
  const struct sequence *sequence;
  lanebloom_filter_block_builder *builder;
  const void *bytes;
  size_t size;
};

static size_t last_call(const struct build *build)
{
  return 2 * build->sequence->nsteps + 1;
}

static lanebloom_status make_call(struct build *build, size_t call)
{
  if (call == 0)
    return lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, LEVELDB_BASE_LG,
                                                 &build->builder);
  if (call == last_call(build))
    return lanebloom_filter_block_builder_finish(build->builder, &build->bytes, &build->size);
  const struct step *step = &build->sequence->steps[(call - 1) / 2];
  if (call % 2 == 1)
    return step->starts ? lanebloom_filter_block_builder_start_block(build->builder, step->offset)
                        : LANEBLOOM_OK;
  const lanebloom_keys keys =
      lanebloom_keys_slices(build->sequence->keys + step->first, step->nkeys);
  return lanebloom_filter_block_builder_add(build->builder, &keys);
}

/* Makes a call again and again until it succeeds. In the first try no allocation succeeds, and in
 * each further try one more allocation succeeds. Returns the number of failures. */
static size_t insist(struct build *build, size_t call)
{
  for (size_t nfailed = 0;; nfailed++) {
    if (call == 0)
      build->builder = (void *)1;
    build->bytes = build;
    build->size = SIZE_MAX;
    allocations_left = nfailed;
    const lanebloom_status status = make_call(build, call);
    allocations_left = SIZE_MAX;
    if (status == LANEBLOOM_OK)
      return nfailed;
    cr_assert(status == LANEBLOOM_ERR_MEMORY, "%s", lanebloom_status_text(status));
    cr_assert(call > 0 || !build->builder);
    cr_assert(call < last_call(build) || (!build->bytes && build->size == 0));
  }
}

/* A call that fails changes nothing, so the block is right in the end. */
Test(filter_block, builds_where_memory_is_short)
{
  struct rng rng = rng_start(8);
  struct sequence *sequence = test_alloc(sizeof *sequence);
  size_t nfailed = 0;
  for (size_t s = 0; s < 200; s++) {
    test_context("sequence %zu", s);
    sequence_draw(sequence, &rng, MAX_STEPS, MAX_KEYS);
    size_t expected_size;
    uint8_t *expected =
        build_by_leveldb(sequence, LANEBLOOM_LEVELDB, 10, LEVELDB_BASE_LG, &expected_size);
    struct build build = {.sequence = sequence};
    for (size_t call = 0; call <= last_call(&build); call++)
      nfailed += insist(&build, call);
    if (build.size != expected_size)
      test_fatal("%zu bytes, expected %zu", build.size, expected_size);
    test_same_bytes("filter block", build.bytes, expected, build.size);
    lanebloom_filter_block_builder_free(build.builder);
    free(expected);
  }
  fprintf(stderr, "# %zu calls failed\n", nfailed);
  cr_assert(nfailed > 1000, "only %zu calls failed", nfailed);
  free(sequence);
}

/* Queries need no memory. */
Test(filter_block, screens_without_memory)
{
  struct rng rng = rng_start(9);
  struct queries *queries = test_alloc(sizeof *queries);
  uint8_t *pool = test_alloc((size_t)WIDTH * MAX_QUERIES);
  rng_fill(&rng, pool, (size_t)WIDTH * MAX_QUERIES);
  struct guarded bytes = build_mixed(LANEBLOOM_LEVELDB, pool, AT_END);
  draw_runs(queries, pool, &rng);
  expect_leveldb(LANEBLOOM_LEVELDB, bytes.bytes, bytes.nbytes, queries);

  lanebloom_filter_block *block = (void *)1;
  allocations_left = 0;
  const lanebloom_status status =
      lanebloom_filter_block_parse(LANEBLOOM_LEVELDB, bytes.bytes, bytes.nbytes, &block, NULL, 0);
  allocations_left = SIZE_MAX;
  cr_assert(status == LANEBLOOM_ERR_MEMORY && !block);

  block = open_block(LANEBLOOM_LEVELDB, bytes.bytes, bytes.nbytes);
  uint8_t bitmap[(MAX_QUERIES + 7) / 8];
  const lanebloom_keys keys = lanebloom_keys_fixed(pool, WIDTH, MAX_QUERIES);
  allocations_left = 0;
  lanebloom_filter_block_screen(block, queries->offsets, &keys, bitmap);
  allocations_left = SIZE_MAX;
  for (size_t i = 0; i < queries->n; i++)
    cr_assert((bitmap[i / 8] >> i % 8 & 1) == queries->expected[i], "key %zu", i);
  lanebloom_filter_block_free(block);
  guarded_free(&bytes);
  free(pool);
  free(queries);
}
