/* Registers table functions in DuckDB. This file has the callbacks that all table functions share.
 * They read the parameters of a call, begin a run and fetch chunks of rows.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "extension.h"

enum { MAX_PARAMETERS = 3 }; /* including the named parameter */

/* A table function, registered for one database. */
struct registered {
  const struct table_function *function;
  struct instance *instance;
};

/* A call of a table function in a statement. A prepared statement may run the call many times. */
struct call {
  const struct registered *registered;
  char *parameters[MAX_PARAMETERS];
  files_context *context;
};

struct run {
  const struct table_function *function;
  void *query;
};

static void registered_free(void *extra)
{
  struct registered *registered = extra;
  instance_release(registered->instance);
  free(registered);
}

static void call_free(void *data)
{
  struct call *call = data;
  for (int i = 0; i < MAX_PARAMETERS; i++)
    free(call->parameters[i]);
  files_context_free(call->context);
  free(call);
}

static void run_free(void *data)
{
  struct run *run = data;
  run->function->end(run->query);
  free(run);
}

/* Returns a parameter as a text, which the caller frees. Returns NULL if the parameter is NULL or
 * not given, or if memory runs out. */
static char *text_of_value(duckdb_value value)
{
  char *text = !value || duckdb_is_null_value(value) ? NULL : duckdb_get_varchar(value);
  char *copy = text ? strdup(text) : NULL;
  duckdb_free(text);
  duckdb_destroy_value(&value);
  return copy;
}

static void bind(duckdb_bind_info info)
{
  const struct registered *registered = duckdb_bind_get_extra_info(info);
  const struct table_function *function = registered->function;
  problem_text problem;
  for (idx_t i = 0; i < function->ncolumns; i++) {
    duckdb_logical_type type = duckdb_create_logical_type(function->columns[i].type);
    duckdb_bind_add_result_column(info, function->columns[i].name, type);
    duckdb_destroy_logical_type(&type);
  }
  struct call *call = calloc(1, sizeof *call);
  if (!call) {
    explain(problem, function->name, LANEBLOOM_ERR_MEMORY, NULL);
    duckdb_bind_set_error(info, problem);
    return;
  }
  call->registered = registered;
  call->context = files_context_of(info);
  duckdb_bind_set_bind_data(info, call, call_free);
  for (idx_t i = 0; i < function->nparameters; i++) {
    call->parameters[i] = text_of_value(duckdb_bind_get_parameter(info, i));
    if (call->parameters[i])
      continue;
    explain(problem, function->name, LANEBLOOM_ERR_ARGUMENT, "expected a text, found NULL");
    duckdb_bind_set_error(info, problem);
    return;
  }
  if (function->option)
    call->parameters[function->nparameters] =
        text_of_value(duckdb_bind_get_named_parameter(info, function->option));
}

static void init(duckdb_init_info info)
{
  struct call *call = duckdb_init_get_bind_data(info);
  const struct table_function *function = call->registered->function;
  problem_text why = "", problem;
  struct run *run = malloc(sizeof *run);
  void *query = NULL;
  if (run)
    query = function->begin(call->registered->instance, call->context, call->parameters, why);
  if (!query) {
    free(run);
    explain(problem, function->name, LANEBLOOM_ERR_MEMORY, why);
    duckdb_init_set_error(info, problem);
    return;
  }
  *run = (struct run){function, query};
  duckdb_init_set_init_data(info, run, run_free);
}

static void next(duckdb_function_info info, duckdb_data_chunk chunk)
{
  struct run *run = duckdb_function_get_init_data(info);
  problem_text why = "", problem;
  const size_t n = run->function->next(run->query, chunk, why);
  duckdb_data_chunk_set_size(chunk, n == SIZE_MAX ? 0 : n);
  if (n != SIZE_MAX)
    return;
  explain(problem, run->function->name, LANEBLOOM_ERR_MEMORY, why);
  duckdb_function_set_error(info, problem);
}

bool register_table_function(duckdb_connection connection, struct instance *instance,
                             const struct table_function *function)
{
  struct registered *registered = malloc(sizeof *registered);
  if (!registered)
    return false;
  *registered = (struct registered){function, instance_share(instance)};
  duckdb_table_function made = duckdb_create_table_function();
  duckdb_table_function_set_name(made, function->name);
  duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
  for (idx_t i = 0; i < function->nparameters; i++)
    duckdb_table_function_add_parameter(made, text);
  if (function->option)
    duckdb_table_function_add_named_parameter(made, function->option, text);
  duckdb_destroy_logical_type(&text);
  duckdb_table_function_set_extra_info(made, registered, registered_free);
  duckdb_table_function_set_bind(made, bind);
  duckdb_table_function_set_init(made, init);
  duckdb_table_function_set_function(made, next);
  const bool is_done = duckdb_register_table_function(connection, made) == DuckDBSuccess;
  duckdb_destroy_table_function(&made);
  return is_done;
}
