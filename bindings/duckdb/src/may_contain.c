/* lanebloom_may_contain(filter, key): a scalar function in SQL that returns whether the key may be
 * in the filter. The filter is given by its name or as a BLOB. A BLOB is meant for a filter that
 * only a few rows share.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extension.h"

/* The largest filter that may be given as a BLOB. For each vector of rows, the BLOB is verified
 * again, and DuckDB often copies it. So larger filters must have a name. */
enum { MAX_BLOB_NBYTES = 64 << 10 };

struct function {
  struct instance *instance;
  const struct key_type *type;
  bool is_by_name;
};

static void function_free(void *function)
{
  instance_release(((struct function *)function)->instance);
  free(function);
}

/* ---- Filters ---- */

/* The filter of some rows. One member is set: `named` if the filter has a name, and `parsed` if it
 * is given as a BLOB. */
struct opened {
  struct named_filter *named;
  lanebloom_filter *parsed;
};

static void opened_end(struct opened *opened)
{
  named_filter_release(opened->named);
  lanebloom_filter_free(opened->parsed);
}

static const lanebloom_filter *find_by_name(const struct function *function, lanebloom_slice name,
                                            struct opened *opened, problem_text problem)
{
  opened->named = instance_take(function->instance, name);
  if (opened->named)
    return opened->named->filter;
  const int n = name.size < 100 ? (int)name.size : 100;
  snprintf(problem, PROBLEM_NBYTES,
           "no filter is named '%.*s'; name one: CALL lanebloom_load('%.*s', FILE), or SELECT "
           "lanebloom_register('%.*s', BLOB)",
           n, (const char *)name.data, n, (const char *)name.data, n, (const char *)name.data);
  return NULL;
}

static const lanebloom_filter *parse_blob(lanebloom_slice blob, struct opened *opened,
                                          problem_text problem)
{
  if (blob.size > MAX_BLOB_NBYTES) {
    snprintf(problem, PROBLEM_NBYTES,
             "expected a filter of at most %d bytes in a row, found %zu; name it once: SELECT "
             "lanebloom_register('seen', BLOB), then call lanebloom_may_contain('seen', key)",
             MAX_BLOB_NBYTES, blob.size);
    return NULL;
  }
  problem_text why;
  const lanebloom_status status =
      lanebloom_filter_parse(blob.data, blob.size, &opened->parsed, why, sizeof why);
  if (status)
    explain_blob(problem, status, why);
  return opened->parsed;
}

/* Screens the keys of n rows, which have the same filter. rows: NULL if these are the rows from
 * `first` on; then their keys may be read in place. */
static bool screen(const struct function *function, lanebloom_slice filter_bytes,
                   const struct vector *keys, idx_t first, const uint16_t *rows, size_t n,
                   bool *results, problem_text problem)
{
  struct key_room room;
  struct opened opened = {0};
  const lanebloom_filter *filter = function->is_by_name
                                       ? find_by_name(function, filter_bytes, &opened, problem)
                                       : parse_blob(filter_bytes, &opened, problem);
  const bool is_right =
      filter && check_form(function->type, lanebloom_filter_key_form(filter), problem);
  if (is_right && !rows) {
    const lanebloom_keys batch = keys_of(function->type, keys, first, n, &room);
    lanebloom_filter_mask(filter, &batch, (uint8_t *)results + first);
  } else if (is_right) {
    uint16_t valid[BATCH_NROWS];
    uint8_t mask[BATCH_NROWS];
    size_t nvalid = 0;
    for (size_t i = 0; i < n; i++)
      if (vector_has(keys, rows[i]))
        valid[nvalid++] = rows[i];
    const lanebloom_keys batch = keys_of_rows(function->type, keys, valid, nvalid, &room);
    lanebloom_filter_mask(filter, &batch, mask);
    for (size_t i = 0; i < nvalid; i++)
      results[valid[i]] = mask[i];
  }
  opened_end(&opened);
  return is_right;
}

/* ---- Rows that have the same filter ---- */

