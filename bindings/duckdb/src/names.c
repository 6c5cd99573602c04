/* The SQL functions that give names to filters and list them: lanebloom_load(),
 * lanebloom_register(), lanebloom_unload() and lanebloom_filters().
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "extension.h"

/* ---- lanebloom_load(name, path): maps a file and names the filter ---- */

static const struct column load_columns[] = {
    {"name", DUCKDB_TYPE_VARCHAR}, {"form", DUCKDB_TYPE_VARCHAR}, {"nbytes", DUCKDB_TYPE_UBIGINT}};

struct load {
  struct instance *instance;
  const files_context *context;
  const char *name, *path; /* borrowed from the call */
  bool is_done;
};

static void *load_begin(struct instance *instance, const files_context *context,
                        const struct parameters *parameters, problem_text problem)
{
  (void)problem;
  struct load *load = malloc(sizeof *load);
  if (load)
    *load = (struct load){instance, context, parameters->texts[0], parameters->texts[1], false};
  return load;
}

static size_t load_next(void *query, duckdb_data_chunk chunk, problem_text problem)
{
  struct load *load = query;
  if (load->is_done)
    return 0;
  load->is_done = true;
  if (!files_may_be_opened(load->instance, load->context, problem))
    return SIZE_MAX;
  problem_text why;
  struct named_filter *named;
  const lanebloom_status status =
      instance_add_file(load->instance, load->name, load->path, &named, why);
  if (status) {
    explain(problem, load->path, status, why);
    return SIZE_MAX;
  }
  char form[LANEBLOOM_KEY_FORM_NBYTES];
  size_t nbytes;
  lanebloom_filter_bytes(named->filter, &nbytes);
  vector_set_text(duckdb_data_chunk_get_vector(chunk, 0), 0, named->name);
  vector_set_text(
      duckdb_data_chunk_get_vector(chunk, 1), 0,
      lanebloom_key_form_text(lanebloom_filter_key_form(named->filter), form, sizeof form));
  vector_set_count(duckdb_data_chunk_get_vector(chunk, 2), 0, nbytes);
  named_filter_release(named);
  return 1;
}

static const struct table_function load_function = {
    .name = "lanebloom_load",
    .nparameters = 2,
    .columns = load_columns,
    .ncolumns = sizeof load_columns / sizeof *load_columns,
    .begin = load_begin,
    .end = free,
    .next = load_next,
};

/* ---- lanebloom_filters(): lists the filters that have names ---- */

static const struct column list_columns[] = {
    {"name", DUCKDB_TYPE_VARCHAR},        {"format", DUCKDB_TYPE_VARCHAR},
    {"form", DUCKDB_TYPE_VARCHAR},        {"nkeys", DUCKDB_TYPE_UBIGINT},
    {"bits_per_key", DUCKDB_TYPE_DOUBLE}, {"model_rate", DUCKDB_TYPE_DOUBLE},
    {"nbytes", DUCKDB_TYPE_UBIGINT},      {"path", DUCKDB_TYPE_VARCHAR},
};

struct list {
  struct named_filter **all;
  size_t n, at;
};

static void *list_begin(struct instance *instance, const files_context *context,
                        const struct parameters *parameters, problem_text problem)
{
  (void)context, (void)parameters, (void)problem;
  struct list *list = calloc(1, sizeof *list);
  if (list && !(list->all = instance_take_all(instance, &list->n))) {
    free(list);
    list = NULL;
  }
  return list;
}

static void list_end(void *query)
{
  struct list *list = query;
  for (size_t i = 0; i < list->n; i++)
    named_filter_release(list->all[i]);
  free(list->all);
  free(list);
}

static void list_one(const struct named_filter *named, duckdb_data_chunk chunk, idx_t row)
{
  lanebloom_filter_info info;
  char form[LANEBLOOM_KEY_FORM_NBYTES];
  size_t nbytes;
  lanebloom_filter_describe(named->filter, &info, sizeof info);
  lanebloom_filter_bytes(named->filter, &nbytes);
  duckdb_vector to[8];
  for (idx_t i = 0; i < 8; i++)
    to[i] = duckdb_data_chunk_get_vector(chunk, i);
  vector_set_text(to[0], row, named->name);
  vector_set_text(to[1], row, lanebloom_format_name(info.format));
  vector_set_text(to[2], row, lanebloom_key_form_text(info.key_form, form, sizeof form));
  vector_set_count(to[3], row, info.nkeys);
  vector_set_double(to[4], row, info.bits_per_key);
  vector_set_double(to[5], row, info.model_rate);
  vector_set_count(to[6], row, nbytes);
  vector_set_text(to[7], row, named->path);
}

