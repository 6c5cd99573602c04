/* A call takes no more stack than lanebloom.h says. Each runs in a thread whose stack was filled
 * with a pattern; what is left of the pattern was not used. A plain program: only optimised builds
 * for x86-64 promise it.
 * SPDX-License-Identifier: MIT */
#include <lanebloom.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  MAX_NBYTES = 80 << 10, /* as lanebloom.h says; the thread's own few KiB count as well */
  STACK_NBYTES = 1 << 20,
  NKEYS = 300000,
  PATTERN = 0xa5
};

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition))

static _Noreturn void fail(const char *condition)
{
  printf("not ok - expected %s\n", condition);
  exit(EXIT_FAILURE);
}

/* What the calls use. One filter fits the caches, the other one is far. */
static struct {
  lanebloom_format format;
  lanebloom_filter *near, *far;
  char data[NKEYS * 16];
  lanebloom_slice slices[NKEYS];
  uint64_t hashes[NKEYS];
  uint8_t bitmap[NKEYS / 8 + 1];
} all;

enum { NLAYOUTS = 4, FAR_NKEYS = 60000000 };

static lanebloom_keys keys_of(size_t layout)
{
  switch (layout) {
  case 0:
    return lanebloom_keys_fixed(all.data, 8, NKEYS);
  case 1:
    return lanebloom_keys_fixed(all.data, 16, NKEYS);
  case 2:
    return lanebloom_keys_strided(all.data, 12, 16, NKEYS);
  default:
    return lanebloom_keys_slices(all.slices, NKEYS);
  }
}

static lanebloom_filter *build(uint64_t expected_keys, const lanebloom_keys *keys)
{
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  CHECK(lanebloom_builder_create(all.format, 10, expected_keys, &builder) == LANEBLOOM_OK);
  CHECK(lanebloom_builder_add(builder, keys) == LANEBLOOM_OK);
  CHECK(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
  lanebloom_builder_destroy(builder);
  return filter;
}

static void *screen_all(void *unused)
{
  for (size_t layout = 0; layout < NLAYOUTS; layout++) {
    const lanebloom_keys keys = keys_of(layout), few = lanebloom_keys_part(&keys, 0, 20);
    lanebloom_filter_screen(all.near, &keys, all.bitmap);
    lanebloom_filter_screen(all.near, &few, all.bitmap);
    lanebloom_filter_screen(all.far, &keys, all.bitmap);
  }
  return unused;
}

static void *hash_all(void *unused)
{
  for (size_t layout = 0; layout < NLAYOUTS; layout++) {
    const lanebloom_keys keys = keys_of(layout);
    CHECK(lanebloom_hash(all.format, &keys, all.hashes) == LANEBLOOM_OK);
  }
  lanebloom_filter_screen_hashes(all.near, all.hashes, NKEYS, all.bitmap);
  lanebloom_filter_screen_hashes(all.far, all.hashes, NKEYS, all.bitmap);
  return unused;
}

static void *build_all(void *unused)
{
  for (size_t layout = 0; layout < NLAYOUTS; layout++) {
    const lanebloom_keys keys = keys_of(layout);
    lanebloom_filter *filter;
    lanebloom_filter_close(build(0, &keys));
    lanebloom_filter_close(build(NKEYS, &keys));
    CHECK(lanebloom_filter_build(all.format, 10, &keys, &filter) == LANEBLOOM_OK);
    lanebloom_filter_close(filter);
  }
  return unused;
}

static void *use_raw(void *unused)
{
  static char bytes[NKEYS * 4];
  for (size_t layout = 0; layout < NLAYOUTS; layout++) {
    const lanebloom_keys keys = keys_of(layout), few = lanebloom_keys_part(&keys, 0, 40);
    const lanebloom_keys *const batches[] = {&few, &keys};
    for (size_t i = 0; i < 2; i++) {
      size_t size = sizeof bytes;
      CHECK(lanebloom_filter_build_raw(all.format, 10, batches[i], bytes, &size) == LANEBLOOM_OK);
      CHECK(size > 0 && size <= sizeof bytes);
      lanebloom_filter_may_contain_raw(all.format, bytes, size, all.data, 16);
    }
  }
  return unused;
}

/* Returns how many bytes of stack a thread takes that runs this. */
static size_t stack_of(void *(*run)(void *))
{
  uint8_t *stack =
      mmap(NULL, STACK_NBYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stack != MAP_FAILED);
  memset(stack, PATTERN, STACK_NBYTES);
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstack(&attributes, stack, STACK_NBYTES) == 0);
  CHECK(pthread_create(&thread, &attributes, run, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  pthread_attr_destroy(&attributes);
  size_t nunused = 0;
  while (stack[nunused] == PATTERN)
    nunused++;
  munmap(stack, STACK_NBYTES);
  return STACK_NBYTES - nunused;
}

static void check(const char *kernel, const char *what, void *(*run)(void *))
{
  const size_t nbytes = stack_of(run);
  const bool fits = nbytes <= MAX_NBYTES;
  printf("%s - %s %s %s: %zu bytes of stack\n", fits ? "ok" : "not ok", kernel,
         lanebloom_format_name(all.format), what, nbytes);
  if (!fits)
    exit(EXIT_FAILURE);
}

int main(void)
{
  srand(1);
  for (size_t i = 0; i < sizeof all.data; i++)
    all.data[i] = (char)rand();
  for (size_t i = 0; i < NKEYS; i++) /* mostly short */
    all.slices[i] = (lanebloom_slice){all.data + i, (size_t)(rand() % (rand() % 50 ? 33 : 400))};

  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    all.format = lanebloom_format_at(i);
    lanebloom_format_info info;
    if (lanebloom_format_describe(all.format, &info, sizeof info) != LANEBLOOM_OK || !info.builds)
      continue;
    const lanebloom_keys keys = keys_of(0);
    all.near = build(0, &keys);
    all.far = build(FAR_NKEYS, &keys);
    for (size_t kernel = 0; kernel < lanebloom_kernel_count(); kernel++) {
      const char *name = lanebloom_kernel_name(kernel);
      CHECK(lanebloom_kernel_use(name) == LANEBLOOM_OK);
      check(name, "screening", screen_all);
      check(name, "hashing", hash_all);
      check(name, "building", build_all);
      check(name, "raw calls", use_raw);
    }
    lanebloom_filter_close(all.near);
    lanebloom_filter_close(all.far);
  }
  return EXIT_SUCCESS;
}
