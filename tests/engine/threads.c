/* Several threads at once: the first use of the library, one filter that all share, and kernels
 * that change meanwhile. This is a plain program, because the thread sanitizer must see it.
 * SPDX-License-Identifier: MIT */
#include <lanebloom.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { NTHREADS = 8, MAX_NTHREADS = 16, NKEYS = 20000, NROUNDS = 50 };

static uint64_t key_bytes[NKEYS];
static lanebloom_format formats[MAX_FORMATS]; /* formats that build */
static size_t nformats;
static lanebloom_filter *shared_filters[MAX_FORMATS];
static uint8_t shared_hashes[MAX_FORMATS][NKEYS * LANEBLOOM_MAX_HASH_SIZE];
static lanebloom_hash_batch *shared_batches[MAX_FORMATS];
static size_t expected_hits[MAX_FORMATS];
static uint8_t expected_bitmaps[MAX_FORMATS][NKEYS / 8];
static pthread_barrier_t all_ready;
static atomic_int nfailures;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);                                     \
      atomic_fetch_add(&nfailures, 1);                                                             \
    }                                                                                              \
  } while (0)

static lanebloom_keys keys(void)
{
  return lanebloom_keys_fixed(key_bytes, sizeof *key_bytes, NKEYS);
}

static void run_all(size_t nthreads, void *(*body)(void *))
{
  pthread_t threads[MAX_NTHREADS];
  pthread_barrier_init(&all_ready, NULL, (unsigned)nthreads);
  for (size_t i = 0; i < nthreads; i++)
    CHECK(pthread_create(&threads[i], NULL, body, (void *)i) == 0);
  for (size_t i = 0; i < nthreads; i++)
    pthread_join(threads[i], NULL);
}

static void run_threads(void *(*body)(void *))
{
  run_all(NTHREADS, body);
}

/* The first calls of the library in this process. */
static void *first_use(void *unused)
{
  (void)unused;
  const lanebloom_keys batch = keys();
  lanebloom_filter *filter;
  pthread_barrier_wait(&all_ready);
  CHECK(lanebloom_kernel_active() != NULL);
  CHECK(lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &batch, &filter) == LANEBLOOM_OK);
  CHECK(lanebloom_filter_screen(filter, &batch, NULL) == NKEYS);
  lanebloom_filter_free(filter);
  return NULL;
}

static void *first_use_refused(void *unused)
{
  (void)unused;
  lanebloom_filter *filter;
  pthread_barrier_wait(&all_ready);
  CHECK(lanebloom_kernel_active() == NULL);
  CHECK(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\0\1", 2, NULL, &filter, NULL, 0) ==
        LANEBLOOM_ERR_KERNEL);
  return NULL;
}

/* The first NTHREADS threads screen. Until they are done, the other threads change all that can be
 * changed. */
enum { KERNEL_CHANGER = NTHREADS, BUILDER, OPENER, NALL };
static atomic_size_t nscreening, nqueries;

static void screen_shared_filters(size_t number)
{
  const lanebloom_keys batch = keys();
  uint8_t bitmap[NKEYS / 8];
  for (size_t round = 0; round < NROUNDS; round++) {
    const size_t i = (number + round) % nformats;
    CHECK(lanebloom_filter_screen(shared_filters[i], &batch, bitmap) == expected_hits[i]);
    CHECK(memcmp(bitmap, expected_bitmaps[i], sizeof bitmap) == 0);
    memset(bitmap, 0xee, sizeof bitmap);
    CHECK(lanebloom_filter_screen_batch(shared_filters[i], shared_batches[i], bitmap) ==
          expected_hits[i]);
    CHECK(memcmp(bitmap, expected_bitmaps[i], sizeof bitmap) == 0);
    atomic_fetch_add(&nqueries, 2 * NKEYS);
  }
}

static void change_kernels(void)
{
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    CHECK(lanebloom_kernel_use(lanebloom_kernel_at(i)) == LANEBLOOM_OK);
  CHECK(lanebloom_kernel_use("nonsense") == LANEBLOOM_ERR_KERNEL);
  CHECK(lanebloom_kernel_use(NULL) == LANEBLOOM_OK);
}

