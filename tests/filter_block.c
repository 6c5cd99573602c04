/* Filter blocks: the real LevelDB's builder makes the same bytes, its reader gives the same
 * answers, damaged bytes included, by every kernel, key by key and in batches.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lanebloom_tables.h>

#include "bytes.h"
#include "kernels.h"
#include "oracle_filter_block.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
  LEVELDB_BASE_LG = 11,
  BASE_LG_END = 64, /* from here on LevelDB's shift is undefined, and every key may be there */
  TRAILER_NBYTES = 5,
};

static const lanebloom_format formats[] = {LANEBLOOM_LEVELDB, LANEBLOOM_LEVELDB_SIGNED};

/* ---- Memory that runs out: the linker puts these in the place of the C library's
 * (tests/CMakeLists.txt) ---- */

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

/* ---- Kernels ---- */

static const char *use_kernel(size_t i)
{
  const char *kernel = lanebloom_kernel_name(i);
  cr_assert(kernel && lanebloom_kernel_use(kernel) == LANEBLOOM_OK, "kernel %zu cannot be used", i);
  return kernel;
}

/* ---- Questions ---- */

enum { MAX_QUERIES = 6000 };

/* Keys, each with the data block that it is asked of, and what LevelDB answers. */
struct queries {
  size_t n;
  uint64_t offsets[MAX_QUERIES];
  lanebloom_slice slices[MAX_QUERIES];
  bool expected[MAX_QUERIES];
};

static void ask(struct queries *queries, uint64_t offset, lanebloom_slice key)
{
  if (queries->n == MAX_QUERIES)
    test_fatal("more than %d queries", MAX_QUERIES);
  queries->offsets[queries->n] = offset;
  queries->slices[queries->n++] = key;
}

static void shuffle(struct queries *queries, struct rng *rng)
{
  for (size_t i = queries->n; i-- > 1;) {
    const size_t j = rng_below(rng, i + 1);
    const uint64_t offset = queries->offsets[i];
    const lanebloom_slice key = queries->slices[i];
    queries->offsets[i] = queries->offsets[j];
    queries->slices[i] = queries->slices[j];
    queries->offsets[j] = offset;
    queries->slices[j] = key;
  }
}

static void ask_leveldb(lanebloom_format format, const void *bytes, size_t size,
                        struct queries *queries)
{
  const bool defined = size < TRAILER_NBYTES || ((const uint8_t *)bytes)[size - 1] < BASE_LG_END;
  for (size_t i = 0; i < queries->n; i++)
    queries->expected[i] =
        !defined || oracle_block_may_match(format, bytes, size, queries->offsets[i],
                                           queries->slices[i].data, queries->slices[i].size);
}

/* The answers to a batch, in a bitmap beside an unmapped page. */
static void check_batch(const lanebloom_filter_block *block, const struct queries *queries,
                        const uint64_t *offsets, const lanebloom_keys *keys, size_t place)
{
  struct guarded bitmap = guarded_make((keys->n + 7) / 8, place);
  size_t expected_count = 0;
  const size_t count = lanebloom_filter_block_screen(block, offsets, keys, bitmap.bytes);
  for (size_t i = 0; i < keys->n; i++) {
    expected_count += queries->expected[i];
    if ((bitmap.bytes[i / 8] >> i % 8 & 1) != queries->expected[i])
      test_fatal("key %zu of %zu, of %zu bytes at %llu: expected %d", i, keys->n,
                 queries->slices[i].size, (unsigned long long)offsets[i], queries->expected[i]);
  }
  if (keys->n % 8 > 0 && bitmap.bytes[keys->n / 8] >> keys->n % 8 != 0)
    test_fatal("bits past the last key are set");
  if (count != expected_count || lanebloom_filter_block_screen(block, offsets, keys, NULL) != count)
    test_fatal("%zu of %zu keys pass, expected %zu", count, keys->n, expected_count);
  guarded_free(&bitmap);
}

static void check_singles(const lanebloom_filter_block *block, const struct queries *queries)
{
  for (size_t i = 0; i < queries->n; i++)
    if (lanebloom_filter_block_may_contain(block, queries->offsets[i], queries->slices[i].data,
                                           queries->slices[i].size) != queries->expected[i])
      test_fatal("key %zu, of %zu bytes at %llu: expected %d", i, queries->slices[i].size,
                 (unsigned long long)queries->offsets[i], queries->expected[i]);
}

