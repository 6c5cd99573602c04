/* Opens all live tables of one version of a database. An engine may change the database meanwhile.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "../common/problem.h"
#include "../system/system.h"
#include "database.h"

/* If an engine keeps replacing tables while they are opened, opening fails after MAX_ATTEMPTS. It
 * fails earlier if MAX_SECONDS have passed, but not before MIN_ATTEMPTS. */
enum { MAX_ATTEMPTS = 100, MIN_ATTEMPTS = 10, MAX_SECONDS = 30 };

void lanebloom_table_visitor_drop(const lanebloom_table_visitor *visitor, void *result)
{
  if (!result)
    return;
  if (visitor->opened)
    visitor->dropped(visitor->context, result);
  else
    lanebloom_table_free(result);
}

static void drop_all(lanebloom_database *database, const lanebloom_table_visitor *visitor)
{
  const int error = errno;
  for (size_t i = 0; i < lanebloom_database_table_count(database); i++) {
    void **result = lanebloom_database_result(database, i);
    lanebloom_table_visitor_drop(visitor, *result);
    *result = NULL;
  }
  errno = error;
}

/* Opens table i. On an error, `text` gets the problem. */
static lanebloom_status open_one(lanebloom_database *database, size_t i, lanebloom_writer writer,
                                 const lanebloom_table_visitor *visitor, char *text, size_t size)
{
  const lanebloom_database_table live = lanebloom_database_table_at(database, i);
  void **result = lanebloom_database_result(database, i);
  lanebloom_table *table;
  const lanebloom_status status = lanebloom_table_open(live.path, writer, &table, text, size);
  if (status == LANEBLOOM_ERR_IO && !lanebloom_system_exists(live.path) && errno == ENOENT)
    snprintf(text, size, "expected a table of the database, found none%s",
             live.is_elsewhere ? "; RocksDB has it in one of its db_paths or cf_paths: name them"
                               : "");
  if (status)
    return status;
  *result = visitor->opened ? visitor->opened(visitor->context, &live, table) : table;
  if (!*result)
    snprintf(text, size, "out of memory");
  return *result ? LANEBLOOM_OK : LANEBLOOM_ERR_MEMORY;
}

/* Opens the tables that are not open yet. If a table cannot be opened, sets *is_any_missing to
 * true. is_final: if true, also reports each such table; if false, an engine may have replaced the
 * table. */
static lanebloom_status open_rest(lanebloom_database *database, lanebloom_writer writer,
                                  const lanebloom_table_visitor *visitor, bool is_final,
                                  bool *is_any_missing, const struct problem *problem)
{
  char text[512];
  *is_any_missing = false;
  for (size_t i = 0; i < lanebloom_database_table_count(database); i++) {
    if (*lanebloom_database_result(database, i))
      continue;
    if (visitor->is_stopped && visitor->is_stopped(visitor->context))
      return problem_set(problem, LANEBLOOM_ERR_ARGUMENT, "stopped");
    const lanebloom_status status = open_one(database, i, writer, visitor, text, sizeof text);
    if (!status)
      continue;
    *is_any_missing = true;
    if (!is_final)
      continue; /* the other tables are tried before the MANIFEST is read again */
    const lanebloom_database_table live = lanebloom_database_table_at(database, i);
    const int error = errno;
    const bool continues =
        visitor->failed && visitor->failed(visitor->context, &live, status, text);
    errno = error;
    if (!continues)
      return problem_set(problem, status, "%s: %s",
                         lanebloom_database_short_path(database, live.path), text);
  }
  return LANEBLOOM_OK;
}

static lanebloom_status open_version(lanebloom_database *database, lanebloom_writer writer,
                                     const lanebloom_table_visitor *visitor,
                                     const struct problem *problem)
{
  const double begin = lanebloom_system_seconds();
  for (int attempt = 1;; attempt++) {
    bool is_any_missing, changed;
    lanebloom_status status = open_rest(database, writer, visitor, false, &is_any_missing, problem);
    if (status || !is_any_missing)
      return status;
    status = lanebloom_database_update_results(database, visitor, &changed, problem->text,
                                               problem->size);
    if (status)
      return status;
    if (!changed)
      return open_rest(database, writer, visitor, true, &is_any_missing, problem);
    if (attempt == MAX_ATTEMPTS ||
        (attempt >= MIN_ATTEMPTS && lanebloom_system_seconds() - begin > MAX_SECONDS))
      return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                         "being written: expected tables that stay, found that they changed %d "
                         "times: try again, or use a copy",
                         attempt);
  }
}

lanebloom_status lanebloom_database_open_tables(lanebloom_database *database,
                                                lanebloom_writer writer,
                                                const lanebloom_table_visitor *visitor, char *text,
                                                size_t text_size)
{
  static const lanebloom_table_visitor none;
  const struct problem problem = problem_begin(text, text_size);
  visitor = visitor ? visitor : &none;
  const lanebloom_status status = open_version(database, writer, visitor, &problem);
  if (status)
    drop_all(database, visitor);
  return status;
}
