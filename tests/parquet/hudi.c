/* The filters and ranges of record keys that Hudi writes into footers.
 * SPDX-License-Identifier: MIT */
#include "writer.h"

/* A filter of Hudi 1.0.2 (tests/vectors/hudi.txt), which has the key "2" and not "20" or "200". */
#define FILTER "/////wAAAAcBAAAAYHRq2pIPJXbnOeZn5Q=="
#define NAME "org.apache.hudi.bloomfilter"
#define OLD_NAME "com.uber.hoodie.bloomfilter"
#define TYPE "hoodie_bloom_filter_type_code"
#define MIN "hoodie_min_record_key"
#define MAX "hoodie_max_record_key"

static const char *const keys[] = {"2", "20", "200", "", "\xc3\xa9", "\x7f"};
enum { NKEYS = COUNT(keys), ALL = (1 << NKEYS) - 1 };

/* Checks which keys may be in a file with this metadata. Bit i of `expected` stands for key i. */
static void check(const struct key_value *entries, size_t n, lanebloom_status expected_status,
                  unsigned expected)
{
  struct file_plan plan = plain_plan();
  plan.key_values = entries;
  plan.nkey_values = n;
  uint8_t *bytes, bitmap[1] = {0xff};
  lanebloom_parquet *file = open_planned(&plan, &bytes);
  lanebloom_slice slices[NKEYS];
  for (size_t i = 0; i < NKEYS; i++)
    slices[i] = (lanebloom_slice){keys[i], strlen(keys[i])};
  const lanebloom_keys batch = lanebloom_keys_slices(slices, NKEYS);
  char problem[PROBLEM_NBYTES] = "x";
  size_t nmaybe;
  const lanebloom_status status =
      lanebloom_parquet_screen_hudi(file, &batch, bitmap, &nmaybe, problem, sizeof problem);
  cr_assert(status == expected_status && !status == !*problem, "%d: %s", status, problem);
  cr_assert(bitmap[0] == expected && nmaybe == (unsigned)__builtin_popcount(expected),
            "keys %02x, not %02x", bitmap[0], expected);

  lanebloom_parquet_hudi_info info;
  lanebloom_filter *filter;
  lanebloom_parquet_describe_hudi(file, &info, sizeof info);
  const lanebloom_status loading =
      lanebloom_parquet_load_hudi_filter(file, &filter, problem, sizeof problem);
  cr_assert(loading == (info.has_filter ? status : LANEBLOOM_ERR_ARGUMENT) &&
                !filter == (loading != LANEBLOOM_OK),
            "%d: %s", loading, problem);
  if (filter)
    cr_assert(lanebloom_filter_format(filter) == LANEBLOOM_HUDI);
  lanebloom_parquet_free(file);
  free(bytes);
  if (filter) /* it needs neither the file nor the file's bytes */
    cr_assert(lanebloom_filter_may_contain(filter, "2", 1) &&
              !lanebloom_filter_may_contain(filter, "20", 2));
  lanebloom_filter_free(filter);
}

#define CHECK_ENTRIES(status, expected, ...)                                                       \
  check((const struct key_value[]){__VA_ARGS__}, COUNT(((const struct key_value[]){__VA_ARGS__})), \
        status, expected)

Test(parquet, hudi_filters)
{
  check(NULL, 0, LANEBLOOM_OK, ALL);
  CHECK_ENTRIES(LANEBLOOM_OK, ALL, {"writer.model.name", "avro"}, {TYPE, "SIMPLE"});
  CHECK_ENTRIES(LANEBLOOM_OK, 1, {NAME, FILTER});
  CHECK_ENTRIES(LANEBLOOM_OK, 1, {"a", NULL}, {OLD_NAME, FILTER}, {TYPE, "SIMPLE"});
  CHECK_ENTRIES(LANEBLOOM_OK, 1, {NAME, FILTER}, {TYPE, "DYNAMIC_V0"});
  CHECK_ENTRIES(LANEBLOOM_ERR_FORMAT, ALL, {NAME, FILTER}, {NAME, FILTER});
  CHECK_ENTRIES(LANEBLOOM_ERR_FORMAT, ALL, {OLD_NAME, FILTER}, {NAME, FILTER}, {MAX, "1"},
                {MIN, "1"});
  CHECK_ENTRIES(LANEBLOOM_ERR_FORMAT, ALL, {TYPE, "SIMPLE"}, {TYPE, "SIMPLE"}, {NAME, FILTER});
  CHECK_ENTRIES(LANEBLOOM_OK, ALL, {NAME, NULL});
  CHECK_ENTRIES(LANEBLOOM_ERR_FORMAT, ALL, {NAME, FILTER}, {TYPE, "DYNAMIC_V1"});
  CHECK_ENTRIES(LANEBLOOM_ERR_FORMAT, ALL, {NAME, ""});
  CHECK_ENTRIES(LANEBLOOM_ERR_FORMAT, ALL, {NAME, "//////"});
  CHECK_ENTRIES(LANEBLOOM_ERR_FORMAT, ALL, {NAME, "/////wAAAAcBAAAAYHRq2pIPJXbnOeZn"});
  CHECK_ENTRIES(LANEBLOOM_ERR_FORMAT, ALL, {NAME, "/////wAAAAcBAAAAYHRq2pIPJXbnOeZn5Q==A"});
  CHECK_ENTRIES(LANEBLOOM_ERR_FORMAT, ALL, {NAME, "AAAABwAAAGB0atqSDyV25znmZ+U="});
  CHECK_ENTRIES(LANEBLOOM_ERR_LIMIT, ALL, {NAME, "/////wAAAQABAAAAAQE="});
}