static bool is_same(const struct vector *vector, idx_t a, idx_t b)
{
  if (!vector_has(vector, a) || !vector_has(vector, b))
    return vector_has(vector, a) == vector_has(vector, b);
  const duckdb_string_t *strings = vector->data;
  if (memcmp(&strings[a], &strings[b], 8) != 0) /* the size and the first 4 bytes */
    return false;
  if (memcmp(&strings[a], &strings[b], sizeof *strings) == 0)
    return true;
  const lanebloom_slice x = vector_slice(vector, a), y = vector_slice(vector, b);
  return memcmp(x.data, y.data, x.size) == 0;
}

/* Returns the end of the run of rows, from `first` on, that have the same filter. If the filter is
 * a constant, DuckDB passes rows that are all equal. One memcmp(), which compares every row with
 * the next row, recognises this case. */
static idx_t run_end(const struct vector *filters, idx_t first, idx_t n)
{
  const duckdb_string_t *strings = filters->data;
  if (!filters->valid &&
      memcmp(&strings[first], &strings[first + 1], (n - first - 1) * sizeof *strings) == 0)
    return n;
  idx_t end = first + 1;
  while (end < n && is_same(filters, first, end))
    end++;
  return end;
}

/* If runs have on average at least this many rows, each run is screened in place. Otherwise the
 * runs that have the same filter are joined. Times per row in ns (Zen 3, 8 filters in turn):
 *
 *   rows of a run     1    2    3    4    8
 *   in place        143   96   74   62   39
 *   joined           60   48   45 */
enum { MIN_RUN_NROWS = 6 };

/* The rows of a vector whose filter is not NULL, in groups that have the same filter. The groups
 * are in the order of their first rows, and so are the rows of each group. */
struct groups {
  size_t n;
  bool are_runs;                /* `rows` is not filled: group i is the rows firsts[i] .. ends[i] */
  uint16_t firsts[BATCH_NROWS]; /* the first row of each group */
  uint16_t ends[BATCH_NROWS];   /* the end of each group in `rows` */
  uint16_t rows[BATCH_NROWS];
};

/* Finds the runs of rows whose filter is not NULL. Returns their number. */
static size_t find_runs(const struct vector *filters, idx_t n, uint16_t *firsts, uint16_t *ends)
{
  size_t nruns = 0;
  for (idx_t first = 0, end; first < n; first = end) {
    end = run_end(filters, first, n);
    if (!vector_has(filters, first))
      continue;
    firsts[nruns] = (uint16_t)first;
    ends[nruns++] = (uint16_t)end;
  }
  return nruns;
}

/* Joins runs that have the same filter, with a hash table. The function is not inlined, because its
 * stack is seldom needed. */
static __attribute__((noinline)) lanebloom_status join_runs(const struct vector *filters,
                                                            struct groups *groups)
{
  enum { NSLOTS = 2 * BATCH_NROWS };
  uint16_t slots[NSLOTS] = {0}; /* the number of a group plus 1, or 0 */
  uint16_t firsts[BATCH_NROWS], ends[BATCH_NROWS], group_of[BATCH_NROWS]; /* of runs */
  uint64_t hashes[BATCH_NROWS];
  struct key_room room;
  const size_t nruns = groups->n;
  memcpy(firsts, groups->firsts, sizeof firsts);
  memcpy(ends, groups->ends, sizeof ends);
  const lanebloom_keys keys = keys_of_rows(key_types, filters, firsts, nruns, &room);
  const lanebloom_status status = lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, &keys, hashes);
  groups->n = 0;
  for (size_t i = 0; i < nruns && !status; i++) {
    size_t at = hashes[i] % NSLOTS;
    while (slots[at] && !is_same(filters, groups->firsts[slots[at] - 1], firsts[i]))
      at = (at + 1) % NSLOTS;
    if (!slots[at]) {
      groups->firsts[groups->n] = firsts[i];
      groups->ends[groups->n] = 0;
      slots[at] = (uint16_t)++groups->n;
    }
    group_of[i] = (uint16_t)(slots[at] - 1);
    groups->ends[group_of[i]] += (uint16_t)(ends[i] - firsts[i]);
  }
  uint16_t nrows = 0; /* `ends` has the sizes of groups; they become where the groups begin */
  for (size_t i = 0; i < groups->n; i++) {
    const uint16_t size = groups->ends[i];
    groups->ends[i] = nrows;
    nrows += size;
  }
  for (size_t i = 0; i < nruns && !status; i++) {
    uint16_t *end = &groups->ends[group_of[i]], *rows = groups->rows + *end;
    *end += (uint16_t)(ends[i] - firsts[i]);
    for (uint16_t row = firsts[i]; row < ends[i]; row++)
      *rows++ = row;
  }
  return status;
}

