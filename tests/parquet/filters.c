/* Filters of column chunks: headers that are refused, zeros and NaN, INT96, few keys for large
 * filters, and many keys.
 * SPDX-License-Identifier: MIT */
#include "writer.h"

/* Builds a filter of these keys, with the header of a filter. For free(). */
static uint8_t *build_filter(const lanebloom_keys *keys, double bits_per_key, size_t *nbytes)
{
  lanebloom_filter *filter;
  size_t nbits;
  struct writer writer = {0};
  cr_assert(lanebloom_filter_build(LANEBLOOM_PARQUET, bits_per_key, keys, &filter) == LANEBLOOM_OK);
  const void *bits = lanebloom_filter_bytes(filter, &nbits);
  write_filter_header(&writer, (struct filter_header){(int32_t)nbits, 1, 1, 1});
  write_bytes(&writer, bits, nbits);
  lanebloom_filter_free(filter);
  *nbytes = writer.n;
  return writer.bytes;
}

/* ---- Refusals ---- */

/* Checks that screening fails and reports that every key may be there. */
static void refused(const struct file_plan *plan, lanebloom_status expected, const char *text)
{
  static const int32_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const lanebloom_keys keys = lanebloom_keys_fixed(numbers, 4, 9);
  uint8_t *bytes, bitmap[2] = {0, 0xff};
  char problem[PROBLEM_NBYTES], again[PROBLEM_NBYTES];
  lanebloom_parquet *file = open_planned(plan, &bytes);
  lanebloom_parquet_keys *prepared = prepare(file, &keys);
  size_t nmaybe = 0;
  lanebloom_filter *filter = (void *)&keys;
  cr_assert(lanebloom_parquet_screen(file, 0, 0, prepared, bitmap, &nmaybe, problem,
                                     sizeof problem) == expected,
            "%s", problem);
  cr_assert(strstr(problem, text), "%s", problem);
  cr_assert(nmaybe == 9 && bitmap[0] == 0xff && bitmap[1] == 1);
  cr_assert(lanebloom_parquet_load_filter(file, 0, 0, &filter, again, sizeof again) == expected);
  cr_assert(!filter);
  cr_assert_str_eq(again, problem);
  lanebloom_parquet_keys_free(prepared);
  lanebloom_parquet_free(file);
  free(bytes);
}

Test(parquet, headers_that_are_refused)
{
  static const struct {
    struct filter_header header;
    lanebloom_status status;
    const char *text;
  } cases[] = {
      {{64, 2, 1, 1}, LANEBLOOM_ERR_FORMAT, "algorithm at 4: expected 1 (split blocks), found 2"},
      {{64, 1, 2, 1}, LANEBLOOM_ERR_FORMAT, "hash at 4: expected 1 (XXH64), found 2"},
      {{64, 1, 1, 3}, LANEBLOOM_ERR_FORMAT, "compression at 4: expected 1 (none), found 3"},
      {{0, 1, 1, 1}, LANEBLOOM_ERR_CORRUPT, "expected blocks of 32 bytes, found 0 bytes"},
      {{-32, 1, 1, 1}, LANEBLOOM_ERR_CORRUPT, "expected blocks of 32 bytes, found -32 bytes"},
      {{63, 1, 1, 1}, LANEBLOOM_ERR_CORRUPT, "expected blocks of 32 bytes, found 63 bytes"},
      {{96, 1, 1, 1}, LANEBLOOM_ERR_CORRUPT, "expected at most 64 bytes of bits, found 96"},
      {{INT32_MAX - 31, 1, 1, 1}, LANEBLOOM_ERR_CORRUPT, "bytes of bits, found 2147483616"},
  };
  static const uint8_t bits[64];
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct writer writer = {0};
    struct file_plan plan = plain_plan();
    write_filter_header(&writer, cases[i].header);
    write_bytes(&writer, bits, sizeof bits);
    plan.filter = writer.bytes;
    plan.filter_nbytes = writer.n;
    refused(&plan, cases[i].status, cases[i].text);
    free(writer.bytes);
  }
}

