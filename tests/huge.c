/* Sizes and counts that 32 bits do not hold. LevelDB filters of 2^29 bytes and more: their number
 * of bits does not fit, and a 32-bit hash reaches only the first 2^32 of them. RocksDB's filters
 * where their sizes end. Counts of keys. Memory and files are nearly all untouched, so a few
 * hundred megabytes of them are real; huge.bats takes it all.
 * SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <lanebloom.h>

#include "bytes.h"
#include "filter.h"
#include "model.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const lanebloom_slice keys[] = {
    {"hello", 5}, {"world", 5}, {"\xff\xfe\xfd", 3}, {"absent", 6}, {NULL, 0}};
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

  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
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
    const lanebloom_status status = lanebloom_plan_size(LANEBLOOM_LEVELDB, rows[i].bits_per_key,
                                                        rows[i].nkeys, &nbytes, &nprobes);
    cr_assert(status == (rows[i].nbytes ? LANEBLOOM_OK : LANEBLOOM_ERR_LIMIT), "row %zu: status %d",
              i, (int)status);
    cr_assert(nbytes == rows[i].nbytes, "row %zu: %llu bytes", i, (unsigned long long)nbytes);
  }

  /* What no memory holds is an error like any other. */
  lanebloom_builder *builder;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 1, UINT64_MAX - 7, &builder) ==
                LANEBLOOM_ERR_MEMORY,
            "2 EiB were found");
  cr_assert(!builder, "builder after an error");
}

/* More bits than probes can reach, more bytes than 32 bits hold, and the trailer behind them. */
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
  lanebloom_builder_destroy(builder);
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
  lanebloom_filter_close(filter);
}

/* So many that their hashes would fill all addresses there are. The address sanitizer ends a
 * program that asks for that, so there only as many as nobody need ask for. */
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
    lanebloom_filter_close(filter);
    lanebloom_builder_destroy(builder);
  }
}

/* RocksDB's sizes are the model's for every number of bits per key, up to the last number of
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

/* Refused before a key is looked at, of which there are more than 32 bits hold. */
Test(huge, build_of_too_many)
{
  const lanebloom_keys many = lanebloom_keys_fixed(NULL, 0, (size_t)1 << 46);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, INT_MAX, &many, &filter) ==
                LANEBLOOM_ERR_LIMIT &&
            !filter);
}

/* Numbers of keys of which 32 bits keep nearly nothing. */
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

/* Three keys in the largest filter of a format. */
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

/* Three keys in the largest filter of each format that has a largest one. */
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
    lanebloom_builder_destroy(builder);
    size_t size;
    const uint8_t *bytes = lanebloom_filter_bytes(filter, &size);
    cr_assert(size == nbytes);
    for (size_t key = 0; key < COUNT(keys); key++) {
      uint64_t hash = 0, positions[32];
      const lanebloom_keys one = lanebloom_keys_slices(&keys[key], 1);
      cr_assert(lanebloom_hash(formats[f], &one, &hash) == LANEBLOOM_OK);
      cr_assert(lanebloom_filter_positions(filter, &hash, positions) == nprobes);
      for (unsigned i = 0; i < nprobes; i++)
        if (positions[i] / 8 >= nbytes ||
            (key < NADDED && !(bytes[positions[i] / 8] >> positions[i] % 8 & 1)))
          test_fatal("key %zu: position %llu", key, (unsigned long long)positions[i]);
      if (lanebloom_filter_may_contain(filter, keys[key].data, keys[key].size) != (key < NADDED))
        test_fatal("key %zu: the wrong answer", key);
    }
    lanebloom_filter_close(filter);
  }
}

/* ---- Opening ---- */

/* A filter that is nearly all holes: in memory that ends at an unmapped page, and in a container
 * file. */
struct sparse {
  lanebloom_format format;
  uint64_t nbytes; /* of the payload */
  uint32_t nlines; /* of rocksdb-legacy */
  struct guarded memory;
  int file;
  char path[32];
  uint64_t nset; /* bits */
};

enum { CONTAINER_HEADER_NBYTES = 64 };

