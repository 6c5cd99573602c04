/* Checks that the cases of formats that only open share.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

void opened_check_probe(const struct trial *trial, const struct filter_shape *shape,
                        const uint8_t *payload, size_t readable_nbytes, const uint64_t *hashes,
                        size_t n)
{
  uint8_t *expected = test_alloc((n + 7) / 8);
  trial_probe(trial, trial->reference, shape, payload, hashes, n, expected);
  for (size_t round = 0; round < NROUNDS; round++) {
    trial_note(trial, shape, n, round);
    struct guarded input = guarded_copy(hashes, n * sizeof *hashes, trial_place(trial, round));
    struct guarded filter = guarded_copy(payload, readable_nbytes, trial_place(trial, round));
    guarded_freeze(&input);
    guarded_freeze(&filter);
    struct guarded bitmap = guarded_make((n + 7) / 8, trial_place(trial, round));
    trial_probe(trial, trial->ops, shape, filter.bytes, input.bytes, n, bitmap.bytes);
    test_same_bytes("bitmap", bitmap.bytes, expected, (n + 7) / 8);
    guarded_free(&input);
    guarded_free(&filter);
    guarded_free(&bitmap);
  }
  free(expected);
}

/* Screens a batch of hashes that was made for the first format with the same hash. For Ribbon it is
 * rocksdb-local. Batches are sorted for filters of that format, and never for filters that only
 * open. */
static void check_batch(lanebloom_format hash, const lanebloom_filter *filter,
                        const uint64_t *hashes, size_t n, const uint8_t *expected, size_t count)
{
  enum { NCALLS = 40 };
  uint8_t *bitmap = test_alloc((n + 7) / 8);
  lanebloom_hash_batch *batch;
  cr_assert(!lanebloom_hash_batch_create(hash, hashes, n, 0, &batch));
  for (size_t call = 0; call < NCALLS; call++) {
    cr_assert(lanebloom_filter_screen_batch(filter, batch, bitmap) == count, "call %zu", call);
    test_same_bytes("screen_batch", bitmap, expected, (n + 7) / 8);
  }
  lanebloom_hash_batch_free(batch);
  free(bitmap);
}

void opened_check_calls(const struct trial *trial, const uint8_t *bytes, size_t nbytes)
{
  enum { WIDTH = 8 };
  static const size_t sizes[] = {0, 1, 4, 5, 1023, 1024, 1025, 5 * 1024 + 7, 32769};
  for (size_t s = 0; s < COUNT(sizes); s++) {
    const size_t n = sizes[s];
    uint8_t *text = test_alloc(n * WIDTH), *bitmap = test_alloc((n + 7) / 8),
            *expected = test_alloc((n + 7) / 8);
    uint64_t *hashes = test_alloc(n * sizeof *hashes);
    uint32_t *indices = test_alloc(n * sizeof *indices);
    rng_fill(trial->rng, text, n * WIDTH);
    const lanebloom_keys keys = lanebloom_keys_fixed(text, WIDTH, n);
    test_context("%s: public calls on %zu keys", trial->name, n);

    lanebloom_filter *filter;
    struct filter_shape shape;
    cr_assert(lanebloom_filter_parse_raw(trial->format->id, bytes, nbytes, NULL, &filter, NULL,
                                         0) == LANEBLOOM_OK);
    cr_assert(trial->format->table->parse(trial->format->table, bytes, nbytes, &shape,
                                          &no_problem) == LANEBLOOM_OK);
    cr_assert(lanebloom_hash(trial->format->id, &keys, hashes) == LANEBLOOM_OK);
    trial_probe(trial, trial->reference, &shape, bytes, hashes, n, expected);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
      count += expected[i / 8] >> i % 8 & 1;
    cr_assert(lanebloom_filter_screen(filter, &keys, bitmap) == count, "screen");
    test_same_bytes("screen", bitmap, expected, (n + 7) / 8);
    cr_assert(lanebloom_filter_screen_hashes(filter, hashes, n, bitmap) == count, "hashes");
    test_same_bytes("screen_hashes", bitmap, expected, (n + 7) / 8);
    check_batch(lanebloom_format_hash(trial->format->id), filter, hashes, n, expected, count);
    cr_assert(lanebloom_filter_select(filter, &keys, indices) == count, "select");
    for (size_t i = 0; i < count; i++)
      cr_assert(expected[indices[i] / 8] >> indices[i] % 8 & 1, "index %u", indices[i]);
    for (size_t i = 0; i < n && i < 200; i++)
      cr_assert(lanebloom_filter_may_contain(filter, text + i * WIDTH, WIDTH) ==
                    (expected[i / 8] >> i % 8 & 1),
                "key %zu", i);
    lanebloom_filter_free(filter);
    free(indices);
    free(hashes);
    free(expected);
    free(bitmap);
    free(text);
  }
}