static lanebloom_filter_block *open_block(lanebloom_format format, const void *bytes, size_t size)
{
  lanebloom_filter_block *block;
  const lanebloom_status status = lanebloom_filter_block_parse(format, bytes, size, &block);
  cr_assert(status == LANEBLOOM_OK && block, "open: %s", lanebloom_status_text(status));
  return block;
}

/* Of these bytes, beside an unmapped page, LevelDB's answers must come from every kernel. */
static void check_answers(lanebloom_format format, const void *bytes, size_t size,
                          struct queries *queries, size_t place)
{
  struct guarded guarded = guarded_copy(bytes, size, place);
  guarded_freeze(&guarded);
  ask_leveldb(format, guarded.bytes, size, queries);
  lanebloom_filter_block *block = open_block(format, guarded.bytes, size);
  const lanebloom_keys keys = lanebloom_keys_slices(queries->slices, queries->n);
  for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
    use_kernel(k);
    check_batch(block, queries, queries->offsets, &keys, place);
  }
  check_singles(block, queries);
  lanebloom_filter_block_close(block);
  guarded_free(&guarded);
}

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

static lanebloom_slice draw_key(const struct sequence *sequence, struct rng *rng)
{
  const size_t size = rng_below(rng, MAX_KEY_NBYTES + 1);
  return (lanebloom_slice){sequence->pool + rng_below(rng, POOL_NBYTES - MAX_KEY_NBYTES), size};
}

/* Blocks of one size, from many to a filter to many filters to a block, with few keys or many; one
 * in eight a copy of an earlier one. Some blocks start where the one before did, some have no
 * keys. */
static void sequence_draw(struct sequence *sequence, struct rng *rng, size_t max_steps,
                          size_t max_keys)
{
  static const uint64_t block_nbytes[] = {50, 700, 2048, 4096, 5000, 30000};
  static const size_t block_nkeys[] = {2, 20, 200};
  const uint64_t nbytes_end = block_nbytes[rng_below(rng, COUNT(block_nbytes))] * 2;
  const size_t nkeys_end = block_nkeys[rng_below(rng, COUNT(block_nkeys))] + 1;
  rng_fill(rng, sequence->pool, sizeof sequence->pool);
  sequence->nsteps = rng_below(rng, max_steps + 1);
  sequence->nkeys = 0;
  sequence->end = rng_below(rng, 4) == 0 ? rng_below(rng, 10000) : 0;
  for (size_t i = 0; i < sequence->nsteps; i++) {
    const size_t left = max_keys - sequence->nkeys,
                 nkeys = rng_below(rng, 4) == 0 ? 0 : rng_below(rng, nkeys_end);
    const bool starts = i > 0 || rng_below(rng, 4) > 0;
    if (i > 0 && rng_below(rng, 8) > 0)
      sequence->end += rng_below(rng, nbytes_end);
    if (!starts)
      sequence->end = 0;
    sequence->steps[i] =
        (struct step){starts, sequence->end, sequence->nkeys, nkeys < left ? nkeys : left};
    for (size_t j = 0; j < sequence->steps[i].nkeys; j++, sequence->nkeys++)
      sequence->keys[sequence->nkeys] = sequence->nkeys > 0 && rng_below(rng, 8) == 0
                                            ? sequence->keys[rng_below(rng, sequence->nkeys)]
                                            : draw_key(sequence, rng);
  }
}

static uint8_t *build_by_leveldb(const struct sequence *sequence, lanebloom_format format,
                                 int bits_per_key, unsigned base_lg, size_t *size)
{
  oracle_block_builder *builder = oracle_block_builder_create(format, bits_per_key);
  for (size_t i = 0; i < sequence->nsteps; i++) {
    const struct step *step = &sequence->steps[i];
    if (step->starts) /* the same filter of LevelDB's */
      oracle_block_builder_start_block(builder, step->offset >> base_lg << LEVELDB_BASE_LG);
    for (size_t j = step->first; j < step->first + step->nkeys; j++)
      oracle_block_builder_add(builder, sequence->keys[j].data, sequence->keys[j].size);
  }
  uint8_t *bytes = oracle_block_builder_finish(builder, size);
  bytes[*size - 1] = (uint8_t)base_lg;
  return bytes;
}

/* The same in pieces of any size, none included. Blocks and keys are as in LevelDB's; bytes must
 * be, too. */
