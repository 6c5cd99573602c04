/* lanebloom_build(key [, bits_per_key [, expected]]): an aggregate function in SQL. For each group
 * of rows, it builds a filter of the keys and returns the bytes of its container as a BLOB.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extension.h"

static const lanebloom_format FORMAT = LANEBLOOM_ROCKSDB_LOCAL;
static const double BITS_PER_KEY = 10;
enum { CONTAINER_HEADER_NBYTES = 64 };
static const uint64_t MAX_BLOB_NBYTES = UINT32_MAX;

struct function {
  const struct key_type *type;
  int nparameters; /* parameters of the SQL function: 1 to 3 */
};

/* The parameters of a group's filter. */
struct settings {
  double bits_per_key;
  uint64_t expected; /* 0 if it is not given */
};

struct group {
  lanebloom_builder *builder; /* NULL until the group has a row */
  struct settings settings;
};

static bool report(duckdb_function_info info, lanebloom_status status, const char *why)
{
  problem_text text;
  explain(text, "lanebloom_build", status, why);
  duckdb_aggregate_function_set_error(info, text);
  return false;
}

/* Checks that rows of one group have the same settings. */
static bool check_settings(duckdb_function_info info, const struct settings *expected,
                           const struct settings *found)
{
  problem_text why;
  if (expected->bits_per_key != found->bits_per_key)
    snprintf(why, sizeof why,
             "bits_per_key: expected %.17g, as in another row of the group, found %.17g",
             expected->bits_per_key, found->bits_per_key);
  else if (expected->expected != found->expected)
    snprintf(why, sizeof why,
             "expected: expected %" PRIu64 ", as in another row of the group (0 stands for NULL), "
             "found %" PRIu64,
             expected->expected, found->expected);
  else
    return true;
  return report(info, LANEBLOOM_ERR_ARGUMENT, why);
}

/* ---- Groups ---- */

static idx_t group_size(duckdb_function_info info)
{
  (void)info;
  return sizeof(struct group);
}

static void group_init(duckdb_function_info info, duckdb_aggregate_state state)
{
  (void)info;
  *(struct group *)state = (struct group){0};
}

static void groups_end(duckdb_aggregate_state *states, idx_t n)
{
  for (idx_t i = 0; i < n; i++) {
    struct group *group = (struct group *)states[i];
    lanebloom_builder_free(group->builder);
    group->builder = NULL;
  }
}

static const char TOO_LARGE[] = "expected a filter that fits into a BLOB of 4 GiB; found too many "
                                "keys, or too many bits per key";

static bool group_begin(duckdb_function_info info, const struct key_type *type,
                        const struct settings *settings, struct group *group)
{
  problem_text why;
  uint64_t nbytes;
  unsigned nprobes;
  lanebloom_status status =
      lanebloom_plan_size(FORMAT, settings->bits_per_key, settings->expected, &nbytes, &nprobes);
  if (status == LANEBLOOM_ERR_ARGUMENT || settings->bits_per_key > 100) {
    snprintf(why, sizeof why, "bits_per_key: expected 0.5 to 100, found %g",
             settings->bits_per_key);
    return report(info, status, why);
  }
  if (status == LANEBLOOM_ERR_LIMIT ||
      (!status && nbytes + CONTAINER_HEADER_NBYTES > MAX_BLOB_NBYTES))
    return report(info, LANEBLOOM_ERR_LIMIT, TOO_LARGE);
  if (status)
    return report(info, status, NULL);
  status =
      lanebloom_builder_create(FORMAT, settings->bits_per_key, settings->expected, &group->builder);
  if (!status)
    status = lanebloom_builder_set_key_form(group->builder,
                                            (lanebloom_key_form){.encoding = type->encoding});
  group->settings = *settings;
  return !status || report(info, status, NULL);
}

/* ---- Rows ---- */

/* The columns of a chunk. A column that the call does not give has `data` NULL. */
struct input {
  struct vector keys, bits, expected;
};

static struct settings settings_of(const struct input *input, idx_t row)
{
  const struct vector *bits = &input->bits, *expected = &input->expected;
  return (struct settings){
      .bits_per_key =
          bits->data && vector_has(bits, row) ? ((const double *)bits->data)[row] : BITS_PER_KEY,
      .expected =
          expected->data && vector_has(expected, row) ? ((const uint64_t *)expected->data)[row] : 0,
  };
}

/* Begins the group of a row or, if the group has rows, checks that this row has the same
 * settings. */
