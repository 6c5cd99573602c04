/* Streaming builders: stored hashes, sized filters, merging, errors.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <lanebloom.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "container.h"
#include "filter.h"

enum { NKEYS = 5000 };

static uint64_t key_bytes[NKEYS]; /* keys of 8 bytes; every tenth repeats the one before it */

static lanebloom_keys all_keys(void)
{
  for (uint64_t i = 0; i < NKEYS; i++)
    key_bytes[i] = (i - (i % 10 == 9)) * 0x9e3779b97f4a7c15;
  return lanebloom_keys_fixed(key_bytes, 8, NKEYS);
}

static lanebloom_builder *create(double bits_per_key, uint64_t expected_keys)
{
  lanebloom_builder *builder;
  lanebloom_status status =
      lanebloom_builder_create(LANEBLOOM_LEVELDB, bits_per_key, expected_keys, &builder);
  cr_assert(status == LANEBLOOM_OK, "create: %s", lanebloom_status_text(status));
  return builder;
}

static void add(lanebloom_builder *builder, const lanebloom_keys *keys, size_t first, size_t n)
{
  const lanebloom_keys part = lanebloom_keys_part(keys, first, n);
  cr_assert(lanebloom_builder_add(builder, &part) == LANEBLOOM_OK);
}

static lanebloom_filter *finish(lanebloom_builder *builder)
{
  lanebloom_filter *filter;
  lanebloom_status status = lanebloom_builder_finish(builder, &filter);
  cr_assert(status == LANEBLOOM_OK, "finish: %s", lanebloom_status_text(status));
  return filter;
}

static void assert_equal_and_close(lanebloom_filter *found, lanebloom_filter *expected,
                                   const char *what)
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
  lanebloom_filter_close(found);
  lanebloom_filter_close(expected);
}

static lanebloom_filter *reference(const lanebloom_keys *keys, size_t n)
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
      lanebloom_builder_destroy(builder);
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
    lanebloom_filter_close(filter);
    lanebloom_builder_destroy(builder);
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
  lanebloom_filter_close(filter);
  lanebloom_builder_destroy(builder);
}

Test(builder, merging_is_appending)
{
  const lanebloom_keys keys = all_keys();
  for (int sized = 0; sized < 2; sized++) {
    lanebloom_builder *into = create(10, sized ? NKEYS : 0), *from = create(10, sized ? NKEYS : 0);
    add(into, &keys, 0, 1999);
    cr_assert(lanebloom_builder_merge(into, from) == LANEBLOOM_OK); /* there is nothing to append */
    add(from, &keys, 1999, NKEYS);
    cr_assert(lanebloom_builder_merge(into, from) == LANEBLOOM_OK);
    assert_equal_and_close(finish(into), reference(&keys, NKEYS), "merged");

    cr_assert(lanebloom_builder_merge(into, from) ==
              LANEBLOOM_OK); /* from is unchanged by the merge into an empty builder */
    lanebloom_filter *again = finish(into), *once = finish(from);
    assert_equal_and_close(again, once, "from");
    cr_assert(lanebloom_builder_merge(into, from) == LANEBLOOM_OK); /* both empty after finish */
    lanebloom_filter *nothing = finish(into);
    cr_assert(lanebloom_filter_screen(nothing, &keys, NULL) == 0);
    lanebloom_filter_close(nothing);
    lanebloom_builder_destroy(into);
    lanebloom_builder_destroy(from);
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
      cr_assert(lanebloom_builder_merge(into, from) ==
                    (i == j ? LANEBLOOM_OK : LANEBLOOM_ERR_MISMATCH),
                "%zu, %zu", i, j);
      if (i != j)
        assert_equal_and_close(finish(into), finish(untouched), "refused");
      lanebloom_builder_destroy(into);
      lanebloom_builder_destroy(from);
      lanebloom_builder_destroy(untouched);
    }
  lanebloom_builder *builder = create(10, 0);
  cr_assert(lanebloom_builder_merge(builder, builder) == LANEBLOOM_ERR_ARGUMENT);
  lanebloom_builder_destroy(builder);
}

