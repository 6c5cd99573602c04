/* The work is linear in the file's size, whatever the file contains: for a file of twice the size,
 * at most 2.5 times as many bytes are read or described.
 * SPDX-License-Identifier: MIT */
#include "../src/input.h"
#include "writer.h"

enum { NKEYS = 1000 /* so many that whole filters are read */ };

/* ---- Counted bytes ---- */

static uint64_t nbytes_read;

lanebloom_status __real_lanebloom_input_read(const struct input *input, uint64_t offset, void *to,
                                             size_t nbytes, const struct problem *problem);
lanebloom_status __wrap_lanebloom_input_read(const struct input *input, uint64_t offset, void *to,
                                             size_t nbytes, const struct problem *problem);

lanebloom_status __wrap_lanebloom_input_read(const struct input *input, uint64_t offset, void *to,
                                             size_t nbytes, const struct problem *problem)
{
  nbytes_read += nbytes;
  return __real_lanebloom_input_read(input, offset, to, nbytes, problem);
}

/* ---- Filters of many row groups ---- */

struct work {
  uint64_t nbytes;
  size_t nrefused; /* number of filters that are refused */
};

/* Screens keys in all row groups, and loads the filters. No bit of a filter is set, so keys may be
 * in a row group only if its filter is refused. */
static struct work screen_all(const struct file_plan *plan)
{
  static const int32_t numbers[NKEYS];
  const lanebloom_keys batch = lanebloom_keys_fixed(numbers, 4, NKEYS);
  struct work work = {0};
  size_t nbytes;
  uint8_t *bytes = make_file(plan, &nbytes);
  nbytes_read = 0;
  lanebloom_parquet *file = open_as_file(bytes, nbytes);
  free(bytes);
  lanebloom_parquet_keys *keys;
  cr_assert(!lanebloom_parquet_keys_create(file, 0, LANEBLOOM_INT32, &batch, &keys, NULL, NULL, 0));
  for (size_t i = 0; i < plan->nrow_groups; i++) {
    size_t nmaybe;
    lanebloom_filter *filter;
    const lanebloom_status status =
        lanebloom_parquet_screen(file, i, 0, keys, NULL, &nmaybe, NULL, 0);
    cr_assert(status == LANEBLOOM_OK || status == LANEBLOOM_ERR_CORRUPT);
    cr_assert(nmaybe == (status ? NKEYS : 0));
    cr_assert(lanebloom_parquet_load_filter(file, i, 0, &filter, NULL, 0) == status);
    lanebloom_filter_free(filter);
    work.nrefused += status != LANEBLOOM_OK;
  }
  lanebloom_parquet_keys_free(keys);
  lanebloom_parquet_free(file);
  work.nbytes = nbytes_read;
  return work;
}

/* A file has NROW_GROUPS filters of FILTER_NBYTES, or `times` as many filters, each `times` as
 * large. */
enum { NROW_GROUPS = 32, FILTER_NBYTES = 16384, MAX_TIMES = 2 };

/* stride: the bytes from each filter's header to the next header; 0: all row groups share one
 * filter. */
static struct work screen_overlapping(size_t times, size_t stride, bool has_lengths)
{
  static const uint8_t zeros[FILTER_NBYTES * MAX_TIMES];
  const size_t nbytes = FILTER_NBYTES * times, nrow_groups = NROW_GROUPS * times;
  struct file_plan plan = plain_plan();
  struct writer writer = {0};
  for (size_t i = 0; i < (stride > 0 ? nrow_groups : 1); i++) {
    write_bytes(&writer, zeros, i * stride - writer.n);
    write_filter_header(&writer, (struct filter_header){(int32_t)nbytes, 1, 1, 1});
    if (i == 0 && has_lengths)
      plan.length_in_footer = (int64_t)(writer.n + nbytes);
  }
  write_bytes(&writer, zeros, nbytes);
  plan.filter = writer.bytes;
  plan.filter_nbytes = writer.n;
  plan.nrow_groups = nrow_groups;
  plan.filter_stride = (int64_t)stride;
  const struct work work = screen_all(&plan);
  free(writer.bytes);
  return work;
}

