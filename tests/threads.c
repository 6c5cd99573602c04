/* Threads: first use at once, one filter for all, kernels changing meanwhile. Plain, for the thread sanitizer's sake.
 * SPDX-License-Identifier: MIT */
#include <lanebloom.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NTHREADS = 8, NKEYS = 20000, NROUNDS = 50 };

static uint64_t key_bytes[NKEYS];
static const lanebloom_format formats[] = {LANEBLOOM_LEVELDB, LANEBLOOM_LEVELDB_SIGNED, LANEBLOOM_ROCKSDB_LEGACY,
                                           LANEBLOOM_ROCKSDB_LOCAL};
enum { NFORMATS = sizeof formats / sizeof *formats };
static lanebloom_filter *shared_filters[NFORMATS];
static size_t expected_hits[NFORMATS];
static pthread_barrier_t all_ready;
static atomic_int nfailures;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);                                                         \
      atomic_fetch_add(&nfailures, 1);                                                                                 \
    }                                                                                                                  \
  } while (0)

static lanebloom_keys keys(void)
{
  return lanebloom_keys_fixed(key_bytes, sizeof *key_bytes, NKEYS);
}

static void run_threads(void *(*body)(void *))
{
  pthread_t threads[NTHREADS];
  pthread_barrier_init(&all_ready, NULL, NTHREADS);
  for (size_t i = 0; i < NTHREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, body, (void *)i) == 0);
  for (size_t i = 0; i < NTHREADS; i++)
    pthread_join(threads[i], NULL);
}

/* Nothing of the library has run in this process before. */
static void *first_use(void *unused)
{
  (void)unused;
  const lanebloom_keys batch = keys();
  lanebloom_filter *filter;
  pthread_barrier_wait(&all_ready);
  CHECK(lanebloom_kernel_active() != NULL);
  CHECK(lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &batch, &filter) == LANEBLOOM_OK);
  CHECK(lanebloom_filter_screen(filter, &batch, NULL) == NKEYS);
  lanebloom_filter_close(filter);
  return NULL;
}

static void *first_use_refused(void *unused)
{
  (void)unused;
  lanebloom_filter *filter;
  pthread_barrier_wait(&all_ready);
  CHECK(lanebloom_kernel_active() == NULL);
  CHECK(lanebloom_filter_open(LANEBLOOM_LEVELDB, "\0\1", 2, &filter) == LANEBLOOM_ERR_KERNEL);
  return NULL;
}

static void *screen_or_change(void *argument)
{
  const size_t number = (size_t)argument;
  const lanebloom_keys batch = keys();
  pthread_barrier_wait(&all_ready);
  for (size_t round = 0; round < NROUNDS; round++)
    if (number == 0) {
      for (size_t i = 0; i < lanebloom_kernel_count(); i++)
        CHECK(lanebloom_kernel_use(lanebloom_kernel_name(i)) == LANEBLOOM_OK);
      CHECK(lanebloom_kernel_use("nonsense") == LANEBLOOM_ERR_KERNEL);
      CHECK(lanebloom_kernel_use(NULL) == LANEBLOOM_OK);
    } else if (number == 1) {
      lanebloom_filter *own;
      const lanebloom_keys part = lanebloom_keys_part(&batch, 0, 1000);
      CHECK(lanebloom_filter_build(formats[round % NFORMATS], 7, &part, &own) == LANEBLOOM_OK);
      CHECK(lanebloom_filter_screen(own, &part, NULL) == 1000);
      lanebloom_filter_close(own);
    } else {
      const size_t i = (number + round) % NFORMATS;
      CHECK(lanebloom_filter_screen(shared_filters[i], &batch, NULL) == expected_hits[i]);
    }
  return NULL;
}

/* Each part of one batch in a thread of its own gives the whole batch's bitmap. */
static uint8_t shared_bitmap[NKEYS / 8];
static lanebloom_filter *filter_of_parts;

static void *screen_part(void *argument)
{
  enum { NPART = NKEYS / NTHREADS / 8 * 8 };
  const size_t number = (size_t)argument, first = number * NPART;
  const lanebloom_keys batch = keys();
  const lanebloom_keys part = lanebloom_keys_part(&batch, first, number == NTHREADS - 1 ? SIZE_MAX : NPART);
  pthread_barrier_wait(&all_ready);
  lanebloom_filter_screen(filter_of_parts, &part, shared_bitmap + first / 8);
  return NULL;
}

static void open_shared_filters(void)
{
  const lanebloom_keys batch = keys();
  const lanebloom_keys half = lanebloom_keys_part(&batch, 0, NKEYS / 2);
  for (size_t i = 0; i < NFORMATS; i++) {
    CHECK(lanebloom_filter_build(formats[i], 10, &half, &shared_filters[i]) == LANEBLOOM_OK);
    expected_hits[i] = lanebloom_filter_screen(shared_filters[i], &batch, NULL);
    CHECK(expected_hits[i] >= NKEYS / 2);
  }
}

static void close_shared_filters(void)
{
  for (size_t i = 0; i < NFORMATS; i++)
    lanebloom_filter_close(shared_filters[i]);
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
  run_threads(screen_or_change);
  close_shared_filters();
}

static void test_parts_of_one_batch(void)
{
  const lanebloom_keys batch = keys();
  uint8_t expected[NKEYS / 8];
  open_shared_filters();
  for (size_t k = 0; k < lanebloom_kernel_count(); k++)
    for (size_t i = 0; i < NFORMATS; i++) {
      CHECK(lanebloom_kernel_use(lanebloom_kernel_name(k)) == LANEBLOOM_OK);
      filter_of_parts = shared_filters[i];
      lanebloom_filter_screen(filter_of_parts, &batch, expected);
      memset(shared_bitmap, 0, sizeof shared_bitmap);
      run_threads(screen_part);
      CHECK(memcmp(shared_bitmap, expected, sizeof expected) == 0);
    }
  close_shared_filters();
}

static bool passes(const char *name, void (*test)(void))
{
  fflush(stdout);
  pid_t child = fork(); /* first use can be had once in a process */
  if (child == 0) {
    test();
    exit(atomic_load(&nfailures) > 0);
  }
  int status = -1;
  const bool passed = waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
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
  printf("1..4\n");
  return !passed;
}
