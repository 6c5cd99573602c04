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

/* The facts about a table. The table itself is closed: a database may have more of them than fit in
 * memory. */
struct row {
  uint64_t number; /* of a table of a database */
  char *path, *warning, *keys;
  lanebloom_table_info info; /* its keys and its warning are owned by the row */
};

struct query {
  const char *path;             /* of the call */
  lanebloom_database *database; /* NULL: one table file */
  struct row *rows;
  size_t n, at;
};

static void free_rows(struct row *rows, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    free(rows[i].path);
    free(rows[i].warning);
    free(rows[i].keys);
  }
  free(rows);
}

static void end(void *data)
{
  struct query *query = data;
  free_rows(query->rows, query->n);
  lanebloom_database_close(query->database);
  free(query);
}

/* ---- Opening ---- */

/* Copies the texts and keys that the table owns. */
static bool keep(struct row *row, const char *path)
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

static lanebloom_status describe(const char *path, struct row *row, problem_text problem)
{
  problem_text why = "";
  lanebloom_table *table;
  lanebloom_status status =
      lanebloom_table_open(path, LANEBLOOM_WRITER_UNKNOWN, &table, why, sizeof why);
  if (!status) {
    lanebloom_table_describe(table, &row->info, sizeof row->info);
    status = keep(row, path) ? LANEBLOOM_OK : LANEBLOOM_ERR_MEMORY;
    lanebloom_table_close(table);
  }
  if (status)
    explain(problem, path, status, why);
  return status;
}

/* Describes all live tables, and reuses the rows of tables that stayed. Both lists ascend by
 * number. */
static lanebloom_status describe_live(struct query *query, problem_text problem)
{
  const size_t n = lanebloom_database_table_count(query->database), nbefore = query->n;
  struct row *before = query->rows;
  size_t next = 0;
  lanebloom_status status = LANEBLOOM_OK;
  query->n = 0;
  query->rows = calloc(n + 1, sizeof *query->rows);
  if (!query->rows)
    status = LANEBLOOM_ERR_MEMORY;
  for (size_t i = 0; i < n && !status; i++) {
    const lanebloom_database_table live = lanebloom_database_table_at(query->database, i);
    struct row *row = &query->rows[query->n++];
    while (next < nbefore && before[next].number < live.number)
      next++;
    if (next < nbefore && before[next].path && strcmp(before[next].path, live.path) == 0) {
      *row = before[next];
      before[next] = (struct row){.number = live.number};
    } else {
      row->number = live.number;
      status = describe(live.path, row, problem);
    }
  }
  free_rows(before, nbefore);
  return status;
}

/* The most times that an engine may replace tables meanwhile. */
enum { MAX_VERSIONS = 100 };

/* Describes the tables of one version. If an engine replaces some meanwhile, describes the next
 * version. */
static lanebloom_status open_database(struct query *query, problem_text problem)
{
  problem_text why;
  lanebloom_status status =
      lanebloom_database_open(query->path, NULL, &query->database, why, sizeof why);
  if (status) {
    explain(problem, query->path, status, why);
    return status;
  }
  bool changed = true;
  for (int i = 0; changed && i < MAX_VERSIONS; i++) {
    status = describe_live(query, problem);
    if (!status || lanebloom_database_update(query->database, &changed, why, sizeof why))
      return status;
  }
  if (changed)
    explain(problem, query->path, LANEBLOOM_ERR_LIMIT,
            "being written: expected tables that stay, found that they changed 100 times: try "
            "again, or use a copy");
  return status;
}

static lanebloom_status open_path(struct query *query, problem_text problem)
{
  struct stat file;
  if (stat(query->path, &file) == 0 && !S_ISDIR(file.st_mode)) {
    query->rows = calloc(1, sizeof *query->rows);
    query->n = query->rows != NULL;
    return query->rows ? describe(query->path, query->rows, problem) : LANEBLOOM_ERR_MEMORY;
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
  const struct row *table = &query->rows[i];
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
