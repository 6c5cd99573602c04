/* Planning: sizes, probes, the model rate and its inverse.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <lanebloom.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "format.h"
#include "support.h"

static double rate_of(double bits_per_key, uint64_t nkeys)
{
  double rate = NAN;
  lanebloom_status status = lanebloom_plan_rate(LANEBLOOM_LEVELDB, bits_per_key, nkeys, &rate);
  cr_assert(status == LANEBLOOM_OK, "%g bits, %llu keys: %s", bits_per_key,
            (unsigned long long)nkeys, lanebloom_status_text(status));
  return rate;
}

Test(plan, size_is_that_of_the_filter_that_is_built)
{
  static const uint64_t counts[] = {0, 1, 2, 6, 7, 100, 999};
  for (double bits = 0; bits < 50; bits++)
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      uint64_t nbytes;
      unsigned nprobes;
      cr_assert(lanebloom_plan_size(LANEBLOOM_LEVELDB, bits, counts[i], &nbytes, &nprobes) ==
                LANEBLOOM_OK);
      const lanebloom_keys keys = lanebloom_keys_fixed("", 0, counts[i]);
      lanebloom_filter *filter;
      cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, bits, &keys, &filter) == LANEBLOOM_OK);
      size_t size;
      lanebloom_filter_bytes(filter, &size);
      lanebloom_filter_info info;
      lanebloom_filter_describe(filter, &info, sizeof info);
      cr_assert(size == nbytes && info.nprobes == nprobes, "%g bits, %llu keys", bits,
                (unsigned long long)counts[i]);
      lanebloom_filter_free(filter);
    }
}

Test(plan, limits)
{
  uint64_t nbytes = 7;
  unsigned nprobes = 7;
  cr_assert(lanebloom_plan_size(LANEBLOOM_LEVELDB, 1, UINT64_MAX - 7, &nbytes, &nprobes) ==
            LANEBLOOM_OK);
  cr_assert(nbytes == (UINT64_MAX - 7) / 8 + 1 && nprobes == 1);
  nbytes = 7;
  cr_assert(lanebloom_plan_size(LANEBLOOM_LEVELDB, 1, UINT64_MAX - 6, &nbytes, &nprobes) ==
            LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_plan_size(LANEBLOOM_LEVELDB, 2, UINT64_MAX / 2 + 1, &nbytes, &nprobes) ==
            LANEBLOOM_ERR_LIMIT);
  cr_assert(nbytes == 7, "an error writes nothing");
  cr_assert(lanebloom_plan_size(LANEBLOOM_LEVELDB, INT_MAX, 3, &nbytes, &nprobes) == LANEBLOOM_OK);
  cr_assert(nbytes == (3ULL * INT_MAX + 7) / 8 + 1 && nprobes == 30);
  cr_assert(lanebloom_plan_size(LANEBLOOM_LEVELDB, INT_MAX + 1.0, 3, &nbytes, &nprobes) ==
            LANEBLOOM_ERR_ARGUMENT);
  cr_assert(lanebloom_plan_size(LANEBLOOM_LEVELDB, 0.5, 3, &nbytes, &nprobes) ==
            LANEBLOOM_ERR_ARGUMENT);
}

/* The textbook rate is computed by hand: (1 - e^(-6/10))^6 = 0.008436. Collisions add n / 2^32. */
Test(plan, the_rate_is_the_textbook_one_and_collisions)
{
  cr_assert(rate_of(10, 0) == 0);
  cr_assert(fabs(rate_of(10, 100000) - (0.0084362 + 100000 / 4294967296.0)) < 1e-6, "%.9g",
            rate_of(10, 100000));
  cr_assert(fabs(rate_of(10, 1000000) - (0.0084362 + 1000000 / 4294967296.0)) < 3e-6, "%.9g",
            rate_of(10, 1000000));
  /* With 100 bits for each of 43 million keys, a filter has all 2^32 bits. Only collisions remain,
   * whose rate is 1 %. */
  cr_assert(fabs(rate_of(100, 43000000) - -expm1(-43000000 / 4294967296.0)) < 1e-4);
  const double expected = 1.0 / 64 + 63.0 / 64 / 4294967296.0;
  cr_assert(fabs(rate_of(0, 1) - expected) < 1e-15, "one probe, one key, 64 bits: %.17g",
            rate_of(0, 1));
}

