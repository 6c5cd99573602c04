/* The bits per key that builders use and containers record.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "builder.h"
#include "common/bytes.h"
#include "container.h"

static double recorded_bits(const lanebloom_filter *filter)
{
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  return info.bits_per_key;
}

/* Bytes 24 to 31 of a container hold the bits per key, which a program that maps the file
 * may read. */
Test(builder, containers_record_what_was_asked_for_up_to_the_limit)
{
  static const struct {
    lanebloom_format format;
    double asked;
    uint64_t recorded;
  } cases[] = {
      {LANEBLOOM_ROCKSDB_LOCAL, 0.6, 600},     {LANEBLOOM_ROCKSDB_LEGACY, 9.6, 9600},
      {LANEBLOOM_ROCKSDB_LOCAL, 9.9, 9900},    {LANEBLOOM_ROCKSDB_LOCAL, 200, 100000},
      {LANEBLOOM_ROCKSDB_LEGACY, 101, 100000}, {LANEBLOOM_LEVELDB, 200, 200000},
  };
  const lanebloom_keys keys = all_keys();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_build(cases[i].format, cases[i].asked, &keys, &filter) ==
              LANEBLOOM_OK);
    uint8_t header[CONTAINER_HEADER_NBYTES];
    lanebloom_container_write_header(filter, header);
    cr_assert(load_le64(header + 24) == cases[i].recorded, "%g bits per key: %" PRIu64,
              cases[i].asked, load_le64(header + 24));
    lanebloom_filter_free(filter);
  }
}

/* A format may round or limit the bits per key. Builders with the same effective number merge, and
 * filters record that number. */
Test(builder, bits_in_effect_are_recorded_and_compared)
{
  static const struct {
    lanebloom_format format;
    double asked[2], in_effect;
  } cases[] = {
      {LANEBLOOM_ROCKSDB_LOCAL, {100, 150}, 100},    {LANEBLOOM_ROCKSDB_LEGACY, {200, 1e9}, 100},
      {LANEBLOOM_ROCKSDB_LOCAL, {1, 0.5}, 1},        {LANEBLOOM_ROCKSDB_LEGACY, {9.5, 10.4}, 10},
      {LANEBLOOM_ROCKSDB_LOCAL, {9.9, 9.9001}, 9.9}, {LANEBLOOM_LEVELDB, {150, 150}, 150},
  };
  const lanebloom_keys keys = all_keys();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint64_t expected_keys = 0; expected_keys <= 100; expected_keys += 100) {
      lanebloom_builder *builders[2];
      for (size_t b = 0; b < 2; b++) {
        cr_assert(lanebloom_builder_create(cases[i].format, cases[i].asked[b], expected_keys,
                                           &builders[b]) == LANEBLOOM_OK);
        add(builders[b], &keys, 50 * b, 50);
      }
      cr_assert(lanebloom_builder_merge(builders[0], builders[1], NULL, 0) == LANEBLOOM_OK,
                "%g and %g bits per key", cases[i].asked[0], cases[i].asked[1]);
      lanebloom_filter *filter = finish(builders[0]);
      cr_assert(recorded_bits(filter) == cases[i].in_effect, "%g bits per key, recorded as %g",
                cases[i].asked[0], recorded_bits(filter));
      lanebloom_filter_free(filter);
      lanebloom_builder_free(builders[0]);
      lanebloom_builder_free(builders[1]);
    }
}
