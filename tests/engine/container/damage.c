/* A container that is damaged, of an unknown kind or changing is refused.
 * SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include <criterion/criterion.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "containers.h"
#include "filter_files.h"
#include "formats/rocksdb.h"
#include "support.h"

Test(container, every_flipped_bit_is_noticed)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 30, 7), *found;
  save(filter, "f.lbf");
  uint8_t bytes[256];
  const size_t size = read_file("f.lbf", bytes, sizeof bytes);
  for (size_t bit = 0; bit < 8 * size; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    const lanebloom_status status = lanebloom_filter_parse(bytes, size, &found, NULL, 0);
    cr_assert((status == LANEBLOOM_ERR_FORMAT || status == LANEBLOOM_ERR_CORRUPT) && !found,
              "bit %zu: %d", bit, status);
    if (bit % 9 == 0 || test_exhaustive()) {
      char why[200] = "";
      test_write_file("f.lbf", bytes, size);
      cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == status && !found,
                "bit %zu", bit);
      cr_assert(strstr(why, "expected") && strstr(why, "found"), "bit %zu: %s", bit, why);
      if (bit < 8 * 48) /* mapping does not verify the rest */
        cr_assert(lanebloom_filter_map("f.lbf", &found, NULL, 0) == status && !found, "bit %zu",
                  bit);
    }
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  lanebloom_filter_free(filter);
  leave_folder();
}

Test(container, every_wrong_length_is_noticed)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 30, 7), *found;
  save(filter, "f.lbf");
  uint8_t bytes[256] = {0};
  const size_t size = read_file("f.lbf", bytes, sizeof bytes);
  for (size_t n = 0; n < sizeof bytes; n++) {
    if (n == size)
      continue;
    test_write_file("f.lbf", bytes, n);
    char why[200] = "";
    const lanebloom_status expected = n < 8 ? LANEBLOOM_ERR_FORMAT : LANEBLOOM_ERR_CORRUPT;
    cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == expected && !found,
              "%zu bytes", n);
    cr_assert(strstr(why, "expected") && strstr(why, "found"), "%zu bytes: %s", n, why);
    cr_assert(lanebloom_filter_map("f.lbf", &found, NULL, 0) == expected && !found, "%zu bytes", n);
    cr_assert(lanebloom_filter_parse(bytes, n, &found, NULL, 0) == expected && !found, "%zu bytes",
              n);
  }
  lanebloom_filter_free(filter);
  leave_folder();
}

void assert_refused(const void *bytes, size_t size, const char *what, const char *part_of_why)
{
  lanebloom_filter *found;
  char why[200];
  test_write_file("f", bytes, size);
  cr_assert(lanebloom_filter_load("f", &found, why, sizeof why) == LANEBLOOM_ERR_FORMAT && !found,
            "%s", what);
  cr_assert(strstr(why, part_of_why), "%s: %s", what, why);
}

/* Points to a container that another process changes after its header was checked. */
static uint8_t *changing;

const struct format_table *__real_lanebloom_format_table(lanebloom_format id);
const struct format_table *__wrap_lanebloom_format_table(lanebloom_format id);

const struct format_table *__wrap_lanebloom_format_table(lanebloom_format id)
{
  if (changing)
    memset(changing, 'x', 64);
  changing = NULL;
  return __real_lanebloom_format_table(id);
}

Test(container, a_header_that_changes_is_read_once)
{
  static uint8_t bytes[1000];
  lanebloom_filter *filter, *found;
  const lanebloom_keys keys = lanebloom_keys_fixed("0123456789abcdef", 4, 4);
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &keys, &filter) == LANEBLOOM_OK);
  size_t nbytes;
  cr_assert(lanebloom_filter_write(filter, bytes, sizeof bytes, &nbytes) == LANEBLOOM_OK);
  changing = bytes;
  cr_assert(lanebloom_filter_parse(bytes, nbytes, &found, NULL, 0) == LANEBLOOM_OK && !changing &&
            equal(filter, found));
  lanebloom_filter_free(filter);
  lanebloom_filter_free(found);
}

/* Points to the trailer of a RocksDB filter, which changes after the filter's kind was read from
 * it. */
static uint8_t *changing_trailer;

lanebloom_status __real_lanebloom_rocksdb_parse(const uint8_t *bytes, size_t size,
                                                enum rocksdb_kind expected,
                                                struct filter_shape *shape,
                                                const struct problem *problem);
lanebloom_status __wrap_lanebloom_rocksdb_parse(const uint8_t *bytes, size_t size,
                                                enum rocksdb_kind expected,
                                                struct filter_shape *shape,
                                                const struct problem *problem);

lanebloom_status __wrap_lanebloom_rocksdb_parse(const uint8_t *bytes, size_t size,
                                                enum rocksdb_kind expected,
                                                struct filter_shape *shape,
                                                const struct problem *problem)
{
  const lanebloom_status status =
      __real_lanebloom_rocksdb_parse(bytes, size, expected, shape, problem);
  if (changing_trailer)
    memset(changing_trailer, changing_trailer[0] == 0xfe ? 0 : 0xff, ROCKSDB_TRAILER_NBYTES);
  return status;
}

