/* The checks that every filter block must pass: each kernel gives LevelDB's answers.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "filter_block.h"

/* ---- Queries ---- */

const char *use_kernel(size_t i)
{
  const char *kernel = lanebloom_kernel_at(i);
  cr_assert(kernel && lanebloom_kernel_use(kernel) == LANEBLOOM_OK, "kernel %zu cannot be used", i);
  return kernel;
}

void queries_add(struct queries *queries, uint64_t offset, lanebloom_slice key)
{
  if (queries->n == MAX_QUERIES)
    test_fatal("more than %d queries", MAX_QUERIES);
  queries->offsets[queries->n] = offset;
  queries->slices[queries->n++] = key;
}

void expect_leveldb(lanebloom_format format, const void *bytes, size_t size,
                    struct queries *queries)
{
  const bool defined = size < TRAILER_NBYTES || ((const uint8_t *)bytes)[size - 1] < BASE_LG_END;
  for (size_t i = 0; i < queries->n; i++)
    queries->expected[i] =
        !defined || oracle_block_may_match(format, bytes, size, queries->offsets[i],
                                           queries->slices[i].data, queries->slices[i].size);
}

void check_batch(const lanebloom_filter_block *block, const struct queries *queries,
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

void check_singles(const lanebloom_filter_block *block, const struct queries *queries)
{
  for (size_t i = 0; i < queries->n; i++)
    if (lanebloom_filter_block_may_contain(block, queries->offsets[i], queries->slices[i].data,
                                           queries->slices[i].size) != queries->expected[i])
      test_fatal("key %zu, of %zu bytes at %llu: expected %d", i, queries->slices[i].size,
                 (unsigned long long)queries->offsets[i], queries->expected[i]);
}

lanebloom_filter_block *open_block(lanebloom_format format, const void *bytes, size_t size)
{
  lanebloom_filter_block *block;
  const lanebloom_status status =
      lanebloom_filter_block_parse(format, bytes, size, &block, NULL, 0);
  cr_assert(status == LANEBLOOM_OK && block, "open: %s", lanebloom_status_text(status));
  return block;
}

void check_answers(lanebloom_format format, const void *bytes, size_t size, struct queries *queries,
                   size_t place)
{
  struct guarded guarded = guarded_copy(bytes, size, place);
  guarded_freeze(&guarded);
  expect_leveldb(format, guarded.bytes, size, queries);
  lanebloom_filter_block *block = open_block(format, guarded.bytes, size);
  const lanebloom_keys keys = lanebloom_keys_slices(queries->slices, queries->n);
  for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
    use_kernel(k);
    check_batch(block, queries, queries->offsets, &keys, place);
  }
  check_singles(block, queries);
  lanebloom_filter_block_free(block);
  guarded_free(&guarded);
}

/* ---- Call sequences ---- */

static lanebloom_slice draw_key(const struct sequence *sequence, struct rng *rng)
{
  const size_t size = rng_below(rng, MAX_KEY_NBYTES + 1);
  return (lanebloom_slice){sequence->pool + rng_below(rng, POOL_NBYTES - MAX_KEY_NBYTES), size};
}

void sequence_draw(struct sequence *sequence, struct rng *rng, size_t max_steps, size_t max_keys)
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

uint8_t *build_by_leveldb(const struct sequence *sequence, lanebloom_format format,
                          int bits_per_key, unsigned base_lg, size_t *size)
{
  oracle_block_builder *builder = oracle_block_builder_create(format, bits_per_key);
  for (size_t i = 0; i < sequence->nsteps; i++) {
    const struct step *step = &sequence->steps[i];
    if (step->starts) /* LevelDB's base_lg gives the same filter */
      oracle_block_builder_start_block(builder, step->offset >> base_lg << LEVELDB_BASE_LG);
    for (size_t j = step->first; j < step->first + step->nkeys; j++)
      oracle_block_builder_add(builder, sequence->keys[j].data, sequence->keys[j].size);
  }
  uint8_t *bytes = oracle_block_builder_finish(builder, size);
  bytes[*size - 1] = (uint8_t)base_lg;
  return bytes;
}

void check_build(const struct sequence *sequence, lanebloom_format format, int bits_per_key,
                 unsigned base_lg, const uint8_t *expected, size_t expected_size, struct rng *rng)
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
      const lanebloom_keys part = lanebloom_keys_part(&keys, step->first + added, n);
      cr_assert(lanebloom_filter_block_builder_add(builder, &part) == LANEBLOOM_OK);
    }
  }
  const void *bytes;
  size_t size;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);
  if (size != expected_size)
    test_fatal("%zu bytes, expected %zu", size, expected_size);
  test_same_bytes("filter block", bytes, expected, size);
  lanebloom_filter_block_builder_free(builder);
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

void draw_queries(struct queries *queries, const struct sequence *sequence, struct rng *rng,
                  size_t nothers)
{
  queries->n = 0;
  for (size_t i = 0; i < sequence->nsteps; i++)
    for (size_t j = sequence->steps[i].first;
         j < sequence->steps[i].first + sequence->steps[i].nkeys; j++)
      queries_add(queries, sequence->steps[i].offset, sequence->keys[j]);
  uint64_t at = 0;
  for (size_t left = 0; nothers > 0; nothers--, left--) {
    if (left == 0) {
      at = rng_below(rng, 50) == 0 ? rng_next(rng) : rng_below(rng, sequence->end + 5000);
      left = rng_below(rng, 4) == 0 ? 20 : 1;
    }
    queries_add(queries, at, draw_key(sequence, rng));
  }
  if (rng_below(rng, 3) == 0)
    shuffle(queries, rng);
}

void all_keys_are_there(const struct sequence *sequence, lanebloom_format format,
                        const uint8_t *bytes, size_t size)
{
  lanebloom_filter_block *block = open_block(format, bytes, size);
  for (size_t i = 0; i < sequence->nsteps; i++)
    for (size_t j = sequence->steps[i].first;
         j < sequence->steps[i].first + sequence->steps[i].nkeys; j++)
      if (!lanebloom_filter_block_may_contain(block, sequence->steps[i].offset,
                                              sequence->keys[j].data, sequence->keys[j].size))
        test_fatal("key %zu is lost", j);
  lanebloom_filter_block_free(block);
}

void tally_up(struct tally *tally, const struct queries *queries, size_t nbytes)
{
  tally->nblocks++;
  tally->nbytes += nbytes;
  tally->nqueries += queries->n;
  for (size_t i = 0; i < queries->n; i++)
    tally->nhits += queries->expected[i];
}

void tally_check(const struct tally *tally, size_t least_nqueries)
{
  fprintf(stderr,
          "# %zu filter blocks of %zu bytes, %zu queries, %zu of them may be there, %zu kernels\n",
          tally->nblocks, tally->nbytes, tally->nqueries, tally->nhits, lanebloom_kernel_count());
  cr_assert(tally->nqueries >= least_nqueries && tally->nhits > tally->nqueries / 10 &&
                tally->nhits < tally->nqueries / 10 * 9,
            "%zu of %zu queries hit", tally->nhits, tally->nqueries);
}