static void check_build(const struct sequence *sequence, lanebloom_format format, int bits_per_key,
                        unsigned base_lg, const uint8_t *expected, size_t expected_size,
                        struct rng *rng)
{
  lanebloom_filter_block_builder *builder;
  cr_assert(lanebloom_filter_block_builder_create(format, bits_per_key, base_lg, &builder) ==
            LANEBLOOM_OK);
  const lanebloom_keys keys = lanebloom_keys_slices(sequence->keys, sequence->nkeys);
  for (size_t i = 0; i < sequence->nsteps; i++) {
    const struct step *step = &sequence->steps[i];
    if (step->starts)
      cr_assert(lanebloom_filter_block_builder_start_block(builder, step->offset) == LANEBLOOM_OK);
    for (size_t added = 0, n; added < step->nkeys; added += n) {
      n = rng_below(rng, step->nkeys - added + 1);
      const lanebloom_keys piece = lanebloom_keys_part(&keys, step->first + added, n);
      cr_assert(lanebloom_filter_block_builder_add(builder, &piece) == LANEBLOOM_OK);
    }
  }
  const void *bytes;
  size_t size;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);
  if (size != expected_size)
    test_fatal("%zu bytes, expected %zu", size, expected_size);
  test_same_bytes("filter block", bytes, expected, size);
  lanebloom_filter_block_builder_destroy(builder);
}

/* Every key where it is; then others anywhere, beyond the last block and beyond all files too.
 * Those of a block follow each other, unless they are shuffled. */
static void draw_queries(struct queries *queries, const struct sequence *sequence, struct rng *rng,
                         size_t nothers)
{
  queries->n = 0;
  for (size_t i = 0; i < sequence->nsteps; i++)
    for (size_t j = sequence->steps[i].first;
         j < sequence->steps[i].first + sequence->steps[i].nkeys; j++)
      ask(queries, sequence->steps[i].offset, sequence->keys[j]);
  uint64_t at = 0;
  for (size_t left = 0; nothers > 0; nothers--, left--) {
    if (left == 0) {
      at = rng_below(rng, 50) == 0 ? rng_next(rng) : rng_below(rng, sequence->end + 5000);
      left = rng_below(rng, 4) == 0 ? 20 : 1;
    }
    ask(queries, at, draw_key(sequence, rng));
  }
  if (rng_below(rng, 3) == 0)
    shuffle(queries, rng);
}

static void all_keys_are_there(const struct sequence *sequence, lanebloom_format format,
                               const uint8_t *bytes, size_t size)
{
  lanebloom_filter_block *block = open_block(format, bytes, size);
  for (size_t i = 0; i < sequence->nsteps; i++)
    for (size_t j = sequence->steps[i].first;
         j < sequence->steps[i].first + sequence->steps[i].nkeys; j++)
      if (!lanebloom_filter_block_may_contain(block, sequence->steps[i].offset,
                                              sequence->keys[j].data, sequence->keys[j].size))
        test_fatal("key %zu is lost", j);
  lanebloom_filter_block_close(block);
}

struct tally {
  size_t nblocks, nbytes, nqueries, nhits;
};

static void tally_up(struct tally *tally, const struct queries *queries, size_t nbytes)
{
  tally->nblocks++;
  tally->nbytes += nbytes;
  tally->nqueries += queries->n;
  for (size_t i = 0; i < queries->n; i++)
    tally->nhits += queries->expected[i];
}

/* Enough was asked to tell, and neither answer is rare. */
static void tally_check(const struct tally *tally, size_t least_nqueries)
{
  fprintf(stderr,
          "# %zu filter blocks of %zu bytes, %zu queries, %zu of them may be there, %zu kernels\n",
          tally->nblocks, tally->nbytes, tally->nqueries, tally->nhits, lanebloom_kernel_count());
  cr_assert(tally->nqueries >= least_nqueries && tally->nhits > tally->nqueries / 10 &&
                tally->nhits < tally->nqueries / 10 * 9,
            "%zu of %zu queries hit", tally->nhits, tally->nqueries);
}

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
  check_sequences(LANEBLOOM_LEVELDB, 2000, 1);
}

Test(filter_block, sequences_signed)
{
  check_sequences(LANEBLOOM_LEVELDB_SIGNED, 500, 2);
}

/* Offsets that share filters of this base_lg as the given ones share LevelDB's, and still fit where
 * it is large. */
static uint64_t moved(uint64_t offset, unsigned base_lg)
{
  enum { MAX_MOVED = 40 };
  if (base_lg < LEVELDB_BASE_LG)
    return offset >> (LEVELDB_BASE_LG - base_lg);
  return offset << ((base_lg < MAX_MOVED ? base_lg : MAX_MOVED) - LEVELDB_BASE_LG);
}

/* LevelDB's base_lg is always 11, goleveldb's is not. */
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

/* ---- Damage ---- */

/* A small block, and questions that it answers in both ways: some of many keys to a filter, some of
 * few. */
