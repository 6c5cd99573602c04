/* The types of columns, the keys that they take, and keys that they cannot hold.
 * SPDX-License-Identifier: MIT */
#include "writer.h"

enum { BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE_, BYTES, FIXED };

static const struct type_case {
  int32_t physical, length, converted, logical, detail; /* detail: a unit or a number of bits */
  bool is_signed;
  int32_t scale, precision;
  const char *text;
  int encoding; /* -1: no keys */
  uint32_t key_size;
} types[] = {
    {BOOLEAN, 0, -1, 0, 0, 0, 0, 0, "boolean", -1, 0},
    {INT32, 0, -1, 0, 0, 0, 0, 0, "int32", LANEBLOOM_INT32, 4},
    {INT64, 0, -1, 0, 0, 0, 0, 0, "int64", LANEBLOOM_INT64, 8},
    {INT96, 0, -1, 0, 0, 0, 0, 0, "timestamp-int96", LANEBLOOM_TIMESTAMP_NS, 8},
    {FLOAT, 0, -1, 0, 0, 0, 0, 0, "float32", LANEBLOOM_FLOAT32, 4},
    {DOUBLE_, 0, -1, 0, 0, 0, 0, 0, "float64", LANEBLOOM_FLOAT64, 8},
    {BYTES, 0, -1, 0, 0, 0, 0, 0, "binary", LANEBLOOM_BYTES, 0},
    {FIXED, 5, -1, 0, 0, 0, 0, 0, "binary(5)", LANEBLOOM_BYTES, 5},
    /* with the older annotation only */
    {BYTES, 0, 0, 0, 0, 0, 0, 0, "string", LANEBLOOM_BYTES, 0},
    {BYTES, 0, 4, 0, 0, 0, 0, 0, "enum", LANEBLOOM_BYTES, 0},
    {INT32, 0, 5, 0, 0, 0, 2, 9, "decimal(9,2)", LANEBLOOM_DECIMAL128, 16},
    {INT64, 0, 5, 0, 0, 0, 3, 18, "decimal(18,3)", LANEBLOOM_DECIMAL128, 16},
    {FIXED, 16, 5, 0, 0, 0, 0, 38, "decimal(38,0)", LANEBLOOM_DECIMAL128, 16},
    {BYTES, 0, 5, 0, 0, 0, 2, 9, "decimal(9,2)", -1, 0},
    {FIXED, 33, 5, 0, 0, 0, 2, 76, "decimal(76,2)", -1, 0},
    {INT32, 0, 5, 0, 0, 0, 0, 0, "unknown", -1, 0},
    {INT32, 0, 5, 0, 0, 0, 3, 2, "unknown", -1, 0},
    /* with more digits than the size can hold */
    {INT32, 0, 5, 0, 0, 0, 0, 10, "unknown", -1, 0},
    {INT64, 0, 5, 0, 0, 0, 0, 19, "unknown", -1, 0},
    {FIXED, 1, 5, 0, 0, 0, 2, 2, "decimal(2,2)", LANEBLOOM_DECIMAL128, 16},
    {FIXED, 1, 5, 0, 0, 0, 0, 3, "unknown", -1, 0},
    {FIXED, 16, 5, 0, 0, 0, 0, 39, "unknown", -1, 0},
    {FIXED, 32, 5, 0, 0, 0, 76, 76, "decimal(76,76)", LANEBLOOM_DECIMAL128, 16},
    {FIXED, 32, 5, 0, 0, 0, 0, 77, "unknown", -1, 0},
    {INT32, 0, 5, 0, 0, 0, INT32_MAX, INT32_MAX, "unknown", -1, 0},
    {INT64, 0, -1, 5, 0, 0, INT32_MAX, INT32_MAX, "unknown", -1, 0},
    {FIXED, 32, -1, 5, 0, 0, INT32_MAX, INT32_MAX, "unknown", -1, 0},
    {BYTES, 0, -1, 5, 0, 0, INT32_MAX, INT32_MAX, "decimal(2147483647,2147483647)", -1, 0},
    {INT32, 0, 6, 0, 0, 0, 0, 0, "date", LANEBLOOM_DATE32, 4},
    {INT64, 0, 6, 0, 0, 0, 0, 0, "unknown", -1, 0},
    {INT32, 0, 7, 0, 0, 0, 0, 0, "time-ms", LANEBLOOM_INT32, 4},
    {INT64, 0, 8, 0, 0, 0, 0, 0, "time-us", LANEBLOOM_INT64, 8},
    {INT64, 0, 9, 0, 0, 0, 0, 0, "timestamp-ms", LANEBLOOM_TIMESTAMP_MS, 8},
    {INT64, 0, 10, 0, 0, 0, 0, 0, "timestamp-us", LANEBLOOM_TIMESTAMP_US, 8},
    {INT32, 0, 11, 0, 0, 0, 0, 0, "uint8", LANEBLOOM_UINT32, 4},
    {INT32, 0, 12, 0, 0, 0, 0, 0, "uint16", LANEBLOOM_UINT32, 4},
    {INT32, 0, 13, 0, 0, 0, 0, 0, "uint32", LANEBLOOM_UINT32, 4},
    {INT64, 0, 14, 0, 0, 0, 0, 0, "uint64", LANEBLOOM_UINT64, 8},
    {INT32, 0, 15, 0, 0, 0, 0, 0, "int8", LANEBLOOM_INT32, 4},
    {INT32, 0, 16, 0, 0, 0, 0, 0, "int16", LANEBLOOM_INT32, 4},
    {INT32, 0, 17, 0, 0, 0, 0, 0, "int32", LANEBLOOM_INT32, 4},
    {INT64, 0, 18, 0, 0, 0, 0, 0, "int64", LANEBLOOM_INT64, 8},
    {BYTES, 0, 19, 0, 0, 0, 0, 0, "json", LANEBLOOM_BYTES, 0},
    {BYTES, 0, 20, 0, 0, 0, 0, 0, "bson", LANEBLOOM_BYTES, 0},
    {FIXED, 12, 21, 0, 0, 0, 0, 0, "interval", -1, 0},
    {INT32, 0, 99, 0, 0, 0, 0, 0, "unknown", -1, 0},
    /* with both annotations, of which the newer one counts */
    {BYTES, 0, 4, 1, 0, 0, 0, 0, "string", LANEBLOOM_BYTES, 0},
    {FIXED, 13, -1, 5, 0, 0, 10, 30, "decimal(30,10)", LANEBLOOM_DECIMAL128, 16},
    {INT64, 0, -1, 7, 2, 0, 0, 0, "time-us", LANEBLOOM_INT64, 8},
    {INT64, 0, -1, 7, 3, 0, 0, 0, "time-ns", LANEBLOOM_INT64, 8},
    {INT64, 0, -1, 7, 1, 0, 0, 0, "unknown", -1, 0},
    {INT64, 0, -1, 8, 1, 0, 0, 0, "timestamp-ms", LANEBLOOM_TIMESTAMP_MS, 8},
    {INT64, 0, 10, 8, 3, 0, 0, 0, "timestamp-ns", LANEBLOOM_TIMESTAMP_NS, 8},
    {INT64, 0, -1, 8, 4, 0, 0, 0, "unknown", -1, 0},
    {INT32, 0, -1, 10, 16, 1, 0, 0, "int16", LANEBLOOM_INT32, 4},
    {INT32, 0, -1, 10, 64, 1, 0, 0, "unknown", -1, 0},
    {INT64, 0, -1, 10, 64, 0, 0, 0, "uint64", LANEBLOOM_UINT64, 8},
    {INT32, 0, -1, 11, 0, 0, 0, 0, "null", -1, 0},
    {FIXED, 16, -1, 14, 0, 0, 0, 0, "uuid", LANEBLOOM_UUID, 16},
    {FIXED, 15, -1, 14, 0, 0, 0, 0, "unknown", -1, 0},
    {FIXED, 2, -1, 15, 0, 0, 0, 0, "float16", -1, 0},
    {BYTES, 0, -1, 17, 0, 0, 0, 0, "geometry", LANEBLOOM_BYTES, 0},
    {BYTES, 0, -1, 77, 0, 0, 0, 0, "unknown", -1, 0},
};