Test(parquet, offsets_that_are_refused)
{
  static const uint8_t bits[64];
  struct writer writer = {0};
  struct file_plan plan = plain_plan();
  write_filter_header(&writer, (struct filter_header){64, 1, 1, 1});
  const size_t header_nbytes = writer.n;
  write_bytes(&writer, bits, sizeof bits);
  plan.filter = writer.bytes;
  plan.filter_nbytes = writer.n;
  plan.length_in_footer = (int64_t)writer.n - 32;
  refused(&plan, LANEBLOOM_ERR_CORRUPT, "expected 32 bytes of bits, found 64");
  plan.length_in_footer = (int64_t)header_nbytes - 1;
  refused(&plan, LANEBLOOM_ERR_CORRUPT, "expected a header with another byte, found something");
  plan.length_in_footer = (int64_t)writer.n + 1;
  refused(&plan, LANEBLOOM_ERR_CORRUPT, "expected a filter before the footer");
  plan.length_in_footer = 0;
  plan.offset_in_footer = (int64_t)writer.n + 4;
  refused(&plan, LANEBLOOM_ERR_CORRUPT, "expected a filter before the footer");
  plan.offset_in_footer = -1;
  refused(&plan, LANEBLOOM_ERR_CORRUPT, "expected a filter before the footer");
  plan.offset_in_footer = (int64_t)writer.n; /* the zeros there are an empty struct */
  refused(&plan, LANEBLOOM_ERR_FORMAT, "expected 1 (split blocks), found 0");
  free(writer.bytes);
}

Test(parquet, chunks_that_cannot_be_read)
{
  struct file_plan plan = plain_plan();
  plan.filter = (const uint8_t *)"";
  plan.nnulls = plan.nvalues; /* nor may this exclude keys */
  plan.is_encrypted = true;
  refused(&plan, LANEBLOOM_ERR_LIMIT, "expected a column that can be read, found an encrypted one");
  plan.is_encrypted = false;
  plan.file_path = "part-0.parquet";
  refused(&plan, LANEBLOOM_ERR_LIMIT,
          "expected a column chunk in this file, found one in \"part-0.parquet\"");
}

/* ---- Zeros and NaN ---- */

static void check_floats(double added, unsigned expected)
{
  const double inf = 1.0 / 0.0, nan = 0.0 / 0.0;
  const double queried[] = {5, 0.0, inf, -0.0, nan, -nan, 0.0, -5};
  const lanebloom_keys in_filter = lanebloom_keys_fixed(&added, 8, 1),
                       keys = lanebloom_keys_fixed(queried, 8, COUNT(queried));
  struct file_plan plan = plain_plan();
  uint8_t *bytes, bitmap[1];
  size_t nmaybe;
  plan.physical = 5;
  uint8_t *filter = build_filter(&in_filter, 400, &plan.filter_nbytes);
  plan.filter = filter;
  lanebloom_parquet *file = open_planned(&plan, &bytes);
  lanebloom_parquet_keys *prepared = prepare(file, &keys);
  cr_assert(lanebloom_parquet_screen(file, 0, 0, prepared, bitmap, &nmaybe, NULL, 0) ==
            LANEBLOOM_OK);
  cr_assert(bitmap[0] == expected, "%g: expected %02x, found %02x", added, expected, bitmap[0]);
  lanebloom_parquet_keys_free(prepared);
  lanebloom_parquet_free(file);
  free(bytes);
  free(filter);
}

Test(parquet, zeros_and_nan)
{
  enum { NANS = 1 << 4 | 1 << 5, ZEROS = 1 << 1 | 1 << 3 | 1 << 6 };
  if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
    cr_skip_test("keys are given in the host's byte order");
  check_floats(0.0, NANS | ZEROS);
  check_floats(-0.0, NANS | ZEROS);
  check_floats(5, NANS | 1);
  check_floats(1.0 / 0.0, NANS | 1 << 2);
  check_floats(7, NANS);
}

