/* The real RocksDB is the judge of its two formats: hashes, filters, estimates, and answers to
 * whatever a trailer says.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lanebloom.h>

#include "oracle_rocksdb.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB_LEGACY, LANEBLOOM_ROCKSDB_LOCAL};

/* Where the engine stops growing: bits of a legacy filter, bytes of a FastLocalBloom, trailers not
 * counted. */
static const uint64_t MAX_LEGACY_NBITS = 0xffff0000, MAX_LOCAL_NBYTES = 0xffffffc0;

/* ---- Keys ---- */

enum { MAX_KEYS = 5000, MAX_LENGTH = 300, POOL_NBYTES = 64 * MAX_KEYS };

/* Keys that share a pool of random bytes. */
struct key_set {
  uint8_t *pool;
  lanebloom_slice slices[MAX_KEYS];
  lanebloom_keys keys;
};

static struct key_set *key_set_make(struct rng *rng)
{
  struct key_set *set = test_alloc(sizeof *set);
  set->pool = test_alloc(POOL_NBYTES);
  rng_fill(rng, set->pool, POOL_NBYTES);
  return set;
}

static void key_set_free(struct key_set *set)
{
  free(set->pool);
  free(set);
}

/* n keys: short, long or both; one in eight a copy of the one before, which does not count, and one
 * in eight of any earlier one, which does. */
static void key_set_draw(struct key_set *set, struct rng *rng, size_t n)
{
  static const size_t longest[] = {4, 16, 40, MAX_LENGTH};
  const size_t end = longest[rng_below(rng, COUNT(longest))] + 1;
  for (size_t i = 0; i < n; i++) {
    const uint64_t at = rng_below(rng, POOL_NBYTES - MAX_LENGTH), copy = rng_below(rng, 8);
    set->slices[i] = (lanebloom_slice){set->pool + at, rng_below(rng, end)};
    if (i > 0 && copy < 2)
      set->slices[i] = set->slices[copy == 0 ? i - 1 : rng_below(rng, i)];
  }
  set->keys = lanebloom_keys_slices(set->slices, n);
}

/* Screens the key set, opened as `format`; every answer must be RocksDB's. Returns how many it was
 * asked for. */
static size_t check_answers(lanebloom_format format, const uint8_t *bytes, size_t size,
                            const struct key_set *set, size_t *nhits)
{
  uint8_t bitmap[(MAX_KEYS + 7) / 8];
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(format, bytes, size, &filter) == LANEBLOOM_OK, "open");
  const size_t count = lanebloom_filter_screen(filter, &set->keys, bitmap);
  lanebloom_filter_close(filter);

  oracle_reader *reader = oracle_rocksdb_reader(bytes, size);
  size_t expected_count = 0;
  for (size_t i = 0; i < set->keys.n; i++) {
    const bool expected =
        oracle_rocksdb_may_match(reader, set->slices[i].data, set->slices[i].size);
    expected_count += expected;
    if ((bitmap[i / 8] >> i % 8 & 1) != expected)
      test_fatal("as %s, filter of %zu bytes, key %zu of %zu bytes: RocksDB answers %d",
                 lanebloom_format_name(format), size, i, set->slices[i].size, expected);
  }
  oracle_rocksdb_close(reader);
  if (count != expected_count)
    test_fatal("filter of %zu bytes: %zu of %zu keys pass, expected %zu", size, count, set->keys.n,
               expected_count);
  *nhits += count;
  return set->keys.n;
}

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

/* Ten sets of each small number of keys, then any number, mostly below a thousand. */
static size_t draw_nkeys(struct rng *rng, size_t set)
{
  return set < 10 * 66    ? set / 10
         : set % 100 == 0 ? MAX_KEYS
                          : rng_below(rng, MAX_KEYS + 1) >> rng_below(rng, 12);
}

/* Whole numbers and their middles, thousandths and what rounds to them, everything between; and
 * around the numbers at which FastLocalBloom changes its probes, and the ends. */
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

static void check_filter(const char *how, lanebloom_filter *filter, const uint8_t *expected,
                         size_t expected_size)
{
  size_t size;
  const void *bytes = lanebloom_filter_bytes(filter, &size);
  if (size != expected_size)
    test_fatal("%s: %zu bytes, expected %zu", how, size, expected_size);
  test_same_bytes(how, bytes, expected, size);
  lanebloom_filter_close(filter);
}

