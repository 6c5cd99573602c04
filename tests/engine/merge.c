/* Merging names the first property in which two filters or builders differ.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <lanebloom.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "support.h"

/* How a filter or a builder is made. */
struct recipe {
  lanebloom_format format;
  double bits_per_key;
  uint64_t expected_keys;
  lanebloom_key_form form;
};

static lanebloom_builder *make_builder(const struct recipe *recipe)
{
  lanebloom_builder *builder;
  cr_assert(lanebloom_builder_create(recipe->format, recipe->bits_per_key, recipe->expected_keys,
                                     &builder) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_set_key_form(builder, recipe->form) == LANEBLOOM_OK);
  return builder;
}

static lanebloom_filter *make_filter(const struct recipe *recipe)
{
  lanebloom_builder *builder = make_builder(recipe);
  const lanebloom_keys keys = lanebloom_keys_fixed("abc", 1, 3);
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_add(builder, &keys) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
  lanebloom_builder_free(builder);
  return filter;
}

/* Filters and builders that differ from `first` in one property. The text is NULL if they can be
 * merged. */
static const struct recipe first = {LANEBLOOM_ROCKSDB_LEGACY, 10, 100, {LANEBLOOM_HEX, 0}};
static const struct difference {
  struct recipe recipe;
  const char *of_filters, *of_builders;
} differences[] = {
    {{LANEBLOOM_ROCKSDB_LEGACY, 10, 100, {LANEBLOOM_HEX, 0}}, NULL, NULL},
    {{LANEBLOOM_ROCKSDB_LOCAL, 10, 100, {LANEBLOOM_HEX, 0}},
     "expected the format rocksdb-legacy, found rocksdb-local",
     "expected the format rocksdb-legacy, found rocksdb-local"},
    {{LANEBLOOM_ROCKSDB_LEGACY, 10, 100, {LANEBLOOM_HEX, LANEBLOOM_KEY_TRIMMED}},
     "expected keys of the form 'hex', found 'hex, trimmed'",
     "expected keys of the form 'hex', found 'hex, trimmed'"},
    {{LANEBLOOM_ROCKSDB_LEGACY, 10, 1000, {LANEBLOOM_HEX, 0}},
     "expected 197 bytes, found 1349",
     "expected 197 bytes, found 1349"},
    {{LANEBLOOM_ROCKSDB_LEGACY, 11, 91, {LANEBLOOM_HEX, 0}},
     "expected 6 probes per key, found 7",
     "expected 6 probes per key, found 7"},
    {{LANEBLOOM_ROCKSDB_LEGACY, 10, 0, {LANEBLOOM_HEX, 0}},
     "expected 197 bytes, found 69",
     "expected a builder with a number of expected keys, found one without"},
};

Test(merge, names_the_property_in_which_filters_differ)
{
  lanebloom_filter *filters[3] = {make_filter(&first), make_filter(&first), NULL};
  for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
    const char *expected = differences[i].of_filters;
    lanebloom_filter *merged = (void *)1;
    size_t bad = 77;
    char problem[128] = "old";
    filters[2] = make_filter(&differences[i].recipe);
    const lanebloom_status status = lanebloom_filter_merge(
        (const lanebloom_filter *const *)filters, 3, &merged, &bad, problem, sizeof problem);
    cr_assert(status == (expected ? LANEBLOOM_ERR_MISMATCH : LANEBLOOM_OK) &&
              !merged == !!expected);
    cr_assert(strcmp(problem, expected ? expected : "") == 0, "%zu: %s", i, problem);
    cr_assert(bad == (expected ? 2 : 3), "%zu", bad);
    lanebloom_filter_free(merged);
    lanebloom_filter_free(filters[2]);
  }
  lanebloom_filter_free(filters[0]);
  lanebloom_filter_free(filters[1]);
}

/* These filters were built with different numbers of bits per key, but have the same effective
 * number. */
Test(merge, keeps_the_bits_per_key_in_effect)
{
  const struct recipe other = {LANEBLOOM_ROCKSDB_LEGACY, 9.6, 100, {LANEBLOOM_HEX, 0}};
  lanebloom_filter *a = make_filter(&first), *b = make_filter(&other), *merged;
  cr_assert(lanebloom_filter_bits_per_key(a) == 10 && lanebloom_filter_bits_per_key(b) == 10);
  cr_assert(lanebloom_filter_merge((const lanebloom_filter *const[]){a, b}, 2, &merged, NULL, NULL,
                                   0) == LANEBLOOM_OK &&
            lanebloom_filter_bits_per_key(merged) == 10);
  lanebloom_filter_free(merged);
  lanebloom_filter_free(a);
  lanebloom_filter_free(b);
}

