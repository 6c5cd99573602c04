/* The public calls: outputs, errors, merging. Layouts of keys are tested in keys.c, descriptions in
 * describe.c, and the correctness of answers in kernels/, frozen/ and oracle/.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <lanebloom.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "few_keys.h"
#include "support.h"

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
  lanebloom_filter_close(filter);
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
      {"\0\0\0\0\x01", 5, false}, /* not constant: no bit is set */
  };
  for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, filters[i].bytes, filters[i].size,
                                         &filter) == LANEBLOOM_OK);
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
    lanebloom_filter_close(filter);
  }
}

Test(screening, select_refuses_what_its_indices_cannot_name)
{
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\0", 1, &filter) == LANEBLOOM_OK);
  const lanebloom_keys keys = lanebloom_keys_fixed("", 0, (size_t)UINT32_MAX + 1);
  uint32_t untouched = 7;
  cr_assert(lanebloom_filter_select(filter, &keys, &untouched) == SIZE_MAX);
  cr_assert(untouched == 7);
  lanebloom_filter_close(filter);
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
  lanebloom_filter_close(filter);
}

/* ---- Filters in memory that the caller owns ---- */

/* The batch contains runs of equal keys, because engines count these in different ways. */
static void check_raw(lanebloom_format format, double bits_per_key, const lanebloom_keys *keys)
{
  enum { ROOM = 1 << 20 };
  static uint8_t bytes[ROOM + 1];
  uint64_t room;
  unsigned nprobes;
  lanebloom_filter *filter;
  size_t expected_size;
  cr_assert(lanebloom_plan_size(format, bits_per_key, keys->n, &room, &nprobes) == LANEBLOOM_OK &&
            room <= ROOM);
  cr_assert(lanebloom_filter_build(format, bits_per_key, keys, &filter) == LANEBLOOM_OK);
  const void *expected = lanebloom_filter_bytes(filter, &expected_size);
  size_t size = (size_t)room;
  memset(bytes, 0xa5, sizeof bytes);
  test_context("%s, %g bits per key, %zu keys", lanebloom_format_name(format), bits_per_key,
               keys->n);
  cr_assert(lanebloom_filter_build_raw(format, bits_per_key, keys, bytes, &size) == LANEBLOOM_OK);
  cr_assert(size == expected_size && bytes[size] == 0xa5, "%zu bytes, expected %zu", size,
            expected_size);
  test_same_bytes("filter", bytes, expected, size);
  for (uint8_t i = 0; i < 200; i++) {
    const bool answer = lanebloom_filter_may_contain(filter, &i, 1);
    cr_assert(lanebloom_filter_may_contain_raw(format, bytes, size, &i, 1) == answer, "key %d", i);
  }

  const uint8_t before = bytes[0] ^= 0xff;
  size_t small = size - 1;
  cr_assert(lanebloom_filter_build_raw(format, bits_per_key, keys, bytes, &small) ==
                LANEBLOOM_ERR_ARGUMENT &&
            small == size - 1 && bytes[0] == before);
  lanebloom_filter_close(filter);
}

Test(raw, has_the_same_bytes_and_answers)
{
  static const double bits[] = {1, 10, 23};
  static const size_t counts[] = {0, 1, 2, 7, 16, 17, 33, 100, 1000, 5000};
  uint8_t *keys = test_alloc(2 * 5000);
  for (size_t i = 0; i < 5000; i++) /* pairs of equal keys, of one or two bytes */
    keys[2 * i] = (uint8_t)(i / 2), keys[2 * i + 1] = (uint8_t)(i / 512);
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t f = 0; f < nformats; f++)
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
      for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t width = 1; width <= 2; width++) {
          const lanebloom_keys batch = lanebloom_keys_strided(keys, width, 2, counts[c]);
          check_raw(formats[f], bits[b], &batch);
        }
  free(keys);
}