/* A header that says it is whole; but the checksum of everything, which only loading verifies, is
 * 0. */
static void make_header(uint8_t header[CONTAINER_HEADER_NBYTES], lanebloom_format format,
                        uint64_t nbytes)
{
  memset(header, 0, CONTAINER_HEADER_NBYTES);
  memcpy(header, "\x89LBF\r\n\x1a\n", 8);
  store_le32(header + 8, 1);
  store_le32(header + 12, (uint32_t)format);
  store_le64(header + 16, LANEBLOOM_UNKNOWN);
  store_le64(header + 24, LANEBLOOM_UNKNOWN);
  store_le64(header + 32, nbytes);
  store_le32(header + 44, (uint32_t)XXH3_64bits(header, 44));
}

/* A file of holes behind a header that promises a payload of so many bytes. In memory, where holes
 * are not read ahead. */
static int make_container(char path[32], lanebloom_format format, uint64_t promised_nbytes,
                          uint64_t nbytes)
{
  uint8_t header[CONTAINER_HEADER_NBYTES];
  make_header(header, format, promised_nbytes);
  const int file = memfd_create("container", MFD_CLOEXEC);
  snprintf(path, 32, "/proc/self/fd/%d", file);
  cr_assert(file >= 0 && ftruncate(file, (off_t)(sizeof header + nbytes)) == 0 &&
                pwrite(file, header, sizeof header, 0) == sizeof header,
            "%s: %s", path, strerror(errno));
  return file;
}

static void put_byte(struct sparse *sparse, uint64_t at, uint8_t byte)
{
  sparse->memory.bytes[at] = byte;
  cr_assert(pwrite(sparse->file, &byte, 1, (off_t)(CONTAINER_HEADER_NBYTES + at)) == 1, "%s",
            strerror(errno));
}

static bool has_bit(const struct sparse *sparse, uint64_t position)
{
  return sparse->memory.bytes[position / 8] >> position % 8 & 1;
}

static void put_bit(struct sparse *sparse, uint64_t position)
{
  sparse->nset += !has_bit(sparse, position);
  put_byte(sparse, position / 8, sparse->memory.bytes[position / 8] | (uint8_t)(1 << position % 8));
}

/* Every format's filters have NPROBES probes. line_nbytes: of rocksdb-legacy. */
static struct sparse make_sparse(lanebloom_format format, uint64_t nbytes, uint64_t line_nbytes)
{
  struct sparse made = {.format = format, .nbytes = nbytes};
  uint8_t trailer[5] = {NPROBES};
  size_t ntrailer = 5;
  if (format == LANEBLOOM_ROCKSDB_LOCAL) {
    memcpy(trailer, "\xff\0\0\0", 5);
    trailer[2] = NPROBES;
  } else if (format == LANEBLOOM_ROCKSDB_LEGACY) {
    made.nlines = (uint32_t)(nbytes / line_nbytes);
    store_le32(trailer + 1, made.nlines);
  } else {
    ntrailer = 1;
  }
  made.memory = guarded_sparse(nbytes + ntrailer);
  made.file = make_container(made.path, format, nbytes + ntrailer, nbytes + ntrailer);
  for (size_t i = 0; i < ntrailer; i++)
    put_byte(&made, nbytes + i, trailer[i]);
  return made;
}

static uint64_t sparse_position(const struct sparse *sparse, const uint8_t *hash, unsigned i)
{
  uint32_t narrow;
  uint64_t wide;
  memcpy(&narrow, hash, sizeof narrow);
  if (sparse->format == LANEBLOOM_ROCKSDB_LEGACY)
    return model_legacy_position(narrow, i, sparse->nbytes, sparse->nlines);
  if (sparse->format != LANEBLOOM_ROCKSDB_LOCAL)
    return model_position(narrow, i, sparse->nbytes);
  memcpy(&wide, hash, sizeof wide);
  return model_local_position(wide, i, sparse->nbytes);
}