static uint8_t *draw_small(struct sequence *sequence, struct queries *queries, struct rng *rng,
                           size_t *size)
{
  do
    sequence_draw(sequence, rng, 12, 60);
  while (sequence->nkeys < 10);
  draw_queries(queries, sequence, rng, 60);
  return build_by_leveldb(sequence, LANEBLOOM_LEVELDB, 10, LEVELDB_BASE_LG, size);
}

/* Every bit of every byte flipped, every byte all 0 and all 1. */
Test(filter_block, flipped)
{
  struct rng rng = rng_start(4);
  struct sequence *sequence = test_alloc(sizeof *sequence);
  struct queries *queries = test_alloc(sizeof *queries);
  struct tally tally = {0};
  for (size_t s = 0; s < 10; s++) {
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
  tally_check(&tally, 100000);
  free(queries);
  free(sequence);
}

/* Cut at the end, and at the beginning. */
Test(filter_block, truncated)
{
  struct rng rng = rng_start(5);
  struct sequence *sequence = test_alloc(sizeof *sequence);
  struct queries *queries = test_alloc(sizeof *queries);
  size_t nblocks = 0;
  for (size_t s = 0; s < 40; s++) {
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

/* Bytes without any sense, but half of them small: few bits, and possible numbers of probes. The
 * filters mostly lie inside, one behind the other. */
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
  enum { NBLOCKS = 20000, MAX_SIZE = 100 };
  struct rng rng = rng_start(6);
  struct sequence *sequence = test_alloc(sizeof *sequence);
  struct queries *queries = test_alloc(sizeof *queries);
  struct tally tally = {0};
  rng_fill(&rng, sequence->pool, sizeof sequence->pool);
  sequence->end = 3 << LEVELDB_BASE_LG;
  for (size_t b = 0; b < NBLOCKS; b++) {
    uint8_t bytes[MAX_SIZE];
    const size_t size = rng_below(&rng, MAX_SIZE + 1);
    test_context("block %zu of %zu bytes", b, size);
    draw_bytes(&rng, bytes, size);
    draw_queries(queries, sequence, &rng, 40);
    check_answers(LANEBLOOM_LEVELDB, bytes, size, queries, AT_END);
    tally_up(&tally, queries, size);
  }
  tally_check(&tally, 40 * NBLOCKS);
  free(queries);
  free(sequence);
}

/* A shift by 64 or more is undefined in LevelDB. */
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
    lanebloom_filter_block_close(block);
  }
}

/* ---- Batches ---- */

enum { WIDTH = 9, NFILTERS = 30, KEYS_PER_FILTER = 25, EMPTY = 3, FULL = 4 };

/* Filters of the pool's first keys, in this order, but that one has no keys and that one lets every
 * key pass. */
static struct guarded build_mixed(lanebloom_format format, const uint8_t *pool, size_t place)
{
  lanebloom_filter_block_builder *builder;
  cr_assert(lanebloom_filter_block_builder_create(format, 10, LEVELDB_BASE_LG, &builder) ==
            LANEBLOOM_OK);
  for (size_t f = 0; f < NFILTERS; f++) {
    const lanebloom_keys keys =
        lanebloom_keys_fixed(pool + f * KEYS_PER_FILTER * WIDTH, WIDTH, KEYS_PER_FILTER);
    cr_assert(lanebloom_filter_block_builder_start_block(builder, (uint64_t)f << LEVELDB_BASE_LG) ==
              LANEBLOOM_OK);
    if (f != EMPTY)
      cr_assert(lanebloom_filter_block_builder_add(builder, &keys) == LANEBLOOM_OK);
  }
  const void *bytes;
  size_t size;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);
  struct guarded copy = guarded_copy(bytes, size, place);
  lanebloom_filter_block_builder_destroy(builder);
  const uint8_t *offsets = copy.bytes + load_le32(copy.bytes + size - TRAILER_NBYTES);
  copy.bytes[load_le32(offsets + (size_t)(FULL + 1) * 4) - 1] = 0; /* its number of probes */
  guarded_freeze(&copy);
  return copy;
}

/* The pool's keys, in runs that ask one filter, or one of two that are not there; about half of
 * them it has. */
