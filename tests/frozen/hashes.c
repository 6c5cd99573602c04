/* Hashes must equal those of the real engines.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "frozen.h"

static void check_hashes(const char *kernel, const char *name, lanebloom_format format)
{
  enum { EXPECTED_NROWS = 466 };
  struct rows rows = rows_open(name);
  lanebloom_slice slices[EXPECTED_NROWS];
  uint32_t expected[EXPECTED_NROWS], hashes[EXPECTED_NROWS];
  uint8_t bytes[EXPECTED_NROWS][300];
  size_t n = 0, nother = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3);) {
    if (strcmp(columns[0], "bc9f1d34") != 0) {
      nother++; /* filters hash with another seed */
      continue;
    }
    cr_assert(n < EXPECTED_NROWS, "more than %d rows", EXPECTED_NROWS);
    slices[n] = (lanebloom_slice){bytes[n], hex_decode(columns[1], bytes[n], sizeof bytes[n])};
    expected[n] = (uint32_t)strtoul(columns[2], NULL, 16);
    n++;
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS,
            "%s: used %zu rows of %d; %zu others have seeds that no filter uses", name, n,
            EXPECTED_NROWS, nother);

  lanebloom_keys keys = lanebloom_keys_slices(slices, n);
  cr_assert(lanebloom_hash(format, &keys, hashes) == LANEBLOOM_OK, "%s: hash", kernel);
  for (size_t i = 0; i < n; i++)
    cr_assert(hashes[i] == expected[i],
              "%s, %s: key %zu of %zu bytes hashes to %08x, expected %08x", kernel, name, i,
              slices[i].size, hashes[i], expected[i]);
}

/* Computes the bytes of a key for which the files have `gen`. */
static void fill_generated(uint8_t *key, size_t size)
{
  for (size_t i = 0; i < size; i++)
    key[i] = (uint8_t)(i * 167 + size * 13 + (i >> 8) * 31 + 59);
}

static void check_xxph3_file(const char *kernel)
{
  enum { EXPECTED_NROWS = 477, EXPECTED_NGENERATED = 25, MAX_SIZE = 1 << 20 };
  struct rows rows = rows_open("rocksdb_xxph3.txt");
  uint8_t *key = test_alloc(MAX_SIZE);
  size_t n = 0, ngenerated = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3); n++) {
    const size_t size = strtoul(columns[0], NULL, 10);
    if (size > MAX_SIZE)
      test_fatal("a key of %zu bytes", size);
    if (strcmp(columns[1], "gen") == 0) {
      fill_generated(key, size);
      ngenerated++;
    } else if (hex_decode(columns[1], key, MAX_SIZE) != size) {
      test_fatal("the key is not of %zu bytes", size);
    }
    const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
    uint64_t hash = 0;
    cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, &keys, &hash) == LANEBLOOM_OK, "%s: hash",
              kernel);
    if (hash != strtoull(columns[2], NULL, 16))
      test_fatal("a key of %zu bytes hashes to %016llx, expected %s", size,
                 (unsigned long long)hash, columns[2]);
  }
  rows_close(&rows);
  free(key);
  cr_assert(n == EXPECTED_NROWS && ngenerated == EXPECTED_NGENERATED,
            "rocksdb_xxph3.txt: used %zu rows, %zu generated", n, ngenerated);
}

static void check_hash_files(const char *kernel)
{
  check_hashes(kernel, "leveldb_hash32.txt", LANEBLOOM_LEVELDB);
  check_hashes(kernel, "rocksdb_hash32.txt", LANEBLOOM_LEVELDB_SIGNED);
  check_hashes(kernel, "rocksdb_hash32.txt", LANEBLOOM_ROCKSDB_LEGACY);
  check_xxph3_file(kernel);
}

Test(vectors, hash_files)
{
  for_each_kernel(check_hash_files);
}

/* leveldb::Hash, rocksdb::Hash and rocksdb::Hash64 of the bytes `hex`, repeated `times` times. The
 * first two differ if one of the last (size mod 4) bytes is 0x80 or more. */