/* Keys, then hashes whose first probe is at the end of what probes can reach. */
enum { NNUMBERS = 280, NAIMED = 20, NHASHES = NNUMBERS + NAIMED };

struct questions {
  uint64_t numbers[NNUMBERS];
  uint8_t hashes[8 * NHASHES];
  size_t hash_nbytes;
  uint8_t expected[(NHASHES + 7) / 8];
  size_t count;
};

static void aim(const struct sparse *sparse, struct rng *rng, size_t i, uint8_t *hash)
{
  const uint64_t nbits = sparse->nbytes < TWO_TO_29 ? sparse->nbytes * 8 : (uint64_t)1 << 32;
  uint32_t low = (uint32_t)(nbits - 1 - i);
  if (sparse->format == LANEBLOOM_ROCKSDB_LOCAL)
    low = UINT32_MAX - (uint32_t)i;
  else if (sparse->format == LANEBLOOM_ROCKSDB_LEGACY) /* in the last line */
    low =
        sparse->nlines - 1 + (uint32_t)rng_below(rng, UINT32_MAX / sparse->nlines) * sparse->nlines;
  const uint64_t whole = rng_next(rng) << 32 | low;
  if (sparse->format == LANEBLOOM_ROCKSDB_LOCAL)
    memcpy(hash, &whole, sizeof whole);
  else
    memcpy(hash, &low, sizeof low);
}

static const uint8_t *hash_at(const struct questions *asked, size_t i)
{
  return asked->hashes + i * asked->hash_nbytes;
}

/* Every second one gets its bits; of these, some all but one. */
static struct questions make_questions(struct sparse *sparse)
{
  struct questions asked = {.hash_nbytes = lanebloom_format_hash_size(sparse->format)};
  struct rng rng = rng_start(sparse->nbytes);
  rng_fill(&rng, asked.numbers, sizeof asked.numbers);
  const lanebloom_keys batch = lanebloom_keys_fixed(asked.numbers, sizeof *asked.numbers, NNUMBERS);
  cr_assert(lanebloom_hash(sparse->format, &batch, asked.hashes) == LANEBLOOM_OK, "hash");
  for (size_t i = 0; i < NAIMED; i++)
    aim(sparse, &rng, i, asked.hashes + (NNUMBERS + i) * asked.hash_nbytes);

  for (size_t i = 0; i < NHASHES; i += 2) {
    const unsigned missing = i % 3 == 0 ? (unsigned)rng_below(&rng, NPROBES) : NPROBES;
    for (unsigned p = 0; p < NPROBES; p++)
      if (p != missing)
        put_bit(sparse, sparse_position(sparse, hash_at(&asked, i), p));
  }
  for (size_t i = 0; i < NHASHES; i++) {
    bool hit = true;
    for (unsigned p = 0; p < NPROBES; p++)
      hit &= has_bit(sparse, sparse_position(sparse, hash_at(&asked, i), p));
    asked.expected[i / 8] |= (uint8_t)(hit << i % 8);
    asked.count += hit;
  }
  cr_assert(asked.count > NHASHES / 4 && asked.count <= NHASHES / 2 + NAIMED,
            "%zu of %d pass: too uneven to tell much", asked.count, NHASHES);
  return asked;
}

/* By every kernel, and on every path through the library. */
static void check_answers(const struct sparse *sparse, const struct questions *asked,
                          const lanebloom_filter *filter)
{
  uint8_t bitmap[(NHASHES + 7) / 8];
  size_t size;
  lanebloom_filter_bytes(filter, &size);
  if (size != sparse->memory.nbytes)
    test_fatal("%zu bytes", size);
  const lanebloom_keys batch =
      lanebloom_keys_fixed(asked->numbers, sizeof *asked->numbers, NNUMBERS);
  for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
    cr_assert(lanebloom_kernel_use(lanebloom_kernel_name(k)) == LANEBLOOM_OK, "kernel %zu", k);
    if (lanebloom_filter_screen_hashes(filter, asked->hashes, NHASHES, bitmap) != asked->count)
      test_fatal("%s: not %zu", lanebloom_kernel_name(k), asked->count);
    test_same_bytes(lanebloom_kernel_name(k), bitmap, asked->expected, sizeof bitmap);
    lanebloom_filter_screen(filter, &batch, bitmap);
    test_same_bytes(lanebloom_kernel_name(k), bitmap, asked->expected, NNUMBERS / 8);
  }
  for (size_t i = 0; i < NHASHES; i++) {
    uint64_t positions[NPROBES];
    cr_assert(lanebloom_filter_positions(filter, hash_at(asked, i), positions) == NPROBES,
              "positions");
    for (unsigned p = 0; p < NPROBES; p++)
      if (positions[p] != sparse_position(sparse, hash_at(asked, i), p))
        test_fatal("hash %zu, probe %u: position %llu", i, p, (unsigned long long)positions[p]);
  }
}

