/* Builders that get their keys in pieces make the same filters as one batch.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"

static uint64_t key_bytes[NKEYS];

lanebloom_keys all_keys(void)
{
  for (uint64_t i = 0; i < NKEYS; i++)
    key_bytes[i] = (i - (i % 10 == 9)) * 0x9e3779b97f4a7c15;
  return lanebloom_keys_fixed(key_bytes, 8, NKEYS);
}

lanebloom_builder *create(double bits_per_key, uint64_t expected_keys)
{
  lanebloom_builder *builder;
  lanebloom_status status =
      lanebloom_builder_create(LANEBLOOM_LEVELDB, bits_per_key, expected_keys, &builder);
  cr_assert(status == LANEBLOOM_OK, "create: %s", lanebloom_status_text(status));
  return builder;
}

void add(lanebloom_builder *builder, const lanebloom_keys *keys, size_t first, size_t n)
{
  const lanebloom_keys part = lanebloom_keys_part(keys, first, n);
  cr_assert(lanebloom_builder_add(builder, &part) == LANEBLOOM_OK);
}

lanebloom_filter *finish(lanebloom_builder *builder)
{
  lanebloom_filter *filter;
  lanebloom_status status = lanebloom_builder_finish(builder, &filter);
  cr_assert(status == LANEBLOOM_OK, "finish: %s", lanebloom_status_text(status));
  return filter;
}

void assert_equal_and_close(lanebloom_filter *found, lanebloom_filter *expected, const char *what)
{
  size_t found_size, expected_size;
  const void *found_bytes = lanebloom_filter_bytes(found, &found_size);
  const void *expected_bytes = lanebloom_filter_bytes(expected, &expected_size);
  cr_assert(found_size == expected_size, "%s: %zu bytes, expected %zu", what, found_size,
            expected_size);
  cr_assert(memcmp(found_bytes, expected_bytes, found_size) == 0, "%s", what);
  lanebloom_filter_info found_info, expected_info;
  lanebloom_filter_describe(found, &found_info, sizeof found_info);
  lanebloom_filter_describe(expected, &expected_info, sizeof expected_info);
  cr_assert(memcmp(&found_info, &expected_info, sizeof found_info) == 0, "%s: infos differ", what);
  lanebloom_filter_free(found);
  lanebloom_filter_free(expected);
}

lanebloom_filter *reference(const lanebloom_keys *keys, size_t n)
{
  const lanebloom_keys part = lanebloom_keys_part(keys, 0, n);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &part, &filter) == LANEBLOOM_OK);
  return filter;
}

Test(builder, pieces_make_what_one_batch_makes)
{
  const lanebloom_keys keys = all_keys();
  static const size_t sizes[] = {1, 7, 1000, 1024, 1025, NKEYS};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int sized = 0; sized < 2; sized++) {
      lanebloom_builder *builder = create(10, sized ? NKEYS : 0);
      for (size_t first = 0; first < NKEYS; first += sizes[i])
        add(builder, &keys, first, sizes[i]);
      assert_equal_and_close(finish(builder), reference(&keys, NKEYS), sized ? "sized" : "kept");
      lanebloom_builder_free(builder);
    }
}

Test(builder, is_empty_after_finish_and_can_be_fed_again)
{
  const lanebloom_keys keys = all_keys();
  for (int sized = 0; sized < 2; sized++) {
    lanebloom_builder *builder = create(10, sized ? 100 : 0);
    for (int round = 0; round < 3; round++) {
      add(builder, &keys, 0, 100);
      assert_equal_and_close(finish(builder), reference(&keys, 100), "round");
    }
    lanebloom_filter *filter = finish(builder); /* has no keys */
    cr_assert(lanebloom_filter_screen(filter, &keys, NULL) == 0);
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(info.nkeys == 0 && info.nbits_set == 0 && info.nbits == (sized ? 1000 : 64));
    lanebloom_filter_free(filter);
    lanebloom_builder_free(builder);
  }
}

