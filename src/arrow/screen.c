/* Screens the rows of Arrow arrays.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../parts.h"
#include "keys.h"

struct query {
  const lanebloom_filter *filter;
  struct array array;
  uint8_t *hits_of_values; /* one bit per value of the dictionary; NULL if rows are screened */
};

/* Clears the hits of rows that are null in this column. */
static void clear_nulls(const struct column *column, size_t first, size_t n, uint8_t *hits)
{
  const size_t at = column->first + first, shift = at % 8;
  const uint8_t *valid = column->valid + at / 8;
  const size_t nvalid = hits_nbytes(shift + n);
  for (size_t i = 0; i < hits_nbytes(n); i++) {
    const unsigned next = shift > 0 && i + 1 < nvalid ? valid[i + 1] : 0;
    hits[i] &= (uint8_t)(valid[i] >> shift | next << (8 - shift));
  }
}

static void screen_blocks(const lanebloom_filter *filter, const struct array *array, size_t first,
                          size_t n, uint8_t *hits)
{
  struct block block;
  for (size_t done = 0; done < n; done += BLOCK_NROWS) {
    const lanebloom_keys keys =
        lanebloom_arrow_block_keys(array, first + done, block_nrows(n - done), &block);
    lanebloom_filter_screen(filter, &keys, hits + done / 8);
  }
}

static void look_up(const struct query *query, size_t first, size_t n, uint8_t *hits)
{
  const struct column *rows = &query->array.rows;
  memset(hits, 0, hits_nbytes(n));
  for (size_t i = 0; i < n; i++) {
    const uint64_t value = integer_at(rows, first + i); /* may be any number if the row is null */
    if (value < query->array.values.n && hits_has_bit(query->hits_of_values, value))
      hits_set_bit(hits, i);
  }
}

static void screen_rows(const void *of, size_t first, size_t n, uint8_t *hits)
{
  const struct query *query = of;
  const struct array *array = &query->array;
  if (query->hits_of_values) {
    look_up(query, first, n, hits);
  } else if (is_direct(array)) {
    const lanebloom_keys keys = lanebloom_arrow_direct_keys(&array->rows, first, n);
    lanebloom_filter_screen(query->filter, &keys, hits);
  } else {
    screen_blocks(query->filter, array, first, n, hits);
  }
  if (array->rows.valid)
    clear_nulls(&array->rows, first, n, hits);
  for (size_t i = 0; !query->hits_of_values && array->values.valid && i < n; i++)
    if (hits_has_bit(hits, i) && value_row(array, first + i) == NO_ROW)
      hits_clear_bit(hits, i);
}

/* Screens all rows of the array, and returns how many may be in the filter. The function is not
 * inlined, because each copy of it would need stack for the hits of a part. */
static __attribute__((noinline)) size_t run_query(const struct query *query, enum answer_form form,
                                                  void *to)
{
  return screen_in_parts(screen_rows, query, query->array.rows.n, form, to);
}

/* Screens each value of a dictionary once, so that screening a row is a look-up. */
static lanebloom_status screen_values(struct query *query, const struct problem *problem)
{
  struct query values = {.filter = query->filter, .array = {.rows = query->array.values}};
  const size_t n = values.array.rows.n;
  query->hits_of_values = malloc(hits_nbytes(n) + 1);
  if (!query->hits_of_values)
    return problem_memory(problem, hits_nbytes(n) + 1);
  run_query(&values, AS_BITMAP, query->hits_of_values);
  return LANEBLOOM_OK;
}

/* Begins a query. On success the caller must call end_query(). */
static lanebloom_status begin_query(const lanebloom_filter *filter,
                                    const struct ArrowSchema *schema,
                                    const struct ArrowArray *arrow, struct query *query,
                                    const struct problem *problem)
{
  *query = (struct query){.filter = filter};
  struct array *array = &query->array;
  lanebloom_status status = lanebloom_arrow_open(schema, arrow, array, problem);
  if (!status)
    status = lanebloom_arrow_check_form(&values_of(array)->type, lanebloom_filter_key_form(filter),
                                        "filter", problem);
  if (!status && array->has_dictionary && array->values.n <= array->rows.n)
    status = screen_values(query, problem);
  return status;
}

