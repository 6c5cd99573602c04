/* lanebloom_parquet(pattern [, bounds := ...] [, hudi := ...]): a table function in SQL that lists
 * the column chunks of Parquet files, with a description of their filters. With a list of record
 * keys of Apache Hudi, it lists only the chunks that may have any of these keys.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_parquet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extension.h"

static const struct column columns[] = {
    {"path", DUCKDB_TYPE_VARCHAR},        {"row_group", DUCKDB_TYPE_UBIGINT},
    {"column_name", DUCKDB_TYPE_VARCHAR}, {"type", DUCKDB_TYPE_VARCHAR},
    {"nrows", DUCKDB_TYPE_UBIGINT},       {"nnulls", DUCKDB_TYPE_UBIGINT},
    {"has_filter", DUCKDB_TYPE_BOOLEAN},  {"filter_nbytes", DUCKDB_TYPE_UBIGINT},
    {"bounds", DUCKDB_TYPE_VARCHAR},
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

/* The column of which Hudi writes a filter. */
static const char hudi_column[] = "_hoodie_record_key";

/* The record keys of the parameter `hudi`. */
struct hudi {
  bool is_given;
  lanebloom_keys keys;              /* borrowed from the call */
  lanebloom_parquet_keys *prepared; /* NULL before the first file is opened */
  uint8_t *of_file, *of_chunk;      /* bitmaps of keys: those that may be in `file` by what Hudi
                                     * wrote, and those that may be in a chunk */
};

struct query {
  lanebloom_parquet_files *files;
  struct hudi hudi;
  lanebloom_parquet_bounds bounds;
  size_t nopened;
  lanebloom_parquet *file; /* the file that was opened last; NULL before the first */
  lanebloom_parquet_info info;
  size_t row_group, column; /* the next row of the result describes this chunk of `file` */
};

static void end(void *data)
{
  struct query *query = data;
  lanebloom_parquet_keys_free(query->hudi.prepared);
  free(query->hudi.of_file);
  free(query->hudi.of_chunk);
  lanebloom_parquet_free(query->file);
  lanebloom_parquet_files_free(query->files);
  free(query);
}

/* Finds the value of the parameter `bounds`. `name` is NULL if the call does not give the
 * parameter. */
static bool find_bounds(const char *name, lanebloom_parquet_bounds *bounds, problem_text problem)
{
  *bounds = LANEBLOOM_PARQUET_BOUNDS_KNOWN;
  if (!name || lanebloom_parquet_bounds_by_name(name, bounds))
    return true;
  snprintf(problem, PROBLEM_NBYTES, "bounds: expected 'known', 'all' or 'none', found '%s'", name);
  return false;
}

/* Finds the files that the pattern names. An extension cannot print warnings in SQL, so files that
 * are skipped are not reported; the manual says which files these are. */
static bool find_files(const char *pattern, lanebloom_parquet_files **files, problem_text problem)
{
  if (!strstr(pattern, "**"))
    return !lanebloom_parquet_find_files(&pattern, 1, files, problem, PROBLEM_NBYTES);
  explain(problem, pattern, LANEBLOOM_ERR_ARGUMENT,
          "expected a path, or a pattern of *, ? and [...]; found **: a folder stands for all "
          "files below it");
  return false;
}

static bool begin_hudi(struct hudi *hudi, const struct parameters *parameters)
{
  if (!parameters->has_list)
    return true;
  hudi->is_given = true;
  hudi->keys = lanebloom_keys_slices(parameters->list, parameters->nlist);
  hudi->of_file = calloc(hudi->keys.n / 8 + 1, 1);
  hudi->of_chunk = calloc(hudi->keys.n / 8 + 1, 1);
  return hudi->of_file && hudi->of_chunk;
}

static void *begin(struct instance *instance, const files_context *context,
                   const struct parameters *parameters, problem_text problem)
{
  lanebloom_parquet_bounds bounds;
  if (!files_may_be_opened(instance, context, problem) ||
      !find_bounds(parameters->texts[1], &bounds, problem))
    return NULL;
  struct query *query = calloc(1, sizeof *query);
  if (!query)
    return NULL;
  query->bounds = bounds;
  if (begin_hudi(&query->hudi, parameters) &&
      find_files(parameters->texts[0], &query->files, problem))
    return query;
  end(query);
  return NULL;
}

/* Prepares the keys when the first file is opened, and screens them by what Hudi wrote into this
 * file. */
