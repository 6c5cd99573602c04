/* Builds LevelDB filters whose number of bits does not fit 32 bits, and of more keys than memory
 * holds.
 * SPDX-License-Identifier: MIT */
#include <limits.h>

#include "huge.h"

static uint32_t hash_of(size_t key)
{
  return model_bloomhash(keys[key].data, keys[key].size, false);
}

/* 3 keys of INT_MAX bits each take 805,306,367.6 bytes, rounded up. */
enum { BITS_PER_KEY = INT_MAX };
static const uint64_t BUILT_NBYTES = 805306368;

/* Checks that the payload has exactly the bits that the model gives for the first n keys. */
static void check_built(const char *how, lanebloom_filter *filter, size_t n)
{
  test_context("%s, %zu keys", how, n);
  size_t size;
  const uint8_t *bytes = lanebloom_filter_bytes(filter, &size);
  if (size != BUILT_NBYTES + 1)
    test_fatal("%zu bytes", size);
  if (bytes[size - 1] != NPROBES)
    test_fatal("%d probes", bytes[size - 1]);

  uint64_t positions[COUNT(keys) * NPROBES];
  size_t ndistinct = 0;
  for (size_t key = 0; key < n; key++)
    for (unsigned p = 0; p < NPROBES; p++) {
      const uint64_t position = model_position(hash_of(key), p, BUILT_NBYTES);
      if (!(bytes[position / 8] >> position % 8 & 1))
        test_fatal("bit %llu is clear", (unsigned long long)position);
      size_t i = 0;
      while (i < ndistinct && positions[i] != position)
        i++;
      if (i == ndistinct)
        positions[ndistinct++] = position;
    }
  const uint64_t nset = count_set_bits(bytes, size - 1);
  if (nset != ndistinct)
    test_fatal("%llu bits are set, expected %zu", (unsigned long long)nset, ndistinct);

  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  if (info.nbits != (uint64_t)1 << 32 || info.nbits_set != ndistinct || info.nprobes != NPROBES)
    test_fatal("info: %llu bits, %llu set, %u probes", (unsigned long long)info.nbits,
               (unsigned long long)info.nbits_set, info.nprobes);
  for (size_t key = 0; key < COUNT(keys); key++)
    if (lanebloom_filter_may_contain(filter, keys[key].data, keys[key].size) != (key < n))
      test_fatal("key %zu: the wrong answer", key);
  lanebloom_filter_free(filter);
}

Test(huge, build)
{
  const lanebloom_keys three = lanebloom_keys_slices(keys, 3);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, BITS_PER_KEY, &three, &filter) ==
                LANEBLOOM_OK,
            "build");
  check_built("build", filter, 3);
}

static void check_streamed(const char *how, uint64_t expected_keys, const lanebloom_keys *batch,
                           size_t ntimes, size_t ndistinct)
{
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, BITS_PER_KEY, expected_keys, &builder) ==
                LANEBLOOM_OK,
            "%s: create", how);
  for (size_t time = 0; time < ntimes; time++)
    cr_assert(lanebloom_builder_add(builder, batch) == LANEBLOOM_OK, "%s: add", how);
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "%s: finish", how);
  lanebloom_builder_free(builder);
  check_built(how, filter, ndistinct);
}

Test(huge, stream)
{
  const lanebloom_keys one = lanebloom_keys_slices(keys, 1), three = lanebloom_keys_slices(keys, 3);
  check_streamed("sized", 3, &three, 1, 3);
  check_streamed("sized, no keys", 3, &three, 0, 0);
  check_streamed("sized, duplicates", 3, &one, 3, 1);
  check_streamed("hashes kept", 0, &three, 1, 3);
  check_streamed("hashes kept, duplicates", 0, &one, 3, 1); /* a duplicate counts in the size */
}

