/* Builders are merged, or divided into parts that are merged again.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "builder.h"
#include "common/bytes.h"
#include "format.h"

Test(builder, merging_is_appending)
{
  const lanebloom_keys keys = all_keys();
  for (int sized = 0; sized < 2; sized++) {
    lanebloom_builder *into = create(10, sized ? NKEYS : 0), *from = create(10, sized ? NKEYS : 0);
    add(into, &keys, 0, 1999);
    cr_assert(lanebloom_builder_merge(into, from, NULL, 0) ==
              LANEBLOOM_OK); /* there is nothing to append */
    add(from, &keys, 1999, NKEYS);
    cr_assert(lanebloom_builder_merge(into, from, NULL, 0) == LANEBLOOM_OK);
    assert_equal_and_close(finish(into), reference(&keys, NKEYS), "merged");

    cr_assert(lanebloom_builder_merge(into, from, NULL, 0) ==
              LANEBLOOM_OK); /* a merge into an empty builder leaves `from` unchanged */
    lanebloom_filter *again = finish(into), *once = finish(from);
    assert_equal_and_close(again, once, "from");
    cr_assert(lanebloom_builder_merge(into, from, NULL, 0) ==
              LANEBLOOM_OK); /* both empty after finish */
    lanebloom_filter *nothing = finish(into);
    cr_assert(lanebloom_filter_screen(nothing, &keys, NULL) == 0);
    lanebloom_filter_free(nothing);
    lanebloom_builder_free(into);
    lanebloom_builder_free(from);
  }
}

Test(builder, what_cannot_be_merged_changes_nothing)
{
  static const struct {
    lanebloom_format format;
    double bits_per_key;
    uint64_t expected_keys;
  } kinds[] = {
      {LANEBLOOM_LEVELDB, 10, 0},   {LANEBLOOM_LEVELDB, 12, 0},   {LANEBLOOM_LEVELDB_SIGNED, 10, 0},
      {LANEBLOOM_LEVELDB, 10, 100}, {LANEBLOOM_LEVELDB, 10, 200}, {LANEBLOOM_LEVELDB, 20, 50},
  };
  enum { NKINDS = sizeof kinds / sizeof *kinds };
  const lanebloom_keys keys = all_keys();
  for (size_t i = 0; i < NKINDS; i++)
    for (size_t j = 0; j < NKINDS; j++) {
      lanebloom_builder *into, *from, *untouched;
      cr_assert(lanebloom_builder_create(kinds[i].format, kinds[i].bits_per_key,
                                         kinds[i].expected_keys, &into) == LANEBLOOM_OK);
      cr_assert(lanebloom_builder_create(kinds[i].format, kinds[i].bits_per_key,
                                         kinds[i].expected_keys, &untouched) == LANEBLOOM_OK);
      cr_assert(lanebloom_builder_create(kinds[j].format, kinds[j].bits_per_key,
                                         kinds[j].expected_keys, &from) == LANEBLOOM_OK);
      add(into, &keys, 0, 50);
      add(untouched, &keys, 0, 50);
      add(from, &keys, 50, 50);
      cr_assert(lanebloom_builder_merge(into, from, NULL, 0) ==
                    (i == j ? LANEBLOOM_OK : LANEBLOOM_ERR_MISMATCH),
                "%zu, %zu", i, j);
      if (i != j)
        assert_equal_and_close(finish(into), finish(untouched), "refused");
      lanebloom_builder_free(into);
      lanebloom_builder_free(from);
      lanebloom_builder_free(untouched);
    }
  lanebloom_builder *builder = create(10, 0);
  cr_assert(lanebloom_builder_merge(builder, builder, NULL, 0) == LANEBLOOM_ERR_ARGUMENT);
  lanebloom_builder_free(builder);
}

/* The cases include more parts than keys, parts without keys, and parts that begin between equal
 * neighbours. */
/* Compares two filters of a format whose header counts the keys that set a new bit. A key that
 * repeats a key of another part is counted twice. */
