/* RocksDB's filters at their size limits, and the largest filter of each format.
 * SPDX-License-Identifier: MIT */
#include "huge.h"

/* RocksDB's sizes equal the model's for every number of bits per key, up to the largest number of
 * keys. */
Test(huge, rocksdb_sizes)
{
  const uint64_t max_legacy_nbits = 0xffff0000, max_local_nbytes = 0xffffffc0;
  for (uint64_t millibits = 1000; millibits <= 100000; millibits++) {
    const double bits = (double)millibits / 1000;
    const uint64_t whole_bits = (millibits + 500) / 1000;
    const uint64_t legacy_most = max_legacy_nbits / whole_bits,
                   local_most = max_local_nbytes * 8000 / millibits;
    const uint64_t counts[] = {1, 2, 11, 512, 1024, 99991, 40000000};
    test_context("%llu millibits", (unsigned long long)millibits);
    for (size_t c = 0; c <= COUNT(counts); c++) {
      const uint64_t nlegacy = c < COUNT(counts) ? counts[c] : legacy_most;
      const uint64_t nlocal = c < COUNT(counts) ? counts[c] : local_most;
      uint64_t nbytes;
      unsigned nprobes;
      cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LEGACY, bits, nlegacy, &nbytes, &nprobes) ==
                LANEBLOOM_OK);
      if (nbytes != model_legacy_nbytes(whole_bits, nlegacy) + 5 ||
          nprobes != model_nprobes((unsigned)whole_bits))
        test_fatal("legacy, %llu keys: %llu bytes, %u probes", (unsigned long long)nlegacy,
                   (unsigned long long)nbytes, nprobes);
      cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, bits, nlocal, &nbytes, &nprobes) ==
                LANEBLOOM_OK);
      if (nbytes != model_local_nbytes(millibits, nlocal) + 5 ||
          nprobes != model_local_nprobes(millibits))
        test_fatal("local, %llu keys: %llu bytes, %u probes", (unsigned long long)nlocal,
                   (unsigned long long)nbytes, nprobes);
    }
    uint64_t nbytes;
    unsigned nprobes;
    cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LEGACY, bits, legacy_most + 1, &nbytes,
                                  &nprobes) == LANEBLOOM_ERR_LIMIT);
    cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, bits, local_most + 1, &nbytes,
                                  &nprobes) == LANEBLOOM_ERR_LIMIT);
  }
}

/* These numbers of keys would be nearly 0 if they were cut to 32 bits. */
Test(huge, rocksdb_sizes_of_too_many)
{
  for (unsigned log = 32; log < 64; log++) {
    const uint64_t nkeys = ((uint64_t)1 << log) + 1;
    uint64_t nbytes = 0;
    unsigned nprobes;
    cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LEGACY, 1, nkeys, &nbytes, &nprobes) ==
                  LANEBLOOM_ERR_LIMIT,
              "legacy, 2^%u keys", log);
    const lanebloom_status expected = log < 35 ? LANEBLOOM_OK : LANEBLOOM_ERR_LIMIT;
    cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, 1, nkeys, &nbytes, &nprobes) == expected,
              "local, 2^%u keys", log);
    cr_assert(expected || nbytes == model_local_nbytes(1000, nkeys) + 5,
              "local, 2^%u keys: %llu bytes", log, (unsigned long long)nbytes);
  }
}

static uint64_t rocksdb_position(lanebloom_format format, size_t key, unsigned i, uint64_t nbytes)
{
  return format == LANEBLOOM_ROCKSDB_LEGACY
             ? model_legacy_position(model_bloomhash(keys[key].data, keys[key].size, true), i,
                                     nbytes, nbytes / 64)
             : model_local_position(model_xxph3(keys[key].data, keys[key].size), i, nbytes);
}