/* nbits: that probes can address. */
static void check_opened(lanebloom_format format, uint64_t nbytes, uint64_t line_nbytes,
                         uint64_t nbits)
{
  test_context("%s, payload of %llu bytes", lanebloom_format_name(format),
               (unsigned long long)nbytes);
  struct sparse sparse = make_sparse(format, nbytes, line_nbytes);
  const struct questions asked = make_questions(&sparse);
  if (sparse.memory.nbytes == nbytes + 1 && nbytes > TWO_TO_29)
    put_byte(&sparse, nbytes - 1, 0xff); /* beyond 2^32 bits these do not count */
  guarded_freeze(&sparse.memory);

  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(format, sparse.memory.bytes, sparse.memory.nbytes,
                                       &filter) == LANEBLOOM_OK,
            "open");
  check_answers(&sparse, &asked, filter);
  if (filter->shape.nbits != nbits)
    test_fatal("%llu bits", (unsigned long long)filter->shape.nbits);
  if (nbytes == TWO_TO_29 + 1 || nbytes == TWO_TO_29 - 64) { /* more would take long to count */
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    if (info.nbits != nbits || info.nbits_set != sparse.nset)
      test_fatal("info: %llu bits, %llu set", (unsigned long long)info.nbits,
                 (unsigned long long)info.nbits_set);
  }
  lanebloom_filter_close(filter);
  cr_assert(lanebloom_filter_map(sparse.path, &filter, NULL, 0) == LANEBLOOM_OK, "map");
  check_answers(&sparse, &asked, filter);
  lanebloom_filter_close(filter);

  close(sparse.file);
  guarded_free(&sparse.memory);
}

static const uint64_t GIB = (uint64_t)1 << 30;

Test(huge, open_leveldb)
{
  const uint64_t most = 8 * TWO_TO_29;
  check_opened(LANEBLOOM_LEVELDB, TWO_TO_29 - 1, 0, most - 8);
  check_opened(LANEBLOOM_LEVELDB, TWO_TO_29, 0, most);
  check_opened(LANEBLOOM_LEVELDB, TWO_TO_29 + 1, 0, most);
  check_opened(LANEBLOOM_LEVELDB_SIGNED, 4 * GIB - 1, 0, most);
  check_opened(LANEBLOOM_LEVELDB, 4 * GIB, 0, most);
  check_opened(LANEBLOOM_LEVELDB, 4 * GIB + 100, 0, most); /* neither bytes nor bits fit 32 bits */
  check_opened(LANEBLOOM_LEVELDB, 5 * GIB, 0, most);
}

static void check_whole(lanebloom_format format, uint64_t nbytes, uint64_t line_nbytes)
{
  check_opened(format, nbytes, line_nbytes, 8 * nbytes);
}

Test(huge, open_rocksdb)
{
  check_whole(LANEBLOOM_ROCKSDB_LOCAL, TWO_TO_29 - 64, 0);
  check_whole(LANEBLOOM_ROCKSDB_LOCAL, TWO_TO_29, 0);
  check_whole(LANEBLOOM_ROCKSDB_LOCAL, TWO_TO_29 + 64, 0);
  check_opened(LANEBLOOM_ROCKSDB_LOCAL, 4 * GIB - 6, 0,
               8 * (4 * GIB - 64)); /* the largest; 58 bytes are no line */
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, TWO_TO_29 - 64, 64);
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, TWO_TO_29, 64);
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, TWO_TO_29 + 64, 64);
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, 4 * GIB - 64, 64);
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, 4 * GIB - 128, 128);
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, 3 * GIB,
              (uint64_t)1 << 27); /* lines as large as there are */
}