static void draw_runs(struct queries *queries, uint8_t *pool, struct rng *rng)
{
  static const size_t long_runs[] = {300, 1023, 1024, 1025, 3000};
  queries->n = 0;
  for (size_t left = 0, filter = 0, i = 0; i < MAX_QUERIES; i++, left--) {
    if (left == 0) {
      filter = rng_below(rng, NFILTERS + 2);
      left = rng_below(rng, 12) == 0 ? long_runs[rng_below(rng, COUNT(long_runs))]
                                     : rng_below(rng, 40) + 1;
    }
    uint8_t *key = pool + i * WIDTH;
    if (i >= (size_t)(NFILTERS + 2) * KEYS_PER_FILTER && rng_below(rng, 2))
      memcpy(key, pool + (filter * KEYS_PER_FILTER + rng_below(rng, KEYS_PER_FILTER)) * WIDTH,
             WIDTH);
    ask(queries, (uint64_t)filter << LEVELDB_BASE_LG | rng_below(rng, 1 << LEVELDB_BASE_LG),
        (lanebloom_slice){key, WIDTH});
  }
}

/* Runs of every length behind each other, keys in every layout, batches that end everywhere. */
Test(filter_block, batches)
{
  static const size_t ends[] = {0,  1,    7,    8,    9,    15,   16,   17,         31,
                                33, 1000, 1023, 1024, 1025, 2047, 2049, MAX_QUERIES};
  struct rng rng = rng_start(7);
  struct queries *queries = test_alloc(sizeof *queries);
  uint8_t *pool = test_alloc((size_t)WIDTH * MAX_QUERIES);
  uint32_t *offsets32 = test_alloc((MAX_QUERIES + 1) * sizeof *offsets32);
  uint64_t *offsets64 = test_alloc((MAX_QUERIES + 1) * sizeof *offsets64);
  for (size_t i = 0; i <= MAX_QUERIES; i++)
    offsets64[i] = offsets32[i] = (uint32_t)(i * WIDTH);
  for (size_t time = 0; time < 12; time++) {
    const lanebloom_format format = formats[time % COUNT(formats)];
    rng_fill(&rng, pool, (size_t)WIDTH * MAX_QUERIES);
    struct guarded bytes = build_mixed(format, pool, time % NPLACES);
    draw_runs(queries, pool, &rng);
    ask_leveldb(format, bytes.bytes, bytes.nbytes, queries);
    lanebloom_filter_block *block = open_block(format, bytes.bytes, bytes.nbytes);
    const lanebloom_keys layouts[] = {lanebloom_keys_fixed(pool, WIDTH, MAX_QUERIES),
                                      lanebloom_keys_offsets32(pool, offsets32, MAX_QUERIES),
                                      lanebloom_keys_offsets64(pool, offsets64, MAX_QUERIES),
                                      lanebloom_keys_slices(queries->slices, MAX_QUERIES)};
    for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
      const char *kernel = use_kernel(k);
      test_context("time %zu, %s, one by one", time, kernel);
      check_singles(block, queries);
      for (size_t l = 0; l < COUNT(layouts); l++)
        for (size_t e = 0; e < COUNT(ends); e++) {
          test_context("time %zu, %s, layout %zu, %zu keys", time, kernel, l, ends[e]);
          const lanebloom_keys keys = lanebloom_keys_part(&layouts[l], 0, ends[e]);
          check_batch(block, queries, queries->offsets, &keys, e % NPLACES);
        }
    }
    lanebloom_filter_block_close(block);
    guarded_free(&bytes);
  }
  free(offsets64);
  free(offsets32);
  free(pool);
  free(queries);
}

/* ---- Beyond 2^32 bits ---- */

