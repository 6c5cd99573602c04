/* Cases with sorted hashes, and with batches of hashes, which sort their hashes.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "hash_batch.h"
#include "sorted.h"

enum { MAX_N = 6000 };

/* How hashes are drawn: any hashes; few different ones; all the same; or hashes around the borders
 * of lines. */
enum kind { ANY, FEW, ONE, BORDERS, NKINDS };

static uint64_t at_a_border(const struct trial *trial, uint32_t nlines)
{
  const uint64_t line = rng_below(trial->rng, (uint64_t)nlines + 1);
  const uint64_t first = (line << 32) / nlines + rng_below(trial->rng, 3) - 1;
  return trial->format->table->layout == LAYOUT_PARQUET
             ? first << 32 | (rng_next(trial->rng) & 0xffffffff)
             : rng_next(trial->rng) << 32 | (first & 0xffffffff);
}

static void draw(const struct trial *trial, enum kind kind, uint32_t nlines, uint64_t *hashes,
                 size_t n)
{
  rng_fill(trial->rng, hashes, n * sizeof *hashes);
  for (size_t i = 0; i < n; i++)
    if (kind == BORDERS)
      hashes[i] = at_a_border(trial, nlines);
    else if (kind != ANY)
      hashes[i] = hashes[kind == ONE ? 0 : rng_below(trial->rng, n / 50 + 1)];
}

static void check(const struct trial *trial, sorted_probe_function *probe,
                  const struct filter_shape *shape, const uint64_t *hashes, size_t n,
                  size_t percent, size_t round)
{
  uint8_t *payload = test_alloc(shape->nbytes), *expected = test_alloc((n + 7) / 8);
  if (percent < 100)
    rng_fill(trial->rng, payload, shape->nbytes);
  trial_add(trial, trial->reference, shape, payload, hashes, n * percent / 100);
  trial_probe(trial, trial->reference, shape, payload, hashes, n, expected);
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    count += expected[i / 8] >> i % 8 & 1;

  trial_note(trial, shape, n, round);
  struct guarded given = guarded_copy(hashes, n * sizeof *hashes, trial_place(trial, round));
  struct guarded filter = guarded_copy(payload, shape->nbytes, trial_place(trial, round));
  struct guarded bitmap = guarded_make((n + 7) / 8, trial_place(trial, round));
  guarded_freeze(&given);
  guarded_freeze(&filter);
  memset(bitmap.bytes, 0, (n + 7) / 8);
  struct sorted_hashes sorted;
  cr_assert(lanebloom_hashes_sort(trial->format->table->layout, given.bytes, n, &sorted));
  const size_t found = probe(shape, filter.bytes, &sorted, bitmap.bytes);
  if (found != count || probe(shape, filter.bytes, &sorted, NULL) != count)
    test_fatal("%zu hits, expected %zu", found, count);
  test_same_bytes("bitmap", bitmap.bytes, expected, (n + 7) / 8);
  lanebloom_sorted_free(&sorted);
  guarded_free(&bitmap);
  guarded_free(&filter);
  guarded_free(&given);
  free(expected);
  free(payload);
}

void sorted_hashes(const struct trial *trial)
{
  static const size_t counts[] = {0, 1, 2, 31, 32, 33, 64, 65, 255, 1000, MAX_N};
  static const uint32_t lines[] = {1, 2, 3, 7, 16, 61, 500, 1021, 40001};
  static const size_t percents[] = {0, 1, 50, 100};
  static uint64_t hashes[MAX_N];
  const struct format_table *format = trial->format->table;
  sorted_probe_function *probe = lanebloom_kernels_current()->layout[format->layout].sorted_probe;
  if (!probe)
    return;
  cr_assert(lanebloom_layout_to_sort(format->hash) == format->layout);
  const bool exhaustive = test_exhaustive();
  size_t round = 0;
  for (size_t l = 0; l < COUNT(lines); l++)
    for (size_t c = 0; c < COUNT(counts); c++)
      for (size_t kind = 0; kind < NKINDS; kind++) {
        const uint32_t nprobes = 1 + (uint32_t)round % 10;
        const struct filter_shape shape =
            format_shape(trial->format, (uint64_t)lines[l] * trial->format->line_nbytes, nprobes);
        for (size_t p = exhaustive ? 0 : round % COUNT(percents); p < COUNT(percents);
             p += exhaustive ? 1 : COUNT(percents), round++) {
          draw(trial, (enum kind)kind, shape.lines.n, hashes, counts[c]);
          check(trial, probe, &shape, hashes, counts[c], percents[p], round % NROUNDS);
        }
      }
}

/* Screens batches against three filters in turn: a batch that sorts its hashes after some calls,
 * one that never sorts them, and one that sorts them at once. */
void batches_of_hashes(const struct trial *trial)
{
  enum { NFILTERS = 3, NCALLS = HASH_BATCH_MIN_NFILTERS }; /* each call screens twice */
  static const size_t counts[] = {0, 1, 7, 100, MAX_N};
  static const size_t nfilters[] = {0, HASH_BATCH_MIN_NFILTERS - 1, HASH_BATCH_MIN_NFILTERS};
  static uint64_t keys[MAX_N], others[MAX_N];
  rng_fill(trial->rng, keys, sizeof keys);
  rng_fill(trial->rng, others, sizeof others);
  memcpy(others, keys, sizeof keys / 100);
  for (size_t c = 0; c < COUNT(counts); c++) {
    const size_t n = counts[c];
    uint8_t *hashes = test_alloc(n * trial->format->hash_nbytes);
    uint8_t *expected = test_alloc((n + 7) / 8);
    const lanebloom_keys batch_keys = lanebloom_keys_fixed(keys, sizeof *keys, n),
                         members[NFILTERS] = {lanebloom_keys_fixed(others, sizeof *others, MAX_N),
                                              lanebloom_keys_fixed(others, sizeof *others, 90),
                                              batch_keys};
    lanebloom_filter *filters[NFILTERS];
    for (size_t i = 0; i < NFILTERS; i++)
      cr_assert(!lanebloom_filter_build(trial->format->id, 10, &members[i], &filters[i]));
    cr_assert(!lanebloom_hash(trial->format->id, &batch_keys, hashes));
    for (size_t f = 0; f < COUNT(nfilters); f++) {
      lanebloom_hash_batch *batch;
      cr_assert(!lanebloom_hash_batch_create(trial->format->id, hashes, n, nfilters[f], &batch));
      for (size_t call = 0; call < NCALLS; call++) {
        test_context("%s: %zu hashes for %zu filters, call %zu", trial->name, n, nfilters[f], call);
        const lanebloom_filter *filter = filters[call % NFILTERS];
        struct guarded bitmap = guarded_make((n + 7) / 8, trial_place(trial, call % NROUNDS));
        const size_t count = lanebloom_filter_screen_hashes(filter, hashes, n, expected);
        cr_assert(lanebloom_filter_screen_batch(filter, batch, bitmap.bytes) == count);
        cr_assert(lanebloom_filter_screen_batch(filter, batch, NULL) == count);
        test_same_bytes("bitmap", bitmap.bytes, expected, (n + 7) / 8);
        guarded_free(&bitmap);
      }
      lanebloom_hash_batch_free(batch);
    }
    for (size_t i = 0; i < NFILTERS; i++)
      lanebloom_filter_free(filters[i]);
    free(expected);
    free(hashes);
  }
}
