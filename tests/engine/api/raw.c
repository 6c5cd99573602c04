/* Filters whose memory belongs to the caller.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Builds and queries a filter as bare bytes. The keys have runs of equal ones, because engines
 * count these in different ways. */
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
  size_t size;
  memset(bytes, 0xa5, sizeof bytes);
  test_context("%s, %g bits per key, %zu keys", lanebloom_format_name(format), bits_per_key,
               keys->n);
  cr_assert(lanebloom_filter_build_raw(format, bits_per_key, keys, bytes, (size_t)room, &size) ==
            LANEBLOOM_OK);
  cr_assert(size == expected_size && bytes[size] == 0xa5, "%zu bytes, expected %zu", size,
            expected_size);
  test_same_bytes("filter", bytes, expected, size);
  for (uint8_t i = 0; i < 200; i++) {
    const bool answer = lanebloom_filter_may_contain(filter, &i, 1);
    cr_assert(lanebloom_filter_may_contain_raw(format, bytes, size, &i, 1) == answer, "key %d", i);
  }

  const uint8_t before = bytes[0] ^= 0xff;
  size_t needed;
  cr_assert(lanebloom_filter_build_raw(format, bits_per_key, keys, bytes, size - 1, &needed) ==
                LANEBLOOM_ERR_ROOM &&
            needed == size && bytes[0] == before);
  cr_assert(lanebloom_filter_build_raw(format, bits_per_key, keys, NULL, 0, &needed) ==
                LANEBLOOM_ERR_ROOM &&
            needed == size);
  lanebloom_filter_free(filter);
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
  enum { NTRIALS = 20000 };
  for (int i = 0; i < NTRIALS; i++) {
    uint8_t bytes[150], key[8];
    const size_t size = rng_below(&rng, sizeof bytes + 1);
    rng_fill(&rng, bytes, sizeof bytes);
    rng_fill(&rng, key, sizeof key);
    if (size >= 5 && rng_below(&rng, 2)) /* a RocksDB trailer */
      memcpy(bytes + size - 5, (uint8_t[]){0xff, 0, 6, 0, 0}, 5);
    const lanebloom_format format = lanebloom_format_at(rng_below(&rng, lanebloom_format_count()));
    lanebloom_filter *filter;
    bool expected = true;
    if (lanebloom_filter_parse_raw(format, bytes, size, NULL, &filter, NULL, 0) == LANEBLOOM_OK)
      expected = lanebloom_filter_may_contain(filter, key, sizeof key);
    else
      nrefused++;
    lanebloom_filter_free(filter);
    cr_assert(lanebloom_filter_may_contain_raw(format, bytes, size, key, sizeof key) == expected,
              "%s, %zu bytes", lanebloom_format_name(format), size);
    nhits += expected;
  }
  /* filters that are refused count as hits; some of the others pass the key, and some do not */
  cr_assert(nrefused > 100 && nhits > nrefused + 1000 && nhits < NTRIALS - 500,
            "%zu hits, %zu refused", nhits, nrefused);
  cr_assert(!lanebloom_filter_may_contain_raw(LANEBLOOM_LEVELDB, NULL, 0, NULL, 0));
  cr_assert(lanebloom_filter_may_contain_raw((lanebloom_format)test_first_unknown_format(), "", 0,
                                             "a", 1));
}