Test(plan, bits_are_the_least_that_reach_the_rate)
{
  static const uint64_t counts[] = {0, 1, 50, 1000, 123456, 10000000, 400000000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (double rate = 0.9; rate > 1e-7; rate /= 1.7) {
      double bits = NAN;
      lanebloom_status status = lanebloom_plan_bits(LANEBLOOM_LEVELDB, rate, counts[i], &bits);
      if (status == LANEBLOOM_ERR_LIMIT) {
        cr_assert(isnan(bits));
        cr_assert(rate_of(1000, counts[i]) > rate, "%g is within reach of %llu keys", rate,
                  (unsigned long long)counts[i]);
        continue;
      }
      cr_assert(status == LANEBLOOM_OK);
      cr_assert(rate_of(bits, counts[i]) <= rate, "%g bits do not reach %g", bits, rate);
      for (double less = 0; less < bits; less++)
        cr_assert(rate_of(less, counts[i]) > rate, "%g bits are enough for %g, not %g", less, rate,
                  bits);
    }
}

Test(plan, rates_out_of_range)
{
  static const double wrong[] = {0, 1, -0.1, 1.5, NAN, INFINITY};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    double bits = 7;
    cr_assert(lanebloom_plan_bits(LANEBLOOM_LEVELDB, wrong[i], 100, &bits) ==
                  LANEBLOOM_ERR_ARGUMENT,
              "%g", wrong[i]);
    cr_assert(bits == 7);
  }
  double bits;
  cr_assert(lanebloom_plan_bits(LANEBLOOM_LEVELDB, 0.001, 1000000000, &bits) == LANEBLOOM_ERR_LIMIT,
            "a billion keys collide more often than that");
}

Test(plan, rocksdb_sizes_and_limits)
{
  uint64_t nbytes;
  unsigned nprobes;
  /* By hand: 1000 x 10 bits are 1250 bytes, which take 20 lines of 64 bytes. 10,000 bits take 20
   * lines of 512 bits, and one more line, because the number of lines must be odd. */
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, 10, 1000, &nbytes, &nprobes) ==
            LANEBLOOM_OK);
  cr_assert(nbytes == 20 * 64 + 5 && nprobes == 6);
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LEGACY, 10, 1000, &nbytes, &nprobes) ==
            LANEBLOOM_OK);
  cr_assert(nbytes == 21 * 64 + 5 && nprobes == 6);
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, 25.501, 1, &nbytes, &nprobes) ==
                LANEBLOOM_OK &&
            nprobes == 12);
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, 25.502, 1, &nbytes, &nprobes) ==
                LANEBLOOM_OK &&
            nprobes == 11);
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, 1e9, 1, &nbytes, &nprobes) ==
                LANEBLOOM_OK &&
            nprobes == 24);
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, 10, 0, &nbytes, &nprobes) ==
                LANEBLOOM_OK &&
            nbytes == 5);

  const uint64_t local_max = 0xffffffc0u * UINT64_C(8) / 10; /* at 10 bits per key */
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, 10, local_max, &nbytes, &nprobes) ==
            LANEBLOOM_OK);
  cr_assert(nbytes == 0xffffffc0u + UINT64_C(5));
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, 10, local_max + 1, &nbytes, &nprobes) ==
            LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, 10, UINT64_MAX, &nbytes, &nprobes) ==
            LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LEGACY, 1, 0xffff0000u, &nbytes, &nprobes) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LEGACY, 1, 0xffff0001u, &nbytes, &nprobes) ==
            LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LEGACY, 1, UINT64_MAX, &nbytes, &nprobes) ==
            LANEBLOOM_ERR_LIMIT);
}

Test(plan, rocksdb_bits_are_the_least_that_reach_the_rate)
{
  static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB_LEGACY, LANEBLOOM_ROCKSDB_LOCAL};
  for (size_t i = 0; i < 2; i++) {
    const double step = i == 0 ? 1 : 0.001;
    for (double rate = 0.3; rate > 1e-5; rate /= 3) {
      double bits, reached, before;
      const lanebloom_status status = lanebloom_plan_bits(formats[i], rate, 1000, &bits);
      cr_assert(status == LANEBLOOM_OK || (i == 0 && rate < 0.004), "%g", rate);
      if (status)
        continue;
      cr_assert(lanebloom_plan_rate(formats[i], bits, 1000, &reached) == LANEBLOOM_OK &&
                reached <= rate);
      cr_assert(lanebloom_plan_rate(formats[i], bits - step, 1000, &before) == LANEBLOOM_OK &&
                    before > rate,
                "%g bits are enough for %g, not %g", bits - step, rate, bits);
    }
  }
}

/* Spark's number of words is an int. A filter without keys has the size of a filter of one key, and
 * one bit set. */
