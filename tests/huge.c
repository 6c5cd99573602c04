/* LevelDB filters of 2^29 bytes and more: their number of bits does not fit 32 bits, and a 32-bit hash reaches only the
 * first 2^32 of them. RocksDB's filters where their sizes end. The memory is nearly all untouched, so a few hundred
 * megabytes of it are real.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>

#include <lanebloom.h>

#include "model.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const lanebloom_slice keys[] = {{"hello", 5}, {"world", 5}, {"\xff\xfe\xfd", 3}, {"absent", 6}, {NULL, 0}};
static const uint64_t TWO_TO_29 = (uint64_t)1 << 29;

static uint32_t hash_of(size_t key)
{
  return model_bloomhash(keys[key].data, keys[key].size, false);
}

/* ---- Building ---- */

/* 3 keys of so many bits: 805,306,367.6 bytes. */
enum { BITS_PER_KEY = INT_MAX, NPROBES = 30 };
static const uint64_t BUILT_NBYTES = 805306368;

/* The payload holds the bits of the first n keys, by the model, and no others. */
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

  lanebloom_info info;
  lanebloom_filter_info(filter, &info, sizeof info);
  if (info.nbits != (uint64_t)1 << 32 || info.nbits_set != ndistinct || info.nprobes != NPROBES)
    test_fatal("info: %llu bits, %llu set, %u probes", (unsigned long long)info.nbits,
               (unsigned long long)info.nbits_set, info.nprobes);
  for (size_t key = 0; key < COUNT(keys); key++)
    if (lanebloom_filter_may_contain(filter, keys[key].data, keys[key].size) != (key < n))
      test_fatal("key %zu: the wrong answer", key);
  lanebloom_filter_close(filter);
}

Test(huge, build)
{
  const lanebloom_keys three = lanebloom_keys_slices(keys, 3);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, BITS_PER_KEY, &three, &filter) == LANEBLOOM_OK, "build");
  check_built("build", filter, 3);
}

static void check_streamed(const char *how, uint64_t expected_keys, const lanebloom_keys *batch, size_t ntimes,
                           size_t ndistinct)
{
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, BITS_PER_KEY, expected_keys, &builder) == LANEBLOOM_OK,
            "%s: create", how);
  for (size_t time = 0; time < ntimes; time++)
    cr_assert(lanebloom_builder_add(builder, batch) == LANEBLOOM_OK, "%s: add", how);
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "%s: finish", how);
  lanebloom_builder_destroy(builder);
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
    uint64_t nkeys, nbytes; /* 0 bytes: the engine's arithmetic would wrap */
  } rows[] = {
      {INT_MAX, 3, 805306369},
      {1, (uint64_t)1 << 32, (1 << 29) + 1},
      {10, 429496730, 536870914}, /* the first number of keys whose bits pass 2^32 */
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
    const lanebloom_status status =
        lanebloom_plan_size(LANEBLOOM_LEVELDB, rows[i].bits_per_key, rows[i].nkeys, &nbytes, &nprobes);
    cr_assert(status == (rows[i].nbytes ? LANEBLOOM_OK : LANEBLOOM_ERR_LIMIT), "row %zu: status %d", i, (int)status);
    cr_assert(nbytes == rows[i].nbytes, "row %zu: %llu bytes", i, (unsigned long long)nbytes);
  }

  /* What no memory holds is an error like any other. */
  lanebloom_builder *builder;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 1, UINT64_MAX - 7, &builder) == LANEBLOOM_ERR_MEMORY,
            "2 EiB were found");
  cr_assert(!builder, "builder after an error");
}

/* RocksDB's sizes are the model's for every number of bits per key, up to the last number of keys. */
Test(huge, rocksdb_sizes)
{
  const uint64_t max_legacy_nbits = 0xffff0000, max_local_nbytes = 0xffffffc0;
  for (uint64_t millibits = 1000; millibits <= 100000; millibits++) {
    const double bits = (double)millibits / 1000;
    const uint64_t whole_bits = (millibits + 500) / 1000;
    const uint64_t legacy_most = max_legacy_nbits / whole_bits, local_most = max_local_nbytes * 8000 / millibits;
    const uint64_t counts[] = {1, 2, 11, 512, 1024, 99991, 40000000};
    test_context("%llu millibits", (unsigned long long)millibits);
    for (size_t c = 0; c <= COUNT(counts); c++) {
      const uint64_t nlegacy = c < COUNT(counts) ? counts[c] : legacy_most;
      const uint64_t nlocal = c < COUNT(counts) ? counts[c] : local_most;
      uint64_t nbytes;
      unsigned nprobes;
      cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LEGACY, bits, nlegacy, &nbytes, &nprobes) == LANEBLOOM_OK);
      if (nbytes != model_legacy_nbytes(whole_bits, nlegacy) + 5 || nprobes != model_nprobes((unsigned)whole_bits))
        test_fatal("legacy, %llu keys: %llu bytes, %u probes", (unsigned long long)nlegacy, (unsigned long long)nbytes,
                   nprobes);
      cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, bits, nlocal, &nbytes, &nprobes) == LANEBLOOM_OK);
      if (nbytes != model_local_nbytes(millibits, nlocal) + 5 || nprobes != model_local_nprobes(millibits))
        test_fatal("local, %llu keys: %llu bytes, %u probes", (unsigned long long)nlocal, (unsigned long long)nbytes,
                   nprobes);
    }
    uint64_t nbytes;
    unsigned nprobes;
    cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LEGACY, bits, legacy_most + 1, &nbytes, &nprobes) ==
              LANEBLOOM_ERR_LIMIT);
    cr_assert(lanebloom_plan_size(LANEBLOOM_ROCKSDB_LOCAL, bits, local_most + 1, &nbytes, &nprobes) ==
              LANEBLOOM_ERR_LIMIT);
  }
}