static struct file_plan plan_of(const struct type_case *type)
{
  struct file_plan plan = plain_plan();
  plan.physical = type->physical;
  plan.length = type->length;
  plan.converted = type->converted;
  plan.logical = type->logical;
  plan.logical_unit = plan.logical_nbits = type->detail;
  plan.logical_is_signed = type->is_signed;
  plan.scale = type->scale;
  plan.precision = type->precision;
  return plan;
}

Test(parquet, types)
{
  for (size_t i = 0; i < COUNT(types); i++) {
    const struct type_case *type = &types[i];
    const struct file_plan plan = plan_of(type);
    uint8_t *bytes;
    lanebloom_parquet *file = open_planned(&plan, &bytes);
    lanebloom_parquet_column_info info;
    lanebloom_parquet_describe_column(file, 0, &info, sizeof info);
    test_context("type %zu, %s", i, type->text);
    cr_assert_str_eq(info.type, type->text);
    cr_assert(info.has_keys == (type->encoding >= 0), "%s", type->text);
    if (info.has_keys)
      cr_assert((int)info.encoding == type->encoding && info.key_size == type->key_size, "%s",
                type->text);
    if (info.encoding == LANEBLOOM_DECIMAL128)
      cr_assert((int32_t)info.precision == type->precision && info.scale == type->scale);
    cr_assert(info.is_big_endian ==
              (info.encoding == LANEBLOOM_DECIMAL128 && type->physical == FIXED));
    cr_assert(info.units_per_second == (strcmp(type->text, "time-ms") == 0   ? 1000
                                        : strcmp(type->text, "time-us") == 0 ? 1000000
                                        : strcmp(type->text, "time-ns") == 0 ? 1000000000
                                                                             : 0),
              "%s", type->text);
    cr_assert(info.is_int96 == (type->physical == INT96));
    /* Every encoding is refused but the column's own; INT96 accepts four. */
    static const uint8_t zeros[16];
    for (int encoding = 0; encoding <= LANEBLOOM_UUID; encoding++) {
      const lanebloom_keys keys =
          lanebloom_keys_fixed(zeros, type->key_size ? type->key_size : 3, 1);
      char problem[PROBLEM_NBYTES] = "";
      lanebloom_parquet_keys *prepared = (void *)&plan;
      const lanebloom_status status = lanebloom_parquet_keys_create(
          file, 0, (lanebloom_encoding)encoding, &keys, &prepared, NULL, problem, sizeof problem);
      const bool is_its_own =
          encoding == type->encoding || (info.is_int96 && encoding >= LANEBLOOM_TIMESTAMP_S &&
                                         encoding <= LANEBLOOM_TIMESTAMP_NS);
      cr_assert(status == (is_its_own ? LANEBLOOM_OK : LANEBLOOM_ERR_ARGUMENT), "%s as %d: %s",
                type->text, encoding, problem);
      cr_assert(!status == (prepared != NULL) && !status == !*problem);
      lanebloom_parquet_keys_free(prepared);
    }
    lanebloom_parquet_free(file);
    free(bytes);
  }
}