/* ---- Timestamps of INT96 ---- */

/* Seconds and nanoseconds since 1970, and how such a time is stored: the Julian day and the
 * nanoseconds of the day. */
static const struct {
  int64_t seconds, ns, julian, ns_of_day;
} times[] = {
    {-62135596801, 999999999, 1721425, 86399999999999}, /* before the year 1 */
    {-62135596800, 0, 1721426, 0},
    {-12219292800, 1000000, 2299161, 1000000}, /* 1582-10-15, the first Gregorian day */
    {-9223372037, 145224191, 2333836, 763145224191},
    {-9223372037, 145224192, 2333836, 763145224192}, /* the least time in 64 bits */
    {-1, 999999000, 2440587, 86399999999000},
    {0, 0, 2440588, 0},
    {9223372036, 854775807, 2547339, 85636854775807}, /* the last time in 64 bits */
    {9223372036, 854775808, 2547339, 85636854775808},
    {9246182400, 0, 2547604, 0},                        /* 2263-01-01 */
    {253402300799, 999999999, 5373484, 86399999999999}, /* the end of the year 9999 */
    {185331720383999, 0, INT32_MAX, 86399000000000},    /* the last day */
};

struct int96_keys {
  lanebloom_encoding encoding;
  size_t n, time[2 * COUNT(times)]; /* time: for each key, its index in times */
  uint8_t bytes[2 * COUNT(times)][16];
  lanebloom_slice slices[2 * COUNT(times)];
};

static void add_key(struct int96_keys *keys, size_t time, __int128 value, size_t nbytes)
{
  uint8_t *bytes = keys->bytes[keys->n];
  store_le(value, nbytes, bytes);
  keys->time[keys->n] = time;
  keys->slices[keys->n++] = (lanebloom_slice){bytes, nbytes};
}

/* Makes keys for all times that a unit can express: keys of 16 bytes and, if the time
 * fits, of 8. */
static void make_int96_keys(lanebloom_encoding encoding, struct int96_keys *keys)
{
  int64_t units = 1;
  keys->encoding = encoding;
  keys->n = 0;
  for (int i = LANEBLOOM_TIMESTAMP_S; i < (int)encoding; i++)
    units *= 1000;
  for (size_t i = 0; i < COUNT(times); i++) {
    const int64_t unit_ns = 1000000000 / units;
    const __int128 value = (__int128)times[i].seconds * units + times[i].ns / unit_ns;
    if (times[i].ns % unit_ns != 0)
      continue;
    add_key(keys, i, value, 16);
    if (value == (int64_t)value)
      add_key(keys, i, value, 8);
  }
}

/* Checks that a filter of one value lets only keys of this time pass. */
static void check_int96(const struct int96_keys *keys, int64_t julian, int64_t ns_of_day,
                        size_t time)
{
  const lanebloom_keys batch = lanebloom_keys_slices(keys->slices, keys->n);
  uint8_t value[12], *bytes, bitmap[BITMAP_NBYTES];
  char problem[PROBLEM_NBYTES];
  lanebloom_parquet_keys *prepared;
  size_t nmaybe;
  store_le(ns_of_day, 8, value);
  store_le(julian, 4, value + 8);
  const lanebloom_keys in_filter = lanebloom_keys_fixed(value, sizeof value, 1);
  struct file_plan plan = plain_plan();
  plan.physical = 3;
  uint8_t *filter = build_filter(&in_filter, 400, &plan.filter_nbytes);
  plan.filter = filter;
  lanebloom_parquet *file = open_planned(&plan, &bytes);
  if (lanebloom_parquet_keys_create(file, 0, keys->encoding, &batch, &prepared, NULL, problem,
                                    sizeof problem))
    test_fatal("%s", problem);
  cr_assert(!lanebloom_parquet_screen(file, 0, 0, prepared, bitmap, &nmaybe, NULL, 0));
  for (size_t i = 0; i < keys->n; i++)
    cr_assert(has_bit(bitmap, i) == (keys->time[i] == time), "encoding %d, time %zu, key of %zu",
              (int)keys->encoding, time, keys->time[i]);
  lanebloom_parquet_keys_free(prepared);
  lanebloom_parquet_free(file);
  free(bytes);
  free(filter);
}