Test(builder, more_keys_than_expected_are_counted_and_found)
{
  const lanebloom_keys keys = all_keys();
  lanebloom_builder *builder = create(10, 10);
  add(builder, &keys, 0, 500);
  lanebloom_filter *filter = finish(builder);
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  cr_assert(info.nkeys == 500 && info.nbits == 104);
  const lanebloom_keys added = lanebloom_keys_part(&keys, 0, 500);
  cr_assert(lanebloom_filter_screen(filter, &added, NULL) == 500);
  lanebloom_filter_free(filter);
  lanebloom_builder_free(builder);
}

/* RocksDB counts a run of equal hashes once, also if batches or merged builders divide the run. A
 * filter that is sized at the start counts every key. */
Test(builder, equal_neighbours_count_once_in_rocksdb)
{
  static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB_LEGACY, LANEBLOOM_ROCKSDB_LOCAL};
  const lanebloom_keys equal = lanebloom_keys_fixed("aaaaaaaaaaaaaaaaaaaa", 1, 20);
  const lanebloom_keys mixed = lanebloom_keys_fixed("abababababababababab", 1, 20);
  for (size_t i = 0; i < 2; i++) {
    lanebloom_builder *into, *from;
    lanebloom_filter *filter;
    uint64_t nbytes_of_1, nbytes_of_20;
    unsigned nprobes;
    size_t size;
    cr_assert(lanebloom_plan_size(formats[i], 100, 1, &nbytes_of_1, &nprobes) == LANEBLOOM_OK);
    cr_assert(lanebloom_plan_size(formats[i], 100, 20, &nbytes_of_20, &nprobes) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_create(formats[i], 100, 0, &into) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_create(formats[i], 100, 0, &from) == LANEBLOOM_OK);

    add(into, &equal, 0, 20);
    add(into, &equal, 0, 20);
    add(from, &equal, 0, 20);
    cr_assert(lanebloom_builder_merge(into, from, NULL, 0) == LANEBLOOM_OK);
    filter = finish(into);
    lanebloom_filter_bytes(filter, &size);
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(size == nbytes_of_1 && info.nkeys == 60, "%zu bytes", size);
    lanebloom_filter_free(filter);

    add(into, &mixed, 0, 20);
    filter = finish(into);
    lanebloom_filter_bytes(filter, &size);
    cr_assert(size == nbytes_of_20, "%zu bytes", size);
    lanebloom_filter_free(filter);
    lanebloom_builder_free(into);
    lanebloom_builder_free(from);
  }
}

/* If one batch has many short keys, the keys are hashed twice, and their hashes are not stored. The
 * batch here has pairs and long runs of equal neighbours, within blocks of hashes and across their
 * borders. */
Test(builder, many_short_keys_are_counted_as_in_a_stream)
{
  enum { MANY = 4200000, RUN_NKEYS = 5000 };
  uint64_t *data = malloc(MANY * sizeof *data);
  cr_assert(data);
  data[0] = 0; /* the first key must count, even if its hash is 0 */
  for (uint64_t i = 1; i < MANY; i++)
    data[i] =
        i % 1024 == 0 || i % 7 == 3 || i / RUN_NKEYS == 2 ? data[i - 1] : i * 0x9e3779b97f4a7c15;
  const lanebloom_keys keys = lanebloom_keys_fixed(data, 8, MANY);
  static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB_LOCAL, LANEBLOOM_ROCKSDB_LEGACY};
  for (size_t f = 0; f < 2; f++) {
    lanebloom_builder *stream;
    lanebloom_filter *built;
    cr_assert(lanebloom_builder_create(formats[f], 10, 0, &stream) == LANEBLOOM_OK);
    for (size_t first = 0, n; first < MANY; first += n) {
      n = MANY - first < 99991 ? MANY - first : 99991;
      add(stream, &keys, first, n);
    }
    cr_assert(lanebloom_filter_build(formats[f], 10, &keys, &built) == LANEBLOOM_OK);
    assert_equal_and_close(built, finish(stream), lanebloom_format_name(formats[f]));
    lanebloom_builder_free(stream);
  }
  free(data);
}