/* ---- Keys ---- */

static const struct {
  const char *text; /* as in `types` */
  int32_t physical;
  __int128 value;
  bool fits;
} values[] = {
    {"int8", INT32, 127, true},
    {"int8", INT32, -128, true},
    {"int8", INT32, 128, false},
    {"int8", INT32, -129, false},
    {"int16", INT32, -32768, true},
    {"int16", INT32, 32768, false},
    {"uint8", INT32, 255, true},
    {"uint8", INT32, 256, false},
    {"uint8", INT32, -1, false},
    {"uint16", INT32, 65535, true},
    {"uint16", INT32, 65536, false},
    {"uint32", INT32, -1, true},
    {"int32", INT32, INT32_MIN, true},
    {"decimal(9,2)", INT32, 999999999, true},
    {"decimal(9,2)", INT32, -999999999, true},
    {"decimal(9,2)", INT32, 1000000000, false},
    {"decimal(9,2)", INT32, -1000000000, false},
    {"decimal(18,3)", INT64, 999999999999999999, true},
    {"decimal(18,3)", INT64, -1000000000000000000, false},
    {"decimal(30,10)", FIXED, -((__int128)1 << 98), true},
    {"decimal(30,10)", FIXED, (__int128)1 << 100, false},
};

Test(parquet, values_that_do_not_fit)
{
  for (size_t i = 0; i < COUNT(values); i++) {
    size_t t = 0;
    while (strcmp(types[t].text, values[i].text) != 0 || types[t].physical != values[i].physical)
      t++;
    const struct file_plan plan = plan_of(&types[t]);
    uint8_t *bytes, key[3][16];
    lanebloom_parquet *file = open_planned(&plan, &bytes);
    store_le(1, 16, key[0]);
    store_le(values[i].value, 16, key[1]);
    store_le(2, 16, key[2]);
    const lanebloom_keys keys = lanebloom_keys_strided(key, types[t].key_size, 16, 3);
    lanebloom_parquet_keys *prepared;
    char problem[PROBLEM_NBYTES];
    size_t bad_key = 99;
    const lanebloom_status status =
        lanebloom_parquet_keys_create(file, 0, (lanebloom_encoding)types[t].encoding, &keys,
                                      &prepared, &bad_key, problem, sizeof problem);
    cr_assert(status == (values[i].fits ? LANEBLOOM_OK : LANEBLOOM_ERR_ARGUMENT), "%s, %zu: %s",
              values[i].text, i, problem);
    cr_assert(bad_key == (values[i].fits ? 3 : 1));
    lanebloom_parquet_keys_free(prepared);
    lanebloom_parquet_free(file);
    free(bytes);
  }
}

