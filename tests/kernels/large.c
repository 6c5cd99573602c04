/* Cases with large batches. Kernels work in another way on filters that exceed the second-level
 * cache, and some kernels change their way of working with the share of hits.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cases.h"

enum { LARGE_BATCH = 20000, NPRESENT = 3000 };
enum { LARGEST_NBYTES = 40 * 1048583 };

/* Hashes come in runs of `run`. The runs alternate between two chances of a hit, in percent. */
static const struct mix {
  size_t run;
  unsigned percent[2];
} mixes[] = {
    {1, {0, 0}},    {1, {100, 100}},  {1, {50, 50}},    {1, {3, 3}},      {1, {97, 97}},
    {64, {0, 100}}, {1000, {100, 0}}, {1024, {0, 100}}, {7001, {100, 0}}, {9000, {0, 60}},
};

struct large_filter {
  struct filter_shape shape;
  struct guarded payload; /* random bits, and the bits of `present` */
  uint8_t present[MAX_HASH_NBYTES * NPRESENT];
};

/* Makes a filter with half of its bits set, a quarter if nhalvings is 1, an eighth if it is 2, and
 * so on. */
static struct large_filter *large_filter_make(const struct trial *trial, uint64_t nbytes,
                                              uint32_t nprobes, unsigned nhalvings, size_t place)
{
  struct large_filter *filter = test_alloc(sizeof *filter);
  filter->shape = format_shape(trial->format, nbytes, nprobes);
  filter->payload = guarded_make(filter->shape.nbytes, place);
  rng_fill(trial->rng, filter->payload.bytes, filter->payload.nbytes);
  for (; nhalvings > 0; nhalvings--)
    for (size_t i = 0; i + 8 <= filter->payload.nbytes; i += 8) {
      uint64_t eight;
      memcpy(&eight, filter->payload.bytes + i, sizeof eight);
      eight &= rng_next(trial->rng);
      memcpy(filter->payload.bytes + i, &eight, sizeof eight);
    }
  rng_fill(trial->rng, filter->present, sizeof filter->present);
  trial_add(trial, trial->reference, &filter->shape, filter->payload.bytes, filter->present,
            NPRESENT);
  guarded_freeze(&filter->payload);
  return filter;
}

static void large_filter_free(struct large_filter *filter)
{
  guarded_free(&filter->payload);
  free(filter);
}

static void mix_hashes(const struct trial *trial, const struct large_filter *filter,
                       const struct mix *mix, size_t n, uint8_t *hashes)
{
  const size_t hash_nbytes = trial->format->hash_nbytes;
  rng_fill(trial->rng, hashes, n * hash_nbytes);
  for (size_t i = 0; i < n; i++)
    if (rng_below(trial->rng, 100) < mix->percent[i / mix->run % 2])
      memcpy(hashes + i * hash_nbytes,
             filter->present + rng_below(trial->rng, NPRESENT) * hash_nbytes, hash_nbytes);
}

/* Compares the first n bits of two bitmaps. */
static void test_same_hits(const uint8_t *found, const uint8_t *expected, size_t n)
{
  test_same_bytes("bitmap", found, expected, n / 8);
  if (n % 8 == 0)
    return;
  const uint8_t last = (uint8_t)(expected[n / 8] & ((1 << n % 8) - 1));
  test_same_bytes("last byte of the bitmap", found + n / 8, &last, 1);
}

static void check_hashes(const struct trial *trial, const struct large_filter *filter,
                         const uint8_t *hashes, size_t n, const uint8_t *expected, size_t place)
{
  struct guarded input = guarded_copy(hashes, n * trial->format->hash_nbytes, place);
  struct guarded bitmap = guarded_make((n + 7) / 8, place);
  guarded_freeze(&input);
  trial_probe(trial, trial->ops, &filter->shape, filter->payload.bytes, input.bytes, n,
              bitmap.bytes);
  test_same_hits(bitmap.bytes, expected, n);
  guarded_free(&input);
  guarded_free(&bitmap);
}