static lanebloom_builder *start(lanebloom_format format, double bits, uint64_t expected_keys)
{
  lanebloom_builder *builder;
  const lanebloom_status status = lanebloom_builder_create(format, bits, expected_keys, &builder);
  if (status != LANEBLOOM_OK)
    test_fatal("builder_create: status %d", (int)status);
  return builder;
}

/* Adds keys first .. end, in pieces of any size. */
static void add(lanebloom_builder *builder, struct rng *rng, const lanebloom_keys *keys,
                size_t first, size_t end)
{
  while (first < end) {
    const size_t n = 1 + rng_below(rng, end - first);
    const lanebloom_keys piece = lanebloom_keys_part(keys, first, n);
    cr_assert(lanebloom_builder_add(builder, &piece) == LANEBLOOM_OK, "builder_add");
    first += n;
  }
}

static lanebloom_filter *finish(lanebloom_builder *builder)
{
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "builder_finish");
  lanebloom_builder_destroy(builder);
  return filter;
}

/* In every way to build: at once, streamed, as two builders merged, and sized for the number of
 * entries that RocksDB counts, whole and merged. */
static void check_every_way(lanebloom_format format, double bits, uint64_t nentries,
                            struct rng *rng, const lanebloom_keys *keys, const uint8_t *expected,
                            size_t size)
{
  const size_t split = rng_below(rng, keys->n + 1);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(format, bits, keys, &filter) == LANEBLOOM_OK, "build");
  check_filter("build", filter, expected, size);

  lanebloom_builder *whole = start(format, bits, 0);
  add(whole, rng, keys, 0, keys->n);
  check_filter("builder", finish(whole), expected, size);

  for (uint64_t expected_keys = 0; expected_keys <= nentries; expected_keys += nentries) {
    lanebloom_builder *into = start(format, bits, expected_keys),
                      *from = start(format, bits, expected_keys);
    add(into, rng, keys, 0, split);
    add(from, rng, keys, split, keys->n);
    cr_assert(lanebloom_builder_merge(into, from) == LANEBLOOM_OK, "builder_merge");
    lanebloom_builder_destroy(from);
    check_filter(expected_keys ? "merged sized builders" : "merged builders", finish(into),
                 expected, size);
    if (nentries == 0)
      return;
  }
  lanebloom_builder *sized = start(format, bits, nentries);
  add(sized, rng, keys, 0, keys->n);
  check_filter("sized builder", finish(sized), expected, size);
}

/* Sizes and rates of nentries, which need not be there, to the last bit. */
static void check_plan(lanebloom_format format, double bits, oracle_builder *oracle,
                       uint64_t nentries)
{
  uint64_t nbytes;
  unsigned nprobes;
  double rate = -1;
  cr_assert(lanebloom_plan_size(format, bits, nentries, &nbytes, &nprobes) == LANEBLOOM_OK,
            "plan_size");
  const uint64_t expected_nbytes = oracle_rocksdb_nbytes(oracle, nentries);
  if (nbytes != expected_nbytes)
    test_fatal("%llu entries at %.9g bits: %llu bytes, expected %llu", (unsigned long long)nentries,
               bits, (unsigned long long)nbytes, (unsigned long long)expected_nbytes);
  cr_assert(lanebloom_plan_rate(format, bits, nentries, &rate) == LANEBLOOM_OK, "plan_rate");
  const double expected = nentries > 0 ? oracle_rocksdb_rate(oracle, nentries, nbytes) : 0;
  if (memcmp(&rate, &expected, sizeof rate) != 0)
    test_fatal("%llu entries at %.9g bits: a rate of %.20g, expected %.20g",
               (unsigned long long)nentries, bits, rate, expected);
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

/* Five bytes, which answer no: a marker or the number of probes is there, lines are not. */
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
      check_filter("build", filter, expected, size);
      free(expected);
    }
}

/* ---- Plans ---- */

static uint64_t most_entries(lanebloom_format format, double bits)
{
  const uint64_t millibits = (uint64_t)(bits * 1000 + 0.5);
  return format == LANEBLOOM_ROCKSDB_LEGACY ? MAX_LEGACY_NBITS / ((millibits + 500) / 1000)
                                            : 8000 * MAX_LOCAL_NBYTES / millibits;
}

