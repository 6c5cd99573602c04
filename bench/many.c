/* Measures how fast one batch of keys is screened against many filters, as in a lookup in a
 * database of many tables. The keys are hashed once, and the hashes are used for each filter.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "rows.h"
#include "shared.h"
#include "shim.h"

/* The filters of a row have 16 KiB to 16 MiB in all. Each filter has keys of its own, so that a
 * branch predictor cannot learn the results of the batch. */
enum { FILTER_KIB = 16, BATCH_NKEYS = 1024, MAX_NFILTERS = 1024 };

struct many_row {
  lanebloom_format format;
  const char *kernel;
  size_t nfilters;
  bool checked;
};

struct many {
  lanebloom_filter *filters[MAX_NFILTERS];
};

static void release_many(void *value)
{
  struct many *many = value;
  for (size_t i = 0; i < MAX_NFILTERS; i++)
    lanebloom_filter_free(many->filters[i]);
  free(many);
}

static struct bench_made make_many(const struct bench_case *wanted)
{
  const struct bench_filter *like = bench_filter(wanted);
  struct many *made = malloc(sizeof *made);
  uint64_t *members = malloc(like->nkeys * sizeof *members);
  if (!made || !members)
    bench_check(LANEBLOOM_ERR_MEMORY);
  const lanebloom_keys keys = bench_keys(members, like->nkeys);
  for (size_t i = 0; i < MAX_NFILTERS; i++) {
    for (size_t j = 0; j < keys.n; j++)
      members[j] = bench_key(i * keys.n + j);
    bench_check(
        lanebloom_filter_build(wanted->format, like->bits_per_key, &keys, &made->filters[i]));
  }
  free(members);
  return (struct bench_made){made, MAX_NFILTERS * wanted->kib * 1024, release_many};
}

/* Screens one batch against every filter. For each filter, counts the keys that may be in it, and
 * returns the sum of these numbers. */
static size_t ask(const struct many *many, const struct many_row *row, const uint64_t *batch)
{
  uint8_t hashes[BATCH_NKEYS * LANEBLOOM_MAX_HASH_SIZE];
  uint8_t bitmap[BATCH_NKEYS / 8];
  size_t count = 0;
  const lanebloom_keys keys = bench_keys(batch, BATCH_NKEYS);
  bench_check(lanebloom_hash(row->format, &keys, hashes));
  for (size_t i = 0; i < row->nfilters; i++) {
    count += lanebloom_filter_screen_hashes(many->filters[i], hashes, BATCH_NKEYS, bitmap);
    bench_keep(bitmap);
  }
  return count;
}

static void many_row(struct bench *bench, void *argument)
{
  struct many_row *row = argument;
  const struct bench_case wanted = {row->format, FILTER_KIB, BENCH_NPROBES, 0, 0};
  const struct many *many = bench_share(make_many, &wanted);
  struct bench_queries *queries = bench_queries(FILTER_KIB, 0);
  bench_use("scalar");
  const size_t expected = row->checked ? 0 : ask(many, row, queries->keys);
  bench_use(row->kernel);
  row->checked = row->checked || ask(many, row, queries->keys) == expected;
  if (!row->checked)
    bench_skip(bench, "wrong number of hits");
  else
    while (bench_next(bench, BATCH_NKEYS * row->nfilters))
      ask(many, row, queries->keys + bench_queries_next(queries));
}

/* ---- Many keys against many filters ---- */

enum { NSCREENED = 64 };

struct batch_row {
  lanebloom_format format;
  const char *kernel;
  size_t nkeys;
  bool is_batch; /* does a lanebloom_hash_batch hold the hashes? */
};

static void batch_row(struct bench *bench, void *argument)
{
  const struct batch_row *row = argument;
  const struct bench_case wanted = {row->format, FILTER_KIB, BENCH_NPROBES, 0, 0};
  const struct many *many = bench_share(make_many, &wanted);
  uint64_t *keys = malloc(row->nkeys * sizeof *keys);
  uint8_t *hashes = malloc(row->nkeys * lanebloom_format_hash_size(row->format));
  uint8_t *bitmap = malloc(row->nkeys / 8 + 1);
  lanebloom_hash_batch *batch;
  if (!keys || !hashes || !bitmap)
    bench_check(LANEBLOOM_ERR_MEMORY);
  for (size_t i = 0; i < row->nkeys; i++)
    keys[i] = bench_key(((uint64_t)1 << 40) + i); /* in no filter */
  const lanebloom_keys all = bench_keys(keys, row->nkeys);
  bench_use(row->kernel);
  bench_check(lanebloom_hash(row->format, &all, hashes));
  bench_check(lanebloom_hash_batch_create(row->format, hashes, row->nkeys, 0, &batch));
  for (size_t i = 0; i < NSCREENED; i++) /* the batch sorts its hashes */
    lanebloom_filter_screen_batch(many->filters[i], batch, bitmap);
  while (bench_next(bench, row->nkeys * NSCREENED))
    for (size_t i = 0; i < NSCREENED; i++) {
      if (row->is_batch)
        lanebloom_filter_screen_batch(many->filters[i], batch, bitmap);
      else
        lanebloom_filter_screen_hashes(many->filters[i], hashes, row->nkeys, bitmap);
      bench_keep(bitmap);
    }
  lanebloom_hash_batch_free(batch);
  free(bitmap);
  free(hashes);
  free(keys);
}

static void register_batches(lanebloom_format format, const char *kernel)
{
  for (size_t nkeys = 1 << 13; nkeys <= 1 << 17; nkeys *= 16)
    for (int is_batch = 0; is_batch < 2; is_batch++) {
      const struct batch_row row = {format, kernel, nkeys, is_batch};
      bench_register(batch_row, &row, sizeof row, "many/%s/%s/%s/keys:%zu",
                     lanebloom_format_name(format), kernel, is_batch ? "batch" : "hashes", nkeys);
    }
}

void bench_register_many(void)
{
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    register_batches(LANEBLOOM_PARQUET, lanebloom_kernel_at(i));
    register_batches(LANEBLOOM_ROCKSDB_LOCAL, lanebloom_kernel_at(i));
  }
  for (lanebloom_format format = bench_next_format(0); format; format = bench_next_format(format))
    for (size_t nfilters = 1; nfilters <= MAX_NFILTERS; nfilters *= 4)
      for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
        const struct many_row row = {format, lanebloom_kernel_at(i), nfilters, false};
        bench_register(many_row, &row, sizeof row, "many/%s/%s/filters:%zu",
                       lanebloom_format_name(format), row.kernel, nfilters);
      }
}
