/* A call takes no more stack than lanebloom.h states. This is a plain program, because only
 * optimised builds for x86-64 promise this limit.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_arrow.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "painted_stack.h"

enum { NKEYS = 30000 };

/* The data of the calls. The filter `near` fits the caches, and `far` does not. */
static struct {
  lanebloom_format format;
  lanebloom_filter *near, *far;
  char data[NKEYS * 16];
  lanebloom_slice slices[NKEYS];
  uint8_t hashes[NKEYS * LANEBLOOM_MAX_HASH_SIZE];
  uint8_t bitmap[NKEYS / 8 + 1], mask[NKEYS], valid[NKEYS / 8 + 1];
  uint32_t indices[NKEYS], found[NKEYS];
  struct { /* in Arrow's layout, with strings so short that the view holds them */
    int32_t size;
    char bytes[12];
  } views[NKEYS];
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
  lanebloom_builder_free(builder);
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

/* Screens a batch until it has been sorted, and then once more. */
static void *screen_batch(void *unused)
{
  enum { NCALLS = 40 };
  const lanebloom_keys keys = keys_of(0);
  lanebloom_hash_batch *batch;
  CHECK(lanebloom_hash(all.format, &keys, all.hashes) == LANEBLOOM_OK);
  CHECK(lanebloom_hash_batch_create(all.format, all.hashes, NKEYS, 0, &batch) == LANEBLOOM_OK);
  for (size_t call = 0; call < NCALLS; call++)
    CHECK(lanebloom_filter_screen_batch(all.near, batch, all.bitmap) == NKEYS);
  lanebloom_hash_batch_free(batch);
  return unused;
}

static void *build_all(void *unused)
{
  for (size_t layout = 0; layout < NLAYOUTS; layout++) {
    const lanebloom_keys keys = keys_of(layout);
    lanebloom_filter *filter;
    lanebloom_filter_free(build(0, &keys));
    lanebloom_filter_free(build(NKEYS, &keys));
    CHECK(lanebloom_filter_build(all.format, 10, &keys, &filter) == LANEBLOOM_OK);
    lanebloom_filter_free(filter);
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
      size_t size;
      CHECK(lanebloom_filter_build_raw(all.format, 10, batches[i], bytes, sizeof bytes, &size) ==
            LANEBLOOM_OK);
      CHECK(size > 0 && size <= sizeof bytes);
      lanebloom_filter_may_contain_raw(all.format, bytes, size, all.data, 16);
    }
  }
  return unused;
}

static void release_array(struct ArrowArray *array)
{
  array->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
  schema->release = NULL;
}

static void use_array(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
  const lanebloom_filter *const filters[] = {all.near, all.far};
  size_t count;
  for (size_t i = 0; i < 2; i++) {
    struct ArrowSchema booleans_schema;
    struct ArrowArray booleans;
    CHECK(lanebloom_filter_screen_arrow(filters[i], schema, array, all.bitmap, &count, NULL, 0) ==
          LANEBLOOM_OK);
    CHECK(lanebloom_filter_mask_arrow(filters[i], schema, array, all.mask, &count, NULL, 0) ==
          LANEBLOOM_OK);
    CHECK(lanebloom_filter_select_arrow(filters[i], schema, array, all.found, &count, NULL, 0) ==
          LANEBLOOM_OK);
    CHECK(lanebloom_filter_booleans_arrow(filters[i], schema, array, &booleans_schema, &booleans,
                                          NULL, 0) == LANEBLOOM_OK);
    booleans.release(&booleans);
    booleans_schema.release(&booleans_schema);
  }
  CHECK(lanebloom_hash_arrow(all.format, schema, array, all.hashes, NULL, 0) == LANEBLOOM_OK);
  for (uint64_t expected_keys = 0; expected_keys <= NKEYS; expected_keys += NKEYS) {
    lanebloom_builder *builder;
    CHECK(lanebloom_builder_create(all.format, 10, expected_keys, &builder) == LANEBLOOM_OK);
    CHECK(lanebloom_builder_add_arrow(builder, schema, array, NULL, 0) == LANEBLOOM_OK);
    lanebloom_builder_free(builder);
  }
}

/* Screens arrays whose values are used in place, gathered as numbers, as slices or from views,
 * with and without nulls. Also screens dictionaries of such values, smaller and larger than
 * the array. */
static void *use_arrays(void *unused)
{
  static const struct {
    const char *format;
    const void *values;
    int64_t n;
  } columns[] = {{"w:16", all.data, NKEYS},
                 {"w:40", all.data, sizeof all.data / 40},
                 {"vz", all.views, NKEYS}};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    for (size_t nulls = 0; nulls < 2; nulls++) {
      const void *buffers[] = {nulls ? all.valid : NULL, columns[i].values, NULL};
      const void *index_buffers[] = {NULL, all.indices};
      struct ArrowSchema schema = {.format = columns[i].format, .release = release_schema},
                         by = {.format = "I", .dictionary = &schema, .release = release_schema};
      struct ArrowArray array = {.length = columns[i].n,
                                 .null_count = -1,
                                 .n_buffers = 3,
                                 .buffers = buffers,
                                 .release = release_array},
                        rows = {.length = NKEYS,
                                .n_buffers = 2,
                                .buffers = index_buffers,
                                .dictionary = &array,
                                .release = release_array};
      use_array(&schema, &array);
      use_array(&by, &rows);
      rows.length = 5000;
      use_array(&by, &rows);
    }
  return unused;
}

static void check(const char *kernel, const char *what, void *(*run)(void *))
{
  char text[128];
  snprintf(text, sizeof text, "%s %s %s", kernel, lanebloom_format_name(all.format), what);
  check_stack(text, run);
}

int main(void)
{
  srand(1);
  for (size_t i = 0; i < sizeof all.data; i++)
    all.data[i] = (char)rand();
  for (size_t i = 0; i < NKEYS; i++) /* mostly short keys */
    all.slices[i] = (lanebloom_slice){all.data + i, (size_t)(rand() % (rand() % 50 ? 33 : 400))};
  for (size_t i = 0; i < NKEYS; i++) {
    all.indices[i] = (uint32_t)rand() % (sizeof all.data / 40);
    all.views[i].size = rand() % 13;
    memcpy(all.views[i].bytes, all.data + i, 12);
    all.valid[i / 8] = (uint8_t)rand();
  }

  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    all.format = lanebloom_format_at(i);
    lanebloom_format_info info;
    if (lanebloom_format_describe(all.format, &info, sizeof info) != LANEBLOOM_OK || !info.builds)
      continue;
    const lanebloom_keys keys = keys_of(0);
    all.near = build(0, &keys);
    all.far = build(FAR_NKEYS, &keys);
    for (size_t kernel = 0; kernel < lanebloom_kernel_count(); kernel++) {
      const char *name = lanebloom_kernel_at(kernel);
      CHECK(lanebloom_kernel_use(name) == LANEBLOOM_OK);
      check(name, "screening", screen_all);
      check(name, "hashing", hash_all);
      check(name, "batches of hashes", screen_batch);
      check(name, "building", build_all);
      check(name, "raw calls", use_raw);
      check(name, "Arrow arrays", use_arrays);
    }
    lanebloom_filter_free(all.near);
    lanebloom_filter_free(all.far);
  }
  return EXIT_SUCCESS;
}
