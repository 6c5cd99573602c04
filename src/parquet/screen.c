/* Screens a column chunk: finds which of the caller's keys the chunk may have. Keys are excluded by
 * the chunk's counts of values and nulls, then by its bounds, then by its filter.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../hits.h"
#include "filter.h"
#include "keys.h"

enum {
  /* If a filter has at least this many bytes per key, only one block of the filter is read for each
   * key. With more keys, reading the whole filter is faster. Times of screening 160 filters of 256
   * KiB in 20 files with one thread, in ms:
   *
   *                            with page cache   without page cache
   *   10 keys, by blocks             5.2                 60
   *   10 keys, whole filters        13.2                130
   *   40 keys, by blocks             9.6                190
   *   40 keys, whole filters        12.3                140 */
  BLOCK_SAVES_NBYTES = 16 << 10,
  /* The number of keys that are screened at once, so that their results need little memory. */
  BATCH_NKEYS = 8192,
};

/* The results of a call: which keys may be in the chunk, and how many. */
struct answers {
  const lanebloom_parquet_keys *keys;
  uint8_t *bitmap; /* in the caller's order of keys; NULL if keys are only counted */
  size_t count;
};

/* Records that the i-th key, in the order of the type, may be in the chunk. */
static void set_key(struct answers *answers, size_t i)
{
  const size_t at = answers->keys->order[i];
  answers->count++;
  if (answers->bitmap)
    hits_set_bit(answers->bitmap, at);
}

static void set_range(struct answers *answers, size_t first, size_t end)
{
  for (size_t i = first; i < end; i++)
    set_key(answers, i);
}

static void clear(struct answers *answers)
{
  answers->count = 0;
  if (answers->bitmap)
    memset(answers->bitmap, 0, hits_nbytes(answers->keys->n));
}

/* ---- Bounds ---- */

/* Returns the position, in the order of the type, of the first key that is not below the value, or,
 * if `above` is true, of the first key that is above the value. Keys that are NaN are left out. */
