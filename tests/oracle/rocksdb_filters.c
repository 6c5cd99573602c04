/* Compares RocksDB's two formats with the real RocksDB: hashes, and filters built in every way.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "rocksdb.h"

/* ---- Hashes ---- */

static void check_hash(const uint8_t *key, size_t size)
{
  const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
  uint32_t signed_tail = 0, legacy = 0;
  uint64_t local = 0;
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB_SIGNED, &keys, &signed_tail) == LANEBLOOM_OK);
  cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LEGACY, &keys, &legacy) == LANEBLOOM_OK);
  cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, &keys, &local) == LANEBLOOM_OK);
  const uint32_t expected32 = oracle_rocksdb_hash32(key, size);
  const uint64_t expected64 = oracle_rocksdb_hash64(key, size);
  if (signed_tail != expected32 || legacy != expected32)
    test_fatal("a key of %zu bytes hashes to %08x and %08x, expected %08x", size, signed_tail,
               legacy, expected32);
  if (local != expected64)
    test_fatal("a key of %zu bytes hashes to %016llx, expected %016llx", size,
               (unsigned long long)local, (unsigned long long)expected64);
}

Test(oracle_rocksdb, hashes)
{
  enum { NSHORT = 50, MAX_LONG = 5200 };
  static const size_t more[] = {65535, 65536, 65537, 1000003, 1 << 20};
  struct rng rng = rng_start(1);
  uint8_t *key = test_alloc(more[COUNT(more) - 1]);
  size_t n = 0;
  for (size_t time = 0; time < NSHORT; time++)
    for (size_t size = 0; size <= MAX_LENGTH; size++, n++) {
      rng_fill(&rng, key, size);
      check_hash(key, size);
    }
  for (size_t size = MAX_LENGTH + 1; size <= MAX_LONG; size++, n++) {
    rng_fill(&rng, key, size);
    check_hash(key, size);
  }
  for (size_t i = 0; i < COUNT(more); i++, n++) {
    rng_fill(&rng, key, more[i]);
    check_hash(key, more[i]);
  }
  cr_assert(n == NSHORT * (MAX_LENGTH + 1) + (MAX_LONG - MAX_LENGTH) + COUNT(more), "%zu keys", n);
  free(key);
}

/* ---- Filters ---- */

/* Draws a number of bits per key: a whole number, a number halfway between two, thousandths, a
 * number that rounds to thousandths, or any other number; a number near one at which FastLocalBloom
 * changes its number of probes; or an end of the range. */
static double draw_bits(struct rng *rng, size_t set)
{
  static const double odd[] = {0.5,       0.500001, 0.75,    0.9999, 1,        1.0004994,
                               1.0004996, 99.9994,  99.9996, 100,    100.0006, 1000};
  static const unsigned changes[] = {2080,  3580,  5100,  6640,  8300,  10070, 11720,
                                     14001, 16050, 18300, 22001, 25501, 26000, 28000,
                                     30000, 42000, 48000, 50000, 52000};
  const uint64_t millibits = 500 + rng_below(rng, 100000 - 500);
  switch (set % 6) {
  case 0:
    return 1 + (double)rng_below(rng, 100);
  case 1:
    return 0.5 + (double)rng_below(rng, 100);
  case 2:
    return (double)millibits / 1000;
  case 3:
    return (double)(changes[rng_below(rng, COUNT(changes))] - 1 + rng_below(rng, 3)) / 1000;
  case 4:
    return odd[set / 6 % COUNT(odd)];
  default:
    return ((double)millibits + (double)rng_below(rng, 1 << 20) / (1 << 20)) / 1000;
  }
}

static lanebloom_builder *start(lanebloom_format format, double bits, uint64_t expected_keys)
{
  lanebloom_builder *builder;
  const lanebloom_status status = lanebloom_builder_create(format, bits, expected_keys, &builder);
  if (status != LANEBLOOM_OK)
    test_fatal("builder_create: status %d", (int)status);
  return builder;
}

