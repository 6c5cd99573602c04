/* Files of pyarrow, DuckDB, arrow-rs and parquet-mr, checked against the answers that were frozen
 * with them.
 * SPDX-License-Identifier: MIT */
#include "parquet.h"

struct counts {
  size_t nkeys, nabsent, nexcluded, nfilters, nwith_length, nequal;
};

static void check_chunk(const lanebloom_parquet *file, size_t row_group, size_t column,
                        const lanebloom_parquet_keys *keys, const struct frozen_column *frozen,
                        struct counts *counts)
{
  uint8_t bitmap[BITMAP_NBYTES];
  char problem[PROBLEM_NBYTES] = "?";
  size_t nmaybe = 0, count = 0;
  memset(bitmap, 0xff, sizeof bitmap);
  cr_assert(lanebloom_parquet_screen(file, row_group, column, keys, bitmap, &nmaybe, problem,
                                     sizeof problem) == LANEBLOOM_OK,
            "%s", problem);
  cr_assert_str_eq(problem, "");
  for (size_t i = 0; i < frozen->n; i++) {
    const bool has = has_bit(frozen->has[row_group], i), may = has_bit(bitmap, i);
    if (has && !may)
      test_fatal("key %zu is lost", i);
    if (may != has_bit(frozen->may_have[row_group], i))
      test_fatal("key %zu: expected %d, found %d", i, !may, may);
    counts->nkeys += has;
    counts->nabsent += !has;
    counts->nexcluded += !may;
    count += may;
  }
  cr_assert(count == nmaybe);
  for (size_t i = frozen->n; i < (frozen->n + 7) / 8 * 8; i++)
    cr_assert(!has_bit(bitmap, i));
  cr_assert(lanebloom_parquet_screen(file, row_group, column, keys, NULL, &nmaybe, NULL, 0) ==
                LANEBLOOM_OK &&
            nmaybe == count);
}

/* Checks that the builder makes the same bytes from the row group's keys. Returns false if the
 * builder makes no filters of this size. */
static bool is_as_built(const lanebloom_filter *written, size_t row_group,
                        const struct frozen_column *frozen)
{
  lanebloom_slice keys[MAX_NQUERIES];
  size_t n = 0, nbytes, nbuilt_bytes;
  for (size_t i = 0; i < frozen->n; i++)
    if (has_bit(frozen->has[row_group], i))
      keys[n++] = frozen->keys[i];
  const void *bytes = lanebloom_filter_bytes(written, &nbytes);
  if (8 * nbytes > 1000 * n) /* the builder accepts no more bits per key */
    return false;
  const lanebloom_keys batch = lanebloom_keys_slices(keys, n);
  lanebloom_filter *built;
  cr_assert(lanebloom_filter_build(LANEBLOOM_PARQUET, 8.0 * (double)nbytes / (double)n, &batch,
                                   &built) == LANEBLOOM_OK);
  const void *built_bytes = lanebloom_filter_bytes(built, &nbuilt_bytes);
  const bool is_same = nbytes == nbuilt_bytes && memcmp(bytes, built_bytes, nbytes) == 0;
  lanebloom_filter_free(built);
  cr_assert(is_same, "%s, %s, row group %zu: %zu keys, %zu and %zu bytes", frozen->file,
            frozen->path, row_group, n, nbytes, nbuilt_bytes);
  return true;
}