static void build_one(size_t i)
{
  const lanebloom_keys batch = keys(), part = lanebloom_keys_part(&batch, 0, 1000);
  lanebloom_filter *own;
  CHECK(lanebloom_filter_build(formats[i], 7, &part, &own) == LANEBLOOM_OK);
  CHECK(lanebloom_filter_screen(own, &part, NULL) == 1000);
  lanebloom_filter_free(own);
}

/* Opens a second filter over the same bytes. */
static void open_one(size_t i)
{
  const lanebloom_keys batch = keys(), part = lanebloom_keys_part(&batch, 0, 1000);
  size_t nbytes;
  const void *bytes = lanebloom_filter_bytes(shared_filters[i], &nbytes);
  lanebloom_filter *other;
  CHECK(lanebloom_filter_parse_raw(formats[i], bytes, nbytes, NULL, &other, NULL, 0) ==
        LANEBLOOM_OK);
  CHECK(lanebloom_filter_screen(other, &part, NULL) == 1000);
  lanebloom_filter_free(other);
}

static void *screen_or_change(void *argument)
{
  const size_t number = (size_t)argument;
  pthread_barrier_wait(&all_ready);
  if (number < NTHREADS) {
    screen_shared_filters(number);
    atomic_fetch_sub(&nscreening, 1);
    return NULL;
  }
  for (size_t round = 0; round < NROUNDS || atomic_load(&nscreening) > 0; round++)
    if (number == KERNEL_CHANGER)
      change_kernels();
    else if (number == BUILDER)
      build_one(round % nformats);
    else
      open_one(round % nformats);
  return NULL;
}

/* Each thread screens a part of one batch. Together the parts give the bitmap of the
 * whole batch. */
static uint8_t shared_bitmap[NKEYS / 8];
static lanebloom_filter *filter_of_parts;

static void *screen_part(void *argument)
{
  enum { NPART = NKEYS / NTHREADS / 8 * 8 };
  const size_t number = (size_t)argument, first = number * NPART;
  const lanebloom_keys batch = keys();
  const lanebloom_keys part =
      lanebloom_keys_part(&batch, first, number == NTHREADS - 1 ? SIZE_MAX : NPART);
  pthread_barrier_wait(&all_ready);
  lanebloom_filter_screen(filter_of_parts, &part, shared_bitmap + first / 8);
  return NULL;
}

static void open_shared_filters(void)
{
  const lanebloom_keys batch = keys();
  const lanebloom_keys half = lanebloom_keys_part(&batch, 0, NKEYS / 2);
  nformats = test_formats_that_build(formats);
  for (size_t i = 0; i < nformats; i++) {
    CHECK(lanebloom_filter_build(formats[i], 10, &half, &shared_filters[i]) == LANEBLOOM_OK);
    expected_hits[i] = lanebloom_filter_screen(shared_filters[i], &batch, expected_bitmaps[i]);
    CHECK(expected_hits[i] >= NKEYS / 2);
    CHECK(lanebloom_hash(formats[i], &batch, shared_hashes[i]) == LANEBLOOM_OK);
    CHECK(lanebloom_hash_batch_create(formats[i], shared_hashes[i], NKEYS, 0, &shared_batches[i]) ==
          LANEBLOOM_OK);
  }
}

static void close_shared_filters(void)
{
  for (size_t i = 0; i < nformats; i++) {
    lanebloom_hash_batch_free(shared_batches[i]);
    lanebloom_filter_free(shared_filters[i]);
  }
}

static void test_first_use(void)
{
  run_threads(first_use);
}

static void test_first_use_refused(void)
{
  setenv("LANEBLOOM_KERNEL", "nonsense", 1);
  run_threads(first_use_refused);
}

static void test_screening_while_kernels_change(void)
{
  open_shared_filters();
  atomic_store(&nscreening, NTHREADS);
  run_all(NALL, screen_or_change);
  close_shared_filters();
  printf("# %zu answers of %d threads compared\n", atomic_load(&nqueries), NTHREADS);
}

