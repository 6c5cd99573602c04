/* Builders that choose the size of a filter for a false-positive rate.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <math.h>

#include "builder.h"
#include "format.h"

static lanebloom_builder *create_for_rate(lanebloom_format format, double rate,
                                          uint64_t expected_keys)
{
  lanebloom_builder *builder;
  cr_assert(lanebloom_builder_create_for_rate(format, rate, expected_keys, &builder) ==
            LANEBLOOM_OK);
  return builder;
}

static size_t size_of(const lanebloom_filter *filter)
{
  size_t size;
  lanebloom_filter_bytes(filter, &size);
  return size;
}

/* Returns the filter that a builder for bits per key makes of all keys. */
static lanebloom_filter *build_with_bits(lanebloom_format format, double bits_per_key,
                                         uint64_t expected_keys)
{
  const lanebloom_keys keys = all_keys();
  lanebloom_builder *builder;
  cr_assert(lanebloom_builder_create(format, bits_per_key, expected_keys, &builder) ==
            LANEBLOOM_OK);
  add(builder, &keys, 0, NKEYS);
  lanebloom_filter *filter = finish(builder);
  lanebloom_builder_free(builder);
  return filter;
}

/* If the writer of a format takes no rate, the filter is the one of the bits per key that are
 * planned for the rate. Keys are distinct, so that all formats count them alike. */
Test(builder, a_rate_gives_the_planned_filter)
{
  static const double rates[] = {0.2, 0.01, 0.002};
  const lanebloom_keys keys = all_keys();
  for (size_t f = 0; f < lanebloom_format_count(); f++)
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
      const lanebloom_format format = lanebloom_format_at(f);
      const struct format_table *table = lanebloom_format_table(format);
      double bits, model_rate;
      uint64_t nbytes;
      unsigned nprobes;
      if (!table->plan || lanebloom_plan_bits(format, rates[r], NKEYS, &bits) != LANEBLOOM_OK)
        continue;
      cr_assert(lanebloom_plan_size_for_rate(format, rates[r], NKEYS, &nbytes, &nprobes,
                                             &model_rate) == LANEBLOOM_OK);
      lanebloom_builder *builder = create_for_rate(format, rates[r], NKEYS);
      add(builder, &keys, 0, NKEYS);
      lanebloom_filter *filter = finish(builder);
      lanebloom_builder_free(builder);
      lanebloom_filter_info info;
      lanebloom_filter_describe(filter, &info, sizeof info);
      cr_assert(size_of(filter) == nbytes && info.nprobes == nprobes &&
                    fabs(info.bits_per_key - bits) < 0.0005,
                "%s", table->name);
      if (table->plan_for_rate) { /* the model is the textbook's formula */
        const double fill = 1 - exp(-(double)nprobes * NKEYS / (double)info.nbits);
        cr_assert(fabs(model_rate / pow(fill, nprobes) - 1) < 0.01, "%s: %g", table->name,
                  model_rate);
      }
      if (!table->plan_for_rate)
        assert_equal_and_close(filter, build_with_bits(format, bits, NKEYS), table->name);
      else
        lanebloom_filter_free(filter);
    }
}

/* A builder without expected keys chooses the size at the end, and so do its parts. */
Test(builder, a_rate_waits_for_the_number_of_keys)
{
  enum { NPARTS = 3 };
  const lanebloom_keys keys = all_keys();
  lanebloom_builder *builder = create_for_rate(LANEBLOOM_LEVELDB, 0.01, 0), *parts[NPARTS];
  add(builder, &keys, 0, NKEYS);
  for (size_t i = 0; i < NPARTS; i++)
    cr_assert(lanebloom_builder_part(builder, i, NPARTS, &parts[i]) == LANEBLOOM_OK);
  for (size_t i = 1; i < NPARTS; i++)
    cr_assert(lanebloom_builder_merge(parts[0], parts[i], NULL, 0) == LANEBLOOM_OK);
  assert_equal_and_close(finish(parts[0]), reference(&keys, NKEYS), "parts");
  assert_equal_and_close(finish(builder), reference(&keys, NKEYS), "whole");
  for (size_t i = 0; i < NPARTS; i++)
    lanebloom_builder_free(parts[i]);
  lanebloom_builder_free(builder);
}