static const struct {
  const char *hex;
  size_t times;
  uint32_t leveldb, rocksdb;
  uint64_t xxph3;
} hash_rows[] = {
    {"-", 1, 0xbc9f1d34, 0xbc9f1d34, 0x5342c3010fe1dd04},
    {"61", 1, 0x286e9db0, 0x286e9db0, 0x88d868bf607681c7},
    {"62", 1, 0xef1345c4, 0xef1345c4,
     0x0199d38c4971ad1d}, /* this row, c397, e299a5 and e180b932 are from LevelDB's hash_test.cc */
    {"7f", 1, 0x6fba40bd, 0x6fba40bd, 0x82f15ac56cf61e8e},
    {"80", 1, 0x365ee853, 0x91b755f4, 0xe5835ef65b4ab985},
    {"ff", 1, 0xc20e0a90, 0x1d66774f, 0x9b5cd4aa7bd8ec28},
    {"6162", 1, 0x39aca330, 0x39aca330, 0x885ddfe7af6310e5},
    {"8061", 1, 0xa2f55a74, 0xfe4dc728, 0x5d829eab453e85d6},
    {"6180", 1, 0x854fdd8c, 0xddbcddd4, 0x0231bfff77ab5193},
    {"ffff", 1, 0xce11360d, 0x81d6a342, 0x34cc3157a0ec1dc0},
    {"616263", 1, 0x855d012f, 0x855d012f, 0xd39eeb71bb5342e8},
    {"806263", 1, 0x934d4ce4, 0xeea5b999, 0xf43c2d7f6916a786},
    {"618063", 1, 0xd1003b7b, 0x296d3b83, 0x21d4bc2e06cc49b9},
    {"616280", 1, 0x8104012b, 0xee040144, 0x9639629c6cfe7e69},
    {"ffffff", 1, 0x37559553, 0x581b023c, 0xf862f39f9e1f1056},
    {"61626364", 1, 0xb9c83353, 0xb9c83353, 0x97a5ba1d02e8378c},
    {"80818283", 1, 0xcfd06db8, 0xcfd06db8, 0xcbb3704d48380f87},
    {"6162636465", 1, 0x41d2c26d, 0x41d2c26d, 0x203a3ebc4ec540b6},
    {"6162636480", 1, 0x35306e98, 0x9088db3d, 0x15b94abcbdd24307},
    {"61626364ff", 1, 0xc0df905a, 0x1c37fd86, 0x39b9662b6fe65965},
    {"616263646566", 1, 0x919eb3e1, 0x919eb3e1, 0xb730894297b833e7},
    {"6162636465ff", 1, 0xf9c58e89, 0x52328e22, 0x0a28186692838d7d},
    {"61626364656667", 1, 0x8e0b1532, 0x8e0b1532, 0x225fd8b927ff3669},
    {"616263646566ff", 1, 0x0d5315b1, 0x7a5315c6, 0xf4ba624647cb9029},
    {"6162636465666768", 1, 0xb2ce35dd, 0xb2ce35dd, 0x591716e1ea463467},
    {"68656c6c6f", 1, 0xf795964e, 0xf795964e, 0xa0bbc238c97657b5},
    {"00", 1, 0xe40b1e01, 0xe40b1e01, 0x7198d737cfe7f386},
    {"00", 3, 0x6afa3c9d, 0x6afa3c9d, 0x347018d79458e921},
    {"00", 4, 0x3365f68d, 0x3365f68d, 0x6872e1d07866ff3d},
    {"ff", 5, 0x7f83495b, 0xdadbb6fe, 0x452cce3d457063c1},
    {"78", 16, 0x18cfd6ed, 0x18cfd6ed, 0xdde4f7a8acacaa3a},
    {"9c", 17, 0xa2b12095, 0xfe098dc9, 0xce75142c9488575a},
    {"e2", 31, 0xcbf7f65f, 0xecbd6378, 0x741b793b48a2d77f},
    {"ab", 255, 0x827bd018, 0xa3413d39, 0xe89287f0dff05096},
};

static void check_hash_rows(const char *kernel)
{
  for (size_t i = 0; i < COUNT(hash_rows); i++) {
    uint8_t bytes[300];
    size_t size = 0;
    for (size_t time = 0; time < hash_rows[i].times; time++)
      size += hex_decode(hash_rows[i].hex, bytes + size, sizeof bytes - size);
    const lanebloom_keys key = lanebloom_keys_fixed(bytes, size, 1);
    uint32_t leveldb = 0, rocksdb = 0, legacy = 0;
    uint64_t xxph3 = 0;
    cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &key, &leveldb) == LANEBLOOM_OK);
    cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB_SIGNED, &key, &rocksdb) == LANEBLOOM_OK);
    cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LEGACY, &key, &legacy) == LANEBLOOM_OK);
    cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, &key, &xxph3) == LANEBLOOM_OK);
    cr_assert(leveldb == hash_rows[i].leveldb, "%s: %s hashes to %08x", kernel, hash_rows[i].hex,
              leveldb);
    cr_assert(rocksdb == hash_rows[i].rocksdb, "%s: %s, signed, hashes to %08x", kernel,
              hash_rows[i].hex, rocksdb);
    cr_assert(legacy == hash_rows[i].rocksdb, "%s: %s, legacy, hashes to %08x", kernel,
              hash_rows[i].hex, legacy);
    cr_assert(xxph3 == hash_rows[i].xxph3, "%s: %s, XXPH3, hashes to %016llx", kernel,
              hash_rows[i].hex, (unsigned long long)xxph3);
  }
}

