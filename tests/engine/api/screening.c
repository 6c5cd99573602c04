/* Hashes, and every output of screening. ../keys.c tests the layouts of keys. kernels/, frozen/ and
 * oracle/ test that answers are right.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "few_keys.h"

Test(screening, bitmap_indices_count_and_hashes_agree)
{
  uint8_t bytes[NKEYS * WIDTH];
  static uint32_t hashes[NKEYS], indices[NKEYS];
  static uint8_t bitmap[NKEYS / 8 + 2], from_hashes[NKEYS / 8 + 2], mask[NKEYS + 1];
  fill_keys(bytes);
  const lanebloom_keys all = lanebloom_keys_fixed(bytes, WIDTH, NKEYS);
  const lanebloom_keys half = lanebloom_keys_part(&all, 0, NKEYS / 2);
  lanebloom_filter *filter = build(&half);
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &all, hashes) == LANEBLOOM_OK);
  for (size_t n = 0; n <= NKEYS; n += n < 20 ? 1 : 331) {
    const lanebloom_keys keys = lanebloom_keys_part(&all, NKEYS / 2 - n / 2, n);
    memset(bitmap, 0xff, sizeof bitmap);
    memset(from_hashes, 0xff, sizeof from_hashes);
    const size_t count = lanebloom_filter_screen(filter, &keys, bitmap);
    cr_assert(count >= n / 2, "n %zu: %zu hits, %zu keys are in the filter", n, count, n / 2);
    cr_assert(lanebloom_filter_screen(filter, &keys, NULL) == count, "n %zu", n);
    const uint32_t *keys_hashes = hashes + NKEYS / 2 - n / 2;
    cr_assert(lanebloom_filter_screen_hashes(filter, keys_hashes, n, from_hashes) == count, "n %zu",
              n);
    cr_assert(memcmp(bitmap, from_hashes, sizeof bitmap) == 0, "n %zu", n);
    cr_assert(bitmap[(n + 7) / 8] == 0xff, "n %zu: wrote past the bitmap", n);
    cr_assert(n % 8 == 0 || bitmap[n / 8] >> n % 8 == 0, "n %zu: bits past n are not 0", n);

    memset(indices, 0xff, sizeof indices);
    memset(mask, 0xff, sizeof mask);
    cr_assert(lanebloom_filter_select(filter, &keys, indices) == count, "n %zu", n);
    cr_assert(lanebloom_filter_mask(filter, &keys, mask) == count, "n %zu", n);
    for (size_t i = 0, hit = 0; i < n; i++) {
      const bool in_bitmap = bitmap[i / 8] >> i % 8 & 1;
      cr_assert(in_bitmap == (hit < count && indices[hit] == i), "n %zu, key %zu", n, i);
      cr_assert(mask[i] == in_bitmap, "n %zu, key %zu", n, i);
      cr_assert(in_bitmap == lanebloom_filter_may_contain(
                                 filter, (const uint8_t *)keys.data + i * WIDTH, WIDTH));
      hit += in_bitmap;
    }
    cr_assert(mask[n] == 0xff, "n %zu: wrote past the mask", n);
    cr_assert(count == NKEYS || indices[count] == UINT32_MAX, "n %zu: wrote past the indices", n);
  }
  lanebloom_filter_free(filter);
}

Test(screening, constant_answers_need_no_probes)
{
  static const struct {
    const char *bytes;
    size_t size;
    bool answer;
  } filters[] = {
      {"", 0, false},
      {"\x06", 1, false},
      {"\xff", 1, false},
      {"\0\0\0\0\x00", 5, true},
      {"\0\0\0\0\x1f", 5, true},
      {"\0\0\0\0\xff", 5, true},
      {"\0\0\0\0\x01", 5, false}, /* a usual filter without set bits */
  };
  for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, filters[i].bytes, filters[i].size, NULL,
                                         &filter, NULL, 0) == LANEBLOOM_OK);
    const lanebloom_keys keys = lanebloom_keys_fixed("abcdefghijkl", 1, 11);
    const size_t expected = filters[i].answer ? 11 : 0;
    uint8_t bitmap[3] = {0x55, 0x55, 0x55};
    uint32_t indices[11], hashes[11] = {0};
    uint64_t positions[30];
    cr_assert(lanebloom_filter_screen(filter, &keys, bitmap) == expected, "filter %zu", i);
    cr_assert(bitmap[0] == (expected ? 0xff : 0) && bitmap[1] == (expected ? 7 : 0) &&
                  bitmap[2] == 0x55,
              "filter %zu", i);
    cr_assert(lanebloom_filter_select(filter, &keys, indices) == expected, "filter %zu", i);
    cr_assert(expected == 0 || (indices[0] == 0 && indices[10] == 10), "filter %zu", i);
    cr_assert(lanebloom_filter_screen_hashes(filter, hashes, 11, NULL) == expected, "filter %zu",
              i);
    cr_assert(lanebloom_filter_may_contain(filter, "a", 1) == filters[i].answer, "filter %zu", i);
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(info.nprobes == (i == 6) && info.model_rate == filters[i].answer &&
                  info.format == LANEBLOOM_LEVELDB,
              "filter %zu", i);
    cr_assert(lanebloom_filter_positions(filter, hashes, positions) == (i == 6), "filter %zu", i);
    lanebloom_filter_free(filter);
  }
}