static lanebloom_builder *create_with_form(uint64_t expected_keys, lanebloom_key_form form)
{
  const lanebloom_keys keys = all_keys();
  lanebloom_builder *builder = create(10, expected_keys);
  const lanebloom_key_form begin = lanebloom_builder_key_form(builder);
  cr_assert(begin.encoding == LANEBLOOM_BYTES && begin.flags == 0);
  cr_assert(lanebloom_builder_set_key_form(builder, form) == LANEBLOOM_OK);
  add(builder, &keys, 0, 50);
  return builder;
}

static bool builds_form(const lanebloom_builder *builder, lanebloom_key_form form)
{
  const lanebloom_key_form found = lanebloom_builder_key_form(builder);
  return found.encoding == form.encoding && found.flags == form.flags;
}

static bool has_form(lanebloom_filter *filter, lanebloom_key_form form)
{
  const lanebloom_key_form found = lanebloom_filter_key_form(filter);
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  lanebloom_filter_close(filter);
  return found.encoding == form.encoding && found.flags == form.flags &&
         info.key_form.encoding == form.encoding && info.key_form.flags == form.flags;
}

Test(builder, the_key_form_goes_where_the_keys_go)
{
  static const lanebloom_key_form plain = {LANEBLOOM_BYTES, 0},
                                  form = {LANEBLOOM_UUID, LANEBLOOM_KEY_JOINED};
  for (int sized = 0; sized < 2; sized++) {
    lanebloom_builder *a = create_with_form(sized ? 100 : 0, form);
    lanebloom_builder *b = create_with_form(sized ? 100 : 0, form);
    lanebloom_builder *other = create_with_form(sized ? 100 : 0, plain), *part;
    cr_assert(builds_form(a, form) && builds_form(b, form) && builds_form(other, plain));
    cr_assert(lanebloom_builder_merge(a, b) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_merge(a, other) == LANEBLOOM_ERR_MISMATCH);
    cr_assert(lanebloom_builder_merge(other, a) == LANEBLOOM_ERR_MISMATCH);
    if (!sized) {
      cr_assert(lanebloom_builder_part(a, 0, 1, &part) == LANEBLOOM_OK);
      cr_assert(builds_form(part, form));
      cr_assert(has_form(finish(part), form), "a part");
      lanebloom_builder_destroy(part);
    }
    lanebloom_filter *filters[] = {finish(a), finish(b), finish(other)}, *merged;
    const lanebloom_filter *const same[] = {filters[1], filters[1]};
    const lanebloom_filter *const different[] = {filters[1], filters[2]};
    cr_assert(lanebloom_filter_merge(same, 2, &merged) == LANEBLOOM_OK && has_form(merged, form));
    cr_assert(lanebloom_filter_merge(different, 2, &merged) == LANEBLOOM_ERR_MISMATCH && !merged);
    cr_assert(has_form(filters[0], form) && has_form(filters[1], form) &&
              has_form(filters[2], plain));
    cr_assert(builds_form(a, form) && has_form(finish(a), form), "after finish");
    lanebloom_builder_destroy(a);
    lanebloom_builder_destroy(b);
    lanebloom_builder_destroy(other);
  }
}

Test(builder, unknown_key_forms_change_nothing)
{
  static const lanebloom_key_form form = {LANEBLOOM_INT64, LANEBLOOM_KEY_TRIMMED};
  static const lanebloom_key_form unknown[] = {
      {(lanebloom_encoding)(LANEBLOOM_UUID + 1), 0}, {(lanebloom_encoding)-1, 0}, {0, 8}};
  lanebloom_builder *builder = create_with_form(0, form);
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    cr_assert(lanebloom_builder_set_key_form(builder, unknown[i]) == LANEBLOOM_ERR_ARGUMENT);
  cr_assert(builds_form(builder, form));
  cr_assert(has_form(finish(builder), form));
  lanebloom_builder_destroy(builder);
}

