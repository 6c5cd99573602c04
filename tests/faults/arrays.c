/* Arrow arrays while memory fails, and calls with keys in every layout, which need no memory.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_arrow.h>
#include <string.h>

#include "faults.h"

static void release_no_schema(struct ArrowSchema *schema)
{
  (void)schema;
}

static void release_no_array(struct ArrowArray *array)
{
  (void)array;
}

static struct {
  const void *buffers[2], *index_buffers[2];
  struct ArrowSchema schema, by;
  struct ArrowArray keys, rows; /* rows: indices that name each key twice, out of order */
  uint16_t indices[2 * NFEW];
  uint8_t valid[(NFEW + 7) / 8];
} arrow;

static void make_arrays(void)
{
  for (size_t i = 0; i < COUNT(arrow.indices); i++)
    arrow.indices[i] = (uint16_t)(i * 7 % NFEW);
  memset(arrow.valid, 0xff, sizeof arrow.valid);
  arrow.buffers[0] = arrow.valid;
  arrow.buffers[1] = key_bytes.bytes;
  arrow.index_buffers[1] = arrow.indices;
  arrow.schema =
      (struct ArrowSchema){.format = "w:8", .name = "keys", .release = release_no_schema};
  arrow.by = (struct ArrowSchema){
      .format = "S", .name = "rows", .dictionary = &arrow.schema, .release = release_no_schema};
  arrow.keys = (struct ArrowArray){.length = NFEW,
                                   .null_count = -1,
                                   .n_buffers = 2,
                                   .buffers = arrow.buffers,
                                   .release = release_no_array};
  arrow.rows = (struct ArrowArray){.length = COUNT(arrow.indices),
                                   .n_buffers = 2,
                                   .buffers = arrow.index_buffers,
                                   .dictionary = &arrow.keys,
                                   .release = release_no_array};
}

static lanebloom_status make_booleans(struct ArrowSchema *schema, struct ArrowArray *booleans)
{
  const lanebloom_status status =
      lanebloom_filter_booleans_arrow(expected, &arrow.by, &arrow.rows, schema, booleans, NULL, 0);
  if (status && (schema->release || booleans->release))
    test_fatal("an error, and booleans that are not released");
  return status;
}

static lanebloom_status screen_arrays(void)
{
  static uint8_t bitmap[COUNT(arrow.indices) / 8], unwritten[sizeof bitmap];
  struct ArrowSchema schema;
  struct ArrowArray booleans;
  size_t count = 1;
  lanebloom_status status;
  char problem[100] = "";
  memset(bitmap, 0, sizeof bitmap);
  INSIST(status, lanebloom_filter_screen_arrow(expected, &arrow.by, &arrow.rows, bitmap, &count,
                                               problem, sizeof problem));
  if (status && (count != 1 || memcmp(bitmap, unwritten, sizeof bitmap) != 0 ||
                 strncmp(problem, "out of memory: ", 15) != 0))
    test_fatal("an error, and an answer");
  if (!status && count != COUNT(arrow.indices))
    test_fatal("a key is lost");
  if (!status)
    INSIST(status, make_booleans(&schema, &booleans));
  if (!status) {
    test_same_bytes("booleans", booleans.buffers[1], bitmap, sizeof bitmap);
    booleans.release(&booleans);
    schema.release(&schema);
  }
  return status;
}

static uint64_t expected_keys; /* 0: the builder stores hashes */

/* Each value of a dictionary is added once. */
static lanebloom_status add_arrays(void)
{
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t i = 0; !status && i < 2; i++) {
    lanebloom_builder *builder;
    INSIST_ON(builder, status, lanebloom_builder_create(format, 10, expected_keys, &builder));
    if (!status)
      INSIST(status, lanebloom_builder_add_arrow(builder, i ? &arrow.by : &arrow.schema,
                                                 i ? &arrow.rows : &arrow.keys, NULL, 0));
    if (!status)
      status = finish_expected(builder, NFEW);
    lanebloom_builder_free(builder);
  }
  return status;
}

Test(faults, memory_of_arrays)
{
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t i = 0; i < nformats; i++) {
    make_filters(formats[i], NFEW, NFEW);
    make_arrays();
    survive(&(struct scenario){.name = "arrays, screened", .run = screen_arrays});
    for (expected_keys = 0; expected_keys <= NFEW; expected_keys += NFEW)
      survive(&(struct scenario){.name = "arrays, added", .run = add_arrays});
    free_filters();
  }
  report(50);
}

/* ---- Calls that need no memory ---- */

/* Makes calls with keys in every layout. An allocation would fail, but there is none. */
static lanebloom_status screen_in_every_layout(void)
{
  static uint32_t offsets32[NFEW + 1], indices[NFEW];
  static uint64_t offsets64[NFEW + 1], positions[64];
  static uint8_t hashes[NFEW * LANEBLOOM_MAX_HASH_SIZE];
  static lanebloom_slice slices[NFEW];
  static uint8_t bitmap[(NFEW + 7) / 8];
  for (size_t i = 0; i <= NFEW; i++)
    offsets64[i] = offsets32[i] = (uint32_t)(i * WIDTH);
  for (size_t i = 0; i < NFEW; i++)
    slices[i] = (lanebloom_slice){key_bytes.bytes + i * WIDTH, WIDTH};
  const lanebloom_keys layouts[] = {
      keys_from(0, NFEW),
      lanebloom_keys_offsets32(key_bytes.bytes, offsets32, NFEW),
      lanebloom_keys_offsets64(key_bytes.bytes, offsets64, NFEW),
      lanebloom_keys_slices(slices, NFEW),
  };
  size_t nfound = NFEW, count = 0;
  make_arrays();
  for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
    lanebloom_status status = lanebloom_kernel_use(lanebloom_kernel_at(k));
    for (size_t i = 0; !status && i < COUNT(layouts); i++) {
      status = lanebloom_hash(format, &layouts[i], hashes);
      if (lanebloom_filter_screen(expected, &layouts[i], bitmap) != NFEW ||
          lanebloom_filter_select(expected, &layouts[i], indices) != NFEW ||
          lanebloom_filter_screen_hashes(expected, hashes, NFEW, NULL) != NFEW ||
          lanebloom_filter_positions(expected, hashes, positions) == 0)
        nfound = 0;
    }
    if (!status)
      status = lanebloom_hash_arrow(format, &arrow.schema, &arrow.keys, hashes, NULL, 0);
    if (!status)
      status = lanebloom_arrow_slices(&arrow.schema, &arrow.keys, slices, NULL, NULL, 0);
    if (!status)
      status = lanebloom_filter_screen_arrow(expected, &arrow.schema, &arrow.keys, bitmap, &count,
                                             NULL, 0);
    if (status)
      return status;
    if (count != NFEW)
      nfound = 0;
  }
  lanebloom_filter_info info;
  lanebloom_filter_describe(expected, &info, sizeof info);
  if (nfound != NFEW || info.nkeys != NFEW ||
      !lanebloom_filter_may_contain(expected, key_bytes.bytes, WIDTH))
    test_fatal("a key is lost");
  return LANEBLOOM_OK;
}

Test(faults, screening_needs_no_memory)
{
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t i = 0; i < nformats; i++) {
    make_filters(formats[i], NFEW, NFEW);
    const struct scenario scenario = {.name = "every layout", .run = screen_in_every_layout};
    survive(&scenario);
    for (enum function function = 0; function < NFUNCTIONS; function++)
      cr_assert(fault.ncalls[function] == 0, "%s is called", function_names[function]);
    free_filters();
  }
}