static void check_limit(lanebloom_format format, double bits, uint64_t nentries)
{
  uint64_t nbytes = 7;
  unsigned nprobes = 7;
  double rate = 7;
  if (lanebloom_plan_size(format, bits, nentries, &nbytes, &nprobes) != LANEBLOOM_ERR_LIMIT ||
      lanebloom_plan_rate(format, bits, nentries, &rate) != LANEBLOOM_ERR_LIMIT || nbytes != 7 ||
      nprobes != 7 || rate != 7)
    test_fatal("%llu entries at %.9g bits are no limit", (unsigned long long)nentries, bits);
}

/* Thousandths round up from a little below their middle on. */
Test(oracle_rocksdb, plans_between_thousandths)
{
  enum { NENTRIES = 40000007 }; /* one thousandth of a bit more is many bytes more */
  static const double beyond[] = {0.25, 0.499998, 0.4999995, 0.5, 0.75};
  size_t n = 0;
  for (size_t f = 0; f < COUNT(formats); f++)
    for (unsigned millibits = 1000; millibits <= 100000; millibits++, n++) {
      const double bits =
          (millibits + beyond[(millibits + millibits / 1000) % COUNT(beyond)]) / 1000;
      test_context("%s, %.9g bits", lanebloom_format_name(formats[f]), bits);
      oracle_builder *oracle = oracle_rocksdb_builder(formats[f], bits);
      check_plan(formats[f], bits, oracle, NENTRIES);
      oracle_rocksdb_destroy(oracle);
    }
  cr_assert(n == 2 * 99001, "%zu plans", n);
}

/* Every size up to the one at which RocksDB's stop growing, and an error from there on. */
Test(oracle_rocksdb, plans)
{
  enum { NPLANS = 20000 };
  struct rng rng = rng_start(10);
  size_t n = 0;
  for (size_t f = 0; f < COUNT(formats); f++)
    for (unsigned millibits = 1000; millibits <= 100000; millibits += n < 52000 ? 1 : 97, n++) {
      const double bits = (double)millibits / 1000;
      test_context("%s, %u millibits", lanebloom_format_name(formats[f]), millibits);
      oracle_builder *oracle = oracle_rocksdb_builder(formats[f], bits);
      const uint64_t most = most_entries(formats[f], bits);
      check_plan(formats[f], bits, oracle, rng_below(&rng, 10000));
      check_plan(formats[f], bits, oracle, rng_below(&rng, most) >> rng_below(&rng, 30));
      check_plan(formats[f], bits, oracle, most);
      check_limit(formats[f], bits, most + 1);
      check_limit(formats[f], bits, UINT64_MAX);
      if (oracle_rocksdb_nbytes(oracle, most + 1) != oracle_rocksdb_nbytes(oracle, 2 * most))
        test_fatal("RocksDB's sizes still grow after %llu entries", (unsigned long long)most);
      oracle_rocksdb_destroy(oracle);
    }
  cr_assert(n > NPLANS, "%zu plans", n);
}