/* The engine counts in 64 bits. A size that would wrap is refused; one that only exceeds memory
 * fails for lack of memory. */
Test(builder, sizes_that_wrap_and_sizes_that_are_not_to_be_had)
{
  lanebloom_builder *builder = (void *)1;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, UINT64_MAX / 10 + 1, &builder) ==
            LANEBLOOM_ERR_LIMIT);
  cr_assert(!builder);
  builder = (void *)1;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, (uint64_t)1e18, &builder) ==
            LANEBLOOM_ERR_MEMORY);
  cr_assert(!builder);
  const lanebloom_keys many =
      lanebloom_keys_fixed("", 0, SIZE_MAX); /* no memory can hold their hashes */
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, 0, &builder) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_add(builder, &many) == LANEBLOOM_ERR_MEMORY);
  lanebloom_builder_destroy(builder);
}

static uint64_t asked_nbytes; /* the size of the last request */
static bool refuses_memory;

struct memory __real_lanebloom_memory_create(uint64_t nbytes);
struct memory __wrap_lanebloom_memory_create(uint64_t nbytes);
struct memory __wrap_lanebloom_memory_create(uint64_t nbytes)
{
  asked_nbytes = nbytes;
  return refuses_memory ? (struct memory){0} : __real_lanebloom_memory_create(nbytes);
}

/* For a large batch and a large LevelDB filter, a builder requests up to half as much scratch
 * memory as the filter takes, and can do without it. Small batches and filters request none, nor do
 * kernels that have no use for it. */
Test(builder, memory_besides)
{
  const bool uses_memory = lanebloom_kernels_current()->layout[LAYOUT_LEVELDB].scratch_nbytes;
  enum { MIB = 1 << 20, EXPECTED = 16 * MIB * 8 / 10, MANY = 2500000, FEW = 1000 };
  uint64_t *data = malloc(MANY * sizeof *data);
  cr_assert(data);
  for (uint64_t i = 0; i < MANY; i++)
    data[i] = i * 0x9e3779b97f4a7c15;
  const lanebloom_keys keys = lanebloom_keys_fixed(data, 8, MANY);

  lanebloom_builder *given = create(10, EXPECTED), *refused = create(10, EXPECTED);
  asked_nbytes = 0;
  add(given, &keys, 0, FEW);
  cr_assert(asked_nbytes == 0, "%llu bytes for few keys", (unsigned long long)asked_nbytes);
  add(given, &keys, FEW, MANY - FEW);
  cr_assert(uses_memory ? asked_nbytes > 4 * MIB && asked_nbytes <= 8 * MIB + 64 * 1024
                        : asked_nbytes == 0,
            "%llu bytes", (unsigned long long)asked_nbytes);

  asked_nbytes = 0;
  refuses_memory = true;
  add(refused, &keys, 0, MANY);
  refuses_memory = false;
  cr_assert(uses_memory ? asked_nbytes > 4 * MIB : asked_nbytes == 0, "%llu bytes",
            (unsigned long long)asked_nbytes);
  assert_equal_and_close(finish(refused), finish(given), "without memory besides");
  lanebloom_builder_destroy(given);
  lanebloom_builder_destroy(refused);

  given = create(10, EXPECTED / 2); /* 8 MiB */
  asked_nbytes = 0;
  add(given, &keys, 0, MANY);
  cr_assert(asked_nbytes == 0, "%llu bytes for a small filter", (unsigned long long)asked_nbytes);
  lanebloom_builder_destroy(given);
  free(data);
}

/* Also covers more parts than keys, parts without keys, and parts that begin between equal
 * neighbours. */