static bool check_row(duckdb_function_info info, const struct key_type *type,
                      const struct input *input, idx_t row, struct group *group)
{
  const struct settings settings = settings_of(input, row);
  if (input->expected.data && vector_has(&input->expected, row) &&
      (settings.expected == 0 || settings.expected > INT64_MAX)) {
    problem_text why;
    snprintf(why, sizeof why, "expected: expected at least 1 key, found %" PRId64,
             (int64_t)settings.expected);
    return report(info, LANEBLOOM_ERR_ARGUMENT, why);
  }
  if (!group->builder)
    return group_begin(info, type, &settings, group);
  return check_settings(info, &group->settings, &settings);
}

static bool add(duckdb_function_info info, const struct key_type *type, const struct vector *keys,
                const uint16_t *rows, size_t n, struct group *group)
{
  struct key_room room;
  const lanebloom_keys batch = keys_of_rows(type, keys, rows, n, &room);
  const lanebloom_status status = lanebloom_builder_add(group->builder, &batch);
  return !status || report(info, status, NULL);
}

/* A row of a batch, and its group. */
struct group_row {
  struct group *group;
  uint16_t row;
};

static int by_group(const void *a, const void *b)
{
  const struct group_row *x = a, *y = b;
  if (x->group != y->group)
    return (uintptr_t)x->group < (uintptr_t)y->group ? -1 : 1;
  return x->row - y->row;
}

/* Adds the keys of rows to their groups. Consecutive rows may be in different groups, so the rows
 * are sorted by group first. Each group gets its keys in the order of the rows. */
static bool add_to_groups(duckdb_function_info info, const struct key_type *type,
                          const struct vector *keys, duckdb_aggregate_state *states, size_t n)
{
  struct group_row pairs[BATCH_NROWS];
  uint16_t rows[BATCH_NROWS];
  size_t npairs = 0;
  bool is_sorted = true;
  for (size_t row = 0; row < n; row++) {
    if (!vector_has(keys, row))
      continue;
    pairs[npairs] = (struct group_row){(struct group *)states[row], (uint16_t)row};
    is_sorted = is_sorted && (npairs == 0 || pairs[npairs - 1].group == pairs[npairs].group);
    npairs++;
  }
  if (!is_sorted)
    qsort(pairs, npairs, sizeof *pairs, by_group);
  for (size_t first = 0, end; first < npairs; first = end) {
    for (end = first; end < npairs && pairs[end].group == pairs[first].group; end++)
      rows[end - first] = pairs[end].row;
    if (!add(info, type, keys, rows, end - first, pairs[first].group))
      return false;
  }
  return true;
}

static void update(duckdb_function_info info, duckdb_data_chunk chunk,
                   duckdb_aggregate_state *states)
{
  const struct function *function = duckdb_aggregate_function_get_extra_info(info);
  const idx_t n = duckdb_data_chunk_get_size(chunk);
  struct input input = {.keys = vector_of(chunk, 0)};
  if (function->nparameters > 1)
    input.bits = vector_of(chunk, 1);
  if (function->nparameters > 2)
    input.expected = vector_of(chunk, 2);
  if (n > BATCH_NROWS) {
    report(info, LANEBLOOM_ERR_LIMIT, TOO_MANY_ROWS_TEXT);
    return;
  }
  for (idx_t row = 0; row < n; row++)
    if (!check_row(info, function->type, &input, row, (struct group *)states[row]))
      return;
  add_to_groups(info, function->type, &input.keys, states, n);
}

/* ---- Results ---- */

/* Adds the keys of group `from` to group `into`, which may have no row yet. `from` must not change,
 * because window functions combine one group many times. */
static bool merge(duckdb_function_info info, const struct key_type *type, const struct group *from,
                  struct group *into)
{
  if (!into->builder && !group_begin(info, type, &from->settings, into))
    return false;
  if (!check_settings(info, &from->settings, &into->settings))
    return false;
  problem_text why;
  const lanebloom_status status =
      lanebloom_builder_merge(into->builder, from->builder, why, sizeof why);
  return !status || report(info, status, why);
}

static void combine(duckdb_function_info info, duckdb_aggregate_state *sources,
                    duckdb_aggregate_state *targets, idx_t n)
{
  const struct function *function = duckdb_aggregate_function_get_extra_info(info);
  for (idx_t i = 0; i < n; i++) {
    const struct group *from = (const struct group *)sources[i];
    if (from->builder && !merge(info, function->type, from, (struct group *)targets[i]))
      return;
  }
}