Test(raw, any_bytes_answer_as_the_filter_of_them)
{
  struct rng rng = rng_start(1);
  size_t nhits = 0, nrefused = 0;
  for (int i = 0; i < 20000; i++) {
    uint8_t bytes[150], key[8];
    const size_t size = rng_below(&rng, sizeof bytes + 1);
    rng_fill(&rng, bytes, sizeof bytes);
    rng_fill(&rng, key, sizeof key);
    if (size >= 5 && rng_below(&rng, 2)) /* a RocksDB trailer */
      memcpy(bytes + size - 5, (uint8_t[]){0xff, 0, 6, 0, 0}, 5);
    const lanebloom_format format = lanebloom_format_at(rng_below(&rng, lanebloom_format_count()));
    lanebloom_filter *filter;
    bool expected = true;
    if (lanebloom_filter_parse_raw(format, bytes, size, &filter) == LANEBLOOM_OK)
      expected = lanebloom_filter_may_contain(filter, key, sizeof key);
    else
      nrefused++;
    lanebloom_filter_close(filter);
    cr_assert(lanebloom_filter_may_contain_raw(format, bytes, size, key, sizeof key) == expected,
              "%s, %zu bytes", lanebloom_format_name(format), size);
    nhits += expected;
  }
  cr_assert(nhits > 1000 && nhits < 19000 && nrefused > 100, "%zu hits, %zu refused", nhits,
            nrefused);
  cr_assert(!lanebloom_filter_may_contain_raw(LANEBLOOM_LEVELDB, NULL, 0, NULL, 0));
  cr_assert(lanebloom_filter_may_contain_raw((lanebloom_format)test_first_unknown_format(), "", 0,
                                             "a", 1));
}

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
    cr_assert(lanebloom_filter_parse_raw(format, "\0\0", 2, &filter) == LANEBLOOM_ERR_FORMAT &&
                  !filter,
              "%d", formats[i]);
    filter = (void *)1;
    cr_assert(lanebloom_filter_build(format, 10, &keys, &filter) == LANEBLOOM_ERR_FORMAT && !filter,
              "%d", formats[i]);
    uint8_t bytes[64];
    size_t size = sizeof bytes;
    cr_assert(lanebloom_filter_build_raw(format, 10, &keys, bytes, &size) == LANEBLOOM_ERR_FORMAT &&
                  size == sizeof bytes,
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

/* Formats that share a hash function hash every key alike, and other formats do not. */
Test(formats, hashes)
{
  for (size_t i = 0; i < lanebloom_format_count(); i++)
    for (size_t j = 0; j < lanebloom_format_count(); j++) {
      const lanebloom_format a = lanebloom_format_at(i), b = lanebloom_format_at(j);
      const lanebloom_keys keys = lanebloom_keys_fixed("key \x80", 5, 1);
      const size_t size = lanebloom_format_hash_size(a);
      uint64_t of_a = 0, of_b = 0;
      if (size == 0 || lanebloom_format_hash_size(b) == 0)
        continue;
      cr_assert(lanebloom_hash(a, &keys, &of_a) == LANEBLOOM_OK);
      cr_assert(lanebloom_hash(b, &keys, &of_b) == LANEBLOOM_OK);
      cr_assert((lanebloom_format_hash(a) == lanebloom_format_hash(b)) == (of_a == of_b), "%s, %s",
                lanebloom_format_name(a), lanebloom_format_name(b));
    }
  cr_assert(lanebloom_format_hash(LANEBLOOM_ROCKSDB) == LANEBLOOM_ROCKSDB);
  cr_assert(lanebloom_format_hash((lanebloom_format)77) == (lanebloom_format)77);
}

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
  lanebloom_status status = lanebloom_filter_parse_raw(format, bytes, size, &opened);
  if (status == LANEBLOOM_OK) {
    lanebloom_filter_info info;
    lanebloom_filter_describe(opened, &info, sizeof info);
    *found = info.format;
  }
  lanebloom_filter_close(opened);
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
    lanebloom_filter_close(filter);

    cr_assert(lanebloom_filter_build(formats[i], 10, &none, &filter) == LANEBLOOM_OK);
    size_t size;
    lanebloom_filter_bytes(filter, &size);
    cr_assert(size == 5 && !lanebloom_filter_may_contain(filter, "a", 1));
    cr_assert(open_as(LANEBLOOM_ROCKSDB, filter, &found) == LANEBLOOM_OK &&
              found == LANEBLOOM_ROCKSDB);
    cr_assert(open_as(formats[!i], filter, &found) == LANEBLOOM_OK && found == formats[!i],
              "constant for both");
    lanebloom_filter_close(filter);
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
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes, filters[i].nbytes, &filter) ==
                  LANEBLOOM_OK,
              "%zu", i);
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(info.format == LANEBLOOM_ROCKSDB && info.nprobes == 0 && info.nbits == 0, "%zu", i);
    cr_assert(info.model_rate == filters[i].answer, "%zu", i);
    cr_assert(lanebloom_filter_may_contain(filter, "a", 1) == filters[i].answer, "%zu", i);
    lanebloom_filter_close(filter);
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
    cr_assert(lanebloom_filter_parse_raw(formats[i], engine, size, &opened) == LANEBLOOM_OK);
    lanebloom_filter_describe(opened, &bare, sizeof bare);
    cr_assert(fabs(bare.model_rate / info.model_rate - 1) < 1e-3, "%g, %g", bare.model_rate,
              info.model_rate);
    lanebloom_filter_close(opened);
    lanebloom_filter_close(filter);
    lanebloom_builder_destroy(builder);
  }
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
      lanebloom_filter_close(filter);
      lanebloom_builder_destroy(builder);
    }
  }
  lanebloom_filter *filter = (void *)1;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, NULL, 1, &filter) ==
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
  lanebloom_filter_close(NULL);
  lanebloom_builder_destroy(NULL);
}