static lanebloom_status screen_file(struct query *query, problem_text why)
{
  struct hudi *hudi = &query->hudi;
  lanebloom_parquet_column_info column;
  size_t nmaybe;
  lanebloom_status status =
      lanebloom_parquet_find(query->file, hudi_column, &query->column, why, PROBLEM_NBYTES);
  if (!status && !hudi->prepared)
    status = lanebloom_parquet_keys_create(query->file, query->column, LANEBLOOM_BYTES, &hudi->keys,
                                           &hudi->prepared, NULL, why, PROBLEM_NBYTES);
  if (status)
    return status;
  lanebloom_parquet_describe_column(query->file, query->column, &column, sizeof column);
  if (strcmp(column.path, hudi_column) == 0)
    status = lanebloom_parquet_screen_hudi(query->file, &hudi->keys, hudi->of_file, &nmaybe, why,
                                           PROBLEM_NBYTES);
  else /* a list, of which Hudi writes no filter */
    memset(hudi->of_file, 0xff, hudi->keys.n / 8 + 1);
  if (status == LANEBLOOM_ERR_FORMAT || status == LANEBLOOM_ERR_LIMIT)
    return LANEBLOOM_OK; /* filters that cannot be used are like none */
  return status;
}

/* Opens the next file, which must exist. */
static bool open_next(struct query *query, problem_text problem)
{
  problem_text why;
  const char *path = query->files->read.all[query->nopened++];
  lanebloom_parquet_free(query->file);
  lanebloom_status status =
      lanebloom_parquet_open(path, query->bounds, &query->file, why, sizeof why);
  query->row_group = query->column = 0;
  if (!status && query->hudi.is_given)
    status = screen_file(query, why);
  if (status) {
    explain(problem, path, status, why);
    return false;
  }
  lanebloom_parquet_describe(query->file, &query->info, sizeof query->info);
  return true;
}

/* Finds out whether any of the record keys may be in the next chunk. */
static bool screen_chunk(const struct query *query, bool *may_have, problem_text problem)
{
  problem_text why;
  const struct hudi *hudi = &query->hudi;
  size_t nmaybe;
  const lanebloom_status status =
      lanebloom_parquet_screen(query->file, query->row_group, query->column, hudi->prepared,
                               hudi->of_chunk, &nmaybe, why, sizeof why);
  *may_have = false;
  for (size_t i = 0; nmaybe > 0 && i < (hudi->keys.n + 7) / 8; i++)
    *may_have |= (hudi->of_chunk[i] & hudi->of_file[i]) != 0;
  if (!status || status == LANEBLOOM_ERR_FORMAT) /* a filter of an unknown kind is ignored */
    return true;
  explain(problem, query->files->read.all[query->nopened - 1], status, why);
  return false;
}

static void write_row(const struct query *query, duckdb_data_chunk chunk, idx_t row)
{
  lanebloom_parquet_column_info column;
  lanebloom_parquet_chunk_info info;
  lanebloom_parquet_describe_column(query->file, query->column, &column, sizeof column);
  lanebloom_parquet_describe_chunk(query->file, query->row_group, query->column, &info,
                                   sizeof info);
  duckdb_vector to[NCOLUMNS];
  for (idx_t i = 0; i < NCOLUMNS; i++)
    to[i] = duckdb_data_chunk_get_vector(chunk, i);
  vector_set_text(to[0], row, query->files->read.all[query->nopened - 1]);
  vector_set_count(to[1], row, query->row_group);
  vector_set_text(to[2], row, column.path);
  vector_set_text(to[3], row, column.type);
  vector_set_count(to[4], row, info.nrows);
  vector_set_count(to[5], row, info.nnulls);
  vector_set_bool(to[6], row, info.has_filter);
  vector_set_count(to[7], row, info.has_filter ? info.filter_nbytes : LANEBLOOM_UNKNOWN);
  vector_set_text(to[8], row, info.has_min || info.has_max ? "used" : info.bounds_doubt);
}

/* Goes on to the next chunk of the file. */
static void advance(struct query *query)
{
  if (!query->hudi.is_given && ++query->column < query->info.ncolumns)
    return;
  query->row_group++;
  if (!query->hudi.is_given)
    query->column = 0;
}

static size_t next(void *data, duckdb_data_chunk chunk, problem_text problem)
{
  struct query *query = data;
  size_t n = 0;
  while (n < duckdb_vector_size()) {
    bool is_listed = true;
    if (!query->file || query->row_group == query->info.nrow_groups) {
      if (query->nopened == query->files->read.n)
        return n;
      if (!open_next(query, problem))
        return SIZE_MAX;
      if (query->info.ncolumns == 0)
        query->row_group = query->info.nrow_groups;
      continue;
    }
    if (query->hudi.is_given && !screen_chunk(query, &is_listed, problem))
      return SIZE_MAX;
    if (is_listed)
      write_row(query, chunk, n++);
    advance(query);
  }
  return n;
}

static const struct table_function function = {
    .name = "lanebloom_parquet",
    .nparameters = 1,
    .option = "bounds",
    .list_option = "hudi",
    .columns = columns,
    .ncolumns = NCOLUMNS,
    .begin = begin,
    .end = end,
    .next = next,
};

bool register_parquet(duckdb_connection connection, struct instance *instance)
{
  return register_table_function(connection, instance, &function);
}
