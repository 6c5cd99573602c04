/* lanebloom_tables(path): the filters in the tables of a database of LevelDB, goleveldb, RocksDB or
 * Pebble, or in one table file.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_tables.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "extension.h"

static const struct column columns[] = {
    {"path", DUCKDB_TYPE_VARCHAR},           {"family", DUCKDB_TYPE_VARCHAR},
    {"level", DUCKDB_TYPE_UBIGINT},          {"engine", DUCKDB_TYPE_VARCHAR},
    {"filter", DUCKDB_TYPE_VARCHAR},         {"format", DUCKDB_TYPE_VARCHAR},
    {"nentries", DUCKDB_TYPE_UBIGINT},       {"filter_nbytes", DUCKDB_TYPE_UBIGINT},
    {"bits_per_key", DUCKDB_TYPE_DOUBLE},    {"model_rate", DUCKDB_TYPE_DOUBLE},
    {"has_whole_keys", DUCKDB_TYPE_BOOLEAN}, {"has_prefixes", DUCKDB_TYPE_BOOLEAN},
    {"smallest", DUCKDB_TYPE_BLOB},          {"largest", DUCKDB_TYPE_BLOB},
    {"warning", DUCKDB_TYPE_VARCHAR},
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

struct query {
  const char *path;             /* of the call */
  lanebloom_database *database; /* NULL: one table file */
  lanebloom_table **tables;
  size_t n, at;
};

static void end(void *data)
{
  struct query *query = data;
  for (size_t i = 0; i < query->n; i++)
    lanebloom_table_close(query->tables[i]);
  free(query->tables);
  lanebloom_database_close(query->database);
  free(query);
}

/* ---- Opening ---- */

static lanebloom_status open_one(struct query *query, const char *path, problem_text problem)
{
  problem_text why;
  const lanebloom_status status = lanebloom_table_open(path, LANEBLOOM_WRITER_UNKNOWN,
                                                       &query->tables[query->n], why, sizeof why);
  if (status)
    explain(problem, path, status, why);
  else
    query->n++;
  return status;
}

static lanebloom_status open_live(struct query *query, problem_text problem)
{
  const size_t n = lanebloom_database_table_count(query->database);
  free(query->tables);
  query->n = 0;
  query->tables = calloc(n + 1, sizeof *query->tables);
  if (!query->tables)
    return LANEBLOOM_ERR_MEMORY;
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t i = 0; i < n && !status; i++)
    status = open_one(query, lanebloom_database_table_at(query->database, i).path, problem);
  return status;
}

/* The tables of one moment: if an engine replaces some meanwhile, it begins again. */
static lanebloom_status open_database(struct query *query, problem_text problem)
{
  problem_text why;
  lanebloom_status status =
      lanebloom_database_open(query->path, NULL, &query->database, why, sizeof why);
  if (status) {
    explain(problem, query->path, status, why);
    return status;
  }
  for (bool changed = true; changed;) {
    status = open_live(query, problem);
    if (!status)
      return LANEBLOOM_OK;
    if (lanebloom_database_update(query->database, &changed, why, sizeof why))
      return status;
    for (size_t i = 0; i < query->n; i++)
      lanebloom_table_close(query->tables[i]);
    query->n = 0;
  }
  return status;
}

static lanebloom_status open_path(struct query *query, problem_text problem)
{
  struct stat file;
  if (stat(query->path, &file) == 0 && !S_ISDIR(file.st_mode)) {
    query->tables = calloc(1, sizeof *query->tables);
    return query->tables ? open_one(query, query->path, problem) : LANEBLOOM_ERR_MEMORY;
  }
  lanebloom_engine engine;
  problem_text why;
  const lanebloom_status status = lanebloom_database_find(query->path, &engine, why, sizeof why);
  if (status) {
    explain(problem, query->path, status, why);
    return status;
  }
  if (engine)
    return open_database(query, problem);
  explain(problem, query->path, LANEBLOOM_ERR_FORMAT,
          "expected a database of LevelDB, RocksDB or Pebble, or a table file; found a folder "
          "without CURRENT");
  return LANEBLOOM_ERR_FORMAT;
}

static void *begin(struct instance *instance, const files_context *context, char *const *parameters,
                   problem_text problem)
{
  if (!files_may_be_opened(instance, context, problem))
    return NULL;
  struct query *query = calloc(1, sizeof *query);
  if (!query)
    return NULL;
  query->path = parameters[0];
  if (open_path(query, problem) == LANEBLOOM_OK)
    return query;
  end(query);
  return NULL;
}

/* ---- Rows ---- */

static void write_row(const struct query *query, size_t i, duckdb_data_chunk chunk, idx_t row)
{
  lanebloom_table_info info;
  lanebloom_table_describe(query->tables[i], &info, sizeof info);
  duckdb_vector to[NCOLUMNS];
  for (idx_t column = 0; column < NCOLUMNS; column++)
    to[column] = duckdb_data_chunk_get_vector(chunk, column);
  if (query->database) {
    const lanebloom_database_table live = lanebloom_database_table_at(query->database, i);
    vector_set_text(to[0], row, live.path);
    vector_set_text(to[1], row, live.family);
    vector_set_count(to[2], row, live.level);
  } else {
    vector_set_text(to[0], row, query->path);
    vector_set_null(to[1], row);
    vector_set_null(to[2], row);
  }
  vector_set_text(to[3], row, lanebloom_engine_name(info.engine));
  vector_set_text(to[4], row, lanebloom_table_filter_name(info.filter));
  vector_set_text(to[5], row,
                  info.filter_format ? lanebloom_format_name(info.filter_format) : NULL);
  vector_set_count(to[6], row, info.nentries);
  vector_set_count(to[7], row, info.filter_nbytes);
  vector_set_double(to[8], row, info.bits_per_key);
  vector_set_double(to[9], row, info.model_rate);
  vector_set_bool(to[10], row, info.has_whole_keys);
  vector_set_bool(to[11], row, info.has_prefixes);
  if (info.has_range) {
    vector_set_bytes(to[12], row, info.smallest);
    vector_set_bytes(to[13], row, info.largest);
  } else {
    vector_set_null(to[12], row);
    vector_set_null(to[13], row);
  }
  vector_set_text(to[14], row, *info.warning ? info.warning : NULL);
}

static size_t next(void *data, duckdb_data_chunk chunk, problem_text problem)
{
  struct query *query = data;
  size_t n = 0;
  (void)problem;
  while (query->at < query->n && n < duckdb_vector_size())
    write_row(query, query->at++, chunk, n++);
  return n;
}

static const struct table_function function = {
    .name = "lanebloom_tables",
    .nparameters = 1,
    .columns = columns,
    .ncolumns = NCOLUMNS,
    .begin = begin,
    .end = end,
    .next = next,
};

bool register_tables(duckdb_connection connection, struct instance *instance)
{
  return register_table_function(connection, instance, &function);
}
