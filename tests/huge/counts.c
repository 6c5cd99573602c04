/* Counts of keys beyond 32 bits, and keys beyond 4 GiB.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "huge.h"

static const uint64_t MANY = ((uint64_t)1 << 32) + 9;

/* Merges two builders into each other in turn. After 50 merges both count more than 2^32 keys, but
 * only two keys were hashed. A run of equal keys is stored once. */
static void check_count(lanebloom_format format, uint64_t expected_keys)
{
  test_context("%s, %llu keys expected", lanebloom_format_name(format),
               (unsigned long long)expected_keys);
  const lanebloom_keys one = lanebloom_keys_slices(keys, 1);
  lanebloom_builder *builders[2];
  uint64_t counts[2] = {1, 1};
  for (int i = 0; i < 2; i++)
    cr_assert(lanebloom_builder_create(format, 10, expected_keys, &builders[i]) == LANEBLOOM_OK &&
                  lanebloom_builder_add(builders[i], &one) == LANEBLOOM_OK,
              "builder");
  for (int into = 0; counts[!into] < MANY; into = !into) {
    cr_assert(lanebloom_builder_merge(builders[into], builders[!into], NULL, 0) == LANEBLOOM_OK,
              "merge");
    counts[into] += counts[!into];
  }
  for (int i = 0; i < 2; i++) {
    lanebloom_filter *filter, *loaded;
    lanebloom_filter_info info;
    cr_assert(lanebloom_builder_finish(builders[i], &filter) == LANEBLOOM_OK, "finish");
    char path[32];
    const int file = make_container(path, format, 0, 0);
    cr_assert(lseek(file, 0, SEEK_SET) == 0 && lanebloom_filter_save(filter, path) == LANEBLOOM_OK,
              "save");
    cr_assert(lseek(file, 0, SEEK_SET) == 0 &&
                  lanebloom_filter_load(path, &loaded, NULL, 0) == LANEBLOOM_OK,
              "load");
    close(file);
    lanebloom_filter_describe(loaded, &info, sizeof info);
    if (info.nkeys != counts[i])
      test_fatal("%llu keys, not %llu", (unsigned long long)info.nkeys,
                 (unsigned long long)counts[i]);
    if (!lanebloom_filter_may_contain(loaded, keys[0].data, keys[0].size))
      test_fatal("lost");
    lanebloom_filter_free(filter);
    lanebloom_filter_free(loaded);
    lanebloom_builder_free(builders[i]);
  }
}

Test(huge, counts_of_builders)
{
  check_count(LANEBLOOM_LEVELDB, 100);
  check_count(LANEBLOOM_ROCKSDB_LOCAL, 100);
  check_count(LANEBLOOM_ROCKSDB_LOCAL, 0);
  check_count(LANEBLOOM_ROCKSDB_LEGACY, 0);
}

/* Each merge of a filter with itself doubles the number of keys, until the number exceeds
 * 64 bits. */
Test(huge, counts_of_merged_filters)
{
  const lanebloom_keys one = lanebloom_keys_slices(keys, 1);
  lanebloom_filter *filter, *merged;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &one, &filter) == LANEBLOOM_OK, "build");
  for (int i = 1; i < 70; i++) {
    const lanebloom_filter *twice[] = {filter, filter};
    lanebloom_filter_info info;
    cr_assert(lanebloom_filter_merge(twice, 2, &merged, NULL, NULL, 0) == LANEBLOOM_OK, "merge %d",
              i);
    lanebloom_filter_describe(merged, &info, sizeof info);
    cr_assert(info.nkeys == (i < 64 ? (uint64_t)1 << i : LANEBLOOM_UNKNOWN), "2^%d keys: %llu", i,
              (unsigned long long)info.nkeys);
    lanebloom_filter_free(filter);
    filter = merged;
  }
  lanebloom_filter_free(filter);
}

/* A batch of many empty keys takes no memory. If the answer is constant, it also takes no time. */
Test(huge, counts_of_answers)
{
  const lanebloom_keys many = lanebloom_keys_fixed(NULL, 0, MANY);
  const lanebloom_keys end = lanebloom_keys_part(&many, MANY - 3, MANY);
  lanebloom_filter *always, *never;
  cr_assert(end.n == 3, "%zu keys", end.n);
  cr_assert(lanebloom_keys_part(&many, 0, MANY).n == MANY &&
                lanebloom_keys_part(&many, MANY + 5, 1).n == 0,
            "parts");
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\0\xff", 2, NULL, &always, NULL, 0) ==
                LANEBLOOM_OK,
            "open");
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "", 0, NULL, &never, NULL, 0) ==
                LANEBLOOM_OK,
            "open");
  cr_assert(lanebloom_filter_screen(always, &many, NULL) == MANY, "always");
  cr_assert(lanebloom_filter_screen(never, &many, NULL) == 0, "never");
  cr_assert(lanebloom_filter_select(always, &many, NULL) == SIZE_MAX, "indices of 32 bits");
  lanebloom_filter_free(always);
  lanebloom_filter_free(never);
}

/* ---- Keys ---- */

/* The last of 4,098 keys of 1 MiB each begins above 4 GiB. */
Test(huge, part_of_keys)
{
  enum { NKEYS = 4098, WIDTH = 1 << 20 };
  struct guarded data = guarded_sparse((size_t)NKEYS * WIDTH);
  uint8_t *last_bytes = data.bytes + (size_t)(NKEYS - 1) * WIDTH;
  last_bytes[0] = 1;
  last_bytes[WIDTH - 1] = 2;
  const lanebloom_keys all = lanebloom_keys_fixed(data.bytes, WIDTH, NKEYS);
  const lanebloom_keys last = lanebloom_keys_part(&all, NKEYS - 1, NKEYS);
  uint32_t hash;
  cr_assert(last.n == 1, "%zu keys", last.n);
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &last, &hash) == LANEBLOOM_OK, "hash");
  cr_assert(hash == model_bloomhash(last_bytes, WIDTH, false), "the last key hashes to %08x", hash);
  guarded_free(&data);
}
