/* Filters and builders, while memory fails.
 * SPDX-License-Identifier: MIT */
#include "faults.h"

static uint64_t expected_keys; /* 0: the builder stores hashes */

static lanebloom_status open_filter(void)
{
  const lanebloom_keys keys = keys_from(0, NFEW);
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status,
            lanebloom_filter_parse_raw(format, engine_bytes.bytes, engine_bytes.nbytes, NULL,
                                       &filter, NULL, 0));
  if (!status && lanebloom_filter_screen(filter, &keys, NULL) != NFEW)
    test_fatal("a key is lost");
  lanebloom_filter_free(filter);
  return status;
}

static lanebloom_status build_filter(void)
{
  const lanebloom_keys keys = keys_from(0, NFEW);
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_filter_build(format, 10, &keys, &filter));
  if (!status)
    is_expected(filter);
  lanebloom_filter_free(filter);
  return status;
}

static lanebloom_status merge_filters(void)
{
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(
      filter, status,
      lanebloom_filter_merge((const lanebloom_filter *const *)halves, 2, &filter, NULL, NULL, 0));
  if (!status)
    is_expected(filter);
  lanebloom_filter_free(filter);
  return status;
}

static lanebloom_status add_in_parts(lanebloom_builder *builder, size_t first, size_t n)
{
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t done = 0, nparts = 3; !status && done < n; nparts--) {
    const size_t nkeys = nparts > 1 ? (n - done) / 50 : n - done; /* the last part is large */
    const lanebloom_keys keys = keys_from(first + done, nkeys);
    INSIST(status, lanebloom_builder_add(builder, &keys));
    done += nkeys;
  }
  return status;
}

/* Adds keys in parts to two builders, merges the builders, and then uses one of them again. */
static lanebloom_status stream(void)
{
  const size_t n = expected_keys > NKEYS ? NKEYS : NFEW;
  lanebloom_builder *into, *from = NULL;
  lanebloom_status status;
  INSIST_ON(into, status, lanebloom_builder_create(format, 10, expected_keys, &into));
  if (!status)
    INSIST_ON(from, status, lanebloom_builder_create(format, 10, expected_keys, &from));
  if (!status)
    status = add_in_parts(into, 0, n / 2);
  if (!status)
    status = add_in_parts(from, n / 2, n - n / 2);
  if (!status)
    INSIST(status, lanebloom_builder_merge(into, from, NULL, 0));
  if (!status)
    status = finish_expected(into, n);
  if (!status)
    status = add_in_parts(into, 0, n);
  if (!status)
    status = finish_expected(into, n);
  lanebloom_builder_free(into);
  lanebloom_builder_free(from);
  return status;
}

/* Divides a builder into parts, and merges them. */
static lanebloom_status parts(void)
{
  lanebloom_builder *whole, *into = NULL, *from = NULL;
  lanebloom_status status;
  INSIST_ON(whole, status, lanebloom_builder_create(format, 10, 0, &whole));
  if (!status)
    status = add_in_parts(whole, 0, NFEW);
  if (!status)
    INSIST_ON(into, status, lanebloom_builder_part(whole, 0, 2, &into));
  if (!status)
    INSIST_ON(from, status, lanebloom_builder_part(whole, 1, 2, &from));
  if (!status)
    INSIST(status, lanebloom_builder_merge(into, from, NULL, 0));
  if (!status)
    status = finish_expected(into, NFEW);
  lanebloom_builder_free(whole);
  lanebloom_builder_free(into);
  lanebloom_builder_free(from);
  return status;
}

/* Screens a batch of hashes until it has been sorted. If memory runs out, it is not sorted. */
static lanebloom_status screen_batch(void)
{
  enum { NCALLS = 40 };
  static uint8_t hashes[NFEW * LANEBLOOM_MAX_HASH_SIZE];
  uint8_t bitmap[(NFEW + 7) / 8];
  const lanebloom_keys keys = keys_from(0, NFEW);
  lanebloom_hash_batch *batch;
  lanebloom_status status;
  must(lanebloom_hash(format, &keys, hashes));
  INSIST_ON(batch, status, lanebloom_hash_batch_create(format, hashes, NFEW, 0, &batch));
  for (size_t call = 0; call < NCALLS && !status; call++)
    if (lanebloom_filter_screen_batch(expected, batch, bitmap) != NFEW)
      test_fatal("a key is lost");
  lanebloom_hash_batch_free(batch);
  return status;
}

Test(faults, memory)
{
  static const struct scenario scenarios[] = {
      {.name = "open", .run = open_filter},
      {.name = "build", .run = build_filter},
      {.name = "merge", .run = merge_filters},
      {.name = "stream", .run = stream},
      {.name = "parts", .run = parts},
      {.name = "screen a batch", .run = screen_batch, .tolerates = 1 << ALLOCATE},
  };
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t i = 0; i < nformats; i++) {
    make_filters(formats[i], NFEW, NFEW);
    for (size_t s = 0; s < COUNT(scenarios); s++) {
      expected_keys = 0;
      survive(&scenarios[s]);
    }
    expected_keys = NFEW;
    survive(&(struct scenario){.name = "stream, sized", .run = stream});
    free_filters();
  }
  report(100);
}

/* Large filters are mapped. LevelDB's also use more memory for a while, if they can get it. */
Test(faults, memory_of_large_filters)
{
  expected_keys = 11760000; /* 14 MiB and a little: larger filters need more than NKEYS keys */
  make_filters(LANEBLOOM_LEVELDB, NKEYS, expected_keys);
  survive(&(struct scenario){
      .name = "large, stream", .run = stream, .tolerates = 1 << ALLOCATE | 1 << MAP});
  survive(&(struct scenario){.name = "large, merge", .run = merge_filters});
  cr_assert(ntolerated > 0 || lanebloom_kernel_count() == 1,
            "buckets were never tried"); /* the scalar kernel has none */
  free_filters();
  report(10);
}