/* Adds the keys from first to end - 1, in parts of any size. */
static void add(lanebloom_builder *builder, struct rng *rng, const lanebloom_keys *keys,
                size_t first, size_t end)
{
  while (first < end) {
    const size_t n = 1 + rng_below(rng, end - first);
    const lanebloom_keys part = lanebloom_keys_part(keys, first, n);
    cr_assert(lanebloom_builder_add(builder, &part) == LANEBLOOM_OK, "builder_add");
    first += n;
  }
}

static lanebloom_filter *finish(lanebloom_builder *builder)
{
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "builder_finish");
  lanebloom_builder_free(builder);
  return filter;
}

/* Builds a filter in every way: at once; from a stream; by merging two builders; and with one
 * builder or two merged ones that are sized for the number of entries that RocksDB counts. */
static void check_every_way(lanebloom_format format, double bits, uint64_t nentries,
                            struct rng *rng, const lanebloom_keys *keys, const uint8_t *expected,
                            size_t size)
{
  const size_t split = rng_below(rng, keys->n + 1);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(format, bits, keys, &filter) == LANEBLOOM_OK, "build");
  test_filter_bytes("build", filter, expected, size);

  lanebloom_builder *whole = start(format, bits, 0);
  add(whole, rng, keys, 0, keys->n);
  test_filter_bytes("builder", finish(whole), expected, size);

  for (uint64_t expected_keys = 0; expected_keys <= nentries; expected_keys += nentries) {
    lanebloom_builder *into = start(format, bits, expected_keys),
                      *from = start(format, bits, expected_keys);
    add(into, rng, keys, 0, split);
    add(from, rng, keys, split, keys->n);
    cr_assert(lanebloom_builder_merge(into, from, NULL, 0) == LANEBLOOM_OK, "builder_merge");
    lanebloom_builder_free(from);
    test_filter_bytes(expected_keys ? "merged sized builders" : "merged builders", finish(into),
                      expected, size);
    if (nentries == 0)
      return;
  }
  lanebloom_builder *sized = start(format, bits, nentries);
  add(sized, rng, keys, 0, keys->n);
  test_filter_bytes("sized builder", finish(sized), expected, size);
}

static void check_filters(lanebloom_format format)
{
  enum { NSETS = 2000, NQUERIES = 500 };
  struct rng rng = rng_start(2 + (uint64_t)format);
  struct key_set *set = key_set_make(&rng), *others = key_set_make(&rng);
  size_t nfilters = 0, nqueries = 0, nhits = 0, ncollapsed = 0;
  for (size_t s = 0; s < NSETS; s++, nfilters++) {
    const double bits = draw_bits(&rng, s);
    const size_t n = draw_nkeys(&rng, s);
    test_context("%s, set %zu: %zu keys at %.9g bits", lanebloom_format_name(format), s, n, bits);
    key_set_draw(set, &rng, n);
    oracle_builder *oracle = oracle_rocksdb_builder(format, bits);
    cr_assert(oracle, "RocksDB builds no filter");
    for (size_t i = 0; i < n; i++)
      oracle_rocksdb_add(oracle, set->slices[i].data, set->slices[i].size);
    const uint64_t nentries = oracle_rocksdb_nentries(oracle);
    ncollapsed += n - nentries;
    check_plan(format, bits, oracle, nentries);
    size_t size;
    uint8_t *expected = oracle_rocksdb_finish(oracle, &size);
    oracle_rocksdb_destroy(oracle);
    check_every_way(format, bits, nentries, &rng, &set->keys, expected, size);

    key_set_draw(others, &rng, NQUERIES);
    for (size_t i = 0; n > 0 && i < NQUERIES; i += 2)
      others->slices[i] = set->slices[rng_below(&rng, n)];
    nqueries += check_answers(s % 2 ? format : LANEBLOOM_ROCKSDB, expected, size, others, &nhits);
    free(expected);
  }
  cr_assert(nfilters == 2000 && nqueries == 1000000, "%zu filters, %zu answers", nfilters,
            nqueries);
  cr_assert(nhits > nqueries / 3 && nhits < nqueries * 9 / 10,
            "%zu of %zu queries hit: too uneven to tell much", nhits, nqueries);
  cr_assert(ncollapsed > 50000, "only %zu keys equal the one before", ncollapsed);
  key_set_free(set);
  key_set_free(others);
}