static void test_parts_of_one_batch(void)
{
  const lanebloom_keys batch = keys();
  uint8_t expected[NKEYS / 8];
  open_shared_filters();
  for (size_t k = 0; k < lanebloom_kernel_count(); k++)
    for (size_t i = 0; i < nformats; i++) {
      CHECK(lanebloom_kernel_use(lanebloom_kernel_at(k)) == LANEBLOOM_OK);
      filter_of_parts = shared_filters[i];
      lanebloom_filter_screen(filter_of_parts, &batch, expected);
      memset(shared_bitmap, 0, sizeof shared_bitmap);
      run_threads(screen_part);
      CHECK(memcmp(shared_bitmap, expected, sizeof expected) == 0);
    }
  close_shared_filters();
}

/* Each thread takes a part of one builder. The parts, merged, make the same filter as the
 * builder. */
static lanebloom_builder *shared_builder, *made_parts[NTHREADS];

static void *make_part(void *argument)
{
  const size_t number = (size_t)argument;
  pthread_barrier_wait(&all_ready);
  CHECK(lanebloom_builder_part(shared_builder, number, NTHREADS, &made_parts[number]) ==
        LANEBLOOM_OK);
  return NULL;
}

static void test_parts_of_one_builder(void)
{
  const lanebloom_keys batch = keys();
  nformats = test_formats_that_build(formats);
  for (size_t f = 0; f < nformats; f++) {
    lanebloom_filter *expected, *found;
    CHECK(lanebloom_filter_build(formats[f], 10, &batch, &expected) == LANEBLOOM_OK);
    CHECK(lanebloom_builder_create(formats[f], 10, 0, &shared_builder) == LANEBLOOM_OK);
    CHECK(lanebloom_builder_add(shared_builder, &batch) == LANEBLOOM_OK);
    run_threads(make_part);
    for (size_t i = 1; i < NTHREADS; i++) {
      CHECK(lanebloom_builder_merge(made_parts[0], made_parts[i], NULL, 0) == LANEBLOOM_OK);
      lanebloom_builder_free(made_parts[i]);
    }
    CHECK(lanebloom_builder_finish(made_parts[0], &found) == LANEBLOOM_OK);
    size_t expected_size;
    const void *expected_bytes = lanebloom_filter_bytes(expected, &expected_size);
    CHECK(test_is_filter(found, expected_bytes, expected_size));
    lanebloom_filter_free(found);
    lanebloom_filter_free(expected);
    lanebloom_builder_free(made_parts[0]);
    lanebloom_builder_free(shared_builder);
  }
}

/* ---- Tables, if the second library is built ---- */

#ifdef LANEBLOOM_TEST_VECTORS
#include <lanebloom_tables.h>

static const char *const table_paths[] = {
    LANEBLOOM_TEST_VECTORS "/tables/leveldb_bloom10.ldb",
    LANEBLOOM_TEST_VECTORS "/tables/goleveldb_bloom10.ldb",
    LANEBLOOM_TEST_VECTORS "/tables/rocksdb_fv4_crc32c_legacy10_partitioned.sst",
    LANEBLOOM_TEST_VECTORS "/tables/rocksdb_fv4_xxh64_legacy10_prefix3.sst",
    LANEBLOOM_TEST_VECTORS "/tables/rocksdb_fv5_xxh3_flb10.sst",
    LANEBLOOM_TEST_VECTORS "/tables/rocksdb_fv5_xxh3_flb10_partitioned.sst",
    LANEBLOOM_TEST_VECTORS "/tables_odd/other_order.ldb",
    LANEBLOOM_TEST_VECTORS "/tables_odd/pebble_v5.sst",
};
enum { NPATHS = sizeof table_paths / sizeof *table_paths };
static const lanebloom_table *shared_tables[NPATHS];
static const char *shared_paths[NPATHS];
static size_t nshared;
static uint8_t expected_of_tables[NPATHS][NKEYS / 8];