/* The last sizes that are RocksDB's own. */
Test(oracle_rocksdb, limits)
{
  static const struct {
    lanebloom_format format;
    double bits;
    uint64_t nkeys, nbytes; /* 0: beyond the limit */
  } rows[] = {
      {LANEBLOOM_ROCKSDB_LEGACY, 1, 0xffff0000, 536862784 + 5},
      {LANEBLOOM_ROCKSDB_LEGACY, 1, 0xffff0001, 0},
      {LANEBLOOM_ROCKSDB_LEGACY, 16, 0x0ffff000, 536862784 + 5},
      {LANEBLOOM_ROCKSDB_LEGACY, 16, 0x0ffff001, 0},
      {LANEBLOOM_ROCKSDB_LEGACY, 16, (uint64_t)1 << 60, 0},
      {LANEBLOOM_ROCKSDB_LOCAL, 1, 8 * 0xffffffc0ull, 0xffffffc0ull + 5},
      {LANEBLOOM_ROCKSDB_LOCAL, 1, 8 * 0xffffffc0ull + 1, 0},
      {LANEBLOOM_ROCKSDB_LOCAL, 8, 0xffffffc0, 0xffffffc0ull + 5},
      {LANEBLOOM_ROCKSDB_LOCAL, 8, 0xffffffc1, 0},
      {LANEBLOOM_ROCKSDB_LOCAL, 10, 3435973785, 0xffffffc0ull + 5},
      {LANEBLOOM_ROCKSDB_LOCAL, 10, 3435973786, 0},
      {LANEBLOOM_ROCKSDB_LOCAL, 16, (uint64_t)1 << 60, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    uint64_t nbytes = 0;
    unsigned nprobes = 0;
    const lanebloom_status status =
        lanebloom_plan_size(rows[i].format, rows[i].bits, rows[i].nkeys, &nbytes, &nprobes);
    cr_assert(status == (rows[i].nbytes ? LANEBLOOM_OK : LANEBLOOM_ERR_LIMIT), "row %zu: status %d",
              i, (int)status);
    cr_assert(nbytes == rows[i].nbytes, "row %zu: %llu bytes", i, (unsigned long long)nbytes);
    lanebloom_builder *builder = NULL;
    if (rows[i].nbytes == 0)
      cr_assert(lanebloom_builder_create(rows[i].format, rows[i].bits, rows[i].nkeys, &builder) ==
                        LANEBLOOM_ERR_LIMIT &&
                    !builder,
                "row %zu: a builder", i);
  }
}

/* Below half a bit RocksDB writes no filter, and here it is an error; so are numbers that it takes
 * for others. */
Test(oracle_rocksdb, least_bits)
{
  static const double none[] = {0, 1e-9, 0.25, 0.4999999999999999},
                      some[] = {0.5, 0.5000000000000001, 0.999, 1};
  static const double refused[] = {-1, -0.5, NAN, INFINITY, -INFINITY};
  const lanebloom_keys key = lanebloom_keys_fixed("key", 3, 1);
  for (size_t f = 0; f < COUNT(formats); f++) {
    const lanebloom_format format = formats[f];
    for (size_t i = 0; i < COUNT(none) + COUNT(refused); i++) {
      const double bits = i < COUNT(none) ? none[i] : refused[i - COUNT(none)];
      cr_assert(i >= COUNT(none) || !oracle_rocksdb_builder(format, bits),
                "RocksDB builds a filter of %g bits", bits);
      lanebloom_filter *filter;
      lanebloom_builder *builder;
      uint64_t nbytes;
      unsigned nprobes;
      double rate;
      cr_assert(lanebloom_filter_build(format, bits, &key, &filter) == LANEBLOOM_ERR_ARGUMENT,
                "build, %g bits", bits);
      cr_assert(lanebloom_builder_create(format, bits, 0, &builder) == LANEBLOOM_ERR_ARGUMENT,
                "create, %g", bits);
      cr_assert(lanebloom_builder_create(format, bits, 9, &builder) == LANEBLOOM_ERR_ARGUMENT,
                "create, %g", bits);
      cr_assert(lanebloom_plan_size(format, bits, 1, &nbytes, &nprobes) == LANEBLOOM_ERR_ARGUMENT,
                "size, %g", bits);
      cr_assert(lanebloom_plan_rate(format, bits, 1, &rate) == LANEBLOOM_ERR_ARGUMENT,
                "rate, %g bits", bits);
    }
    for (size_t i = 0; i < COUNT(some); i++) {
      oracle_builder *oracle = oracle_rocksdb_builder(format, some[i]);
      cr_assert(oracle, "RocksDB builds no filter of %g bits", some[i]);
      check_plan(format, some[i], oracle, 1234567);
      oracle_rocksdb_destroy(oracle);
    }
  }
}

/* ---- Readers ---- */

enum kind { CONSTANT, LEGACY, LOCAL, RIBBON };

static enum kind kind_of(const uint8_t *bytes, size_t size)
{
  const uint8_t *trailer = bytes + size - 5;
  if (size <= 5)
    return CONSTANT;
  if (trailer[0] == 0xfe)
    return trailer[2] < 2 && trailer[3] == 0 && trailer[4] == 0 ? CONSTANT : RIBBON;
  return trailer[0] == 0xff ? LOCAL : trailer[0] >= 1 && trailer[0] <= 127 ? LEGACY : CONSTANT;
}

static uint32_t line_count(const uint8_t *bytes, size_t size)
{
  return bytes[size - 4] | (uint32_t)bytes[size - 3] << 8 | (uint32_t)bytes[size - 2] << 16 |
         (uint32_t)bytes[size - 1] << 24;
}

/* Does RocksDB read outside of these bytes? It then cannot be asked, and lanebloom lets every key
 * pass. */
static bool is_read_outside(const uint8_t *bytes, size_t size)
{
  if (kind_of(bytes, size) == LOCAL)
    return size - 5 < 64;
  return kind_of(bytes, size) == LEGACY && line_count(bytes, size) * (uint32_t)64 == size - 5 &&
         line_count(bytes, size) * (uint64_t)64 != size - 5;
}

struct tally {
  size_t nfilters, nrefused, noutside, nqueries, nhits;
};

/* Opens bytes as each of RocksDB's formats. They end at an unmapped page. */
static void check_reader(const uint8_t *bytes, size_t size, const struct key_set *set,
                         struct tally *tally)
{
  static const lanebloom_format opened[] = {LANEBLOOM_ROCKSDB, LANEBLOOM_ROCKSDB_LEGACY,
                                            LANEBLOOM_ROCKSDB_LOCAL};
  const enum kind kind = kind_of(bytes, size);
  struct guarded guarded = guarded_copy(bytes, size, AT_END);
  guarded_freeze(&guarded);
  for (size_t f = 0; f < COUNT(opened); f++) {
    lanebloom_filter *filter = NULL;
    if (kind == RIBBON || (kind == LEGACY && opened[f] == LANEBLOOM_ROCKSDB_LOCAL) ||
        (kind == LOCAL && opened[f] == LANEBLOOM_ROCKSDB_LEGACY)) {
      if (lanebloom_filter_parse_raw(opened[f], guarded.bytes, size, &filter) !=
              LANEBLOOM_ERR_FORMAT ||
          filter)
        test_fatal("opens as %s", lanebloom_format_name(opened[f]));
      tally->nrefused++;
    } else if (is_read_outside(bytes, size)) {
      cr_assert(lanebloom_filter_parse_raw(opened[f], guarded.bytes, size, &filter) == LANEBLOOM_OK,
                "open");
      if (lanebloom_filter_screen(filter, &set->keys, NULL) != set->keys.n)
        test_fatal("as %s not every key passes", lanebloom_format_name(opened[f]));
      lanebloom_filter_close(filter);
      tally->noutside++;
    } else {
      tally->nqueries += check_answers(opened[f], guarded.bytes, size, set, &tally->nhits);
      tally->nfilters++;
    }
  }
  guarded_free(&guarded);
}

/* Random bytes, of which in four times out of five most are 1. */
static void draw_payload(struct rng *rng, uint8_t *bytes, size_t size)
{
  rng_fill(rng, bytes, size);
  for (uint64_t i = rng_below(rng, 5); i > 0; i--)
    for (size_t at = 0; at < size; at++)
      bytes[at] |= (uint8_t)rng_next(rng);
}

static void put_trailer(uint8_t *at, uint8_t marker, uint32_t rest)
{
  at[0] = marker;
  for (size_t i = 0; i < 4; i++)
    at[1 + i] = (uint8_t)(rest >> 8 * i);
}

enum { MAX_PAYLOAD = 2048, NASKED = 40 };

/* Too short for a trailer; then every byte where the marker is, in front of anything and of nothing
 * odd. */
Test(oracle_rocksdb, reader_every_marker)
{
  static const uint32_t rests[] = {0,          0x00000600, 0x00000100, 0x00000200, 0x00010000,
                                   0x01000000, 1,          5,          17};
  struct rng rng = rng_start(20);
  struct key_set *set = key_set_make(&rng);
  struct tally tally = {0};
  uint8_t bytes[MAX_PAYLOAD + 5];
  for (size_t size = 0; size <= 5; size++)
    for (unsigned last = 0; last < 256; last++) {
      test_context("%zu bytes of %02x", size, last);
      memset(bytes, (int)last, sizeof bytes);
      key_set_draw(set, &rng, 3);
      check_reader(bytes, size, set, &tally);
    }
  cr_assert(tally.nhits == 0 && tally.nfilters == 3 * 6 * 256, "%zu of %zu hits", tally.nhits,
            tally.nqueries);

  for (unsigned marker = 0; marker < 256; marker++)
    for (size_t r = 0; r < 2 * COUNT(rests); r++) {
      const size_t payload = r % 3 == 0 ? 1 + rng_below(&rng, 200) : 64 * (1 + rng_below(&rng, 17));
      draw_payload(&rng, bytes, payload);
      put_trailer(bytes + payload, (uint8_t)marker,
                  r < COUNT(rests) ? rests[r] : (uint32_t)rng_next(&rng));
      test_context("marker %02x, rest %zu, payload of %zu bytes", marker, r, payload);
      key_set_draw(set, &rng, NASKED);
      check_reader(bytes, payload + 5, set, &tally);
    }
  cr_assert(tally.nqueries > 300000 && tally.nrefused > 2000, "%zu queries, %zu refused",
            tally.nqueries, tally.nrefused);
  key_set_free(set);
}

/* Every byte where the number of probes is, and odd ones beside it; whole lines, parts of them, and
 * less than one. */
Test(oracle_rocksdb, reader_local)
{
  static const uint32_t odd[] = {0,          0,          0,          0x00000001,
                                 0x000000ff, 0x00010000, 0x01000000, 0xff000000};
  struct rng rng = rng_start(21);
  struct key_set *set = key_set_make(&rng);
  struct tally tally = {0};
  uint8_t bytes[MAX_PAYLOAD + 5];
  for (uint32_t nprobes = 0; nprobes < 256; nprobes++)
    for (size_t o = 0; o < COUNT(odd); o++) {
      const size_t payload =
          o == 0 ? 64 * (1 + rng_below(&rng, 30)) : 1 + rng_below(&rng, o == 1 ? 63 : MAX_PAYLOAD);
      draw_payload(&rng, bytes, payload);
      put_trailer(bytes + payload, 0xff, odd[o] | nprobes << 8);
      test_context("FastLocalBloom, probes %02x, odd %08x, payload of %zu bytes", nprobes, odd[o],
                   payload);
      key_set_draw(set, &rng, NASKED);
      check_reader(bytes, payload + 5, set, &tally);
    }
  cr_assert(tally.nqueries > 130000 && tally.noutside >= 512, "%zu queries, %zu outside",
            tally.nqueries, tally.noutside);
  key_set_free(set);
}

/* Every number of probes with lines of every size, powers of two and others; no lines, and more
 * than there are bytes. */
Test(oracle_rocksdb, reader_legacy)
{
  enum { NKINDS = 16 };
  struct rng rng = rng_start(22);
  struct key_set *set = key_set_make(&rng);
  struct tally tally = {0};
  uint8_t bytes[MAX_PAYLOAD + 5];
  for (uint8_t nprobes = 1; nprobes <= 127; nprobes++)
    for (size_t k = 0; k < NKINDS; k++) {
      const size_t line =
          k < 10 ? (size_t)1 << k : 1 + rng_below(&rng, 200); /* 1 to 512, and any */
      const size_t nlines = 1 + rng_below(&rng, MAX_PAYLOAD / line);
      const size_t rest = k == 14 ? 1 + rng_below(&rng, 7) : 0;
      const size_t payload =
          nlines * line + rest <= MAX_PAYLOAD ? nlines * line + rest : nlines * line;
      uint32_t written = (uint32_t)nlines;
      if (k == 11)
        written = 0;
      else if (k == 12)
        written = (uint32_t)rng_next(&rng);
      else if (k == 13)
        written = (uint32_t)payload / 64 + ((uint32_t)1 << 26); /* times 64 this wraps */
      draw_payload(&rng, bytes, payload);
      put_trailer(bytes + payload, nprobes, written);
      test_context("legacy, %u probes, %u lines, payload of %zu bytes", nprobes, written, payload);
      key_set_draw(set, &rng, NASKED);
      check_reader(bytes, payload + 5, set, &tally);
    }
  cr_assert(tally.nqueries > 150000 && tally.nhits > tally.nqueries / 4 &&
                tally.nhits < tally.nqueries * 3 / 4,
            "%zu of %zu queries hit: too uneven to tell much", tally.nhits, tally.nqueries);
  key_set_free(set);
}

/* Up to the largest filters that RocksDB can have in memory. Every second key has its bits, every
 * fourth all but one. */
Test(oracle_rocksdb, reader_of_large_filters)
{
  enum { NKEYS = 200 };
  static const struct {
    lanebloom_format format;
    uint64_t payload;
    uint8_t marker;
    uint32_t rest;
  } rows[] = {
      {LANEBLOOM_ROCKSDB_LOCAL, 0x7fffffc0, 0xff, 0x0600},
      {LANEBLOOM_ROCKSDB_LOCAL, 0x80000000, 0xff, 0x0600},
      {LANEBLOOM_ROCKSDB_LOCAL, 0xffffffc0, 0xff, 0x1e00},
      {LANEBLOOM_ROCKSDB_LOCAL, 0xfffffffa, 0xff, 0x0600},
      {LANEBLOOM_ROCKSDB_LEGACY, 536862784, 6, 8388481},
      {LANEBLOOM_ROCKSDB_LEGACY, 0xffffffc0, 30, 67108863},
      {LANEBLOOM_ROCKSDB_LEGACY, 0x80000040, 6, 33554433},
      {LANEBLOOM_ROCKSDB_LEGACY, 0xffffff80, 6, 33554431},
      {LANEBLOOM_ROCKSDB_LEGACY, 0xfffffff9, 6, 0xfffffff9},
      {LANEBLOOM_ROCKSDB_LEGACY, 0xf8000000, 30, 31},
  };
  struct rng rng = rng_start(23);
  struct key_set *set = key_set_make(&rng);
  for (size_t r = 0; r < COUNT(rows); r++) {
    test_context("row %zu: payload of %llu bytes", r, (unsigned long long)rows[r].payload);
    key_set_draw(set, &rng, NKEYS);
    struct guarded bytes = guarded_sparse(rows[r].payload + 5);
    put_trailer(bytes.bytes + rows[r].payload, rows[r].marker, rows[r].rest);
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes.bytes, bytes.nbytes, &filter) ==
                  LANEBLOOM_OK,
              "open");
    for (size_t i = 0; i < NKEYS; i += 2) {
      const lanebloom_keys key = lanebloom_keys_part(&set->keys, i, 1);
      uint64_t hash = 0, positions[128];
      cr_assert(lanebloom_hash(rows[r].format, &key, &hash) == LANEBLOOM_OK, "hash");
      const size_t n = lanebloom_filter_positions(filter, &hash, positions);
      cr_assert(n >= 6, "%zu positions", n);
      const size_t missing = i % 8 == 2   ? 0
                             : i % 8 == 6 ? n - 1
                                          : n; /* the first probe, the last, none */
      for (size_t p = 0; p < n; p++)
        if (p != missing)
          bytes.bytes[positions[p] / 8] |= (uint8_t)(1 << positions[p] % 8);
    }
    lanebloom_filter_close(filter);
    size_t nhits = 0;
    check_answers(rows[r].format, bytes.bytes, bytes.nbytes, set, &nhits);
    check_answers(LANEBLOOM_ROCKSDB, bytes.bytes, bytes.nbytes, set, &nhits);
    cr_assert(nhits >= NKEYS / 2 && nhits < 2 * NKEYS, "%zu keys pass", nhits);
    guarded_free(&bytes);
  }
  key_set_free(set);
}

