/* Compares plans with the real RocksDB: sizes and rates, up to its own limits.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "rocksdb.h"

/* The sizes at which RocksDB's filters stop growing, without trailers: bits of a legacy filter,
 * bytes of a FastLocalBloom. */
static const uint64_t MAX_LEGACY_NBITS = 0xffff0000, MAX_LOCAL_NBYTES = 0xffffffc0;

void check_plan(lanebloom_format format, double bits, oracle_builder *oracle, uint64_t nentries)
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

/* Bits per key are rounded to thousandths. From a little below the middle on, they are
 * rounded up. */
Test(oracle_rocksdb, plans_between_thousandths)
{
  enum { NENTRIES = 40000007 }; /* a thousandth of a bit makes many bytes */
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

/* Tries every size up to the largest that RocksDB's filters have, and checks that larger
 * ones fail. */
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

/* The largest sizes, which equal RocksDB's. */
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

/* Below half a bit per key, RocksDB writes no filter. Such numbers are an error here, and so are
 * numbers that RocksDB replaces by others. */
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