/* Adds three keys to the largest filter of a format. */
static void check_largest(lanebloom_format format, uint64_t expected_keys, uint64_t nbytes,
                          unsigned nprobes)
{
  enum { NADDED = 3, BITS = 10 };
  test_context("the largest filter of %s", lanebloom_format_name(format));
  const lanebloom_keys added = lanebloom_keys_slices(keys, NADDED);
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create(format, BITS, expected_keys + 1, &builder) ==
                LANEBLOOM_ERR_LIMIT,
            "one more");
  cr_assert(lanebloom_builder_create(format, BITS, expected_keys, &builder) == LANEBLOOM_OK,
            "builder_create");
  cr_assert(lanebloom_builder_add(builder, &added) == LANEBLOOM_OK, "builder_add");
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "builder_finish");
  lanebloom_builder_free(builder);

  size_t size;
  const uint8_t *bytes = lanebloom_filter_bytes(filter, &size);
  if (size != nbytes + 5)
    test_fatal("%zu bytes", size);
  for (size_t key = 0; key < COUNT(keys); key++) {
    uint64_t hash = 0, positions[NPROBES];
    const lanebloom_keys one = lanebloom_keys_slices(&keys[key], 1);
    cr_assert(lanebloom_hash(format, &one, &hash) == LANEBLOOM_OK, "hash");
    cr_assert(lanebloom_filter_positions(filter, &hash, positions) == nprobes, "positions");
    for (unsigned i = 0; i < nprobes; i++) {
      const uint64_t position = rocksdb_position(format, key, i, nbytes);
      if (positions[i] != position)
        test_fatal("key %zu, probe %u: position %llu", key, i, (unsigned long long)positions[i]);
      if (key < NADDED && !(bytes[position / 8] >> position % 8 & 1))
        test_fatal("key %zu: bit %llu is clear", key, (unsigned long long)position);
    }
    if (lanebloom_filter_may_contain(filter, keys[key].data, keys[key].size) != (key < NADDED))
      test_fatal("key %zu: the wrong answer", key);
  }
  lanebloom_filter_free(filter);
}

Test(huge, rocksdb_largest)
{
  check_largest(LANEBLOOM_ROCKSDB_LEGACY, 429490176, 536862784, 6);
  check_largest(LANEBLOOM_ROCKSDB_LOCAL, 3435973785, 0xffffffc0, 6);
}

/* Adds three keys to the largest filter of each format that has a size limit. */
Test(huge, largest_of_each_format)
{
  enum { NADDED = 3, BITS = 10 };
  const lanebloom_keys added = lanebloom_keys_slices(keys, NADDED);
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t f = 0; f < nformats; f++) {
    lanebloom_format_info info;
    cr_assert(lanebloom_format_describe(formats[f], &info, sizeof info) == LANEBLOOM_OK);
    test_context("the largest filter of %s", info.name);
    if (info.max_size == UINT64_MAX)
      continue;
    uint64_t enough = 1, too_many = UINT64_MAX, nbytes;
    unsigned nprobes;
    while (too_many - enough > 1) {
      const uint64_t middle = enough + (too_many - enough) / 2;
      if (lanebloom_plan_size(formats[f], BITS, middle, &nbytes, &nprobes) == LANEBLOOM_OK)
        enough = middle;
      else
        too_many = middle;
    }
    cr_assert(lanebloom_plan_size(formats[f], BITS, enough, &nbytes, &nprobes) == LANEBLOOM_OK);
    if (nbytes > info.max_size || nbytes < info.max_size / 16)
      test_fatal("%llu bytes", (unsigned long long)nbytes);

    lanebloom_builder *builder;
    lanebloom_filter *filter;
    cr_assert(lanebloom_builder_create(formats[f], BITS, enough, &builder) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_add(builder, &added) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
    lanebloom_builder_free(builder);
    size_t size;
    const uint8_t *bytes = lanebloom_filter_bytes(filter, &size);
    cr_assert(size == nbytes);
    for (size_t key = 0; key < COUNT(keys); key++) {
      uint8_t hash[LANEBLOOM_MAX_HASH_SIZE] = {0};
      uint64_t positions[32];
      const lanebloom_keys one = lanebloom_keys_slices(&keys[key], 1);
      cr_assert(lanebloom_hash(formats[f], &one, hash) == LANEBLOOM_OK);
      cr_assert(lanebloom_filter_positions(filter, hash, positions) == nprobes);
      for (unsigned i = 0; i < nprobes; i++)
        if (positions[i] / 8 >= nbytes ||
            (key < NADDED && !(bytes[positions[i] / 8] >> positions[i] % 8 & 1)))
          test_fatal("key %zu: position %llu", key, (unsigned long long)positions[i]);
      if (lanebloom_filter_may_contain(filter, keys[key].data, keys[key].size) != (key < NADDED))
        test_fatal("key %zu: the wrong answer", key);
    }
    lanebloom_filter_free(filter);
  }
}