static size_t find_key(const lanebloom_parquet_keys *keys, lanebloom_slice value, bool above)
{
  size_t first = 0, end = keys->first_nan;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    const int order =
        lanebloom_value_compare(&keys->type, keys_stored(keys, keys->order[middle]), value);
    if (order < 0 || (above && order == 0))
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* ---- Filters ---- */

/* Queries a filter for n keys from the i-th on, in each of their encodings. Returns 0 if the filter
 * has none of the keys, and otherwise a number above 0. */
static size_t screen_batch(const lanebloom_filter *filter, const lanebloom_parquet_keys *keys,
                           size_t i, size_t n, uint8_t *hits)
{
  uint8_t others[BATCH_NKEYS / 8];
  const size_t nhits = lanebloom_filter_screen_hashes(filter, keys->hashes + i, n, hits);
  if (!keys->other_hashes)
    return nhits;
  const size_t nothers = lanebloom_filter_screen_hashes(filter, keys->other_hashes + i, n, others);
  hits_add(hits, others, hits_nbytes(n));
  return nhits + nothers;
}

/* Queries a filter for keys [first, end), by the keys' own hashes. */
static void screen_range(const lanebloom_filter *filter, size_t first, size_t end,
                         struct answers *answers)
{
  uint8_t hits[BATCH_NKEYS / 8];
  for (size_t i = first; i < end; i += BATCH_NKEYS) {
    const size_t n = end - i < BATCH_NKEYS ? end - i : BATCH_NKEYS;
    if (screen_batch(filter, answers->keys, i, n, hits) == 0)
      continue;
    for (size_t byte = 0; byte < hits_nbytes(n); byte++)
      for (unsigned left = hits[byte]; left > 0; left &= left - 1)
        set_key(answers, i + 8 * byte + (size_t)__builtin_ctz(left));
  }
}

/* Queries a filter for keys [first, end), which include zeros. A zero may be in the filter with
 * either sign, so the filter is queried for both zeros. */
static void screen_around_zeros(const lanebloom_filter *filter, size_t first, size_t end,
                                struct answers *answers)
{
  const lanebloom_parquet_keys *keys = answers->keys;
  screen_range(filter, first, keys->first_zero, answers);
  if (lanebloom_filter_screen_hashes(filter, keys->zero_hashes, 2, NULL) > 0)
    set_range(answers, keys->first_zero, keys->end_zero);
  screen_range(filter, keys->end_zero, end, answers);
}

/* Queries a filter for all keys at once, if keys [first, end) are almost all of them, and drops the
 * hits of keys that are outside. Returns false if there are few keys, or if nobody wants a
 * bitmap. */
static bool screen_all(const lanebloom_filter *filter, size_t first, size_t end,
                       struct answers *answers)
{
  const lanebloom_parquet_keys *keys = answers->keys;
  const size_t n = keys->n;
  if (n <= BATCH_NKEYS || end - first < n - n / 16 || keys->other_hashes || !answers->bitmap)
    return false;
  lanebloom_filter_screen_batch(filter, keys->batch, answers->bitmap);
  for (size_t i = 0; i < first; i++)
    hits_clear_bit(answers->bitmap, keys->order[i]);
  for (size_t i = end; i < keys->first_nan; i++)
    hits_clear_bit(answers->bitmap, keys->order[i]);
  for (size_t i = keys->first_nan; i < n; i++)
    hits_set_bit(answers->bitmap, keys->order[i]);
  answers->count = hits_count(answers->bitmap, hits_nbytes(n));
  return true;
}

static bool have_zeros(const lanebloom_parquet_keys *keys, size_t first, size_t end)
{
  return keys->first_zero < keys->end_zero && first <= keys->first_zero && keys->end_zero <= end;
}

static lanebloom_status screen_whole(const struct lanebloom_parquet *file,
                                     const struct filter_place *place, size_t first, size_t end,
                                     struct answers *answers, const struct problem *problem)
{
  struct filter_bits bits;
  lanebloom_filter *filter;
  lanebloom_status status = lanebloom_bits_read(file, place, &bits, problem);
  if (status)
    return status;
  status = lanebloom_filter_parse_raw(LANEBLOOM_PARQUET, bits.bytes, place->nbytes, NULL, &filter,
                                      problem->text, problem->size);
  if (!status && have_zeros(answers->keys, first, end))
    screen_around_zeros(filter, first, end, answers);
  else if (!status && !screen_all(filter, first, end, answers))
    screen_range(filter, first, end, answers);
  lanebloom_filter_free(filter);
  filter_bits_free(&bits);
  return status;
}

/* Queries a filter for one key, and reads only the block that the key probes. The block can be
 * queried as if it were a filter of one block, because a key's bits in the block do not depend on
 * the number of blocks. */
static lanebloom_status screen_block(const struct lanebloom_parquet *file,
                                     const struct filter_place *place, size_t i,
                                     struct answers *answers, const struct problem *problem)
{
  const uint32_t nblocks = (uint32_t)(place->nbytes / PARQUET_BLOCK_NBYTES);
  const size_t at = parquet_block(answers->keys->hashes[i], nblocks);
  uint8_t block[PARQUET_BLOCK_NBYTES];
  lanebloom_filter *filter;
  lanebloom_status status =
      lanebloom_input_read(&file->input, place->offset + at, block, sizeof block, problem);
  if (status)
    return status;
  status = lanebloom_filter_parse_raw(LANEBLOOM_PARQUET, block, sizeof block, NULL, &filter,
                                      problem->text, problem->size);
  if (status)
    return status;
  screen_range(filter, i, i + 1, answers);
  lanebloom_filter_free(filter);
  return LANEBLOOM_OK;
}

static lanebloom_status screen_filter(const struct lanebloom_parquet *file,
                                      const struct chunk *chunk, size_t first, size_t end,
                                      struct answers *answers, const struct problem *problem)
{
  struct filter_place place;
  lanebloom_status status = lanebloom_bits_find(file, chunk, &place, problem);
  if (status)
    return status;
  const bool is_in_memory = file->input.file < 0;
  const bool has_one_block_each =
      !have_zeros(answers->keys, first, end) && !answers->keys->other_hashes;
  if (!is_in_memory && has_one_block_each && end - first <= place.nbytes / BLOCK_SAVES_NBYTES)
    for (size_t i = first; i < end && !status; i++)
      status = screen_block(file, &place, i, answers, problem);
  else
    status = screen_whole(file, &place, first, end, answers, problem);
  return status;
}

/* ---- Chunks ---- */

static lanebloom_status screen_chunk(const struct lanebloom_parquet *file,
                                     const struct chunk *chunk, struct answers *answers,
                                     const struct problem *problem)
{
  const lanebloom_parquet_keys *keys = answers->keys;
  const struct bound *min = &chunk->known.min, *max = &chunk->known.max;
  if (chunk->known.has_no_values)
    return LANEBLOOM_OK;
  const size_t first = min->is_there ? find_key(keys, min->value, false) : 0,
               end = max->is_there ? find_key(keys, max->value, true) : keys->first_nan;
  set_range(answers, keys->first_nan, keys->n);
  lanebloom_status status = LANEBLOOM_OK;
  const bool asks = chunk->has_filter ? first < end : chunk->is_elsewhere;
  if (asks)
    status = screen_filter(file, chunk, first, end, answers, problem);
  if (!asks || status == LANEBLOOM_ERR_FORMAT) /* a filter of an unknown kind is ignored */
    set_range(answers, first, end);
  return status;
}

lanebloom_status lanebloom_parquet_screen(const lanebloom_parquet *file, size_t row_group,
                                          size_t column, const lanebloom_parquet_keys *keys,
                                          uint8_t *bitmap, size_t *nmaybe, char *problem_text,
                                          size_t problem_size)
{
  const struct problem problem = problem_begin(problem_text, problem_size);
  const struct column_type *type = &file->footer.schema.columns[column].type;
  struct answers answers = {.keys = keys, .bitmap = bitmap};
  lanebloom_status status;
  clear(&answers);
  if (lanebloom_type_same_keys(type, &keys->type)) {
    const struct chunk chunk = lanebloom_footer_chunk(&file->footer, row_group, column);
    status = screen_chunk(file, &chunk, &answers, &problem);
  } else {
    status = problem_set(
        &problem, LANEBLOOM_ERR_ARGUMENT,
        "expected a column of type %s, for which the keys were made, found one of type %s",
        keys->type.text, type->text);
  }
  /* after any other error, every key may be in the chunk */
  if (status && status != LANEBLOOM_ERR_FORMAT) {
    clear(&answers);
    set_range(&answers, 0, keys->n);
  }
  *nmaybe = answers.count;
  return status;
}
