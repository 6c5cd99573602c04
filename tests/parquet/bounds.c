/* The bounds of column chunks: which of them are trusted, and which keys they exclude.
 * SPDX-License-Identifier: MIT */
#include "writer.h"

enum { TYPE_ORDER = 1, TOTAL_ORDER = 2, INT96_ORDER = 3 };

static struct value value_of(const void *bytes, size_t nbytes)
{
  struct value value = {.is_there = true, .nbytes = nbytes};
  memcpy(value.bytes, bytes, nbytes);
  return value;
}

static struct value int32_value(int32_t value)
{
  uint8_t bytes[4];
  store_le(value, 4, bytes);
  return value_of(bytes, 4);
}

static struct value double_value(double value)
{
  uint64_t bits;
  uint8_t bytes[8];
  memcpy(&bits, &value, sizeof bits);
  store_le(bits, 8, bytes);
  return value_of(bytes, 8);
}

/* Returns which keys may be in a file without a filter. Bit i stands for key i. */
static unsigned passing_keys(const struct file_plan *plan, const struct value *keys, size_t n)
{
  uint8_t *bytes, bitmap[1] = {0xff};
  lanebloom_parquet *file = open_planned(plan, &bytes);
  lanebloom_slice slices[8];
  for (size_t i = 0; i < n; i++)
    slices[i] = (lanebloom_slice){keys[i].bytes, keys[i].nbytes};
  const lanebloom_keys batch = lanebloom_keys_slices(slices, n);
  lanebloom_parquet_keys *prepared = prepare(file, &batch);
  char problem[PROBLEM_NBYTES];
  size_t nmaybe;
  if (lanebloom_parquet_screen(file, 0, 0, prepared, bitmap, &nmaybe, problem, sizeof problem))
    test_fatal("%s", problem);
  cr_assert(nmaybe == count_set_bits(bitmap, 1));
  lanebloom_parquet_keys_free(prepared);
  lanebloom_parquet_free(file);
  free(bytes);
  return bitmap[0];
}

/* The bounds are 4 and 6. The keys are 3 to 7, and numbers that are below these as signed numbers
 * but above them as unsigned ones. */
static const int32_t numbers[] = {7, -2, 5, 3, 4, 6, INT32_MIN, -1};

static unsigned passing_numbers(const struct file_plan *plan)
{
  struct value keys[COUNT(numbers)];
  for (size_t i = 0; i < COUNT(numbers); i++)
    keys[i] = int32_value(numbers[i]);
  return passing_keys(plan, keys, COUNT(numbers));
}

enum { ALL = 0xff, FOUR_TO_SIX = 1 << 2 | 1 << 4 | 1 << 5 };

Test(parquet, bounds_of_numbers)
{
  struct file_plan plan = plain_plan();
  plan.min = int32_value(4);
  plan.max = int32_value(6);
  cr_assert(passing_numbers(&plan) == ALL, "no column order");
  plan.order = TYPE_ORDER;
  cr_assert(passing_numbers(&plan) == FOUR_TO_SIX);
  plan.order = TOTAL_ORDER;
  cr_assert(passing_numbers(&plan) == ALL, "an order of other types");
  plan.order = 9;
  cr_assert(passing_numbers(&plan) == ALL, "an unknown order");
  plan.order = TYPE_ORDER;
  plan.nmore_orders = 1;
  cr_assert(passing_numbers(&plan) == ALL, "more orders than columns");
  plan.nmore_orders = 0;
  plan.with_empty_path = true;
  cr_assert(passing_numbers(&plan) == FOUR_TO_SIX, "a path of no names");
  plan.with_empty_path = false;
  plan.max.is_there = false;
  cr_assert(passing_numbers(&plan) == (FOUR_TO_SIX | 1), "a minimum alone");
  plan.max = int32_value(3);
  cr_assert(passing_numbers(&plan) == ALL, "the minimum is above the maximum");
  plan.max = int32_value(6);
  plan.max.nbytes = 3;
  cr_assert(passing_numbers(&plan) == ALL, "a maximum of another size");
  plan.max = int32_value(-2);
  plan.min = int32_value(-2);
  cr_assert(passing_numbers(&plan) == 1 << 1);
}