Test(plan, spark_sizes_and_limits)
{
  static const struct {
    lanebloom_format format;
    uint64_t header_nbytes;
  } rows[] = {{LANEBLOOM_SPARK_V1, 12}, {LANEBLOOM_SPARK_V2, 16}};
  const uint64_t most = 64 * (uint64_t)INT_MAX; /* at 1 bit per key */
  for (size_t i = 0; i < 2; i++) {
    const lanebloom_format format = rows[i].format;
    uint64_t nbytes;
    unsigned nprobes;
    cr_assert(lanebloom_plan_size(format, 1, most, &nbytes, &nprobes) == LANEBLOOM_OK);
    cr_assert(nbytes == rows[i].header_nbytes + 8 * (uint64_t)INT_MAX && nprobes == 1);
    nbytes = 7;
    cr_assert(lanebloom_plan_size(format, 1, most + 1, &nbytes, &nprobes) == LANEBLOOM_ERR_LIMIT);
    cr_assert(lanebloom_plan_size(format, 1, UINT64_MAX, &nbytes, &nprobes) == LANEBLOOM_ERR_LIMIT);
    cr_assert(nbytes == 7, "an error writes nothing");
    cr_assert(lanebloom_plan_size(format, 0.5, 0, &nbytes, &nprobes) == LANEBLOOM_OK);
    cr_assert(nbytes == rows[i].header_nbytes + 8 && nprobes == 1);
    cr_assert(lanebloom_plan_size(format, 1e9, 1000, &nbytes, &nprobes) == LANEBLOOM_OK);
    cr_assert(nbytes == rows[i].header_nbytes + UINT64_C(8) * 1563 && nprobes == 69);
    cr_assert(lanebloom_plan_size(format, 0.4999, 1, &nbytes, &nprobes) == LANEBLOOM_ERR_ARGUMENT);
  }
}

/* ---- The search for the bits of a rate, against all candidates in turn ---- */

/* LevelDB's format is searched up to 1,000 bits per key. Beyond them, only collisions remain. */
enum { MAX_MILLIBITS = 1000000 };

struct candidates {
  size_t n;
  double *bits;
  double *least; /* the lowest rate of this and earlier candidates */
};

static double in_effect(lanebloom_format format, double bits_per_key)
{
  const lanebloom_keys none = lanebloom_keys_fixed("", 0, 0);
  lanebloom_filter *filter;
  lanebloom_filter_info info;
  cr_assert(lanebloom_filter_build(format, bits_per_key, &none, &filter) == LANEBLOOM_OK);
  lanebloom_filter_describe(filter, &info, sizeof info);
  lanebloom_filter_free(filter);
  return info.bits_per_key;
}

/* Lists all effective numbers of bits per key, up to the first number that makes nkeys too many
 * keys. */
static struct candidates all_candidates(lanebloom_format format, uint64_t nkeys, double *rates)
{
  lanebloom_format_info info;
  cr_assert(lanebloom_format_describe(format, &info, sizeof info) == LANEBLOOM_OK);
  const uint64_t first = (uint64_t)round(1000 * in_effect(format, info.min_bits_per_key));
  const uint64_t step = (uint64_t)round(1000 * info.bits_per_key_step);
  const uint64_t last = (uint64_t)fmin(1000 * info.max_bits_per_key, MAX_MILLIBITS);
  struct candidates made = {.bits = test_alloc((last - first) / step * sizeof(double) + 8),
                            .least = test_alloc((last - first) / step * sizeof(double) + 8)};
  double least = INFINITY;
  for (uint64_t millibits = first; millibits <= last; millibits += step) {
    const double bits = (double)millibits / 1000;
    if (lanebloom_plan_rate(format, bits, nkeys, &rates[made.n]) != LANEBLOOM_OK)
      break;
    least = fmin(least, rates[made.n]);
    made.bits[made.n] = bits;
    made.least[made.n++] = least;
  }
  return made;
}

/* Returns the first candidate that reaches the rate, or n if none does. */
static size_t first_that_reaches(const struct candidates *candidates, double rate)
{
  size_t first = 0, end = candidates->n;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (candidates->least[middle] <= rate)
      end = middle;
    else
      first = middle + 1;
  }
  return first;
}

static void check_search(lanebloom_format format, uint64_t nkeys, double rate,
                         const struct candidates *candidates)
{
  if (!(rate > 0 && rate < 1))
    return;
  double bits = NAN;
  const size_t expected = first_that_reaches(candidates, rate);
  const lanebloom_status status = lanebloom_plan_bits(format, rate, nkeys, &bits);
  if (expected == candidates->n ? status != LANEBLOOM_ERR_LIMIT || !isnan(bits)
                                : status != LANEBLOOM_OK || bits != candidates->bits[expected])
    test_fatal("rate %.17g: %s, %.17g bits", rate, lanebloom_status_text(status), bits);
}

/* Searches for the bits that reach the rate of each candidate, and for the bits that reach the next
 * lower rate. Between two such rates the result does not change. */