/* Bare bytes that are refused: the line says what was expected and what was found. */
Test(raw, bytes_that_are_refused)
{
  static const uint8_t local[64 + 5] = {[64] = 0xff, [66] = 6},
                                  spark[12 + 8] = {[3] = 1, [7] = 3, [11] = 2},
                                  probes[12 + 8] = {[3] = 1, [6] = 1, [11] = 1},
                                  seed[16 + 8] = {[3] = 2, [7] = 3, [11] = 9, [15] = 1},
                                  fuse[13 + 14] = {[21] = 1, [25] = 2, [26] = 8},
                                  slots[12 + 14] = {[20] = 1, [24] = 31, [25] = 8},
                                  guava[6 + 8] = {1, 3, [5] = 1}, unprobed[6 + 8] = {[5] = 1},
                                  cassandra[8 + 16] = {[3] = 22, [7] = 2};
  static const struct {
    lanebloom_format format;
    const uint8_t *bytes;
    size_t nbytes;
    lanebloom_status status;
    const char *text;
  } cases[] = {
      {LANEBLOOM_ROCKSDB_LEGACY, local, sizeof local, LANEBLOOM_ERR_FORMAT,
       "expected a filter of rocksdb-legacy, found one of rocksdb-local"},
      {LANEBLOOM_PARQUET, local, 33, LANEBLOOM_ERR_FORMAT, "blocks of 32 bytes, found 33 bytes"},
      {LANEBLOOM_SPARK_V1, spark, 12, LANEBLOOM_ERR_FORMAT, "more than 12 bytes, found 12"},
      {LANEBLOOM_SPARK_V2, spark, sizeof spark, LANEBLOOM_ERR_FORMAT,
       "expected version 2 of Spark's filters, found 1"},
      {LANEBLOOM_SPARK_V1, spark, sizeof spark, LANEBLOOM_ERR_FORMAT,
       "expected 16 bytes after the header, as it says, found 8"},
      {LANEBLOOM_SPARK_V1, probes, sizeof probes, LANEBLOOM_ERR_LIMIT,
       "expected at most 255 probes per key, found 256"},
      {LANEBLOOM_SPARK_V2, seed, sizeof seed, LANEBLOOM_ERR_FORMAT, "expected the seed 0, found 9"},
      {LANEBLOOM_PEBBLE_BINARYFUSE, local, 40, LANEBLOOM_ERR_FORMAT,
       "4, 8, 10, 12 or 16 bits per fingerprint, found 0 in the last byte"},
      {LANEBLOOM_PEBBLE_BINARYFUSE, fuse + 11, 16, LANEBLOOM_ERR_FORMAT,
       "expected 26 bytes for the 12 fingerprints of a binary fuse filter, found 16"},
      {LANEBLOOM_PEBBLE_BINARYFUSE, fuse, sizeof fuse, LANEBLOOM_ERR_FORMAT,
       "expected 26 bytes for the 12 fingerprints of a binary fuse filter, found 27"},
      {LANEBLOOM_PEBBLE_BINARYFUSE, slots, sizeof slots, LANEBLOOM_ERR_FORMAT,
       "1 segment or more, and less than 2^32 slots, found 1 segments of 2^31 slots"},
      {LANEBLOOM_GUAVA, fuse, 6, LANEBLOOM_ERR_FORMAT, "more than 6 bytes, found 6"},
      {LANEBLOOM_GUAVA, fuse, 0, LANEBLOOM_ERR_FORMAT, "more than 6 bytes, found 0"},
      {LANEBLOOM_GUAVA, local + 64, 5, LANEBLOOM_ERR_FORMAT,
       "expected Guava's strategy 0 or 1 in the first byte, found 255"},
      {LANEBLOOM_GUAVA_32, guava, sizeof guava, LANEBLOOM_ERR_FORMAT,
       "expected Guava's strategy 0 in the first byte, found 1"},
      {LANEBLOOM_GUAVA, guava, sizeof guava - 1, LANEBLOOM_ERR_FORMAT,
       "expected 8 bytes after the header, as it says, found 7"},
      {LANEBLOOM_GUAVA, unprobed, sizeof unprobed, LANEBLOOM_ERR_FORMAT,
       "expected 1 to 255 probes per key, found 0"},
      {LANEBLOOM_CASSANDRA, cassandra, 8, LANEBLOOM_ERR_FORMAT,
       "which has 0 or more than 8 bytes, found 8"},
      {LANEBLOOM_CASSANDRA_3, cassandra, sizeof cassandra - 8, LANEBLOOM_ERR_FORMAT,
       "expected 16 bytes after the header, as it says, found 8"},
      {LANEBLOOM_CASSANDRA_2, cassandra, sizeof cassandra, LANEBLOOM_ERR_LIMIT,
       "expected at most 21 probes per key, found 22"},
      {(lanebloom_format)99, local, 5, LANEBLOOM_ERR_FORMAT,
       "expected a format of this build, found number 99"},
      {LANEBLOOM_LEVELDB, NULL, 5, LANEBLOOM_ERR_ARGUMENT, "expected 5 bytes, found NULL"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    lanebloom_filter *filter = (void *)1;
    char problem[128];
    cr_assert(lanebloom_filter_parse_raw(cases[i].format, cases[i].bytes, cases[i].nbytes, NULL,
                                         &filter, problem, sizeof problem) == cases[i].status &&
                  !filter,
              "%zu", i);
    cr_assert(strstr(problem, cases[i].text), "%zu: %s", i, problem);
  }
}