/* Below, at and above: where there are more, probes reach the first 2^32. */
Test(filter_block, filters_of_2_to_the_32_bits)
{
  static const size_t filter_nbytes[] = {((size_t)1 << 29) - 1, (size_t)1 << 29,
                                         ((size_t)1 << 29) + 1000001};
  enum { NKEYS = 200, NPROBES = 6 };
  struct queries *queries = test_alloc(sizeof *queries);
  uint64_t key_bytes[NKEYS];
  uint32_t hashes[NKEYS];
  for (uint64_t i = 0; i < NKEYS; i++) {
    key_bytes[i] = i * 0x9e3779b97f4a7c15;
    ask(queries, 0, (lanebloom_slice){&key_bytes[i], sizeof *key_bytes});
  }
  const lanebloom_keys keys = lanebloom_keys_fixed(key_bytes, sizeof *key_bytes, NKEYS);
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys, hashes) == LANEBLOOM_OK);
  for (size_t f = 0; f < COUNT(filter_nbytes); f++) {
    const size_t payload_nbytes = filter_nbytes[f];
    struct guarded block_bytes = guarded_sparse(payload_nbytes + 1 + 4 + TRAILER_NBYTES);
    uint8_t *bytes = block_bytes.bytes;
    bytes[payload_nbytes] = NPROBES;
    store_le32(bytes + payload_nbytes + 1 + 4, (uint32_t)payload_nbytes + 1);
    bytes[payload_nbytes + 1 + 4 + 4] = LEVELDB_BASE_LG;
    for (size_t i = 0; i < NKEYS; i += 2) { /* half of them */
      uint32_t probe = hashes[i];
      for (size_t p = 0; p < NPROBES; p++, probe += hashes[i] >> 17 | hashes[i] << 15)
        bytes[probe % (payload_nbytes * 8) / 8] |= (uint8_t)(1 << probe % (payload_nbytes * 8) % 8);
    }
    ask_leveldb(LANEBLOOM_LEVELDB, bytes, block_bytes.nbytes, queries);
    lanebloom_filter_block *block = open_block(LANEBLOOM_LEVELDB, bytes, block_bytes.nbytes);
    for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
      test_context("%zu bytes, %s", payload_nbytes, use_kernel(k));
      check_batch(block, queries, queries->offsets, &keys, AT_END);
      cr_assert(lanebloom_filter_block_screen(block, queries->offsets, &keys, NULL) == NKEYS / 2);
    }
    check_singles(block, queries);
    lanebloom_filter_block_close(block);
    guarded_free(&block_bytes);
  }
  free(queries);
}

/* ---- Errors ---- */

Test(filter_block, formats_that_have_no_filter_blocks)
{
  static const lanebloom_format others[] = {(lanebloom_format)0, LANEBLOOM_ROCKSDB_LEGACY,
                                            LANEBLOOM_ROCKSDB_LOCAL, LANEBLOOM_ROCKSDB,
                                            (lanebloom_format)99};
  for (size_t i = 0; i < COUNT(others); i++) {
    lanebloom_filter_block *block = (void *)1;
    lanebloom_filter_block_builder *builder = (void *)1;
    cr_assert(lanebloom_filter_block_parse(others[i], "", 0, &block) == LANEBLOOM_ERR_FORMAT &&
              !block);
    cr_assert(lanebloom_filter_block_builder_create(others[i], 10, 11, &builder) ==
                  LANEBLOOM_ERR_FORMAT &&
              !builder);
  }
  lanebloom_filter_block_close(NULL);
  lanebloom_filter_block_builder_destroy(NULL);
}

Test(filter_block, no_kernel)
{
  setenv("LANEBLOOM_KERNEL", "none", 1);
  lanebloom_filter_block *block = (void *)1;
  lanebloom_filter_block_builder *builder = (void *)1;
  cr_assert(lanebloom_filter_block_parse(LANEBLOOM_LEVELDB, "", 0, &block) ==
                LANEBLOOM_ERR_KERNEL &&
            !block);
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 11, &builder) ==
            LANEBLOOM_ERR_KERNEL);
  cr_assert(!builder);
}

Test(filter_block, arguments)
{
  static const double bits_per_key[] = {-1, 0.5, NAN, INFINITY, 2147483648.0};
  lanebloom_filter_block *block = (void *)1;
  cr_assert(lanebloom_filter_block_parse(LANEBLOOM_LEVELDB, NULL, 1, &block) ==
                LANEBLOOM_ERR_ARGUMENT &&
            !block);
  lanebloom_filter_block_builder *builder = (void *)1;
  for (size_t i = 0; i < COUNT(bits_per_key); i++)
    cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, bits_per_key[i], 11,
                                                    &builder) == LANEBLOOM_ERR_ARGUMENT &&
              !builder);
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 64, &builder) ==
            LANEBLOOM_ERR_ARGUMENT);

  block = open_block(LANEBLOOM_LEVELDB, NULL, 0);
  const lanebloom_keys none = lanebloom_keys_slices(NULL, 0);
  cr_assert(lanebloom_filter_block_may_contain(block, 0, NULL, 0));
  cr_assert(lanebloom_filter_block_screen(block, NULL, &none, NULL) == 0);
  lanebloom_filter_block_close(block);
}