static uint64_t rocksdb_position(lanebloom_format format, size_t key, unsigned i, uint64_t nbytes)
{
  return format == LANEBLOOM_ROCKSDB_LEGACY
             ? model_legacy_position(model_bloomhash(keys[key].data, keys[key].size, true), i, nbytes, nbytes / 64)
             : model_local_position(model_xxph3(keys[key].data, keys[key].size), i, nbytes);
}

/* Three keys in the largest filter of a format. */
static void check_largest(lanebloom_format format, uint64_t expected_keys, uint64_t nbytes, unsigned nprobes)
{
  enum { NADDED = 3, BITS = 10 };
  test_context("the largest filter of %s", lanebloom_format_name(format));
  const lanebloom_keys added = lanebloom_keys_slices(keys, NADDED);
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create(format, BITS, expected_keys + 1, &builder) == LANEBLOOM_ERR_LIMIT, "one more");
  cr_assert(lanebloom_builder_create(format, BITS, expected_keys, &builder) == LANEBLOOM_OK, "builder_create");
  cr_assert(lanebloom_builder_add(builder, &added) == LANEBLOOM_OK, "builder_add");
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK, "builder_finish");
  lanebloom_builder_destroy(builder);

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
  lanebloom_filter_close(filter);
}

Test(huge, rocksdb_largest)
{
  check_largest(LANEBLOOM_ROCKSDB_LEGACY, 429490176, 536862784, 6);
  check_largest(LANEBLOOM_ROCKSDB_LOCAL, 3435973785, 0xffffffc0, 6);
}

/* ---- Opening ---- */

/* Answers are the model's when a key's bits are set, when one is clear, and on every path through the library. */
static void check_opened(uint64_t nbytes)
{
  enum { NKEYS = 500 };
  test_context("payload of %llu bytes", (unsigned long long)nbytes);
  struct rng rng = rng_start(nbytes);
  struct guarded filter_bytes = guarded_sparse(nbytes + 1);
  const uint64_t nbits = nbytes < TWO_TO_29 ? nbytes * 8 : (uint64_t)1 << 32; /* that probes can address */
  filter_bytes.bytes[nbytes] = NPROBES;
  filter_bytes.bytes[nbits / 8 - 1] = 0xff;
  filter_bytes.bytes[nbytes - 1] = 0xff; /* beyond 2^32 these bits do not count */
  uint32_t numbers[NKEYS];
  rng_fill(&rng, numbers, sizeof numbers);
  uint8_t expected[(NKEYS + 7) / 8] = {0}, bitmap[(NKEYS + 7) / 8];
  for (size_t i = 0; i < NKEYS; i += 2) { /* every second key gets its bits; of these, some all but one */
    const uint32_t hash = model_bloomhash(&numbers[i], sizeof *numbers, false);
    const unsigned missing = i % 3 == 0 ? (unsigned)rng_below(&rng, NPROBES) : NPROBES;
    for (unsigned p = 0; p < NPROBES; p++) {
      const uint64_t position = model_position(hash, p, nbytes);
      if (p != missing)
        filter_bytes.bytes[position / 8] |= (uint8_t)(1 << position % 8);
    }
  }
  size_t count = 0;
  for (size_t i = 0; i < NKEYS; i++) {
    const uint32_t hash = model_bloomhash(&numbers[i], sizeof *numbers, false);
    const bool hit = model_may_match(filter_bytes.bytes, filter_bytes.nbytes, hash);
    expected[i / 8] |= (uint8_t)(hit << i % 8);
    count += hit;
  }
  cr_assert(count > NKEYS / 4 && count < NKEYS / 2, "%zu keys of %d pass: too uneven to tell much", count, NKEYS);

  lanebloom_filter *filter;
  guarded_freeze(&filter_bytes);
  cr_assert(lanebloom_filter_open(LANEBLOOM_LEVELDB, filter_bytes.bytes, filter_bytes.nbytes, &filter) == LANEBLOOM_OK,
            "open");
  const lanebloom_keys batch = lanebloom_keys_fixed(numbers, sizeof *numbers, NKEYS);
  if (lanebloom_filter_screen(filter, &batch, bitmap) != count)
    test_fatal("screen: not %zu", count);
  test_same_bytes("bitmap", bitmap, expected, sizeof bitmap);

  for (size_t i = 0; i < NKEYS; i++) {
    const uint32_t hash = model_bloomhash(&numbers[i], sizeof *numbers, false);
    uint64_t positions[NPROBES];
    cr_assert(lanebloom_filter_positions(filter, &hash, positions) == NPROBES, "positions");
    for (unsigned p = 0; p < NPROBES; p++)
      if (positions[p] != model_position(hash, p, nbytes))
        test_fatal("key %zu, probe %u: position %llu", i, p, (unsigned long long)positions[p]);
  }

  lanebloom_info info;
  lanebloom_filter_info(filter, &info, sizeof info);
  if (info.nbits != nbits || info.nbits_set != count_set_bits(filter_bytes.bytes, nbits / 8))
    test_fatal("info: %llu bits, %llu set", (unsigned long long)info.nbits, (unsigned long long)info.nbits_set);
  lanebloom_filter_close(filter);
  guarded_free(&filter_bytes);
}

Test(huge, open)
{
  check_opened(TWO_TO_29 - 1);
  check_opened(TWO_TO_29);
  check_opened(TWO_TO_29 + 1);
  check_opened(8 * TWO_TO_29 + 100); /* above 4 GiB: neither bytes nor bits fit 32 bits */
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