/* If even the first filter cannot be merged, the error names the first filter. */
Test(merge, names_a_filter_that_cannot_be_merged)
{
  /* two blocks of a Ribbon filter, and its trailer */
  static uint8_t ribbon[2 * 16 + 5];
  memcpy(ribbon + 32, "\xfe\0\2\0", 5);
  lanebloom_filter *filter, *merged;
  size_t bad = 77;
  char problem[128];
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, ribbon, sizeof ribbon, NULL, &filter,
                                       problem, sizeof problem) == LANEBLOOM_OK &&
                lanebloom_filter_format(filter) == LANEBLOOM_ROCKSDB_RIBBON,
            "%s", problem);
  cr_assert(lanebloom_filter_merge((const lanebloom_filter *const[]){filter}, 1, &merged, &bad,
                                   problem, sizeof problem) == LANEBLOOM_ERR_MISMATCH &&
            bad == 0 && !merged);
  cr_assert(strcmp(problem, "expected a filter that can be merged, found rocksdb-ribbon") == 0,
            "%s", problem);
  lanebloom_filter_free(filter);
  cr_assert(lanebloom_filter_merge(NULL, 0, &merged, &bad, problem, sizeof problem) ==
                LANEBLOOM_ERR_ARGUMENT &&
            bad == 0 && strstr(problem, "expected at least one filter"));
}

Test(merge, names_the_property_in_which_builders_differ)
{
  lanebloom_builder *into = make_builder(&first);
  char problem[128];
  for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
    const char *expected = differences[i].of_builders;
    lanebloom_builder *from = make_builder(&differences[i].recipe);
    memset(problem, 'x', sizeof problem);
    const lanebloom_status status = lanebloom_builder_merge(into, from, problem, sizeof problem);
    cr_assert(status == (expected ? LANEBLOOM_ERR_MISMATCH : LANEBLOOM_OK));
    cr_assert(strcmp(problem, expected ? expected : "") == 0, "%zu: %s", i, problem);
    lanebloom_builder_free(from);
  }
  cr_assert(lanebloom_builder_merge(into, into, problem, sizeof problem) ==
                LANEBLOOM_ERR_ARGUMENT &&
            strstr(problem, "found the same one"));
  lanebloom_builder_free(into);

  const struct recipe ten = {.format = LANEBLOOM_LEVELDB, .bits_per_key = 10},
                      twelve = {.format = LANEBLOOM_LEVELDB, .bits_per_key = 12};
  lanebloom_builder *a = make_builder(&ten), *b = make_builder(&twelve);
  cr_assert(lanebloom_builder_merge(a, b, problem, sizeof problem) == LANEBLOOM_ERR_MISMATCH);
  cr_assert(strcmp(problem, "expected 10 bits per key, found 12") == 0, "%s", problem);
  lanebloom_builder_free(a);
  lanebloom_builder_free(b);
}

/* Makes the filter of a recipe, with this count of keys in its header, and opens it as bare bytes.
 * The caller frees the bytes after the filter. */
static lanebloom_filter *make_counted(const struct recipe *recipe, uint64_t count, uint8_t **bytes)
{
  lanebloom_filter *filter = make_filter(recipe), *counted;
  size_t size;
  const void *made = lanebloom_filter_bytes(filter, &size);
  *bytes = memcpy(malloc(size), made, size);
  store_le64(*bytes + lanebloom_format_table(recipe->format)->count_offset, count);
  lanebloom_filter_free(filter);
  cr_assert(lanebloom_filter_parse_raw(recipe->format, *bytes, size, NULL, &counted, NULL, 0) ==
            LANEBLOOM_OK);
  return counted;
}

/* A count of 2^64 - 1 is unknown, and so is a larger sum. */
Test(merge, a_sum_of_counts_does_not_wrap)
{
  static const uint64_t counts[][3] = {
      {3, 4, 7},
      {UINT64_MAX - 7, 6, UINT64_MAX - 1},
      {UINT64_MAX - 7, 7, UINT64_MAX},
      {UINT64_MAX - 7, 8, UINT64_MAX},
      {UINT64_MAX, 0, UINT64_MAX},
      {UINT64_MAX, UINT64_MAX, UINT64_MAX},
  };
  static const struct recipe recipe = {LANEBLOOM_DCSO, 10, 100, {LANEBLOOM_BYTES, 0}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    uint8_t *bytes[2];
    lanebloom_filter *filters[2] = {make_counted(&recipe, counts[i][0], &bytes[0]),
                                    make_counted(&recipe, counts[i][1], &bytes[1])},
                     *merged;
    cr_assert(lanebloom_filter_merge((const lanebloom_filter *const *)filters, 2, &merged, NULL,
                                     NULL, 0) == LANEBLOOM_OK);
    size_t size;
    const uint8_t *sum = lanebloom_filter_bytes(merged, &size);
    cr_assert(load_le64(sum + lanebloom_format_table(LANEBLOOM_DCSO)->count_offset) ==
                      counts[i][2] &&
                  lanebloom_filter_nkeys(merged) == counts[i][2],
              "%zu", i);
    lanebloom_filter_free(merged);
    for (size_t j = 0; j < 2; j++) {
      lanebloom_filter_free(filters[j]);
      free(bytes[j]);
    }
  }
}