/* The bytes are those of the calls that did not fail. */
Test(filter_block, calls_that_are_refused_change_nothing)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("abcdefghijklmnopqrstuvwxyz", 1, 26);
  lanebloom_filter_block_builder *builder;
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 0, &builder) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_start_block(builder, 3) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_add(builder, &keys) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_start_block(builder, 2) == LANEBLOOM_ERR_ARGUMENT);
  cr_assert(lanebloom_filter_block_builder_start_block(builder, UINT64_MAX) ==
            LANEBLOOM_ERR_MEMORY);
  cr_assert(lanebloom_filter_block_builder_start_block(builder, (uint64_t)PTRDIFF_MAX / 4) ==
            LANEBLOOM_ERR_MEMORY);
  cr_assert(lanebloom_filter_block_builder_start_block(builder, 3) == LANEBLOOM_OK);
  const void *bytes;
  size_t size, expected_size;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);

  oracle_block_builder *oracle = oracle_block_builder_create(LANEBLOOM_LEVELDB, 10);
  oracle_block_builder_start_block(oracle, 3 << LEVELDB_BASE_LG);
  for (size_t i = 0; i < keys.n; i++)
    oracle_block_builder_add(oracle, (const char *)keys.data + i, 1);
  uint8_t *expected = oracle_block_builder_finish(oracle, &expected_size);
  cr_assert(size == expected_size);
  test_same_bytes("filter block", bytes, expected, size - 1);
  free(expected);
  lanebloom_filter_block_builder_destroy(builder);
}

/* What a builder makes after a first block is what a new one makes. */
Test(filter_block, a_builder_is_fed_again)
{
  enum { NBLOCKS = 20, NKEYS = 26 };
  const lanebloom_keys keys = lanebloom_keys_fixed("abcdefghijklmnopqrstuvwxyz", 1, NKEYS);
  lanebloom_filter_block_builder *again, *fresh;
  const void *bytes, *expected;
  size_t size, expected_size;
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 11, &again) ==
            LANEBLOOM_OK);
  for (size_t nblocks = NBLOCKS; nblocks-- > 0;) {
    cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 11, &fresh) ==
              LANEBLOOM_OK);
    for (size_t i = 0; i < nblocks; i++) {
      const lanebloom_keys part = lanebloom_keys_part(&keys, i, NKEYS - i);
      cr_assert(lanebloom_filter_block_builder_start_block(again, i * 1500) == LANEBLOOM_OK);
      cr_assert(lanebloom_filter_block_builder_start_block(fresh, i * 1500) == LANEBLOOM_OK);
      cr_assert(lanebloom_filter_block_builder_add(again, &part) == LANEBLOOM_OK);
      cr_assert(lanebloom_filter_block_builder_add(fresh, &part) == LANEBLOOM_OK);
    }
    cr_assert(lanebloom_filter_block_builder_finish(again, &bytes, &size) == LANEBLOOM_OK);
    cr_assert(lanebloom_filter_block_builder_finish(fresh, &expected, &expected_size) ==
              LANEBLOOM_OK);
    cr_assert(size == expected_size, "%zu blocks: %zu bytes, expected %zu", nblocks, size,
              expected_size);
    test_same_bytes("filter block", bytes, expected, size);
    lanebloom_filter_block_builder_destroy(fresh);
  }
  lanebloom_filter_block_builder_destroy(again);
}

/* 16 keys of 2^31 - 1 bits make a filter of 2^32 - 1 bytes, which is where the next one may just
 * begin. It is not made here. */
Test(filter_block, offsets_have_32_bits)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("abcdefghijklmnopqrstuvwxyz", 1, 26);
  const lanebloom_keys most = lanebloom_keys_part(&keys, 0, 16),
                       more = lanebloom_keys_part(&keys, 0, 17),
                       one = lanebloom_keys_part(&keys, 0, 1),
                       none = lanebloom_keys_part(&keys, 0, 0);
  lanebloom_filter_block_builder *builder;
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, INT_MAX, 11, &builder) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_add(builder, &more) == LANEBLOOM_ERR_LIMIT);
  const void *bytes;
  size_t size;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);
  cr_assert(size == TRAILER_NBYTES && memcmp(bytes, "\0\0\0\0\x0b", TRAILER_NBYTES) == 0);
  lanebloom_filter_block_builder_destroy(builder);

  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, INT_MAX, 11, &builder) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_add(builder, &most) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_add(builder, &one) == LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_filter_block_builder_add(builder, &none) == LANEBLOOM_OK);
  const lanebloom_keys many =
      lanebloom_keys_fixed("", 0, SIZE_MAX); /* with which their number would wrap */
  cr_assert(lanebloom_filter_block_builder_add(builder, &many) == LANEBLOOM_ERR_LIMIT);
  lanebloom_filter_block_builder_destroy(builder);
}

/* Calls that build a sequence's block: creating; starting and adding by turns; finishing. */
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

/* Makes a call with no allocation allowed, then one more each time, until it succeeds. Returns how
 * often it failed. */
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