Test(huge, sizes)
{
  static const struct {
    double bits_per_key;
    uint64_t nkeys, nbytes; /* 0 bytes: LevelDB's arithmetic would wrap */
  } rows[] = {
      {INT_MAX, 3, 805306369},
      {1, (uint64_t)1 << 32, (1 << 29) + 1},
      {10, 429496730, 536870914}, /* the smallest number of keys whose bits exceed 2^32 */
      {10, (uint64_t)1 << 33, 10737418241},
      {INT_MAX, (uint64_t)1 << 32, ((uint64_t)INT_MAX << 29) + 1},
      {1, UINT64_MAX - 7, (uint64_t)1 << 61},
      {1, UINT64_MAX - 6, 0},
      {4, (uint64_t)1 << 62, 0},
      {INT_MAX, (uint64_t)1 << 34, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    uint64_t nbytes = 0;
    unsigned nprobes = 0;
    const lanebloom_status status = lanebloom_plan_size(LANEBLOOM_LEVELDB, rows[i].bits_per_key,
                                                        rows[i].nkeys, &nbytes, &nprobes);
    cr_assert(status == (rows[i].nbytes ? LANEBLOOM_OK : LANEBLOOM_ERR_LIMIT), "row %zu: status %d",
              i, (int)status);
    cr_assert(nbytes == rows[i].nbytes, "row %zu: %llu bytes", i, (unsigned long long)nbytes);
  }

  /* A filter that no memory can hold gives an ordinary error. */
  lanebloom_builder *builder;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 1, UINT64_MAX - 7, &builder) ==
                LANEBLOOM_ERR_MEMORY,
            "2 EiB were found");
  cr_assert(!builder, "builder after an error");
}

/* The filter has more bits than probes can reach, more bytes than 32 bits can count, and a trailer
 * after them. */
Test(huge, stream_beyond_4_gib)
{
  const lanebloom_keys three = lanebloom_keys_slices(keys, 3);
  const uint64_t nbytes = 5368709122;
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  lanebloom_status status = lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, 4294967297, &builder);
  if (status == LANEBLOOM_ERR_MEMORY)
    cr_skip_test("the system promises no 5.4 GB, of which few are touched");
  cr_assert(status == LANEBLOOM_OK, "create");
  cr_assert(lanebloom_builder_add(builder, &three) == LANEBLOOM_OK, "add");
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "finish");
  lanebloom_builder_free(builder);
  size_t size;
  const uint8_t *bytes = lanebloom_filter_bytes(filter, &size);
  cr_assert(size == nbytes + 1 && bytes[nbytes] == 6, "%zu bytes, %d probes", size,
            bytes[size - 1]);
  for (size_t key = 0; key < COUNT(keys); key++) {
    for (unsigned p = 0; p < 6 && key < 3; p++) {
      const uint64_t position = model_position(hash_of(key), p, nbytes);
      cr_assert(bytes[position / 8] >> position % 8 & 1, "key %zu: bit %llu", key,
                (unsigned long long)position);
    }
    cr_assert(lanebloom_filter_may_contain(filter, keys[key].data, keys[key].size) == (key < 3),
              "key %zu", key);
  }
  lanebloom_filter_free(filter);
}

/* The hashes of so many keys would exceed the address space. The address sanitizer ends a program
 * that requests so much memory. Under it the number of keys is so large that the library requests
 * none. */
#if defined(__SANITIZE_ADDRESS__)
enum { LOG_TOO_MANY = 60 };
#else
enum { LOG_TOO_MANY = 46 };
#endif

Test(huge, more_hashes_than_memory)
{
  const lanebloom_keys one = lanebloom_keys_slices(keys, 1);
  for (unsigned log = LOG_TOO_MANY; log < 64; log++) {
    const lanebloom_keys many = lanebloom_keys_fixed(NULL, 0, (size_t)1 << log);
    lanebloom_builder *builder;
    lanebloom_filter *filter;
    cr_assert(lanebloom_builder_create(LANEBLOOM_ROCKSDB_LOCAL, 10, 0, &builder) == LANEBLOOM_OK,
              "create");
    cr_assert(lanebloom_builder_add(builder, &one) == LANEBLOOM_OK, "add");
    cr_assert(lanebloom_builder_add(builder, &many) == LANEBLOOM_ERR_MEMORY, "2^%u", log);
    cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "finish");
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(info.nkeys == 1, "an error adds nothing");
    lanebloom_filter_free(filter);
    lanebloom_builder_free(builder);
  }
}

/* More than 2^32 keys are refused before any key is read. */
Test(huge, build_of_too_many)
{
  const lanebloom_keys many = lanebloom_keys_fixed(NULL, 0, (size_t)1 << 46);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, INT_MAX, &many, &filter) ==
                LANEBLOOM_ERR_LIMIT &&
            !filter);
}
