/* Errors and the texts that describe them.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

Test(errors, formats_that_are_not_there)
{
  const int end = test_first_unknown_format();
  const int formats[] = {-1, 0, end, end + 1, 255, 256 + 1, 1 << 30};
  const lanebloom_keys keys = lanebloom_keys_fixed("a", 1, 1);
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    const lanebloom_format format = (lanebloom_format)formats[i];
    lanebloom_filter *filter = (void *)1;
    lanebloom_builder *builder = (void *)1;
    uint64_t hash, nbytes;
    unsigned nprobes;
    double value;
    cr_assert(lanebloom_hash(format, &keys, &hash) == LANEBLOOM_ERR_FORMAT, "%d", formats[i]);
    cr_assert(lanebloom_filter_parse_raw(format, "\0\0", 2, NULL, &filter, NULL, 0) ==
                      LANEBLOOM_ERR_FORMAT &&
                  !filter,
              "%d", formats[i]);
    filter = (void *)1;
    cr_assert(lanebloom_filter_build(format, 10, &keys, &filter) == LANEBLOOM_ERR_FORMAT && !filter,
              "%d", formats[i]);
    uint8_t bytes[64];
    size_t size = 1;
    cr_assert(lanebloom_filter_build_raw(format, 10, &keys, bytes, sizeof bytes, &size) ==
                      LANEBLOOM_ERR_FORMAT &&
                  size == 0,
              "%d", formats[i]);
    cr_assert(lanebloom_builder_create(format, 10, 0, &builder) == LANEBLOOM_ERR_FORMAT && !builder,
              "%d", formats[i]);
    cr_assert(lanebloom_plan_size(format, 10, 1, &nbytes, &nprobes) == LANEBLOOM_ERR_FORMAT, "%d",
              formats[i]);
    cr_assert(lanebloom_plan_rate(format, 10, 1, &value) == LANEBLOOM_ERR_FORMAT, "%d", formats[i]);
    cr_assert(lanebloom_plan_bits(format, 0.01, 1, &value) == LANEBLOOM_ERR_FORMAT, "%d",
              formats[i]);
    cr_assert(lanebloom_format_hash_size(format) == 0, "%d", formats[i]);
    cr_assert(strcmp(lanebloom_format_name(format), "unknown") == 0, "%d", formats[i]);
  }
  cr_assert(strcmp(lanebloom_format_name(LANEBLOOM_LEVELDB), "leveldb") == 0);
  cr_assert(strcmp(lanebloom_format_name(LANEBLOOM_LEVELDB_SIGNED), "leveldb-signed") == 0);
  cr_assert(lanebloom_format_hash_size(LANEBLOOM_LEVELDB) == 4);
  cr_assert(lanebloom_format_hash_size(LANEBLOOM_LEVELDB_SIGNED) == 4);
}

Test(errors, bits_per_key_out_of_range)
{
  static const double wrong[] = {-1, -0.001, 0.25, NAN, INFINITY, -INFINITY};
  static const double wrong_unless_rounded[] = {0.5, 9.999, 2147483648.0, 1e300};
  const lanebloom_keys keys = lanebloom_keys_fixed("a", 1, 1);
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t f = 0; f < nformats; f++) {
    const lanebloom_format format = formats[f];
    lanebloom_format_info info;
    cr_assert(lanebloom_format_describe(format, &info, sizeof info) == LANEBLOOM_OK);
    for (size_t i = 0; i < 10; i++) {
      const double bits = i < 6 ? wrong[i] : wrong_unless_rounded[i - 6];
      const lanebloom_status expected =
          i < 6 || !info.rounds_bits ? LANEBLOOM_ERR_ARGUMENT : LANEBLOOM_OK;
      lanebloom_filter *filter = (void *)1;
      lanebloom_builder *builder = (void *)1;
      cr_assert(lanebloom_filter_build(format, bits, &keys, &filter) == expected, "%s, %g",
                info.name, bits);
      cr_assert(lanebloom_builder_create(format, bits, 0, &builder) == expected, "%s, %g",
                info.name, bits);
      cr_assert(!filter == (expected != LANEBLOOM_OK) && !builder == (expected != LANEBLOOM_OK));
      lanebloom_filter_free(filter);
      lanebloom_builder_free(builder);
    }
  }
  lanebloom_filter *filter = (void *)1;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, NULL, 1, NULL, &filter, NULL, 0) ==
                LANEBLOOM_ERR_ARGUMENT &&
            !filter);
}

Test(errors, every_status_has_a_text_of_its_own)
{
  for (int a = LANEBLOOM_OK; a <= LANEBLOOM_ERR_IO; a++)
    for (int b = a + 1; b <= LANEBLOOM_ERR_IO + 1; b++)
      cr_assert(strcmp(lanebloom_status_text((lanebloom_status)a),
                       lanebloom_status_text((lanebloom_status)b)) != 0,
                "%d and %d", a, b);
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", LANEBLOOM_VERSION_MAJOR, LANEBLOOM_VERSION_MINOR,
           LANEBLOOM_VERSION_PATCH);
  cr_assert(strcmp(lanebloom_version(), version) == 0);
  lanebloom_filter_free(NULL);
  lanebloom_builder_free(NULL);
}