Test(plan, bits_found_are_those_of_trying_all)
{
  static const uint64_t counts[] = {
      0,      1,       2,        5,        6,         64,         1000,        4321,
      123456, 9999999, 42949673, 85899345, 429496729, 3435973783, 34359738368, UINT64_MAX};
  double *rates = test_alloc((MAX_MILLIBITS + 1) * sizeof *rates);
  for (size_t f = 0; f < lanebloom_format_count(); f++) {
    const lanebloom_format format = lanebloom_format_at(f);
    lanebloom_format_info info;
    cr_assert(lanebloom_format_describe(format, &info, sizeof info) == LANEBLOOM_OK);
    const bool searches = info.builds && format != LANEBLOOM_PARQUET && /* Parquet has a formula */
                          !lanebloom_format_table(format)->plan_for_rate;
    const size_t ncounts = searches ? sizeof counts / sizeof *counts : 0;
    for (size_t c = 0; c < ncounts; c += test_exhaustive() ? 1 : 4) {
      test_context("%s, %llu keys", info.name, (unsigned long long)counts[c]);
      const struct candidates candidates = all_candidates(format, counts[c], rates);
      const size_t step = test_exhaustive() ? 7 : 487;
      for (size_t i = 0; i < candidates.n; i += step) {
        check_search(format, counts[c], rates[i], &candidates);
        check_search(format, counts[c], nextafter(rates[i], 0), &candidates);
      }
      check_search(format, counts[c], nextafter(1, 0), &candidates);
      check_search(format, counts[c], 1e-300, &candidates);
      free(candidates.bits);
      free(candidates.least);
    }
  }
  free(rates);
}

/* The sizes that BlockSplitBloomFilter::OptimalNumOfBytes of Arrow C++ 17 returns. The numbers of
 * keys include the largest ones before the size doubles. */
Test(plan, parquet_sizes_are_those_of_writers)
{
  static const struct {
    uint64_t nkeys;
    double rate;
    uint64_t nbytes;
  } rows[] = {
      {0, 0.01, 32},
      {1, 0.01, 32},
      {26, 0.01, 32},
      {27, 0.01, 64},
      {1000, 0.01, 2048},
      {1000000, 0.01, 2097152},
      {1000000, 0.1, 1048576},
      {1000000, 0.05, 1048576},
      {1000000, 0.001, 2097152},
      {1000000, 1e-06, 8388608},
      {13000000, 0.0001, 67108864},
      {110894000, 0.01, 134217728},
      {443570000, 0.01, 536870912},
      {123456789, 0.02, 134217728},
      {5, 0.5, 32},
      {4000000, 0.999999, 262144},
      {108306, 0.01, 131072},
      {108307, 0.01, 262144},
      {5546593, 0.003, 8388608},
      {5546594, 0.003, 16777216},
      {110906250, 0.01, 134217728},
      {110906251, 0.01, 268435456},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double bits;
    uint64_t nbytes;
    unsigned nprobes;
    test_context("%llu keys, rate %g", (unsigned long long)rows[i].nkeys, rows[i].rate);
    cr_assert(lanebloom_plan_bits(LANEBLOOM_PARQUET, rows[i].rate, rows[i].nkeys, &bits) == 0);
    cr_assert(lanebloom_plan_size(LANEBLOOM_PARQUET, bits, rows[i].nkeys, &nbytes, &nprobes) == 0);
    cr_assert(nbytes == rows[i].nbytes && nprobes == 8, "%llu bytes", (unsigned long long)nbytes);
  }
  double bits = NAN;
  cr_assert(lanebloom_plan_bits(LANEBLOOM_PARQUET, 0.01, 900000000, &bits) == LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_plan_bits(LANEBLOOM_PARQUET, 1e-300, 4, &bits) == LANEBLOOM_ERR_LIMIT);
  cr_assert(isnan(bits));
}

/* `most` is the factor by which the model's rate may exceed the given rate, as lanebloom.h states
 * it. */
Test(plan, parquet_rates_are_those_of_blocks)
{
  static const struct {
    double rate, most;
  } rows[] = {{0.01, 1.5}, {0.001, 2.1}, {0.0001, 3.3}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double highest = 0;
    for (uint64_t nkeys = 1000000; nkeys < 2000000; nkeys += 1000) {
      double bits, rate;
      cr_assert(lanebloom_plan_bits(LANEBLOOM_PARQUET, rows[i].rate, nkeys, &bits) == 0);
      cr_assert(lanebloom_plan_rate(LANEBLOOM_PARQUET, bits, nkeys, &rate) == 0);
      highest = fmax(highest, rate / rows[i].rate);
    }
    cr_assert(highest <= rows[i].most && highest > rows[i].most - 0.15, "%g: %g", rows[i].rate,
              highest);
  }
}