static void assert_equal_but_count(lanebloom_filter *found, lanebloom_filter *expected,
                                   size_t count)
{
  size_t found_size, expected_size;
  const uint8_t *a = lanebloom_filter_bytes(found, &found_size),
                *b = lanebloom_filter_bytes(expected, &expected_size);
  const size_t after = count + sizeof(uint64_t);
  cr_assert(found_size == expected_size && memcmp(a, b, count) == 0 &&
            memcmp(a + after, b + after, found_size - after) == 0);
  cr_assert(load_le64(a + count) >= load_le64(b + count));
  lanebloom_filter_free(found);
  lanebloom_filter_free(expected);
}

Test(builder, parts_merge_to_what_the_whole_finishes_as)
{
  static const size_t sizes[] = {0, 1, 10, 1025, NKEYS}, counts[] = {1, 2, 3, 10, 64};
  const lanebloom_keys keys = all_keys();
  for (size_t f = 0; f < lanebloom_format_count(); f++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        lanebloom_builder *whole, *into, *from;
        if (lanebloom_builder_create(lanebloom_format_at(f), 10, 0, &whole) != LANEBLOOM_OK)
          continue; /* the format is only opened, not built */
        add(whole, &keys, 0, sizes[s]);
        const size_t n = counts[c];
        cr_assert(lanebloom_builder_part(whole, n - 1, n, &into) == LANEBLOOM_OK);
        for (size_t i = 0; i + 1 < n; i++) {
          cr_assert(lanebloom_builder_part(whole, i, n, &from) == LANEBLOOM_OK);
          cr_assert(lanebloom_builder_merge(into, from, NULL, 0) == LANEBLOOM_OK);
          lanebloom_builder_free(from);
        }
        const struct format_table *table = lanebloom_format_listed(f);
        if (table->count_offset > 0)
          assert_equal_but_count(finish(into), finish(whole), table->count_offset);
        else
          assert_equal_and_close(finish(into), finish(whole), table->name);
        add(into, &keys, 0, 10); /* even a part without keys accepts keys */
        lanebloom_filter *filter = finish(into);
        const lanebloom_keys added = lanebloom_keys_part(&keys, 0, 10);
        cr_assert(lanebloom_filter_screen(filter, &added, NULL) == 10);
        lanebloom_filter_free(filter);
        lanebloom_builder_free(into);
        lanebloom_builder_free(whole);
      }
}

/* A part has its share of the keys, and no more. */
Test(builder, parts_share_the_keys)
{
  const lanebloom_keys keys = all_keys();
  lanebloom_builder *whole = create(10, 0), *part;
  add(whole, &keys, 0, 11);
  static const uint64_t shares[] = {3, 3, 3, 2};
  for (size_t i = 0; i < 4; i++) {
    cr_assert(lanebloom_builder_part(whole, i, 4, &part) == LANEBLOOM_OK);
    lanebloom_filter *filter = finish(part);
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(info.nkeys == shares[i], "part %zu: %" PRIu64 " keys", i, info.nkeys);
    cr_assert(info.nbits == 112 && info.nbits_set > 0 && info.nbits_set <= 6 * shares[i]);
    lanebloom_filter_free(filter);
    lanebloom_builder_free(part);
  }
  lanebloom_builder_free(whole);
}

Test(builder, parts_that_cannot_be_made)
{
  const lanebloom_keys keys = all_keys();
  lanebloom_builder *stored = create(10, 0), *sized = create(10, 100), *part = (void *)1;
  add(stored, &keys, 0, 100);
  cr_assert(lanebloom_builder_part(sized, 0, 1, &part) == LANEBLOOM_ERR_ARGUMENT && !part);
  part = (void *)1;
  cr_assert(lanebloom_builder_part(stored, 0, 0, &part) == LANEBLOOM_ERR_ARGUMENT && !part);
  cr_assert(lanebloom_builder_part(stored, 2, 2, &part) == LANEBLOOM_ERR_ARGUMENT && !part);
  refuses_memory = true;
  part = (void *)1;
  cr_assert(lanebloom_builder_part(stored, 0, 2, &part) == LANEBLOOM_ERR_MEMORY && !part);
  refuses_memory = false;
  assert_equal_and_close(finish(stored), reference(&keys, 100), "after errors");
  lanebloom_builder_free(stored);
  lanebloom_builder_free(sized);
}