Test(oracle_rocksdb, legacy_filters)
{
  check_filters(LANEBLOOM_ROCKSDB_LEGACY);
}

Test(oracle_rocksdb, local_filters)
{
  check_filters(LANEBLOOM_ROCKSDB_LOCAL);
}

/* RocksDB builds these filters. If there are few keys, they are FastLocalBloom. The rate that
 * RocksDB states includes collisions of hashes, which are too rare to matter here. */
Test(oracle_rocksdb, ribbon_filters)
{
  enum { NSETS = 2000, NQUERIES = 500 };
  struct rng rng = rng_start(7);
  struct key_set *set = key_set_make(&rng), *others = key_set_make(&rng);
  size_t nqueries = 0, nhits = 0, nribbons = 0;
  for (size_t s = 0; s < NSETS; s++) {
    const double bits = draw_bits(&rng, s);
    const size_t n = s % 10 == 0 ? draw_nkeys(&rng, s) : 900 + rng_below(&rng, MAX_KEYS - 900);
    test_context("ribbon, set %zu: %zu keys at %.9g bits", s, n, bits);
    key_set_draw(set, &rng, n);
    oracle_builder *oracle = oracle_rocksdb_builder(LANEBLOOM_ROCKSDB_RIBBON, bits);
    cr_assert(oracle, "RocksDB builds no filter");
    for (size_t i = 0; i < n; i++)
      oracle_rocksdb_add(oracle, set->slices[i].data, set->slices[i].size);
    const size_t nentries = oracle_rocksdb_nentries(oracle);
    size_t size;
    uint8_t *bytes = oracle_rocksdb_finish(oracle, &size);
    lanebloom_filter *filter;
    lanebloom_filter_info info;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes, size, NULL, &filter, NULL, 0) ==
              LANEBLOOM_OK);
    lanebloom_filter_describe(filter, &info, sizeof info);
    lanebloom_filter_free(filter);
    if (info.format == LANEBLOOM_ROCKSDB_RIBBON) {
      const double expected = oracle_rocksdb_rate(oracle, nentries, size);
      cr_assert(fabs(info.model_rate - expected) <= 1e-9 * expected, "a rate of %.17g, not %.17g",
                info.model_rate, expected);
      nribbons++;
    }
    oracle_rocksdb_destroy(oracle);

    key_set_draw(others, &rng, NQUERIES);
    for (size_t i = 0; n > 0 && i < NQUERIES; i += 2)
      others->slices[i] = set->slices[rng_below(&rng, n)];
    nqueries += check_answers(s % 2 ? info.format : LANEBLOOM_ROCKSDB, bytes, size, others, &nhits);
    free(bytes);
  }
  cr_assert(nribbons > NSETS / 2 && nqueries == (size_t)NSETS * NQUERIES,
            "%zu Ribbons, %zu answers", nribbons, nqueries);
  cr_assert(nhits > nqueries / 3 && nhits < nqueries * 9 / 10,
            "%zu of %zu queries hit: too uneven to tell much", nhits, nqueries);
  key_set_free(set);
  key_set_free(others);
}

/* Filters without keys have five bytes and always answer no: they have a marker or a number of
 * probes, but no lines. */
Test(oracle_rocksdb, no_keys)
{
  const lanebloom_keys none = lanebloom_keys_fixed(NULL, 8, 0);
  for (size_t f = 0; f < COUNT(formats); f++)
    for (int bits = 1; bits <= 100; bits++) {
      test_context("%s, no keys at %d bits", lanebloom_format_name(formats[f]), bits);
      oracle_builder *oracle = oracle_rocksdb_builder(formats[f], bits);
      size_t size;
      uint8_t *expected = oracle_rocksdb_finish(oracle, &size);
      oracle_rocksdb_destroy(oracle);
      cr_assert(size == 5, "RocksDB makes %zu bytes", size);
      lanebloom_filter *filter;
      cr_assert(lanebloom_filter_build(formats[f], bits, &none, &filter) == LANEBLOOM_OK, "build");
      cr_assert(!lanebloom_filter_may_contain(filter, "", 0), "the empty key is in no keys");
      test_filter_bytes("build", filter, expected, size);
      free(expected);
    }
}