/* Keys of ASCII characters outside of the range are not in the file. */
Test(parquet, hudi_ranges)
{
  enum { K2 = 1, K20 = 2, K200 = 4, EMPTY = 8, ACCENT = 16, DEL = 32 };
  CHECK_ENTRIES(LANEBLOOM_OK, K20 | K200 | ACCENT, {MIN, "20"}, {MAX, "3"});
  CHECK_ENTRIES(LANEBLOOM_OK, K20 | ACCENT, {MIN, "20"}, {MAX, "20"});
  CHECK_ENTRIES(LANEBLOOM_OK, ALL, {MIN, ""}, {MAX, "\xef\xbf\xbd"});
  CHECK_ENTRIES(LANEBLOOM_OK, ACCENT, {MIN, "\xc3\xa8"}, {MAX, "\xc3\xa8"});
  CHECK_ENTRIES(LANEBLOOM_OK, 0, {MIN, "3"}, {MAX, "4"}, {NAME, FILTER});
  CHECK_ENTRIES(LANEBLOOM_OK, K2, {MIN, "2"}, {MAX, "20"}, {NAME, FILTER});
  CHECK_ENTRIES(LANEBLOOM_ERR_FORMAT, K2 | ACCENT, {MIN, "2"}, {MAX, "2"}, {NAME, "x"});
  CHECK_ENTRIES(LANEBLOOM_ERR_LIMIT, K2 | ACCENT, {MIN, "2"}, {MAX, "2"},
                {NAME, "/////wAAAQABAAAAAQE="});
  CHECK_ENTRIES(LANEBLOOM_OK, ALL, {MIN, "4"}, {MAX, "3"});
  CHECK_ENTRIES(LANEBLOOM_OK, ALL, {MIN, ""}, {MAX, ""});
  CHECK_ENTRIES(LANEBLOOM_OK, ALL, {MIN, "20"}, {MAX, "20"}, {MAX, "3"});
  CHECK_ENTRIES(LANEBLOOM_OK, ALL, {MIN, "4"});
  CHECK_ENTRIES(LANEBLOOM_OK, ALL, {MAX, "1"}, {MIN, NULL});
}

Test(parquet, damaged_key_values)
{
  struct file_plan plan = plain_plan();
  const struct key_value entry = {"key", "value"};
  plan.key_values = &entry;
  plan.nkey_values = 1;
  size_t nbytes;
  uint8_t *bytes = make_file(&plan, &nbytes);
  uint8_t *key = memmem(bytes, nbytes, "\3key\x18\5value", 11);
  cr_assert(key);
  static const uint8_t changes[][2] = {{0, 0x7f}, {4, 0x15}, {5, 0x7f}};
  for (size_t i = 0; i < COUNT(changes); i++) {
    char problem[PROBLEM_NBYTES];
    lanebloom_parquet *file;
    const uint8_t before = key[changes[i][0]];
    key[changes[i][0]] = changes[i][1];
    cr_assert(lanebloom_parquet_parse(bytes, nbytes, LANEBLOOM_PARQUET_BOUNDS_ALL, &file, problem,
                                      sizeof problem) == LANEBLOOM_ERR_CORRUPT,
              "change %zu", i);
    key[changes[i][0]] = before;
  }
  free(bytes);
}