static void screen_tables(uint8_t bitmaps[NPATHS][NKEYS / 8])
{
  const lanebloom_keys batch = keys();
  uint8_t *rows[NPATHS];
  for (size_t i = 0; i < nshared; i++)
    rows[i] = bitmaps[i];
  lanebloom_tables_screen(shared_tables, nshared, &batch, NULL, rows, NULL);
}

static void *screen_tables_or_change(void *argument)
{
  const size_t number = (size_t)argument;
  pthread_barrier_wait(&all_ready);
  if (number < NTHREADS) {
    uint8_t bitmaps[NPATHS][NKEYS / 8];
    for (size_t round = 0; round < NROUNDS / 5; round++) {
      screen_tables(bitmaps);
      for (size_t i = 0; i < nshared; i++)
        CHECK(memcmp(bitmaps[i], expected_of_tables[i], sizeof *bitmaps) == 0);
      atomic_fetch_add(&nqueries, nshared * NKEYS);
    }
    atomic_fetch_sub(&nscreening, 1);
    return NULL;
  }
  for (size_t round = 0; round < nshared || atomic_load(&nscreening) > 0; round++)
    if (number == KERNEL_CHANGER) {
      change_kernels();
    } else if (number == BUILDER) {
      lanebloom_table_info info;
      lanebloom_table_describe(shared_tables[round % nshared], &info, sizeof info);
      CHECK(info.file_nbytes > 0);
    } else {
      lanebloom_table *other;
      CHECK(lanebloom_table_open(shared_paths[round % nshared], LANEBLOOM_WRITER_UNKNOWN, &other,
                                 NULL, 0) == LANEBLOOM_OK);
      lanebloom_table_free(other);
    }
  return NULL;
}

static void test_tables_while_kernels_change(void)
{
  size_t nhits = 0;
  for (size_t i = 0; i < NPATHS; i++) {
    lanebloom_table *table;
    const lanebloom_status status =
        lanebloom_table_open(table_paths[i], LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0);
    CHECK(status == LANEBLOOM_OK ||
          status == LANEBLOOM_ERR_LIMIT); /* this build may lack the codec */
    if (!table)
      continue;
    shared_tables[nshared] = table;
    shared_paths[nshared++] = table_paths[i];
  }
  CHECK(nshared >= 3);
  screen_tables(expected_of_tables);
  for (size_t i = 0; i < nshared; i++)
    for (size_t byte = 0; byte < NKEYS / 8; byte++)
      nhits += (unsigned)__builtin_popcount(expected_of_tables[i][byte]);
  CHECK(nhits > 0 && nhits < nshared * NKEYS);
  atomic_store(&nscreening, NTHREADS);
  run_all(NALL, screen_tables_or_change);
  for (size_t i = 0; i < nshared; i++)
    lanebloom_table_free((lanebloom_table *)shared_tables[i]);
  printf("# %zu answers of %zu tables to %d threads compared, %zu hits in each round\n",
         atomic_load(&nqueries), nshared, NTHREADS, nhits);
}
#endif

static bool passes(const char *name, void (*test)(void))
{
  fflush(stdout);
  pid_t child = fork(); /* the first use happens once in a process */
  if (child == 0) {
    test();
    exit(atomic_load(&nfailures) > 0);
  }
  int status = -1;
  const bool passed =
      waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  printf("%sok - threads::%s\n", passed ? "" : "not ", name);
  return passed;
}

int main(void)
{
  for (uint64_t i = 0; i < NKEYS; i++)
    key_bytes[i] = i * 0x9e3779b97f4a7c15;
  bool passed = passes("first_use", test_first_use);
  passed &= passes("first_use_refused", test_first_use_refused);
  passed &= passes("screening_while_kernels_change", test_screening_while_kernels_change);
  passed &= passes("parts_of_one_batch", test_parts_of_one_batch);
  passed &= passes("parts_of_one_builder", test_parts_of_one_builder);
  int ntests = 5;
#ifdef LANEBLOOM_TEST_VECTORS
  passed &= passes("tables_while_kernels_change", test_tables_while_kernels_change);
  ntests++;
#endif
  printf("1..%d\n", ntests);
  return !passed;
}