Test(parquet, unsigned_bounds)
{
  struct file_plan plan = plain_plan();
  plan.converted = 13;
  plan.order = TYPE_ORDER;
  plan.min = int32_value(4);
  plan.max = int32_value(-2); /* 2^32 - 2 if unsigned */
  cr_assert(passing_numbers(&plan) == (FOUR_TO_SIX | 1 | 1 << 1 | 1 << 6));
  plan.order = 0;
  plan.old_min = plan.min;
  plan.old_max = plan.max;
  cr_assert(passing_numbers(&plan) == ALL, "deprecated bounds, which are signed");
}

Test(parquet, deprecated_bounds)
{
  struct file_plan plan = plain_plan();
  plan.old_min = int32_value(4);
  plan.old_max = int32_value(6);
  cr_assert(passing_numbers(&plan) == FOUR_TO_SIX);
  plan.order = TYPE_ORDER;
  cr_assert(passing_numbers(&plan) == FOUR_TO_SIX);
  plan.min = int32_value(3);
  plan.max = int32_value(7);
  cr_assert(passing_numbers(&plan) == (FOUR_TO_SIX | 1 | 1 << 3), "newer ones come first");
}

Test(parquet, counts)
{
  struct file_plan plan = plain_plan();
  plan.nnulls = 9;
  cr_assert(passing_numbers(&plan) == ALL);
  plan.nnulls = 10;
  cr_assert(passing_numbers(&plan) == 0, "all are null");
  plan.nnulls = 11;
  cr_assert(passing_numbers(&plan) == ALL, "more nulls than values");
  plan.nnulls = 10;
  plan.min = int32_value(4);
  cr_assert(passing_numbers(&plan) == ALL, "all are null, and one of them is 4");
  plan.min.is_there = false;
  plan.old_max = int32_value(4);
  cr_assert(passing_numbers(&plan) == ALL, "the same by a deprecated bound");
  plan.old_max.is_there = false;
  plan.nnulls = -1;
  cr_assert(passing_numbers(&plan) == ALL, "Java's number for what is unknown");
  plan.nnulls = NO_COUNT;
  plan.nvalues = 0;
  cr_assert(passing_numbers(&plan) == 0, "no rows");
}

Test(parquet, bounds_of_floats)
{
  const double inf = 1.0 / 0.0, nan = 0.0 / 0.0;
  const struct value keys[] = {double_value(-0.0), double_value(0.0),  double_value(nan),
                               double_value(-nan), double_value(-1.5), double_value(inf),
                               double_value(2),    double_value(-inf)};
  enum { ZEROS = 3, NANS = 12 };
  struct file_plan plan = plain_plan();
  plan.physical = 5;
  plan.order = TYPE_ORDER;
  plan.min = double_value(0.0);
  plan.max = double_value(1);
  cr_assert(passing_keys(&plan, keys, 8) == (ZEROS | NANS), "-0 is not below 0");
  plan.min = double_value(-1);
  plan.max = double_value(-0.0);
  cr_assert(passing_keys(&plan, keys, 8) == (ZEROS | NANS), "0 is not above -0");
  plan.min = double_value(nan);
  cr_assert(passing_keys(&plan, keys, 8) == 0xff, "of a writer that takes NaN for a bound");
  plan.min = double_value(-2);
  plan.max = double_value(2);
  cr_assert(passing_keys(&plan, keys, 8) == (ZEROS | NANS | 1 << 4 | 1 << 6));
  plan.order = TOTAL_ORDER;
  cr_assert(passing_keys(&plan, keys, 8) == (ZEROS | NANS | 1 << 4 | 1 << 6));
  plan.min = double_value(-inf);
  plan.max = double_value(-inf);
  cr_assert(passing_keys(&plan, keys, 8) == (NANS | 1 << 7));
}

