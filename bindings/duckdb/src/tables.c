/* lanebloom_tables(path): a table function in SQL that lists the tables of a database of LevelDB,
 * goleveldb, RocksDB or Pebble, or one table file, with a description of their filters.
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

/* The facts about a table, which become one row. The table itself is closed again, because a
 * database may have more tables than fit in memory. */
struct row {
  char *path, *warning, *keys;
  lanebloom_table_info info; /* its bounds point into `keys`, its warning is `warning` */
};

struct query {
  const char *path;             /* borrowed from the call */
  lanebloom_database *database; /* NULL if the path is one table file */
  struct row **rows;
  size_t n, at;
};

static void free_row(struct row *row)
{
  if (row) {
    free(row->path);
    free(row->warning);
    free(row->keys);
  }
  free(row);
}

static void end(void *data)
{
  struct query *query = data;
  for (size_t i = 0; i < query->n; i++)
    free_row(query->rows[i]);
  free(query->rows);
  lanebloom_database_free(query->database);
  free(query);
}

/* ---- Opening ---- */

/* Copies the texts and bounds that the table owns, because the table will be closed. */
static bool copy_texts(struct row *row, const char *path)
{
  lanebloom_table_info *info = &row->info;
  lanebloom_slice *smallest = &info->smallest, *largest = &info->largest;
  if (!info->has_range)
    *smallest = *largest = (lanebloom_slice){"", 0};
  row->path = strdup(path);
  row->warning = strdup(info->warning);
  row->keys = malloc(smallest->size + largest->size + 1);
  if (!row->path || !row->warning || !row->keys)
    return false;
  smallest->data = memcpy(row->keys, smallest->data, smallest->size);
  largest->data = memcpy(row->keys + smallest->size, largest->data, largest->size);
  info->warning = row->warning;
  return true;
}

/* Makes a row of a table, and closes the table. Returns NULL if memory ran out. */
static struct row *describe(const char *path, lanebloom_table *table)
{
  struct row *row = calloc(1, sizeof *row);
  if (row) {
    lanebloom_table_describe(table, &row->info, sizeof row->info);
    if (!copy_texts(row, path)) {
      free_row(row);
      row = NULL;
    }
  }
  lanebloom_table_free(table);
  return row;
}

static void *describe_live(void *context, const lanebloom_database_table *live,
                           lanebloom_table *table)
{
  (void)context;
  return describe(live->path, table);
}

static void drop_row(void *context, void *row)
{
  (void)context;
  free_row(row);
}

static lanebloom_status open_database(struct query *query, problem_text problem)
{
  static const lanebloom_table_visitor visitor = {.opened = describe_live, .dropped = drop_row};
  problem_text why;
  lanebloom_status status =
      lanebloom_database_open(query->path, NULL, &query->database, why, sizeof why);
  if (!status)
    status = lanebloom_database_open_tables(query->database, LANEBLOOM_WRITER_UNKNOWN, &visitor,
                                            why, sizeof why);
  if (status) {
    explain(problem, query->path, status, why);
    return status;
  }
  const size_t n = lanebloom_database_table_count(query->database);
  query->rows = calloc(n + 1, sizeof *query->rows);
  for (size_t i = 0; i < n; i++) {
    struct row *row = lanebloom_database_table_at(query->database, i).opened;
    if (query->rows)
      query->rows[query->n++] = row;
    else
      free_row(row);
  }
  return query->rows ? LANEBLOOM_OK : LANEBLOOM_ERR_MEMORY;
}

static lanebloom_status open_file(struct query *query, problem_text problem)
{
  problem_text why = "";
  lanebloom_table *table;
  lanebloom_status status =
      lanebloom_table_open(query->path, LANEBLOOM_WRITER_UNKNOWN, &table, why, sizeof why);
  if (!status) {
    query->rows = calloc(1, sizeof *query->rows);
    if (!query->rows)
      lanebloom_table_free(table);
    else
      query->n = (query->rows[0] = describe(query->path, table)) != NULL;
    status = query->n == 1 ? LANEBLOOM_OK : LANEBLOOM_ERR_MEMORY;
  }
  if (status)
    explain(problem, query->path, status, why);
  return status;
}

static lanebloom_status open_path(struct query *query, problem_text problem)
{
  struct stat file;
  if (stat(query->path, &file) == 0 && !S_ISDIR(file.st_mode))
    return open_file(query, problem);
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

static void *begin(struct instance *instance, const files_context *context,
                   const struct parameters *parameters, problem_text problem)
{
  if (!files_may_be_opened(instance, context, problem))
    return NULL;
  struct query *query = calloc(1, sizeof *query);
  if (!query)
    return NULL;
  query->path = parameters->texts[0];
  if (open_path(query, problem) == LANEBLOOM_OK)
    return query;
  end(query);
  return NULL;
}

/* ---- Rows ---- */

static void write_row(const struct query *query, size_t i, duckdb_data_chunk chunk, idx_t row)
{
  const struct row *table = query->rows[i];
  const lanebloom_table_info info = table->info;
  duckdb_vector to[NCOLUMNS];
  for (idx_t column = 0; column < NCOLUMNS; column++)
    to[column] = duckdb_data_chunk_get_vector(chunk, column);
  vector_set_text(to[0], row, table->path);
  if (query->database) {
    const lanebloom_database_table live = lanebloom_database_table_at(query->database, i);
    vector_set_text(to[1], row, live.family);
    vector_set_count(to[2], row, live.level);
  } else {
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