Test(vectors, hash_table)
{
  for_each_kernel(check_hash_rows);
}

/* rocksdb::Hash64 of keys that are computed, with lengths around those at which XXPH3 changes its
 * algorithm. */
static const struct {
  size_t size;
  uint64_t hash;
} length_rows[] = {
    {0, 0x5342c3010fe1dd04},    {1, 0x87de1f32edd57c4a},    {2, 0xebeccc2ad7277f64},
    {3, 0x15311ed1360537b0},    {4, 0xf7b182f65693bd9f},    {5, 0x58ce55804a508cfa},
    {7, 0xeeff17a34ef47312},    {8, 0x33be4d5f714b789a},    {9, 0xbeecac9a92f56f3e},
    {12, 0x7d07d885daf8d956},   {15, 0xb2147d89000aa191},   {16, 0xb9ad67b078252a7d},
    {17, 0x2c898b118897fb1a},   {31, 0x3e8b5498371159c4},   {32, 0x8360d5c0bdcd54eb},
    {33, 0x4112acbd08a1f2c5},   {63, 0x2d1a5927bd66d096},   {64, 0xc65c8183936a80f4},
    {65, 0x312ae1d32d69e18e},   {95, 0x0c448151cc59875e},   {96, 0xc85ef4afaf466ca6},
    {97, 0x09a1ec7995839f66},   {127, 0xaf08123d4cb7aa6c},  {128, 0x1414efffeeda9b15},
    {129, 0x5e0e9eebe4681147},  {143, 0xa395d547286a98d6},  {144, 0x1de0429a13aa5223},
    {159, 0x6b35fb344df81c93},  {160, 0xdbf53d12fbc3be9c},  {239, 0x5b557c1f08485bb4},
    {240, 0x28b7a8b59f1d4ac5},  {241, 0x836accb91f81fa83},  {255, 0x2c0ac8e11a9eedae},
    {256, 0x326a4f3fa98c3f8d},  {257, 0xefc30598b737ff80},  {300, 0x9a81222f6c775d31},
    {320, 0x963b7e993f746d28},  {512, 0xfb845a47f1b6fc87},  {1023, 0xf3de82e75bc8bcac},
    {1024, 0x2c4771a520b2597d}, {1025, 0x7e6fd5af2df8ce8c}, {1088, 0xc94f9b444967d467},
    {2048, 0x91fd97137914b26e}, {2049, 0x9046be51ace8158f}, {4096, 0x4b719dbf47fbf2ae},
};

static void check_length_rows(const char *kernel)
{
  uint8_t key[4096];
  for (size_t i = 0; i < COUNT(length_rows); i++) {
    const size_t size = length_rows[i].size;
    fill_generated(key, size);
    const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
    uint64_t hash = 0;
    cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, &keys, &hash) == LANEBLOOM_OK, "%s: hash",
              kernel);
    cr_assert(hash == length_rows[i].hash, "%s: a key of %zu bytes hashes to %016llx", kernel, size,
              (unsigned long long)hash);
  }
}

Test(vectors, xxph3_by_length)
{
  for_each_kernel(check_length_rows);
}

/* Spark's first hash is the low half. The second hash, whose seed is the first hash, is the high
 * half. */
static void check_spark_file(const char *kernel, const char *name, lanebloom_format format)
{
  enum { EXPECTED_NROWS = 170, MAX_SIZE = 300 };
  struct rows rows = rows_open(name);
  size_t n = 0;
  for (char *columns[3]; rows_next(&rows, kernel, columns, 3); n++) {
    uint8_t key[MAX_SIZE];
    const size_t size = hex_decode(columns[0], key, sizeof key);
    const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
    const uint64_t expected = strtoull(columns[1], NULL, 16) | strtoull(columns[2], NULL, 16) << 32;
    uint64_t hash = 0;
    cr_assert(lanebloom_hash(format, &keys, &hash) == LANEBLOOM_OK, "%s: hash", kernel);
    if (hash != expected)
      test_fatal("a key of %zu bytes hashes to %016llx, expected %016llx", size,
                 (unsigned long long)hash, (unsigned long long)expected);
  }
  rows_close(&rows);
  cr_assert(n == EXPECTED_NROWS, "%s: used %zu rows of %d", name, n, EXPECTED_NROWS);
}

static void check_spark_files(const char *kernel)
{
  check_spark_file(kernel, "spark/v1_hashes.txt", LANEBLOOM_SPARK_V1);
  check_spark_file(kernel, "spark/v2_hashes.txt", LANEBLOOM_SPARK_V2);
}

Test(vectors, spark_hashes)
{
  for_each_kernel(check_spark_files);
}