Test(container, a_trailer_that_changes_is_damaged)
{
  static const struct {
    lanebloom_format format;
    uint8_t trailer[ROCKSDB_TRAILER_NBYTES];
    lanebloom_status expected;
  } cases[] = {{LANEBLOOM_ROCKSDB_LEGACY, {6, 1, 0, 0, 0}, LANEBLOOM_ERR_CORRUPT},
               {LANEBLOOM_ROCKSDB_LOCAL, {0xff, 0, 6, 0, 0}, LANEBLOOM_OK},
               {LANEBLOOM_ROCKSDB_RIBBON, {0xfe, 0, 2, 0, 0}, LANEBLOOM_ERR_CORRUPT}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t bytes[64 + ROCKSDB_TRAILER_NBYTES] = {0};
    lanebloom_filter *filter = NULL;
    memcpy(bytes + 64, cases[i].trailer, ROCKSDB_TRAILER_NBYTES);
    cr_assert(lanebloom_filter_parse_raw(cases[i].format, bytes, sizeof bytes, NULL, &filter, NULL,
                                         0) == LANEBLOOM_OK);
    lanebloom_filter_free(filter);
    changing_trailer = bytes + 64;
    const lanebloom_status status =
        lanebloom_filter_parse_raw(cases[i].format, bytes, sizeof bytes, NULL, &filter, NULL, 0);
    changing_trailer = NULL;
    cr_assert(status == cases[i].expected, "trailer %zu: %s", i, lanebloom_status_text(status));
    if (!status)
      lanebloom_filter_free(filter);
  }
}

Test(container, what_is_newer_or_something_else_is_told_so)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 3, 7), *found;
  save(filter, "f");
  cr_assert(lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, "f", NULL, &found, NULL, 0) ==
                    LANEBLOOM_ERR_FORMAT &&
                !found,
            "a container is no engine's filter");
  uint8_t bytes[256];
  const size_t size = read_file("f", bytes, sizeof bytes);
  bytes[8] = 4;
  assert_refused(bytes, size, "version 4", "version: expected 1 to 3, found 4");
  assert_refused("#!/bin/sh\n", 10, "a script", "found 23 21 2f 62 69 6e 2f 73");
  assert_refused("\x89LB", 3, "three bytes", "found 89 4c 42");
  assert_refused("", 0, "empty", "found nothing");

  char tiny[8] = "#######";
  cr_assert(lanebloom_filter_load("f", &found, tiny, 4) == LANEBLOOM_ERR_FORMAT);
  cr_assert(strcmp(tiny, "not") == 0 && tiny[4] == '#', "cut to fit: %s", tiny);
  lanebloom_filter_free(filter);
  leave_folder();
}

void seal(uint8_t *bytes, size_t size)
{
  const uint32_t header = htole32((uint32_t)XXH3_64bits(bytes, 44));
  memcpy(bytes + 44, &header, sizeof header);
  memset(bytes + 48, 0, 8);
  const uint64_t whole = htole64(XXH3_64bits(bytes, size));
  memcpy(bytes + 48, &whole, sizeof whole);
}

Test(container, fields_that_are_well_sealed_but_unknown)
{
  static const struct {
    size_t at;
    uint8_t value;
    lanebloom_status status;
    const char *why;
  } fields[] = {
      {12, 1, LANEBLOOM_OK, ""},
      {12, 99, LANEBLOOM_ERR_FORMAT, "found number 99"},
      {8, 2, LANEBLOOM_ERR_FORMAT, "that version 2 has, found encoding 0 and flags 0000"},
      {8, 3, LANEBLOOM_ERR_FORMAT, "that version 3 has, found encoding 0 and flags 0000"},
      {40, 1, LANEBLOOM_ERR_FORMAT, "expected none in version 1, found encoding 1 and flags 0000"},
      {43, 1, LANEBLOOM_ERR_FORMAT, "expected none in version 1, found encoding 0 and flags 0100"},
      {56, 1, LANEBLOOM_ERR_FORMAT, "reserved bytes: expected 0, found 0000000000000001"},
      {63, 0x80, LANEBLOOM_ERR_FORMAT, "reserved bytes: expected 0"},
      {31, 0xff, LANEBLOOM_ERR_CORRUPT, "bits per key: expected at most"},
      {39, 0x80, LANEBLOOM_ERR_CORRUPT, "truncated: expected a payload of"},
      {32, 0, LANEBLOOM_ERR_CORRUPT, "too long: expected a payload of 0"},
  };
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 3, 7), *found;
  save(filter, "f");
  uint8_t original[256], bytes[256];
  const size_t size = read_file("f", original, sizeof original);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    memcpy(bytes, original, size);
    bytes[fields[i].at] = fields[i].value;
    seal(bytes, size);
    test_write_file("f", bytes, size);
    char why[200];
    cr_assert(lanebloom_filter_load("f", &found, why, sizeof why) == fields[i].status,
              "field %zu: %s", i, why);
    cr_assert(strstr(why, fields[i].why), "field %zu: %s", i, why);
    lanebloom_filter_free(found);
    cr_assert(lanebloom_filter_map("f", &found, NULL, 0) == fields[i].status, "field %zu", i);
    lanebloom_filter_free(found);
    cr_assert(lanebloom_filter_parse(bytes, size, &found, NULL, 0) == fields[i].status, "field %zu",
              i);
    lanebloom_filter_free(found);
  }
  cr_assert(lanebloom_filter_parse(NULL, 0, &found, NULL, 0) == LANEBLOOM_ERR_FORMAT && !found);
  cr_assert(lanebloom_filter_parse(NULL, 1, &found, NULL, 0) == LANEBLOOM_ERR_ARGUMENT && !found);
  lanebloom_filter_free(filter);
  leave_folder();
}