Test(parquet, int96_of_any_year)
{
  for (int encoding = LANEBLOOM_TIMESTAMP_S; encoding <= LANEBLOOM_TIMESTAMP_NS; encoding++) {
    struct int96_keys keys;
    make_int96_keys((lanebloom_encoding)encoding, &keys);
    for (size_t i = 0; i < COUNT(times); i++)
      check_int96(&keys, times[i].julian, times[i].ns_of_day, i);
  }
}

/* Some writers round days towards 1970. The nanoseconds of times before 1970 are then negative. */
Test(parquet, int96_with_negative_nanoseconds)
{
  for (int encoding = LANEBLOOM_TIMESTAMP_S; encoding <= LANEBLOOM_TIMESTAMP_NS; encoding++) {
    struct int96_keys keys;
    make_int96_keys((lanebloom_encoding)encoding, &keys);
    for (size_t i = 0; times[i].seconds < 0; i++)
      if (times[i].ns_of_day > 0)
        check_int96(&keys, times[i].julian + 1, times[i].ns_of_day - 86400000000000, i);
    /* Midnights have only one representation, and so have times since 1970. */
    check_int96(&keys, 1721427, -86400000000000, COUNT(times));
    check_int96(&keys, 5373485, -1, COUNT(times));
  }
}

Test(parquet, int96_cannot_hold)
{
  static const __int128 epoch = 2440588, seconds[] = {(INT32_MAX - epoch + 1) * 86400,
                                                      (INT32_MIN - epoch) * 86400 - 1, INT64_MIN,
                                                      INT64_MAX, ~((__int128)1 << 126)};
  struct file_plan plan = plain_plan();
  uint8_t *bytes, key[16];
  plan.physical = 3;
  lanebloom_parquet *file = open_planned(&plan, &bytes);
  for (size_t i = 0; i < COUNT(seconds); i++) {
    const lanebloom_keys keys = lanebloom_keys_fixed(key, 16, 1);
    lanebloom_parquet_keys *prepared;
    char problem[PROBLEM_NBYTES] = "";
    size_t bad_key = 9;
    store_le(seconds[i], 16, key);
    cr_assert(lanebloom_parquet_keys_create(file, 0, LANEBLOOM_TIMESTAMP_S, &keys, &prepared,
                                            &bad_key, problem,
                                            sizeof problem) == LANEBLOOM_ERR_ARGUMENT);
    cr_assert(bad_key == 0 && strstr(problem, "a column of type timestamp-int96 can hold"), "%s",
              problem);
  }
  const lanebloom_keys twelve = lanebloom_keys_fixed(key, 12, 1);
  lanebloom_parquet_keys *prepared;
  char problem[PROBLEM_NBYTES];
  cr_assert(lanebloom_parquet_keys_create(file, 0, LANEBLOOM_TIMESTAMP_NS, &twelve, &prepared, NULL,
                                          problem, sizeof problem) == LANEBLOOM_ERR_ARGUMENT);
  cr_assert_str_eq(problem, "key 0: expected 8 or 16 bytes, as a column of type timestamp-int96 "
                            "has, found 12");
  lanebloom_parquet_free(file);
  free(bytes);
}

/* ---- Few keys and a large filter, of which only some blocks are read ---- */

enum { NADDED = 100000, MAX_NFEW = 40 };

static void random_keys(uint8_t *bytes, size_t n, uint64_t stream)
{
  struct rng rng = rng_start(stream);
  rng_fill(&rng, bytes, 16 * n);
}