/* Bytes that fit no 32-bit size are refused; one less is looked at. */
Test(oracle_rocksdb, reader_of_2_to_32_bytes)
{
  struct guarded bytes = guarded_sparse((uint64_t)1 << 32);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes.bytes, bytes.nbytes, &filter) ==
            LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB_LOCAL, bytes.bytes, bytes.nbytes,
                                       &filter) == LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB_LEGACY, bytes.bytes, bytes.nbytes,
                                       &filter) == LANEBLOOM_ERR_LIMIT);
  cr_assert(!filter, "a filter after an error");
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes.bytes + 1, bytes.nbytes - 1,
                                       &filter) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_may_contain(filter, "key", 3),
            "a trailer of zeros lets every key pass");
  lanebloom_filter_close(filter);
  guarded_free(&bytes);
}

/* Lines of 2^28 bytes and more overflow RocksDB's arithmetic. Here every key passes. */
Test(oracle_rocksdb, reader_of_too_large_lines)
{
  for (uint32_t nlines = 1; nlines < 16; nlines++) {
    const uint64_t payload = ((uint64_t)1 << 28) * nlines;
    struct guarded bytes = guarded_sparse(payload + 5);
    put_trailer(bytes.bytes + payload, 6, nlines);
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB_LEGACY, bytes.bytes, bytes.nbytes,
                                         &filter) == LANEBLOOM_OK);
    cr_assert(lanebloom_filter_may_contain(filter, "key", 3), "%u lines", nlines);
    lanebloom_filter_close(filter);
    guarded_free(&bytes);
  }
}
