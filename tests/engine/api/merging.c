/* Merging filters.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <math.h>

#include "few_keys.h"

Test(merge, filters_of_one_layout)
{
  uint8_t bytes[NKEYS * WIDTH];
  fill_keys(bytes);
  const lanebloom_keys all = lanebloom_keys_fixed(bytes, WIDTH, NKEYS);
  const lanebloom_keys halves[2] = {lanebloom_keys_part(&all, 0, NKEYS / 2),
                                    lanebloom_keys_part(&all, NKEYS / 2, NKEYS / 2)};
  const lanebloom_filter *parts[2] = {build(&halves[0]), build(&halves[1])};
  lanebloom_filter *merged, *opened;
  cr_assert(lanebloom_filter_merge(parts, 2, &merged, NULL, NULL, 0) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_screen(merged, &all, NULL) == NKEYS);
  lanebloom_filter_info info;
  lanebloom_filter_describe(merged, &info, sizeof info);
  cr_assert(info.nkeys == NKEYS && info.bits_per_key == 10 && info.nprobes == 6);

  size_t size, merged_size;
  const uint8_t *a = lanebloom_filter_bytes(parts[0], &size),
                *b = lanebloom_filter_bytes(parts[1], &size);
  const uint8_t *c = lanebloom_filter_bytes(merged, &merged_size);
  cr_assert(size == merged_size && c[size - 1] == 6);
  for (size_t i = 0; i < size - 1; i++)
    cr_assert(c[i] == (a[i] | b[i]), "byte %zu", i);

  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, a, size, NULL, &opened, NULL, 0) ==
            LANEBLOOM_OK);
  const lanebloom_filter *unknown[2] = {merged, opened};
  lanebloom_filter *again;
  cr_assert(lanebloom_filter_merge(unknown, 2, &again, NULL, NULL, 0) == LANEBLOOM_OK);
  lanebloom_filter_describe(again, &info, sizeof info);
  cr_assert(info.nkeys == LANEBLOOM_UNKNOWN && isnan(info.bits_per_key));
  lanebloom_filter_free(again);
  lanebloom_filter_free(opened);
  lanebloom_filter_free(merged);
  lanebloom_filter_free((lanebloom_filter *)parts[0]);
  lanebloom_filter_free((lanebloom_filter *)parts[1]);
}

Test(merge, filters_that_differ_are_refused)
{
  static const struct {
    lanebloom_format format;
    const char *bytes;
    size_t size;
  } others[] = {
      {LANEBLOOM_LEVELDB_SIGNED, "\1\2\3\4\6", 5}, /* another format */
      {LANEBLOOM_LEVELDB, "\1\2\3\4\5\6", 6},      /* another size */
      {LANEBLOOM_LEVELDB, "\1\2\3\4\7", 5},        /* another number of probes */
      {LANEBLOOM_LEVELDB, "\1\2\3\4\x1f", 5},      /* answers every query alike */
      {LANEBLOOM_LEVELDB, "", 0},
  };
  lanebloom_filter *filter, *merged = (void *)1;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\1\2\3\4\6", 5, NULL, &filter, NULL,
                                       0) == LANEBLOOM_OK);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    lanebloom_filter *other;
    cr_assert(lanebloom_filter_parse_raw(others[i].format, others[i].bytes, others[i].size, NULL,
                                         &other, NULL, 0) == LANEBLOOM_OK);
    const lanebloom_filter *pair[2] = {filter, other};
    merged = (void *)1;
    cr_assert(lanebloom_filter_merge(pair, 2, &merged, NULL, NULL, 0) == LANEBLOOM_ERR_MISMATCH &&
                  !merged,
              "other %zu", i);
    lanebloom_filter_free(other);
  }
  merged = (void *)1;
  cr_assert(lanebloom_filter_merge(NULL, 0, &merged, NULL, NULL, 0) == LANEBLOOM_ERR_ARGUMENT &&
            !merged);
  lanebloom_filter_free(filter);
}