Test(parquet, few_keys)
{
  uint8_t *added = test_alloc(16 * NADDED), few[16 * MAX_NFEW], *bytes;
  random_keys(added, NADDED, 1);
  random_keys(few, MAX_NFEW, 2);
  for (size_t i = 0; i < MAX_NFEW; i += 3)
    memcpy(few + 16 * i, added + 16 * 1000 * i, 16);
  const lanebloom_keys all = lanebloom_keys_fixed(added, 16, NADDED);
  struct file_plan plan = plain_plan();
  plan.physical = 7;
  plan.length = 16;
  plan.logical = 14;
  uint8_t *filter = build_filter(&all, 100, &plan.filter_nbytes);
  plan.filter = filter;
  size_t nbytes;
  lanebloom_parquet *of_bytes;
  bytes = make_file(&plan, &nbytes);
  cr_assert(lanebloom_parquet_parse(bytes, nbytes, LANEBLOOM_PARQUET_BOUNDS_ALL, &of_bytes, NULL,
                                    0) == LANEBLOOM_OK);
  cr_assert(nbytes > 1 << 20);
  lanebloom_parquet *of_file = open_as_file(bytes, nbytes);
  for (size_t n = 0; n <= MAX_NFEW; n++) {
    const lanebloom_keys keys = lanebloom_keys_fixed(few, 16, n);
    lanebloom_parquet_keys *prepared = prepare(of_bytes, &keys);
    uint8_t expected[8] = {0}, found[8] = {0};
    size_t nexpected, nfound;
    cr_assert(!lanebloom_parquet_screen(of_bytes, 0, 0, prepared, expected, &nexpected, NULL, 0) &&
              !lanebloom_parquet_screen(of_file, 0, 0, prepared, found, &nfound, NULL, 0));
    cr_assert(nfound == nexpected && nfound >= (n + 2) / 3 && nfound <= (n + 2) / 3 + 2);
    test_same_bytes("answers", found, expected, (n + 7) / 8);
    lanebloom_parquet_keys_free(prepared);
  }
  lanebloom_parquet_free(of_bytes);
  lanebloom_parquet_free(of_file);
  free(bytes);
  free(filter);
  free(added);
}

/* ---- Many keys, which are screened as a batch ---- */

/* A few keys are below the bounds, a few above, and some are NaN. Each call must have the same
 * answers, before and after the batch has sorted its hashes. */
Test(parquet, many_keys)
{
  enum { N = 20000, NCALLS = 80, NIN_FILTER = 300 };
  if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
    cr_skip_test("keys are given in the host's byte order");
  const double min = -990000, max = 985000;
  double *numbers = test_alloc(N * sizeof *numbers);
  struct rng rng = rng_start(3);
  for (size_t i = 0; i < N; i++)
    numbers[i] = i % 1000 == 7 ? 0.0 / 0.0 : 0.5 + (double)rng_below(&rng, 2000000) - 1000000;
  const lanebloom_keys keys = lanebloom_keys_fixed(numbers, 8, N),
                       in_filter = lanebloom_keys_part(&keys, 100, NIN_FILTER);
  struct file_plan plan = plain_plan();
  uint8_t *bytes, expected[(N + 7) / 8] = {0}, bitmap[(N + 7) / 8];
  lanebloom_filter *like;
  size_t nexpected = 0, nmaybe;
  plan.physical = 5;
  plan.order = 1;
  plan.min = plan.max = (struct value){.is_there = true, .nbytes = 8};
  memcpy(plan.min.bytes, &min, 8);
  memcpy(plan.max.bytes, &max, 8);
  uint8_t *filter = build_filter(&in_filter, 10, &plan.filter_nbytes);
  plan.filter = filter;
  cr_assert(!lanebloom_filter_build(LANEBLOOM_PARQUET, 10, &in_filter, &like));
  for (size_t i = 0; i < N; i++)
    if (numbers[i] != numbers[i] || (numbers[i] >= min && numbers[i] <= max &&
                                     lanebloom_filter_may_contain(like, &numbers[i], 8))) {
      expected[i / 8] |= (uint8_t)(1 << i % 8);
      nexpected++;
    }
  lanebloom_parquet *file = open_planned(&plan, &bytes);
  lanebloom_parquet_keys *prepared = prepare(file, &keys);
  for (size_t call = 0; call < NCALLS; call++) {
    cr_assert(!lanebloom_parquet_screen(file, 0, 0, prepared, bitmap, &nmaybe, NULL, 0));
    cr_assert(nmaybe == nexpected, "call %zu: expected %zu keys, found %zu", call, nexpected,
              nmaybe);
    test_same_bytes("answers", bitmap, expected, sizeof bitmap);
  }
  lanebloom_parquet_keys_free(prepared);
  lanebloom_parquet_free(file);
  lanebloom_filter_free(like);
  free(bytes);
  free(filter);
  free(numbers);
}

