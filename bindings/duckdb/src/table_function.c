/* Registers table functions in DuckDB. This file has the callbacks that all table functions share.
 * They read the parameters of a call, begin a run and fetch chunks of rows.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "extension.h"

/* A table function, registered for one database. */
struct registered {
  const struct table_function *function;
  struct instance *instance;
};

/* A call of a table function in a statement. A prepared statement may run the call many times. */
struct call {
  const struct registered *registered;
  struct parameters parameters;
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
  for (size_t i = 0; i < sizeof call->parameters.texts / sizeof(char *); i++)
    free(call->parameters.texts[i]);
  for (size_t i = 0; i < call->parameters.nlist; i++)
    free((void *)call->parameters.list[i].data);
  free(call->parameters.list);
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

/* Returns true if duckdb_get_varchar() made this text of the value without cutting it at a 0 byte.
 * The API has no function for the size of a text. So the value is converted to text twice, as the
 * elements of a list. If there is a 0 byte, the text of the list ends in the first element. */
static bool is_whole(duckdb_value value, const char *text)
{
  duckdb_value twice[] = {value, value};
  duckdb_value list = duckdb_create_list_value(duckdb_get_value_type(value), twice, 2);
  char *both = list ? duckdb_get_varchar(list) : NULL;
  const bool is = both && strlen(both) >= 2 * strlen(text) + strlen("[, ]");
  duckdb_free(both);
  duckdb_destroy_value(&list);
  return is;
}

static bool is_of_type(duckdb_value value, duckdb_type type)
{
  return duckdb_get_type_id(duckdb_get_value_type(value)) == type;
}

/* Appends an element to the list. Returns what is wrong with it, "" if memory runs out, or NULL. */
static const char *append(struct parameters *parameters, duckdb_value element)
{
  if (duckdb_is_null_value(element))
    return NULL;
  if (!is_of_type(element, DUCKDB_TYPE_VARCHAR))
    return "expected a list of VARCHAR, found elements of another type";
  char *text = duckdb_get_varchar(element);
  const char *why = !text                     ? ""
                    : is_whole(element, text) ? NULL
                                              : "expected texts without a 0 byte, found one";
  char *copy = text && !why ? strdup(text) : NULL;
  duckdb_free(text);
  if (copy)
    parameters->list[parameters->nlist++] = (lanebloom_slice){copy, strlen(copy)};
  return why || copy ? why : "";
}

/* Reads a list of texts. Returns as append() does. */
static const char *read_list(struct parameters *parameters, duckdb_value value)
{
  if (!value)
    return NULL;
  if (duckdb_is_null_value(value))
    return "expected a list of VARCHAR, found NULL";
  if (!is_of_type(value, DUCKDB_TYPE_LIST))
    return "expected a list of VARCHAR, found another type";
  const idx_t n = duckdb_get_list_size(value);
  const char *why = NULL;
  parameters->has_list = true;
  parameters->list = malloc((n + 1) * sizeof *parameters->list);
  if (!parameters->list)
    return "";
  for (idx_t i = 0; i < n && !why; i++) {
    duckdb_value element = duckdb_get_list_child(value, i);
    why = append(parameters, element);
    duckdb_destroy_value(&element);
  }
  return why;
}

static void read_list_option(duckdb_bind_info info, const struct table_function *function,
                             struct parameters *parameters)
{
  duckdb_value value = duckdb_bind_get_named_parameter(info, function->list_option);
  const char *why = read_list(parameters, value);
  duckdb_destroy_value(&value);
  if (!why)
    return;
  problem_text option, problem;
  explain(option, function->list_option, LANEBLOOM_ERR_MEMORY, why);
  explain(problem, function->name, LANEBLOOM_ERR_ARGUMENT, option);
  duckdb_bind_set_error(info, problem);
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
    call->parameters.texts[i] = text_of_value(duckdb_bind_get_parameter(info, i));
    if (call->parameters.texts[i])
      continue;
    explain(problem, function->name, LANEBLOOM_ERR_ARGUMENT, "expected a text, found NULL");
    duckdb_bind_set_error(info, problem);
    return;
  }
  if (function->option)
    call->parameters.texts[function->nparameters] =
        text_of_value(duckdb_bind_get_named_parameter(info, function->option));
  if (function->list_option)
    read_list_option(info, function, &call->parameters);
}

static void init(duckdb_init_info info)
{
  struct call *call = duckdb_init_get_bind_data(info);
  const struct table_function *function = call->registered->function;
  problem_text why = "", problem;
  struct run *run = malloc(sizeof *run);
  void *query = NULL;
  if (run)
    query = function->begin(call->registered->instance, call->context, &call->parameters, why);
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
  if (function->list_option) {
    /* not a list of VARCHAR: DuckDB would then convert elements of other types, such as BLOB */
    duckdb_logical_type any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
    duckdb_table_function_add_named_parameter(made, function->list_option, any);
    duckdb_destroy_logical_type(&any);
  }
  duckdb_destroy_logical_type(&text);
  duckdb_table_function_set_extra_info(made, registered, registered_free);
  duckdb_table_function_set_bind(made, bind);
  duckdb_table_function_set_init(made, init);
  duckdb_table_function_set_function(made, next);
  const bool is_done = duckdb_register_table_function(connection, made) == DuckDBSuccess;
  duckdb_destroy_table_function(&made);
  return is_done;
}