Test(screening, select_refuses_what_its_indices_cannot_name)
{
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\0", 1, NULL, &filter, NULL, 0) ==
            LANEBLOOM_OK);
  const lanebloom_keys keys = lanebloom_keys_fixed("", 0, (size_t)UINT32_MAX + 1);
  uint32_t untouched = 7;
  cr_assert(lanebloom_filter_select(filter, &keys, &untouched) == SIZE_MAX);
  cr_assert(untouched == 7);
  lanebloom_filter_free(filter);
}

Test(screening, positions_are_what_probes_read)
{
  const lanebloom_keys key = lanebloom_keys_fixed("hello", 5, 1);
  lanebloom_filter *filter = build(&key);
  uint32_t hash;
  uint64_t positions[30];
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &key, &hash) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_positions(filter, &hash, positions) == 6);

  size_t size;
  const uint8_t *bytes = lanebloom_filter_bytes(filter, &size);
  uint8_t expected[9] = {[8] = 6};
  for (size_t i = 0; i < 6; i++)
    expected[positions[i] / 8] |= (uint8_t)(1 << positions[i] % 8);
  cr_assert(size == 9 && memcmp(bytes, expected, size) == 0);
  lanebloom_filter_free(filter);
}

/* Formats with the same hash function hash every key alike, and other formats do not. */
Test(formats, hashes)
{
  for (size_t i = 0; i < lanebloom_format_count(); i++)
    for (size_t j = 0; j < lanebloom_format_count(); j++) {
      const lanebloom_format a = lanebloom_format_at(i), b = lanebloom_format_at(j);
      const lanebloom_keys keys = lanebloom_keys_fixed("key \x80", 5, 1);
      const size_t size = lanebloom_format_hash_size(a);
      uint8_t of_a[LANEBLOOM_MAX_HASH_SIZE] = {0}, of_b[LANEBLOOM_MAX_HASH_SIZE] = {0};
      if (size == 0 || lanebloom_format_hash_size(b) == 0)
        continue;
      cr_assert(lanebloom_hash(a, &keys, of_a) == LANEBLOOM_OK);
      cr_assert(lanebloom_hash(b, &keys, of_b) == LANEBLOOM_OK);
      cr_assert((lanebloom_format_hash(a) == lanebloom_format_hash(b)) ==
                    (memcmp(of_a, of_b, sizeof of_a) == 0),
                "%s, %s", lanebloom_format_name(a), lanebloom_format_name(b));
    }
  cr_assert(lanebloom_format_hash(LANEBLOOM_ROCKSDB) == LANEBLOOM_ROCKSDB);
  cr_assert(lanebloom_format_hash((lanebloom_format)77) == (lanebloom_format)77);
}