static size_t list_next(void *query, duckdb_data_chunk chunk, problem_text problem)
{
  struct list *list = query;
  size_t n = 0;
  (void)problem;
  while (list->at < list->n && n < duckdb_vector_size())
    list_one(list->all[list->at++], chunk, n++);
  return n;
}

static const struct table_function list_function = {
    .name = "lanebloom_filters",
    .columns = list_columns,
    .ncolumns = sizeof list_columns / sizeof *list_columns,
    .begin = list_begin,
    .end = list_end,
    .next = list_next,
};

/* ---- lanebloom_register(name, filter), lanebloom_unload(name) ---- */

static bool register_one(duckdb_function_info info, lanebloom_slice name, lanebloom_slice blob)
{
  struct instance *instance = duckdb_scalar_function_get_extra_info(info);
  char *text = text_of(name);
  if (!text)
    return refuse(info, "lanebloom_register", LANEBLOOM_ERR_MEMORY,
                  memchr(name.data, 0, name.size) ? "expected a name without a 0 byte" : NULL);
  problem_text problem, why;
  const lanebloom_status status = instance_add_blob(instance, text, blob, problem);
  free(text);
  if (!status)
    return true;
  explain_blob(why, status, problem);
  return refuse(info, "lanebloom_register", status, why);
}

static void register_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
  const struct vector names = vector_of(input, 0), blobs = vector_of(input, 1);
  const idx_t n = duckdb_data_chunk_get_size(input);
  for (idx_t row = 0; row < n; row++) {
    if (!vector_has(&names, row) || !vector_has(&blobs, row)) {
      refuse(info, "lanebloom_register", LANEBLOOM_ERR_ARGUMENT,
             "expected a name and a filter, found NULL");
      return;
    }
    if (!register_one(info, vector_slice(&names, row), vector_slice(&blobs, row)))
      return;
    vector_set_bool(output, row, true);
  }
}

static void unload_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
  struct instance *instance = duckdb_scalar_function_get_extra_info(info);
  const struct vector names = vector_of(input, 0);
  const idx_t n = duckdb_data_chunk_get_size(input);
  for (idx_t row = 0; row < n; row++)
    if (vector_has(&names, row))
      vector_set_bool(output, row, instance_remove(instance, vector_slice(&names, row)));
    else
      vector_set_null(output, row);
}

static bool register_scalar(duckdb_connection connection, struct instance *instance,
                            const char *name, const duckdb_type *parameters, idx_t nparameters,
                            duckdb_scalar_function_t run)
{
  duckdb_scalar_function made = duckdb_create_scalar_function();
  duckdb_scalar_function_set_name(made, name);
  for (idx_t i = 0; i < nparameters; i++) {
    duckdb_logical_type type = duckdb_create_logical_type(parameters[i]);
    duckdb_scalar_function_add_parameter(made, type);
    duckdb_destroy_logical_type(&type);
  }
  duckdb_logical_type boolean = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
  duckdb_scalar_function_set_return_type(made, boolean);
  duckdb_destroy_logical_type(&boolean);
  duckdb_scalar_function_set_special_handling(made); /* rows with NULLs are passed, too */
  duckdb_scalar_function_set_volatile(made);         /* it has side effects */
  duckdb_scalar_function_set_extra_info(made, instance_share(instance), instance_release);
  duckdb_scalar_function_set_function(made, run);
  const bool is_done = duckdb_register_scalar_function(connection, made) == DuckDBSuccess;
  duckdb_destroy_scalar_function(&made);
  return is_done;
}

bool register_names(duckdb_connection connection, struct instance *instance)
{
  static const duckdb_type parameters[] = {DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_BLOB};
  return register_table_function(connection, instance, &load_function) &&
         register_table_function(connection, instance, &list_function) &&
         register_scalar(connection, instance, "lanebloom_register", parameters, 2,
                         register_rows) &&
         register_scalar(connection, instance, "lanebloom_unload", parameters, 1, unload_rows);
}