Test(parquet, keys_of_another_size)
{
  struct file_plan plan = plain_plan();
  uint8_t *bytes;
  lanebloom_parquet *file = open_planned(&plan, &bytes);
  const lanebloom_slice slices[] = {{"1234", 4}, {"123", 3}};
  const lanebloom_keys keys = lanebloom_keys_slices(slices, 2);
  lanebloom_parquet_keys *prepared;
  char problem[PROBLEM_NBYTES];
  size_t bad_key;
  cr_assert(lanebloom_parquet_keys_create(file, 0, LANEBLOOM_INT32, &keys, &prepared, &bad_key,
                                          problem, sizeof problem) == LANEBLOOM_ERR_ARGUMENT);
  cr_assert(bad_key == 1 && !prepared);
  cr_assert_str_eq(problem, "key 1: expected 4 bytes, as a column of type int32 has, found 3");
  lanebloom_parquet_free(file);
  free(bytes);
}

/* The file states the size of its values. If that size is huge, keys of another size still take no
 * memory. */
Test(parquet, keys_of_a_huge_size)
{
  enum { NKEYS = 100000 };
  struct file_plan plan = plain_plan();
  plan.physical = FIXED;
  plan.length = INT32_MAX;
  uint8_t *bytes, *short_keys = test_alloc(3 * NKEYS);
  lanebloom_parquet *file = open_planned(&plan, &bytes);
  const lanebloom_keys keys = lanebloom_keys_fixed(short_keys, 3, NKEYS);
  lanebloom_parquet_keys *prepared;
  char problem[PROBLEM_NBYTES];
  cr_assert(lanebloom_parquet_keys_create(file, 0, LANEBLOOM_BYTES, &keys, &prepared, NULL, problem,
                                          sizeof problem) == LANEBLOOM_ERR_ARGUMENT,
            "%s", problem);
  cr_assert_str_eq(problem, "key 0: expected 2147483647 bytes, as a column of type "
                            "binary(2147483647) has, found 3");
  lanebloom_parquet_free(file);
  free(bytes);
  free(short_keys);
}
