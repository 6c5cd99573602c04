/* The entry point of the extension. DuckDB calls this function when it loads the extension, once
 * for each database. The function registers the SQL functions.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "extension.h"

/* Returns true if SET lock_configuration has locked the settings. In that case the extension may
 * open files now and later: DuckDB loads extensions only while it allows external access, and a
 * locked setting cannot change. From DuckDB 1.5 on, the setting allowed_configs can name settings
 * that are not locked; if it names any, the result is false. */
static bool settings_are_locked(duckdb_connection connection)
{
  static const char query[] =
      "SELECT current_setting('lock_configuration')::BOOLEAN AND count(*) = 0 FROM "
      "duckdb_settings() WHERE name = 'allowed_configs' AND value NOT IN ('', '[]')";
  duckdb_result result;
  bool is_locked = false;
  if (duckdb_query(connection, query, &result) == DuckDBSuccess) {
    duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
    if (chunk && duckdb_data_chunk_get_size(chunk) == 1) {
      const struct vector locked = vector_of(chunk, 0);
      is_locked = vector_has(&locked, 0) && *(const bool *)locked.data;
    }
    duckdb_destroy_data_chunk(&chunk);
  }
  duckdb_destroy_result(&result);
  return is_locked;
}

static bool register_all(duckdb_connection connection)
{
  struct instance *instance = instance_create(settings_are_locked(connection));
  const bool is_done = instance && register_build(connection) &&
                       register_may_contain(connection, instance) &&
                       register_names(connection, instance) &&
#ifdef LANEBLOOM_WITH_TABLES
                       register_tables(connection, instance) &&
#endif
                       register_parquet(connection, instance);
  if (instance)
    instance_release(instance);
  return is_done;
}

/* Returns true if the library of DuckDB that loads the extension is the first one of this process.
 * The process has one table of DuckDB's functions for this extension. If the process has two
 * libraries of DuckDB, the second one must not replace the functions of the first in this table. */
static bool is_first_library(void)
{
  static duckdb_ext_api_v1 first;
  static bool has_first;
  if (!has_first)
    first = duckdb_ext_api;
  has_first = true;
  if (memcmp(&first, &duckdb_ext_api, sizeof first) == 0)
    return true;
  duckdb_ext_api = first;
  return false;
}

DUCKDB_EXTENSION_ENTRYPOINT_CUSTOM(duckdb_extension_info info,
                                   struct duckdb_extension_access *access)
{
  const char *why = "lanebloom: its functions could not be registered";
  duckdb_connection connection;
  bool is_done = false;
  if (!is_first_library()) {
    why = "lanebloom: another DuckDB library of this process has loaded it";
  } else if (duckdb_connect(*access->get_database(info), &connection) == DuckDBSuccess) {
    files_begin();
    is_done = register_all(connection);
    duckdb_disconnect(&connection);
  }
  if (!is_done)
    access->set_error(info, why);
  return is_done;
}