static lanebloom_status find_groups(const struct vector *filters, idx_t n, struct groups *groups)
{
  groups->n = find_runs(filters, n, groups->firsts, groups->ends);
  groups->are_runs = groups->n * MIN_RUN_NROWS <= n;
  return groups->are_runs ? LANEBLOOM_OK : join_runs(filters, groups);
}

/* ---- The function ---- */

static void run(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
  const struct function *function = duckdb_scalar_function_get_extra_info(info);
  const idx_t n = duckdb_data_chunk_get_size(input);
  const struct vector filters = vector_of(input, 0), keys = vector_of(input, 1);
  bool *results = duckdb_vector_get_data(output);
  struct groups groups;
  problem_text problem = TOO_MANY_ROWS_TEXT;
  lanebloom_status status = n > BATCH_NROWS ? LANEBLOOM_ERR_LIMIT : LANEBLOOM_OK;
  if (!status)
    status = find_groups(&filters, n, &groups);
  for (size_t i = 0; !status && i < groups.n; i++) {
    const idx_t first = groups.firsts[i];
    const size_t begin = groups.are_runs ? first : i > 0 ? groups.ends[i - 1] : 0;
    if (!screen(function, vector_slice(&filters, first), &keys, first,
                groups.are_runs ? NULL : groups.rows + begin, groups.ends[i] - begin, results,
                problem))
      status = LANEBLOOM_ERR_ARGUMENT;
  }
  if (status) {
    refuse(info, "lanebloom_may_contain", status, problem);
    return;
  }
  if (!filters.valid && !keys.valid)
    return;
  for (idx_t row = 0; row < n; row++)
    if (!vector_has(&filters, row) || !vector_has(&keys, row))
      vector_set_null(output, row);
}

static bool add_function(duckdb_scalar_function_set set, struct instance *instance,
                         const struct key_type *type, bool is_by_name)
{
  struct function *function = malloc(sizeof *function);
  if (!function)
    return false;
  *function = (struct function){instance_share(instance), type, is_by_name};
  duckdb_logical_type filter =
      duckdb_create_logical_type(is_by_name ? DUCKDB_TYPE_VARCHAR : DUCKDB_TYPE_BLOB);
  duckdb_logical_type key = duckdb_create_logical_type(type->type);
  duckdb_logical_type boolean = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
  duckdb_scalar_function made = duckdb_create_scalar_function();
  duckdb_scalar_function_set_name(made, "lanebloom_may_contain");
  duckdb_scalar_function_add_parameter(made, filter);
  duckdb_scalar_function_add_parameter(made, key);
  duckdb_scalar_function_set_return_type(made, boolean);
  /* A name can be given to another filter, or be missing. So DuckDB must not call the function
   * while it plans, once for all rows, and must not call it for rows that another condition
   * excludes. */
  duckdb_scalar_function_set_volatile(made);
  duckdb_scalar_function_set_extra_info(made, function, function_free);
  duckdb_scalar_function_set_function(made, run);
  const bool is_added = duckdb_add_scalar_function_to_set(set, made) == DuckDBSuccess;
  duckdb_destroy_scalar_function(&made);
  duckdb_destroy_logical_type(&boolean);
  duckdb_destroy_logical_type(&key);
  duckdb_destroy_logical_type(&filter);
  return is_added;
}

bool register_may_contain(duckdb_connection connection, struct instance *instance)
{
  duckdb_scalar_function_set set = duckdb_create_scalar_function_set("lanebloom_may_contain");
  bool is_done = true;
  for (size_t i = 0; i < nkey_types && is_done; i++)
    is_done = add_function(set, instance, &key_types[i], true) &&
              add_function(set, instance, &key_types[i], false);
  is_done = is_done && duckdb_register_scalar_function_set(connection, set) == DuckDBSuccess;
  duckdb_destroy_scalar_function_set(&set);
  return is_done;
}