/* A time that has two representations may be in either of two blocks. */
Test(parquet, few_keys_of_int96)
{
  enum { NVALUES = 20000, NBYTES = 12 };
  uint8_t *values = test_alloc(NBYTES * NVALUES), key[2][8];
  for (size_t i = 0; i < NVALUES; i++) {
    store_le(-1000 * (int64_t)(i + 1), 8, values + NBYTES * i);
    store_le(2440588, 4, values + NBYTES * i + 8);
  }
  const lanebloom_keys all = lanebloom_keys_fixed(values, NBYTES, NVALUES);
  struct file_plan plan = plain_plan();
  plan.physical = 3;
  uint8_t *filter = build_filter(&all, 400, &plan.filter_nbytes);
  plan.filter = filter;
  size_t nbytes;
  uint8_t *bytes = make_file(&plan, &nbytes);
  cr_assert(nbytes > 1 << 20);
  lanebloom_parquet *file = open_as_file(bytes, nbytes);
  for (size_t i = 0; i < NVALUES; i += 1999) {
    store_le(-1000 * (int64_t)(i + 1), 8, key[0]);
    store_le(-1000 * (int64_t)(i + 1) - 1, 8, key[1]);
    const lanebloom_keys keys = lanebloom_keys_fixed(key, 8, 2);
    lanebloom_parquet_keys *prepared = prepare(file, &keys);
    uint8_t bitmap[1];
    size_t nmaybe;
    cr_assert(!lanebloom_parquet_screen(file, 0, 0, prepared, bitmap, &nmaybe, NULL, 0));
    cr_assert(nmaybe == 1 && bitmap[0] == 1, "time %zu: found %x", i, bitmap[0]);
    lanebloom_parquet_keys_free(prepared);
  }
  lanebloom_parquet_free(file);
  free(bytes);
  free(filter);
  free(values);
}

/* ---- Keys of another column ---- */

Test(parquet, keys_of_another_type)
{
  struct file_plan int32 = plain_plan(), int64 = plain_plan();
  int64.physical = 2;
  uint8_t *bytes32, *bytes64, bitmap[1] = {0}, key[4] = {1, 0, 0, 0};
  char problem[PROBLEM_NBYTES];
  size_t nmaybe = 0;
  lanebloom_parquet *file32 = open_planned(&int32, &bytes32),
                    *file64 = open_planned(&int64, &bytes64);
  const lanebloom_keys keys = lanebloom_keys_fixed(key, 4, 1);
  lanebloom_parquet_keys *prepared = prepare(file32, &keys);
  cr_assert(lanebloom_parquet_screen(file64, 0, 0, prepared, bitmap, &nmaybe, problem,
                                     sizeof problem) == LANEBLOOM_ERR_ARGUMENT);
  cr_assert_str_eq(
      problem,
      "expected a column of type int32, for which the keys were made, found one of type int64");
  cr_assert(nmaybe == 1 && bitmap[0] == 1);
  lanebloom_parquet_keys_free(prepared);
  lanebloom_parquet_free(file32);
  lanebloom_parquet_free(file64);
  free(bytes32);
  free(bytes64);
}