Test(parquet, bounds_of_bytes)
{
  const struct value keys[] = {value_of("", 0),          value_of("ab", 2),
                               value_of("abc", 3),       value_of("abcdefgh", 8),
                               value_of("abcdefghi", 9), value_of("abcdefghz", 9),
                               value_of("b", 1),         value_of("\xff", 1)};
  struct file_plan plan = plain_plan();
  plan.physical = 6;
  plan.old_min = plan.min = value_of("abc", 3);
  plan.old_max = plan.max = value_of("abcdefghi", 9);
  cr_assert(passing_keys(&plan, keys, 8) == ALL, "deprecated, and no order");
  plan.order = TYPE_ORDER;
  cr_assert(passing_keys(&plan, keys, 8) == (1 << 2 | 1 << 3 | 1 << 4));
  plan.min = value_of("", 0);
  plan.max = value_of("\xfe", 1);
  cr_assert(passing_keys(&plan, keys, 8) == (ALL ^ 1 << 7));
  plan.logical = 17; /* geometries have no order */
  cr_assert(passing_keys(&plan, keys, 8) == ALL);
}

Test(parquet, bounds_of_decimals)
{
  /* the numbers -1, 0, 2^64 and -2^64, in 9 bytes */
  static const uint8_t stored[4][9] = {
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0}, {1}, {0xff}};
  static const uint8_t queried[4][16] = {
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
       0xff},
      {0},
      {[8] = 1},
      {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
  struct value keys[4];
  for (size_t i = 0; i < 4; i++)
    keys[i] = value_of(queried[i], 16);
  struct file_plan plan = plain_plan();
  plan.physical = 7;
  plan.length = 9;
  plan.converted = 5;
  plan.precision = 20;
  plan.order = TYPE_ORDER;
  plan.min = value_of(stored[0], 9);
  plan.max = value_of(stored[2], 9);
  cr_assert(passing_keys(&plan, keys, 4) == 7);
  plan.min = value_of(stored[3], 9);
  plan.max = value_of(stored[0], 9);
  cr_assert(passing_keys(&plan, keys, 4) == 9);
  plan.max.nbytes = 8;
  cr_assert(passing_keys(&plan, keys, 4) == 15, "a maximum that is cut");
}

Test(parquet, int96_has_no_bounds)
{
  const struct value keys[] = {value_of("\0\0\0\0\0\0\0\0", 8), value_of("\1\0\0\0\0\0\0\0", 8)};
  struct file_plan plan = plain_plan();
  plan.physical = 3;
  plan.order = TYPE_ORDER;
  plan.min = plan.max = value_of("\0\0\0\0\0\0\0\0\0\0\0\0", 12);
  cr_assert(passing_keys(&plan, keys, 2) == 3);
  plan.order = INT96_ORDER;
  cr_assert(passing_keys(&plan, keys, 2) == 3);
}

/* ---- Trusted writers ---- */

/* Names a writer, and states whether its bounds of int32, its bounds of uint32, and its counts of
 * nulls are used. */
static const struct {
  const char *created_by;
  bool of_signed, of_unsigned, counts;
} writers[] = {
    {"parquet-cpp-arrow version 26.0.1", true, true, true},
    {"parquet-cpp-arrow version 10.0.1", true, true, true},
    {"parquet-cpp-arrow version 10.0.0", false, false, false},
    {"parquet-cpp-arrow version 10.0.1-SNAPSHOT", false, false, false},
    {"parquet-cpp-arrow version 10.0.2-SNAPSHOT", true, true, true},
    {"parquet-cpp-arrow version 9.99.99", false, false, false},
    {"parquet-cpp-arrow version 10", false, false, false},
    {"parquet-cpp-arrow version 99999999999999999999.0.0", false, false, false},
    {"parquet-cpp-arrow version ", false, false, false},
    {"parquet-cpp-arrow", false, false, false},
    {"parquet-cpp-arrows version 26.0.1", false, false, false},
    {"parquet-mr version 1.12.3 (build f8dced182c4c1fbdec6ccb3185537b5a01e6ed6b)", true, true,
     true},
    {"parquet-mr version 1.10.1 (build a89df8f9932b6ef6633d06069e50c9b7970bebd1)", true, true,
     true},
    {"parquet-mr version 1.8.3 (build aef7230e114214b7cc962a8f3fc5aeed6ce80828)", false, false,
     false},
    {"parquet-rs version 5.0.0", false, false, false},
    {"parquet-go version 18.8.0", true, true, true},
    {"parquet-go version latest", false, false, false},
    {"github.com/parquet-go/parquet-go version 0.32.0(build )", true, true, true},
    {"github.com/parquet-go/parquet-go version 0.23.0(build )", false, false, false},
    {"parquet-mr \t version1.12.3( build f8dced )", true, true, true},
    {"parquet-mrversion 1.12.3", false, false, false},
    {"parquet-mr-trino version 470 (build n/a)", false, false, false},
    {"DuckDB version v2.0.1 (build 8d78114e90)", true, true, true},
    {"DuckDB", false, false, false},
    {"fastparquet-python version 2026.9.0 (build 0)", true, false, true},
    {"Polars", true, false, false},
    {"Polars version 9.0.0", true, false, false},
    {"Parquet.Net version 4.25.0 (build 0)", false, false, false},
    {"version 1.0.0", false, false, false},
    {" version 1.0.0", false, false, false},
    {"", false, false, false},
};