/* Makes a filter of a group. The group must not change, because window functions make a filter of
 * it for each row. */
static lanebloom_filter *make_filter(duckdb_function_info info, const struct key_type *type,
                                     const struct group *group)
{
  struct group copy = {0};
  lanebloom_filter *filter = NULL;
  lanebloom_status status = LANEBLOOM_OK;
  if (group->settings.expected == 0) { /* uses the group's hashes without copying them */
    status = lanebloom_builder_part(group->builder, 0, 1, &copy.builder);
  } else if (!merge(info, type, group, &copy)) {
    lanebloom_builder_free(copy.builder);
    return NULL;
  }
  if (!status)
    status = lanebloom_builder_finish(copy.builder, &filter);
  lanebloom_builder_free(copy.builder);
  if (status)
    report(info, status, status == LANEBLOOM_ERR_LIMIT ? TOO_LARGE : NULL);
  return filter;
}

static bool assign(duckdb_function_info info, const lanebloom_filter *filter, duckdb_vector result,
                   idx_t row)
{
  size_t nbytes;
  lanebloom_status status = lanebloom_filter_write(filter, NULL, 0, &nbytes); /* finds the size */
  if (nbytes > MAX_BLOB_NBYTES)
    return report(info, LANEBLOOM_ERR_LIMIT, TOO_LARGE);
  void *bytes = malloc(nbytes);
  if (!bytes)
    return report(info, LANEBLOOM_ERR_MEMORY, NULL);
  status = lanebloom_filter_write(filter, bytes, nbytes, &nbytes);
  if (!status)
    duckdb_vector_assign_string_element_len(result, row, bytes, nbytes);
  free(bytes);
  return !status || report(info, status, NULL);
}

static void finalize(duckdb_function_info info, duckdb_aggregate_state *states,
                     duckdb_vector result, idx_t n, idx_t first)
{
  const struct settings no_rows = {.bits_per_key = BITS_PER_KEY};
  const struct function *function = duckdb_aggregate_function_get_extra_info(info);
  for (idx_t i = 0; i < n; i++) {
    struct group *group = (struct group *)states[i];
    if (!group->builder && !group_begin(info, function->type, &no_rows, group))
      return;
    lanebloom_filter *filter = make_filter(info, function->type, group);
    if (!filter)
      return;
    const bool is_assigned = assign(info, filter, result, first + i);
    lanebloom_filter_free(filter);
    if (!is_assigned)
      return;
  }
}

/* ---- Registration ---- */

static bool add_function(duckdb_aggregate_function_set set, const struct key_type *type,
                         int nparameters)
{
  static const duckdb_type more[] = {DUCKDB_TYPE_DOUBLE, DUCKDB_TYPE_BIGINT};
  struct function *function = malloc(sizeof *function);
  if (!function)
    return false;
  *function = (struct function){type, nparameters};
  duckdb_aggregate_function made = duckdb_create_aggregate_function();
  duckdb_aggregate_function_set_name(made, "lanebloom_build");
  for (int i = 0; i < nparameters; i++) {
    duckdb_logical_type parameter = duckdb_create_logical_type(i ? more[i - 1] : type->type);
    duckdb_aggregate_function_add_parameter(made, parameter);
    duckdb_destroy_logical_type(&parameter);
  }
  duckdb_logical_type blob = duckdb_create_logical_type(DUCKDB_TYPE_BLOB);
  duckdb_aggregate_function_set_return_type(made, blob);
  duckdb_destroy_logical_type(&blob);
  duckdb_aggregate_function_set_extra_info(made, function, free);
  duckdb_aggregate_function_set_functions(made, group_size, group_init, update, combine, finalize);
  duckdb_aggregate_function_set_destructor(made, groups_end);
  const bool is_added = duckdb_add_aggregate_function_to_set(set, made) == DuckDBSuccess;
  duckdb_destroy_aggregate_function(&made);
  return is_added;
}

bool register_build(duckdb_connection connection)
{
  duckdb_aggregate_function_set set = duckdb_create_aggregate_function_set("lanebloom_build");
  bool is_done = true;
  for (size_t i = 0; i < nkey_types && is_done; i++)
    for (int nparameters = 1; nparameters <= 3 && is_done; nparameters++)
      is_done = add_function(set, &key_types[i], nparameters);
  is_done = is_done && duckdb_register_aggregate_function_set(connection, set) == DuckDBSuccess;
  duckdb_destroy_aggregate_function_set(&set);
  return is_done;
}