Test(parquet, work_of_filters_that_overlap)
{
  static const size_t strides[] = {0, 32, FILTER_NBYTES / 2};
  for (size_t i = 0; i < 2 * COUNT(strides); i++) {
    const size_t stride = strides[i / 2];
    const bool has_lengths = i % 2;
    const struct work once = screen_overlapping(1, stride, has_lengths),
                      twice = screen_overlapping(2, stride, has_lengths);
    const size_t naccepted = stride > 0; /* only the last filter */
    test_context("stride %zu, %s lengths", stride, has_lengths ? "with" : "without");
    cr_assert(2 * twice.nbytes <= 5 * once.nbytes, "%llu bytes are read, then %llu",
              (unsigned long long)once.nbytes, (unsigned long long)twice.nbytes);
    cr_assert(once.nrefused == NROW_GROUPS - naccepted);
    cr_assert(twice.nrefused == 2 * NROW_GROUPS - naccepted);
  }
}

/* The filters are adjacent. The first one belongs to the last row group, and the last one to the
 * first. */
Test(parquet, filters_in_any_order)
{
  static const uint8_t zeros[FILTER_NBYTES];
  for (int has_lengths = 0; has_lengths < 2; has_lengths++) {
    struct file_plan plan = plain_plan();
    struct writer writer = {0};
    plan.nrow_groups = NROW_GROUPS;
    for (size_t i = 0; i < NROW_GROUPS; i++) {
      plan.offset_in_footer = 4 + (int64_t)writer.n;
      write_filter_header(&writer, (struct filter_header){FILTER_NBYTES, 1, 1, 1});
      write_bytes(&writer, zeros, sizeof zeros);
    }
    plan.filter = writer.bytes;
    plan.filter_nbytes = writer.n;
    plan.filter_stride = -(int64_t)(writer.n / NROW_GROUPS);
    plan.length_in_footer = has_lengths ? -plan.filter_stride : 0;
    const struct work work = screen_all(&plan);
    cr_assert(work.nrefused == 0 && work.nbytes < 3 * writer.n);
    free(writer.bytes);
  }
}

/* ---- Paths of columns ---- */

/* Describes the column of each row group. Returns the total length of the paths, or 0 if the file
 * is refused because of them. */
static uint64_t describe_paths(size_t name_nbytes, size_t nrow_groups, bool without_path)
{
  struct file_plan plan = plain_plan();
  char *name = test_alloc(name_nbytes + 1), problem[PROBLEM_NBYTES] = "";
  size_t nbytes;
  uint64_t ndescribed = 0;
  memset(name, 'n', name_nbytes);
  plan.name = name;
  plan.nrow_groups = nrow_groups;
  plan.without_path = without_path;
  uint8_t *bytes = make_file(&plan, &nbytes);
  lanebloom_parquet *file;
  const lanebloom_status status = lanebloom_parquet_parse(
      bytes, nbytes, LANEBLOOM_PARQUET_BOUNDS_ALL, &file, problem, sizeof problem);
  cr_assert(status == LANEBLOOM_OK || status == LANEBLOOM_ERR_LIMIT, "%s", problem);
  for (size_t i = 0; i < nrow_groups && !status; i++) {
    lanebloom_parquet_column_info column;
    lanebloom_parquet_describe_column(file, 0, &column, sizeof column);
    ndescribed += strlen(column.path);
  }
  lanebloom_parquet_free(file);
  free(bytes);
  free(name);
  return ndescribed;
}

/* A row group without a path takes a few bytes in the file, but is described with its path. */
Test(parquet, work_of_paths)
{
  const uint64_t once = describe_paths(20000, 400, true), twice = describe_paths(40000, 800, true);
  cr_assert(2 * twice <= 5 * once, "%llu bytes, then %llu", (unsigned long long)once,
            (unsigned long long)twice);
  cr_assert(once == 0 && twice == 0);
  cr_assert(describe_paths(20000, 20, true) == 400000);
  cr_assert(describe_paths(1000, 1000, false) == 1000000);
}