Test(merge, filters_of_one_layout)
{
  uint8_t bytes[NKEYS * WIDTH];
  fill_keys(bytes);
  const lanebloom_keys all = lanebloom_keys_fixed(bytes, WIDTH, NKEYS);
  const lanebloom_keys halves[2] = {lanebloom_keys_part(&all, 0, NKEYS / 2),
                                    lanebloom_keys_part(&all, NKEYS / 2, NKEYS / 2)};
  const lanebloom_filter *parts[2] = {build(&halves[0]), build(&halves[1])};
  lanebloom_filter *merged, *opened;
  cr_assert(lanebloom_filter_merge(parts, 2, &merged) == LANEBLOOM_OK);
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

  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, a, size, &opened) == LANEBLOOM_OK);
  const lanebloom_filter *unknown[2] = {merged, opened};
  lanebloom_filter *again;
  cr_assert(lanebloom_filter_merge(unknown, 2, &again) == LANEBLOOM_OK);
  lanebloom_filter_describe(again, &info, sizeof info);
  cr_assert(info.nkeys == LANEBLOOM_UNKNOWN && isnan(info.bits_per_key));
  lanebloom_filter_close(again);
  lanebloom_filter_close(opened);
  lanebloom_filter_close(merged);
  lanebloom_filter_close((lanebloom_filter *)parts[0]);
  lanebloom_filter_close((lanebloom_filter *)parts[1]);
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
      {LANEBLOOM_LEVELDB, "\1\2\3\4\x1f", 5},      /* a constant answer */
      {LANEBLOOM_LEVELDB, "", 0},
  };
  lanebloom_filter *filter, *merged = (void *)1;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\1\2\3\4\6", 5, &filter) ==
            LANEBLOOM_OK);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    lanebloom_filter *other;
    cr_assert(lanebloom_filter_parse_raw(others[i].format, others[i].bytes, others[i].size,
                                         &other) == LANEBLOOM_OK);
    const lanebloom_filter *pair[2] = {filter, other};
    merged = (void *)1;
    cr_assert(lanebloom_filter_merge(pair, 2, &merged) == LANEBLOOM_ERR_MISMATCH && !merged,
              "other %zu", i);
    lanebloom_filter_close(other);
  }
  merged = (void *)1;
  cr_assert(lanebloom_filter_merge(NULL, 0, &merged) == LANEBLOOM_ERR_ARGUMENT && !merged);
  lanebloom_filter_close(filter);
}