/* Checks that the filter alone, without bounds, has every key of the row group. */
static void check_filter(const lanebloom_parquet *file, size_t row_group, size_t column,
                         const struct frozen_column *frozen, struct counts *counts)
{
  lanebloom_parquet_chunk_info info;
  lanebloom_filter *filter;
  char problem[PROBLEM_NBYTES];
  lanebloom_parquet_describe_chunk(file, row_group, column, &info, sizeof info);
  const lanebloom_status status =
      lanebloom_parquet_load_filter(file, row_group, column, &filter, problem, sizeof problem);
  if (!info.has_filter) {
    cr_assert(status == LANEBLOOM_ERR_ARGUMENT && !filter && *problem);
    return;
  }
  cr_assert(status == LANEBLOOM_OK, "%s", problem);
  lanebloom_filter_info about;
  lanebloom_filter_describe(filter, &about, sizeof about);
  cr_assert(about.format == LANEBLOOM_PARQUET);
  size_t nbytes;
  lanebloom_filter_bytes(filter, &nbytes);
  if (info.filter_nbytes != LANEBLOOM_UNKNOWN) {
    cr_assert(info.filter_nbytes > nbytes && info.filter_nbytes < nbytes + 30);
    counts->nwith_length++;
  }
  /* For decimals and INT96, a filter holds other bytes than the keys have. */
  lanebloom_parquet_column_info type;
  lanebloom_parquet_describe_column(file, column, &type, sizeof type);
  if (frozen->encoding != LANEBLOOM_DECIMAL128 && strcmp(type.type, "timestamp-int96") != 0) {
    for (size_t i = 0; i < frozen->n; i++)
      cr_assert(!has_bit(frozen->has[row_group], i) ||
                lanebloom_filter_may_contain(filter, frozen->keys[i].data, frozen->keys[i].size));
    counts->nequal += is_as_built(filter, row_group, frozen);
  }
  lanebloom_filter_free(filter);
  counts->nfilters++;
}

static void check_file(const lanebloom_parquet *file, const struct frozen_column *frozen,
                       struct counts *counts)
{
  char problem[PROBLEM_NBYTES] = "?";
  size_t column = SIZE_MAX, bad_key = 0;
  cr_assert(lanebloom_parquet_find(file, frozen->path, &column, problem, sizeof problem) ==
                LANEBLOOM_OK,
            "%s", problem);
  lanebloom_parquet_column_info type;
  lanebloom_parquet_describe_column(file, column, &type, sizeof type);
  test_context("%s, %s: %s", frozen->file, frozen->path, type.type);
  cr_assert_str_eq(type.path, frozen->path);
  cr_assert(type.has_keys);
  const lanebloom_keys keys = lanebloom_keys_slices(frozen->keys, frozen->n);
  lanebloom_parquet_keys *prepared;
  if (lanebloom_parquet_keys_create(file, column, frozen->encoding, &keys, &prepared, &bad_key,
                                    problem, sizeof problem))
    test_fatal("%s, %s: %s", frozen->file, frozen->path, problem);
  cr_assert(bad_key == frozen->n);
  for (size_t i = 0; i < frozen->ngroups; i++) {
    check_chunk(file, i, column, prepared, frozen, counts);
    check_filter(file, i, column, frozen, counts);
  }
  lanebloom_parquet_keys_free(prepared);
}

static void check_column(const struct frozen_column *frozen, void *context)
{
  char path[512], problem[PROBLEM_NBYTES];
  size_t nbytes;
  lanebloom_parquet *file;
  frozen_path(frozen->file, path);
  test_context("%s", path);
  cr_assert(lanebloom_parquet_open(path, LANEBLOOM_PARQUET_BOUNDS_KNOWN, &file, problem,
                                   sizeof problem) == LANEBLOOM_OK,
            "%s", problem);
  check_file(file, frozen, context);
  lanebloom_parquet_free(file);

  uint8_t *bytes = frozen_bytes(frozen->file, &nbytes);
  cr_assert(lanebloom_parquet_parse(bytes, nbytes, LANEBLOOM_PARQUET_BOUNDS_KNOWN, &file, problem,
                                    sizeof problem) == LANEBLOOM_OK,
            "%s", problem);
  check_file(file, frozen, context);
  lanebloom_parquet_free(file);
  free(bytes);
}

Test(parquet, frozen_answers)
{
  struct counts counts = {0};
  const size_t ncolumns = visit_frozen(check_column, &counts);
  printf("# %zu columns, %zu keys found, %zu of %zu absent ones excluded, %zu filters, %zu with "
         "their length, %zu byte for byte as built here\n",
         ncolumns, counts.nkeys, counts.nexcluded, counts.nabsent, counts.nfilters,
         counts.nwith_length, counts.nequal);
  cr_assert(ncolumns > 80 && counts.nkeys > 3000 && counts.nfilters > 200);
  cr_assert(counts.nwith_length > 100 && counts.nfilters - counts.nwith_length > 50);
  cr_assert(counts.nexcluded > counts.nabsent / 2 && counts.nequal > 300);
}