/* ---- Refusing ---- */

/* The file is found wanting however it is opened. part_of_why: what load() says. */
static void check_refused(lanebloom_format format, uint64_t promised_nbytes, uint64_t nbytes,
                          lanebloom_status expected, const char *part_of_why)
{
  test_context("%s, %llu of %llu bytes", lanebloom_format_name(format), (unsigned long long)nbytes,
               (unsigned long long)promised_nbytes);
  char path[32], why[200];
  lanebloom_filter *filter;
  const int file = make_container(path, format, promised_nbytes, nbytes);
  lanebloom_status status = lanebloom_filter_map(path, &filter, NULL, 0);
  if (status != expected || filter)
    test_fatal("map: %d", (int)status);
  if (part_of_why) {
    status = lanebloom_filter_load(path, &filter, why, sizeof why);
    if (status != expected || filter || !strstr(why, part_of_why))
      test_fatal("load: %d, %s", (int)status, why);
  }
  close(file);
}

/* Sizes that 32 bits make equal: 2^32 more than the header says, or less. Of what is too short all
 * that there is would be read before it is refused. */
Test(huge, wrong_length)
{
  check_refused(LANEBLOOM_LEVELDB, 1000, 4 * GIB + 1000, LANEBLOOM_ERR_CORRUPT,
                "too long: expected a payload of 1000");
  check_refused(LANEBLOOM_LEVELDB, 4 * GIB + 1000, 1000, LANEBLOOM_ERR_CORRUPT,
                "truncated: expected a payload of 4294968296 bytes after the header, found 1000");
  check_refused(LANEBLOOM_LEVELDB, 5 * GIB, GIB, LANEBLOOM_ERR_CORRUPT, NULL);
}

/* RocksDB would take such sizes modulo 2^32. */
Test(huge, rocksdb_limit)
{
  static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB, LANEBLOOM_ROCKSDB_LOCAL,
                                             LANEBLOOM_ROCKSDB_LEGACY};
  const uint64_t sizes[] = {4 * GIB, 4 * GIB + 1, 4 * GIB + 69, 5 * GIB};
  for (size_t f = 0; f < COUNT(formats); f++)
    for (size_t i = 0; i < COUNT(sizes); i++) {
      check_refused(formats[f], sizes[i], sizes[i], LANEBLOOM_ERR_LIMIT,
                    "expected at most the 4294967295 bytes that");
      struct guarded memory = guarded_sparse(sizes[i]);
      memcpy(memory.bytes + sizes[i] - 5,
             formats[f] == LANEBLOOM_ROCKSDB_LEGACY ? "\6\1\0\0" : "\xff\0\6\0", 5);
      lanebloom_filter *filter;
      if (lanebloom_filter_parse_raw(formats[f], memory.bytes, sizes[i], &filter) !=
              LANEBLOOM_ERR_LIMIT ||
          filter)
        test_fatal("open");
      guarded_free(&memory);

      char path[32];
      const int file = make_container(path, formats[f], 0, sizes[i]);
      if (lanebloom_filter_load_raw(formats[f], path, &filter, NULL, 0) != LANEBLOOM_ERR_LIMIT ||
          filter)
        test_fatal("load_raw");
      close(file);
    }
}

/* ---- Saving ---- */

/* Instead of write(2), for /dev/null would take whatever it is given. */
static bool counting;
static uint64_t nwritten;

ssize_t __real_write(int file, const void *bytes, size_t nbytes);
ssize_t __wrap_write(int file, const void *bytes, size_t nbytes);
ssize_t __wrap_write(int file, const void *bytes, size_t nbytes)
{
  if (!counting)
    return __real_write(file, bytes, nbytes);
  const size_t n = nbytes < 0x7ffff000 ? nbytes : 0x7ffff000; /* as Linux does */
  nwritten += n;
  return (ssize_t)n;
}