/* If there are NaNs, parquet-go's bounds may leave out values. */
Test(parquet, floats_of_a_writer_that_is_right_about_integers)
{
  const struct value key = double_value(9);
  struct file_plan plan = plain_plan();
  plan.bounds = LANEBLOOM_PARQUET_BOUNDS_KNOWN;
  plan.physical = 5;
  plan.order = TYPE_ORDER;
  plan.min = double_value(4);
  plan.max = double_value(6);
  plan.created_by = "github.com/parquet-go/parquet-go version 0.32.0(build )";
  cr_assert(passing_keys(&plan, &key, 1) == 1);
  plan.created_by = "parquet-go version 18.8.0";
  cr_assert(passing_keys(&plan, &key, 1) == 0);
}

Test(parquet, writers)
{
  for (size_t i = 0; i < COUNT(writers); i++) {
    struct file_plan plan = plain_plan();
    plan.bounds = LANEBLOOM_PARQUET_BOUNDS_KNOWN;
    plan.created_by = writers[i].created_by;
    plan.order = TYPE_ORDER;
    plan.min = int32_value(4);
    plan.max = int32_value(6);
    cr_assert(passing_numbers(&plan) == (writers[i].of_signed ? FOUR_TO_SIX : ALL), "%s",
              plan.created_by);
    plan.converted = 13;
    cr_assert(passing_numbers(&plan) == (writers[i].of_unsigned ? FOUR_TO_SIX : ALL), "%s",
              plan.created_by);
    plan.bounds = LANEBLOOM_PARQUET_BOUNDS_NONE;
    cr_assert(passing_numbers(&plan) == ALL, "%s", plan.created_by);
    plan.bounds = LANEBLOOM_PARQUET_BOUNDS_ALL;
    cr_assert(passing_numbers(&plan) == FOUR_TO_SIX, "%s", plan.created_by);

    plan.min.is_there = plan.max.is_there = false;
    plan.nnulls = plan.nvalues;
    cr_assert(passing_numbers(&plan) == 0, "%s", plan.created_by);
    plan.bounds = LANEBLOOM_PARQUET_BOUNDS_KNOWN;
    cr_assert(passing_numbers(&plan) == (writers[i].counts ? 0 : ALL), "%s", plan.created_by);
    plan.bounds = LANEBLOOM_PARQUET_BOUNDS_NONE;
    cr_assert(passing_numbers(&plan) == ALL, "%s", plan.created_by);
  }
}

Test(parquet, names_of_bounds)
{
  static const char *const others[] = {"", "KNOWN", "know", "known ", "unknown"};
  lanebloom_parquet_bounds bounds = LANEBLOOM_PARQUET_BOUNDS_KNOWN, found;
  for (; bounds <= LANEBLOOM_PARQUET_BOUNDS_NONE; bounds++) {
    const char *name = lanebloom_parquet_bounds_name(bounds);
    cr_assert(lanebloom_parquet_bounds_by_name(name, &found) && found == bounds, "%s", name);
  }
  cr_assert(strcmp(lanebloom_parquet_bounds_name(bounds), "unknown") == 0);
  for (size_t i = 0; i < COUNT(others); i++) {
    found = LANEBLOOM_PARQUET_BOUNDS_ALL;
    cr_assert(!lanebloom_parquet_bounds_by_name(others[i], &found) &&
                  found == LANEBLOOM_PARQUET_BOUNDS_ALL,
              "%s", others[i]);
  }
}