Test(builder, parts_merge_to_what_the_whole_finishes_as)
{
  static const size_t sizes[] = {0, 1, 10, 1025, NKEYS}, counts[] = {1, 2, 3, 10, 64};
  const lanebloom_keys keys = all_keys();
  for (size_t f = 0; f < lanebloom_format_count(); f++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        lanebloom_builder *whole, *into, *from;
        if (lanebloom_builder_create(lanebloom_format_at(f), 10, 0, &whole) != LANEBLOOM_OK)
          continue; /* formats that only open */
        add(whole, &keys, 0, sizes[s]);
        const size_t n = counts[c];
        cr_assert(lanebloom_builder_part(whole, n - 1, n, &into) == LANEBLOOM_OK);
        for (size_t i = 0; i + 1 < n; i++) {
          cr_assert(lanebloom_builder_part(whole, i, n, &from) == LANEBLOOM_OK);
          cr_assert(lanebloom_builder_merge(into, from) == LANEBLOOM_OK);
          lanebloom_builder_destroy(from);
        }
        assert_equal_and_close(finish(into), finish(whole),
                               lanebloom_format_name(lanebloom_format_at(f)));
        add(into, &keys, 0, 10); /* even a part without keys accepts more */
        lanebloom_filter *filter = finish(into);
        const lanebloom_keys added = lanebloom_keys_part(&keys, 0, 10);
        cr_assert(lanebloom_filter_screen(filter, &added, NULL) == 10);
        lanebloom_filter_close(filter);
        lanebloom_builder_destroy(into);
        lanebloom_builder_destroy(whole);
      }
}

/* A part holds its share of the keys, and no more. */
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
    lanebloom_filter_close(filter);
    lanebloom_builder_destroy(part);
  }
  lanebloom_builder_destroy(whole);
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
  lanebloom_builder_destroy(stored);
  lanebloom_builder_destroy(sized);
}

/* RocksDB counts a run of equal hashes once, also across batches and merges. A filter that is sized
 * at the start counts every key. */
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
    cr_assert(lanebloom_builder_merge(into, from) == LANEBLOOM_OK);
    filter = finish(into);
    lanebloom_filter_bytes(filter, &size);
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(size == nbytes_of_1 && info.nkeys == 60, "%zu bytes", size);
    lanebloom_filter_close(filter);

    add(into, &mixed, 0, 20);
    filter = finish(into);
    lanebloom_filter_bytes(filter, &size);
    cr_assert(size == nbytes_of_20, "%zu bytes", size);
    lanebloom_filter_close(filter);
    lanebloom_builder_destroy(into);
    lanebloom_builder_destroy(from);
  }
}

static double recorded_bits(const lanebloom_filter *filter)
{
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  return info.bits_per_key;
}

/* The keys of one batch of many short keys are hashed twice instead of storing their hashes. The
 * batch has equal neighbours within blocks of hashes and across their borders, alone and in long
 * runs. */
Test(builder, many_short_keys_are_counted_as_in_a_stream)
{
  enum { MANY = 4200000, RUN_NKEYS = 5000 };
  uint64_t *data = malloc(MANY * sizeof *data);
  cr_assert(data);
  data[0] = 0; /* no hash comes before the first, so none may count as equal to it */
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
    lanebloom_builder_destroy(stream);
  }
  free(data);
}

/* No memory can hold the hashes of this many keys, so these are not even counted. */
Test(builder, many_keys_of_no_bytes)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("", 0, SIZE_MAX);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_ROCKSDB_LOCAL, 10, &keys, &filter) ==
            LANEBLOOM_ERR_MEMORY);
}

/* Bytes 24 to 31 of a container hold the bits per key. A program that maps it may read them. */
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
    lanebloom_filter_close(filter);
  }
}

/* If a format rounds or limits the bits per key, builders with the same effective number merge, and
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
      cr_assert(lanebloom_builder_merge(builders[0], builders[1]) == LANEBLOOM_OK,
                "%g and %g bits per key", cases[i].asked[0], cases[i].asked[1]);
      lanebloom_filter *filter = finish(builders[0]);
      cr_assert(recorded_bits(filter) == cases[i].in_effect, "%g bits per key, recorded as %g",
                cases[i].asked[0], recorded_bits(filter));
      lanebloom_filter_close(filter);
      lanebloom_builder_destroy(builders[0]);
      lanebloom_builder_destroy(builders[1]);
    }
}