/* What fails changes nothing. */
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
    lanebloom_filter_block_builder_destroy(build.builder);
    free(expected);
  }
  fprintf(stderr, "# %zu calls failed\n", nfailed);
  cr_assert(nfailed > 1000, "only %zu calls failed", nfailed);
  free(sequence);
}

/* Answers need none. */
Test(filter_block, screens_without_memory)
{
  struct rng rng = rng_start(9);
  struct queries *queries = test_alloc(sizeof *queries);
  uint8_t *pool = test_alloc((size_t)WIDTH * MAX_QUERIES);
  rng_fill(&rng, pool, (size_t)WIDTH * MAX_QUERIES);
  struct guarded bytes = build_mixed(LANEBLOOM_LEVELDB, pool, AT_END);
  draw_runs(queries, pool, &rng);
  ask_leveldb(LANEBLOOM_LEVELDB, bytes.bytes, bytes.nbytes, queries);

  lanebloom_filter_block *block = (void *)1;
  allocations_left = 0;
  const lanebloom_status status =
      lanebloom_filter_block_parse(LANEBLOOM_LEVELDB, bytes.bytes, bytes.nbytes, &block);
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
  lanebloom_filter_block_close(block);
  guarded_free(&bytes);
  free(pool);
  free(queries);
}

/* ---- Frozen vectors ---- */

static char *next_word(char **rest, const char *separators)
{
  char *word = strtok_r(*rest, separators, rest);
  if (!word)
    test_fatal("a column is missing");
  return word;
}

/* start:key,key;start:key,... */
static void check_frozen_build(lanebloom_filter_block_builder *builder, char *calls,
                               const uint8_t *expected, size_t expected_size)
{
  for (char *call; (call = strtok_r(calls, ";", &calls));) {
    uint8_t key[64];
    cr_assert(lanebloom_filter_block_builder_start_block(
                  builder, strtoull(next_word(&call, ":"), NULL, 10)) == LANEBLOOM_OK);
    for (char *hex; (hex = strtok_r(call, ",", &call));) {
      const lanebloom_keys keys = lanebloom_keys_fixed(key, hex_decode(hex, key, sizeof key), 1);
      cr_assert(lanebloom_filter_block_builder_add(builder, &keys) == LANEBLOOM_OK);
    }
  }
  const void *bytes;
  size_t size;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);
  if (size != expected_size)
    test_fatal("%zu bytes, expected %zu", size, expected_size);
  test_same_bytes("filter block", bytes, expected, size);
}

Test(filter_block, vectors)
{
  enum { NBUILT = 125, NASKED = 2250, MAX_SIZE = 4096 };
  uint8_t bytes[MAX_SIZE], key[64];
  for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
    const char *kernel = use_kernel(k);
    size_t nbuilt = 0, nasked = 0, number = 0, room = 0;
    char *line = NULL;
    FILE *file = fopen(LANEBLOOM_TEST_VECTORS "/leveldb_filter_blocks.txt", "r");
    if (!file)
      test_fatal("no vectors");
    while (getline(&line, &room, file) >= 0) {
      test_context("%s, line %zu", kernel, ++number);
      if (*line == '#')
        continue;
      char *rest = line;
      const bool is_build = *next_word(&rest, " \n") == 'B';
      const size_t size = hex_decode(next_word(&rest, " \n"), bytes, sizeof bytes);
      char *word = next_word(&rest, " \n");
      if (is_build) {
        lanebloom_filter_block_builder *builder;
        cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, LEVELDB_BASE_LG,
                                                        &builder) == LANEBLOOM_OK);
        check_frozen_build(builder, word, bytes, size);
        lanebloom_filter_block_builder_destroy(builder);
        nbuilt++;
        continue;
      }
      const uint64_t offset = strtoull(word, NULL, 10);
      const size_t key_size = hex_decode(next_word(&rest, " \n"), key, sizeof key);
      const bool expected = *next_word(&rest, " \n") == '1';
      const lanebloom_keys keys = lanebloom_keys_fixed(key, key_size, 1);
      lanebloom_filter_block *block = open_block(LANEBLOOM_LEVELDB, bytes, size);
      if (lanebloom_filter_block_may_contain(block, offset, key, key_size) != expected ||
          lanebloom_filter_block_screen(block, &offset, &keys, NULL) != expected)
        test_fatal("expected %d", expected);
      lanebloom_filter_block_close(block);
      nasked++;
    }
    cr_assert(nbuilt == NBUILT && nasked == NASKED, "%zu blocks built, %zu queries", nbuilt,
              nasked);
    fclose(file);
    free(line);
  }
}
