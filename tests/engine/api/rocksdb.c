/* RocksDB's filters, whose trailers say their format.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "few_keys.h"

Test(errors, the_format_that_only_opens)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("a", 1, 1);
  lanebloom_filter *filter = (void *)1;
  lanebloom_builder *builder = (void *)1;
  uint64_t hash, nbytes;
  unsigned nprobes;
  double value;
  cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB, &keys, &hash) == LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_filter_build(LANEBLOOM_ROCKSDB, 10, &keys, &filter) == LANEBLOOM_ERR_FORMAT &&
            !filter);
  cr_assert(lanebloom_builder_create(LANEBLOOM_ROCKSDB, 10, 5, &builder) == LANEBLOOM_ERR_FORMAT &&
            !builder);
  cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB, 10, 1, &nbytes, &nprobes) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_plan_rate(LANEBLOOM_ROCKSDB, 10, 1, &value) == LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_plan_bits(LANEBLOOM_ROCKSDB, 0.01, 1, &value) == LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_format_hash_size(LANEBLOOM_ROCKSDB) == 0);
  cr_assert(strcmp(lanebloom_format_name(LANEBLOOM_ROCKSDB), "rocksdb") == 0);
  cr_assert(strcmp(lanebloom_format_name(LANEBLOOM_ROCKSDB_LEGACY), "rocksdb-legacy") == 0);
  cr_assert(strcmp(lanebloom_format_name(LANEBLOOM_ROCKSDB_LOCAL), "rocksdb-local") == 0);
}

static lanebloom_status open_as(lanebloom_format format, const lanebloom_filter *filter,
                                lanebloom_format *found)
{
  size_t size;
  const void *bytes = lanebloom_filter_bytes(filter, &size);
  lanebloom_filter *opened;
  lanebloom_status status = lanebloom_filter_parse_raw(format, bytes, size, NULL, &opened, NULL, 0);
  if (status == LANEBLOOM_OK) {
    lanebloom_filter_info info;
    lanebloom_filter_describe(opened, &info, sizeof info);
    *found = info.format;
  }
  lanebloom_filter_free(opened);
  return status;
}

Test(rocksdb, the_trailer_says_the_format)
{
  static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB_LEGACY, LANEBLOOM_ROCKSDB_LOCAL};
  for (size_t i = 0; i < 2; i++) {
    const lanebloom_keys key = lanebloom_keys_fixed("a", 1, 1),
                         none = lanebloom_keys_fixed("", 1, 0);
    lanebloom_filter *filter;
    lanebloom_format found;
    cr_assert(lanebloom_filter_build(formats[i], 10, &key, &filter) == LANEBLOOM_OK);
    cr_assert(open_as(LANEBLOOM_ROCKSDB, filter, &found) == LANEBLOOM_OK && found == formats[i]);
    cr_assert(open_as(formats[i], filter, &found) == LANEBLOOM_OK && found == formats[i]);
    cr_assert(open_as(formats[!i], filter, &found) == LANEBLOOM_ERR_FORMAT);
    lanebloom_filter_free(filter);

    cr_assert(lanebloom_filter_build(formats[i], 10, &none, &filter) == LANEBLOOM_OK);
    size_t size;
    lanebloom_filter_bytes(filter, &size);
    cr_assert(size == 5 && !lanebloom_filter_may_contain(filter, "a", 1));
    cr_assert(open_as(LANEBLOOM_ROCKSDB, filter, &found) == LANEBLOOM_OK &&
              found == LANEBLOOM_ROCKSDB);
    cr_assert(open_as(formats[!i], filter, &found) == LANEBLOOM_OK && found == formats[!i],
              "constant for both");
    lanebloom_filter_free(filter);
  }
}

/* Covers every reason for which an answer is constant. */
Test(rocksdb, constant_answers_are_of_neither_format)
{
  static const struct {
    uint8_t trailer[5];
    size_t nbytes; /* includes the payload */
    bool answer;
  } filters[] = {
      {{6, 1, 0, 0, 0}, 5, false},     {{0, 0, 0, 0, 0}, 69, true},
      {{0xff, 0, 31, 0, 0}, 69, true}, {{0xff, 0, 6, 0, 0}, 68, true},
      {{0xff, 0, 6, 1, 0}, 69, true},  {{6, 7, 0, 0, 0}, 69, true},
      {{0xfe, 0, 1, 0, 0}, 69, true},  {{0x80, 0, 0, 0, 0}, 69, true},
  };
  for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
    uint8_t bytes[69] = {0};
    memcpy(bytes + filters[i].nbytes - 5, filters[i].trailer, 5);
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes, filters[i].nbytes, NULL, &filter,
                                         NULL, 0) == LANEBLOOM_OK,
              "%zu", i);
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(info.format == LANEBLOOM_ROCKSDB && info.nprobes == 0 && info.nbits == 0, "%zu", i);
    cr_assert(info.model_rate == filters[i].answer, "%zu", i);
    cr_assert(lanebloom_filter_may_contain(filter, "a", 1) == filters[i].answer, "%zu", i);
    lanebloom_filter_free(filter);
  }
}

Test(rocksdb, the_model_rate_comes_from_the_bits_that_are_set)
{
  static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB_LEGACY, LANEBLOOM_ROCKSDB_LOCAL};
  static uint8_t bytes[NKEYS * WIDTH];
  fill_keys(bytes);
  for (size_t i = 0; i < 2; i++) {
    const lanebloom_keys once = lanebloom_keys_fixed(bytes, WIDTH, NKEYS);
    lanebloom_builder *builder;
    lanebloom_filter *filter, *opened;
    double planned;
    lanebloom_filter_info info, bare;
    cr_assert(lanebloom_plan_rate(formats[i], 12, NKEYS, &planned) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_create(formats[i], 12, NKEYS, &builder) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_add(builder, &once) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_add(builder, &once) ==
              LANEBLOOM_OK); /* sets no bit that was not set */
    cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(info.nkeys == 2 * NKEYS);
    cr_assert(fabs(info.model_rate / planned - 1) < 0.1, "%g, planned %g", info.model_rate,
              planned);

    size_t size;
    const void *engine = lanebloom_filter_bytes(filter, &size);
    cr_assert(lanebloom_filter_parse_raw(formats[i], engine, size, NULL, &opened, NULL, 0) ==
              LANEBLOOM_OK);
    lanebloom_filter_describe(opened, &bare, sizeof bare);
    cr_assert(fabs(bare.model_rate / info.model_rate - 1) < 1e-3, "%g, %g", bare.model_rate,
              info.model_rate);
    lanebloom_filter_free(opened);
    lanebloom_filter_free(filter);
    lanebloom_builder_free(builder);
  }
}