/* A kernel that measures the hit rate must give the same answers before and after it measured. */
void large_hit_rates(const struct trial *trial)
{
  enum { MAX_SIZES = 5, QUICK = 3, WITHOUT_BUILDING = 2 };
  const size_t nsizes = test_exhaustive() ? MAX_SIZES : QUICK;
  static const struct {
    uint64_t nbytes;
    uint32_t nprobes;
    unsigned nhalvings;
  } sizes[MAX_SIZES] = {
      {300007, 7, 0}, {1 << 20, 6, 1}, {4299961, 6, 0}, {3 << 20, 30, 0}, {LARGEST_NBYTES, 11, 1}};
  static uint8_t hashes[MAX_HASH_NBYTES * LARGE_BATCH], expected[LARGE_BATCH / 8];
  const size_t hash_nbytes = trial->format->hash_nbytes;
  for (size_t s = trial->format->is_built ? 0 : WITHOUT_BUILDING; s < nsizes; s++) {
    struct large_filter *filter = large_filter_make(trial, sizes[s].nbytes, sizes[s].nprobes,
                                                    sizes[s].nhalvings, s % 2 ? AT_END : AT_BEGIN);
    for (size_t m = 0; m < COUNT(mixes); m++) {
      mix_hashes(trial, filter, &mixes[m], LARGE_BATCH, hashes);
      trial_probe(trial, trial->reference, &filter->shape, filter->payload.bytes, hashes,
                  LARGE_BATCH, expected);
      trial_note(trial, &filter->shape, LARGE_BATCH, m);
      check_hashes(trial, filter, hashes, LARGE_BATCH, expected, trial_place(trial, m % 2));
      const size_t first = 8 * rng_below(trial->rng, LARGE_BATCH / 16), n = LARGE_BATCH / 2 - 1 - m;
      trial_note(trial, &filter->shape, n, m);
      check_hashes(trial, filter, hashes + first * hash_nbytes, n, expected + first / 8,
                   trial_place(trial, NROUNDS));
    }
    for (int is_present = 0; is_present < 2; is_present++) {
      for (size_t i = 0; i < LARGE_BATCH; i++)
        memcpy(hashes + i * hash_nbytes, is_present ? filter->present : hashes, hash_nbytes);
      test_context("%s: filter of %llu bytes, all hashes equal, %d", trial->name,
                   (unsigned long long)filter->shape.nbytes, is_present);
      trial_probe(trial, trial->reference, &filter->shape, filter->payload.bytes, hashes, 1,
                  expected);
      memset(expected, expected[0] ? 0xff : 0, sizeof expected);
      check_hashes(trial, filter, hashes, LARGE_BATCH - 3, expected, AT_END);
    }
    large_filter_free(filter);
  }
}

/* Covers pipelines that never fill, and every number of hashes that a pipeline can hold when it is
 * drained. */
void large_batch_sizes(const struct trial *trial)
{
  enum { MAX_N = 1500, MAX_STEP = 97 };
  static const uint64_t sizes[] = {3 << 20, 5000011};
  static uint8_t hashes[MAX_HASH_NBYTES * MAX_N], expected[(MAX_N + 7) / 8];
  for (size_t s = trial->format->is_built ? 0 : 1; s < COUNT(sizes); s++) {
    struct large_filter *filter =
        large_filter_make(trial, sizes[s], s == 0 ? 5 : 6, 0, s == 0 ? AT_BEGIN : AT_END);
    for (size_t m = 0; m < 3; m++) {
      mix_hashes(trial, filter, &mixes[m], MAX_N, hashes);
      trial_probe(trial, trial->reference, &filter->shape, filter->payload.bytes, hashes, MAX_N,
                  expected);
      for (size_t n = 0; n <= MAX_N; n += n < 300 ? 1 : rng_below(trial->rng, MAX_STEP)) {
        trial_note(trial, &filter->shape, n, m);
        check_hashes(trial, filter, hashes, n, expected, trial_place(trial, n % 2));
      }
    }
    large_filter_free(filter);
  }
}

/* Adds many different hashes, and one hash many times, to a filter that already has bits. */
void large_adding(const struct trial *trial)
{
  static const uint64_t sizes[] = {4299961, 300007, LARGEST_NBYTES};
  static uint8_t hashes[MAX_HASH_NBYTES * LARGE_BATCH];
  const size_t hash_nbytes = trial->format->hash_nbytes;
  const size_t nsizes = !trial->format->is_built ? 1 : COUNT(sizes) - !test_exhaustive();
  for (size_t s = 0; s < nsizes; s++) {
    struct large_filter *filter = large_filter_make(trial, sizes[s], s == 0 ? 30 : 6, 2, AT_END);
    struct guarded wanted = guarded_copy(filter->payload.bytes, filter->shape.nbytes, AT_END);
    for (size_t round = 0; round < 2; round++) {
      const size_t n = LARGE_BATCH - 5 * (1 - round);
      rng_fill(trial->rng, hashes, sizeof hashes);
      for (size_t i = 0; i < LARGE_BATCH / 2; i++) /* makes runs of one hash, the longest first */
        memcpy(hashes + (i + 1) * hash_nbytes,
               hashes + (rng_below(trial->rng, i + 1) ? i : i + 1) * hash_nbytes, hash_nbytes);
      trial_note(trial, &filter->shape, n, round);
      struct guarded input = guarded_copy(hashes, n * hash_nbytes, trial_place(trial, round));
      struct guarded found =
          guarded_copy(wanted.bytes, filter->shape.nbytes, trial_place(trial, round));
      guarded_freeze(&input);
      trial_add_with_scratch(trial, trial->ops, &filter->shape, found.bytes, input.bytes, n);
      trial_add(trial, trial->reference, &filter->shape, wanted.bytes, hashes, n);
      test_same_bytes("payload", found.bytes, wanted.bytes, filter->shape.nbytes);
      guarded_free(&input);
      guarded_free(&found);
    }
    guarded_free(&wanted);
    large_filter_free(filter);
  }
}