static void end_query(struct query *query)
{
  free(query->hits_of_values);
}

static lanebloom_status screen_arrow(const lanebloom_filter *filter,
                                     const struct ArrowSchema *schema,
                                     const struct ArrowArray *arrow, size_t max_nrows,
                                     enum answer_form form, void *to, size_t *count,
                                     const struct problem *problem)
{
  struct query query;
  lanebloom_status status = begin_query(filter, schema, arrow, &query, problem);
  if (status)
    return status;
  if (query.array.rows.n > max_nrows)
    status = problem_set(problem, LANEBLOOM_ERR_LIMIT,
                         "Arrow array: expected at most %zu rows, found %zu", max_nrows,
                         query.array.rows.n);
  else
    *count = run_query(&query, form, to);
  end_query(&query);
  return status;
}

lanebloom_status lanebloom_filter_screen_arrow(const lanebloom_filter *filter,
                                               const struct ArrowSchema *schema,
                                               const struct ArrowArray *array, uint8_t *bitmap,
                                               size_t *count, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  return screen_arrow(filter, schema, array, SIZE_MAX, AS_BITMAP, bitmap, count, &problem);
}

lanebloom_status lanebloom_filter_mask_arrow(const lanebloom_filter *filter,
                                             const struct ArrowSchema *schema,
                                             const struct ArrowArray *array, uint8_t *mask,
                                             size_t *count, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  return screen_arrow(filter, schema, array, SIZE_MAX, AS_MASK, mask, count, &problem);
}

lanebloom_status lanebloom_filter_select_arrow(const lanebloom_filter *filter,
                                               const struct ArrowSchema *schema,
                                               const struct ArrowArray *array, uint32_t *indices,
                                               size_t *count, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  return screen_arrow(filter, schema, array, UINT32_MAX, AS_INDICES, indices, count, &problem);
}

/* ---- Results as an array ---- */

/* The memory that the array of results owns: its list of buffers, followed by the bits. */
struct booleans {
  const void *buffers[2];
  uint8_t bits[];
};

static void release_booleans(struct ArrowArray *array)
{
  free(array->private_data);
  array->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
  free(schema->private_data); /* the name */
  schema->release = NULL;
}

lanebloom_status
lanebloom_filter_booleans_arrow(const lanebloom_filter *filter, const struct ArrowSchema *schema,
                                const struct ArrowArray *array, struct ArrowSchema *booleans_schema,
                                struct ArrowArray *booleans, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  *booleans_schema = (struct ArrowSchema){0};
  *booleans = (struct ArrowArray){0};
  struct query query;
  const lanebloom_status status = begin_query(filter, schema, array, &query, &problem);
  if (status)
    return status;
  const size_t nbytes = sizeof(struct booleans) + hits_nbytes(query.array.rows.n) + 1;
  struct booleans *made = malloc(nbytes);
  char *name = strdup(schema->name ? schema->name : "");
  if (made && name)
    run_query(&query, AS_BITMAP, made->bits);
  end_query(&query);
  if (!made || !name) {
    free(made);
    free(name);
    return problem_memory(&problem, nbytes);
  }
  made->buffers[0] = NULL;
  made->buffers[1] = made->bits;
  *booleans = (struct ArrowArray){.length = array->length,
                                  .n_buffers = 2,
                                  .buffers = made->buffers,
                                  .release = release_booleans,
                                  .private_data = made};
  *booleans_schema = (struct ArrowSchema){
      .format = "b", .name = name, .release = release_schema, .private_data = name};
  return LANEBLOOM_OK;
}