/* The number of keys is not known before the end, so no rate is refused that these keys reach. */
Test(builder, a_rate_that_keys_reach_needs_no_number_of_keys)
{
  static const double rates[] = {1e-300, 1e-20, 0.01, 0.5, 0.9, 0.99, 0.99999999, 1 - 0x1p-53};
  static const size_t counts[] = {1, 2, 10, NKEYS};
  const lanebloom_keys keys = all_keys();
  for (size_t f = 0; f < lanebloom_format_count(); f++)
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
      for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const lanebloom_format format = lanebloom_format_at(f);
        double bits;
        if (lanebloom_plan_bits(format, rates[r], counts[c], &bits) != LANEBLOOM_OK)
          continue;
        lanebloom_builder *builder;
        cr_assert(lanebloom_builder_create_for_rate(format, rates[r], 0, &builder) == LANEBLOOM_OK,
                  "%s, rate %g, %zu keys", lanebloom_format_name(format), rates[r], counts[c]);
        add(builder, &keys, 0, counts[c]);
        lanebloom_filter_free(finish(builder));
        lanebloom_builder_free(builder);
      }
}

Test(builder, rates_are_compared_and_checked)
{
  static const double wrong[] = {0, 1, -0.1, 1.5, NAN, INFINITY};
  lanebloom_builder *a = create_for_rate(LANEBLOOM_LEVELDB, 0.01, 0),
                    *b = create_for_rate(LANEBLOOM_LEVELDB, 0.02, 0), *none;
  char problem[128];
  cr_assert(lanebloom_builder_merge(a, b, problem, sizeof problem) == LANEBLOOM_ERR_MISMATCH);
  cr_assert_str_eq(problem, "expected a false-positive rate of 0.01, found 0.02");
  lanebloom_builder_free(b);
  lanebloom_builder_free(a);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    uint64_t nbytes;
    unsigned nprobes;
    cr_assert(lanebloom_builder_create_for_rate(LANEBLOOM_LEVELDB, wrong[i], 5, &none) ==
                  LANEBLOOM_ERR_ARGUMENT &&
              !none);
    cr_assert(lanebloom_plan_size_for_rate(LANEBLOOM_LEVELDB, wrong[i], 5, &nbytes, &nprobes,
                                           NULL) == LANEBLOOM_ERR_ARGUMENT);
  }
  cr_assert(lanebloom_builder_create_for_rate(LANEBLOOM_ROCKSDB, 0.01, 5, &none) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_builder_create_for_rate(LANEBLOOM_LEVELDB, 0.001, 1000000000, &none) ==
            LANEBLOOM_ERR_LIMIT);
}

/* Adds keys to a filter by merging it with a filter of the same shape. */
Test(builder, one_like_a_filter_makes_filters_that_merge_with_it)
{
  const lanebloom_keys keys = all_keys(), old = lanebloom_keys_part(&keys, 0, 1000);
  for (size_t f = 0; f < lanebloom_format_count(); f++) {
    const lanebloom_format format = lanebloom_format_at(f);
    lanebloom_builder *builder;
    lanebloom_filter *filter, *merged;
    if (lanebloom_builder_create(format, 9.5, NKEYS, &builder) != LANEBLOOM_OK &&
        lanebloom_builder_create(format, 9, NKEYS, &builder) != LANEBLOOM_OK)
      continue; /* the format is only opened, not built */
    cr_assert(lanebloom_builder_set_key_form(builder, (lanebloom_key_form){LANEBLOOM_HEX, 1}) ==
              LANEBLOOM_OK);
    add(builder, &keys, 0, 1000);
    filter = finish(builder);
    lanebloom_builder_free(builder);
    cr_assert(lanebloom_builder_create_like(filter, &builder) == LANEBLOOM_OK);
    add(builder, &keys, 1000, NKEYS - 1000);
    lanebloom_filter *more = finish(builder);
    cr_assert(lanebloom_filter_merge((const lanebloom_filter *[]){filter, more}, 2, &merged, NULL,
                                     NULL, 0) == LANEBLOOM_OK);
    cr_assert(lanebloom_filter_nkeys(merged) == NKEYS &&
              lanebloom_filter_screen(merged, &keys, NULL) == NKEYS &&
              lanebloom_filter_screen(filter, &old, NULL) == 1000);
    lanebloom_filter_free(merged);
    lanebloom_filter_free(more);
    lanebloom_filter_free(filter);
    lanebloom_builder_free(builder);
  }
}

Test(builder, none_is_like_a_filter_that_has_no_bits_to_set)
{
  lanebloom_filter *always;
  lanebloom_builder *builder = (void *)1;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\377\377", 2, NULL, &always, NULL, 0) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_builder_create_like(always, &builder) == LANEBLOOM_ERR_ARGUMENT && !builder);
  lanebloom_filter_free(always);
}