Test(huge, save)
{
  const uint64_t sizes[] = {4 * GIB - 1, 4 * GIB, 4 * GIB + 1, 5 * GIB, 7 * GIB};
  for (size_t i = 0; i < COUNT(sizes); i++) {
    struct guarded memory = guarded_sparse(sizes[i]);
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, memory.bytes, sizes[i], &filter) ==
                  LANEBLOOM_OK,
              "open");
    nwritten = 0;
    counting = true;
    const lanebloom_status status = lanebloom_filter_save_raw(filter, "/dev/null");
    counting = false;
    if (status || nwritten != sizes[i])
      test_fatal("status %d, %llu of %llu bytes", (int)status, (unsigned long long)nwritten,
                 (unsigned long long)sizes[i]);
    lanebloom_filter_close(filter);
    guarded_free(&memory);
  }
}

/* ---- Counts ---- */

static const uint64_t MANY = ((uint64_t)1 << 32) + 9;

/* What one builder was given, the other is given too, in turn: after 50 times both have been given
 * more than 2^32 keys, of which they hashed two. Equal neighbours are kept once. */
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
    cr_assert(lanebloom_builder_merge(builders[into], builders[!into]) == LANEBLOOM_OK, "merge");
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
    lanebloom_filter_close(filter);
    lanebloom_filter_close(loaded);
    lanebloom_builder_destroy(builders[i]);
  }
}

Test(huge, counts_of_builders)
{
  check_count(LANEBLOOM_LEVELDB, 100);
  check_count(LANEBLOOM_ROCKSDB_LOCAL, 100);
  check_count(LANEBLOOM_ROCKSDB_LOCAL, 0);
  check_count(LANEBLOOM_ROCKSDB_LEGACY, 0);
}

/* Merged with itself, a filter has twice the keys, until no number holds them. */
Test(huge, counts_of_merged_filters)
{
  const lanebloom_keys one = lanebloom_keys_slices(keys, 1);
  lanebloom_filter *filter, *merged;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &one, &filter) == LANEBLOOM_OK, "build");
  for (int i = 1; i < 70; i++) {
    const lanebloom_filter *twice[] = {filter, filter};
    lanebloom_filter_info info;
    cr_assert(lanebloom_filter_merge(twice, 2, &merged) == LANEBLOOM_OK, "merge %d", i);
    lanebloom_filter_describe(merged, &info, sizeof info);
    cr_assert(info.nkeys == (i < 64 ? (uint64_t)1 << i : LANEBLOOM_UNKNOWN), "2^%d keys: %llu", i,
              (unsigned long long)info.nkeys);
    lanebloom_filter_close(filter);
    filter = merged;
  }
  lanebloom_filter_close(filter);
}

/* A batch of so many keys takes no memory when they are empty, and no time where the answer is
 * constant. */
Test(huge, counts_of_answers)
{
  const lanebloom_keys many = lanebloom_keys_fixed(NULL, 0, MANY);
  const lanebloom_keys end = lanebloom_keys_part(&many, MANY - 3, MANY);
  lanebloom_filter *always, *never;
  cr_assert(end.n == 3, "%zu keys", end.n);
  cr_assert(lanebloom_keys_part(&many, 0, MANY).n == MANY &&
                lanebloom_keys_part(&many, MANY + 5, 1).n == 0,
            "parts");
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\0\xff", 2, &always) == LANEBLOOM_OK,
            "open");
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "", 0, &never) == LANEBLOOM_OK, "open");
  cr_assert(lanebloom_filter_screen(always, &many, NULL) == MANY, "always");
  cr_assert(lanebloom_filter_screen(never, &many, NULL) == 0, "never");
  cr_assert(lanebloom_filter_select(always, &many, NULL) == SIZE_MAX, "indices of 32 bits");
  lanebloom_filter_close(always);
  lanebloom_filter_close(never);
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
