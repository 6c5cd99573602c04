/* The checks that every table must pass.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "tables.h"

lanebloom_table *must_open(const char *path)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_table *table;
  lanebloom_status status =
      lanebloom_table_open(path, LANEBLOOM_WRITER_UNKNOWN, &table, problem, sizeof problem);
  cr_assert(status == LANEBLOOM_OK, "%s: %s", path, problem);
  cr_assert(problem[0] == 0);
  return table;
}

void check_keys(const lanebloom_table *table, const struct key_list *list, const char *what)
{
  const lanebloom_keys keys = list_keys(list);
  uint8_t *bitmap = bitmap_make(list->n);
  for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
    cr_assert(lanebloom_kernel_use(lanebloom_kernel_at(k)) == LANEBLOOM_OK);
    const size_t count = lanebloom_table_screen(table, &keys, bitmap);
    for (size_t i = 0; i < list->n; i++)
      cr_assert(has_bit(bitmap, i), "%s: %s lost key %zu of %zu, %zu bytes", what,
                lanebloom_kernel_at(k), i, list->n, list_key(list, i).size);
    cr_assert(count == list->n && lanebloom_table_screen(table, &keys, NULL) == list->n);
    cr_assert(bitmap[(list->n + 7) / 8] == 0xa5);
  }
  cr_assert(lanebloom_kernel_use(NULL) == LANEBLOOM_OK);
  for (size_t i = 0; i < list->n; i += 1 + list->n / 500) {
    const lanebloom_keys one = lanebloom_keys_part(&keys, i, 1);
    cr_assert(lanebloom_table_screen(table, &one, NULL) == 1, "%s: lost key %zu alone", what, i);
  }
  free(bitmap);
}

void check_absent(const lanebloom_table *table, const lanebloom_table_info *info,
                  const struct oracle_set *set, const struct key_list *absent)
{
  const lanebloom_keys keys = list_keys(absent);
  uint8_t *bitmap = bitmap_make(absent->n);
  const size_t count = lanebloom_table_screen(table, &keys, bitmap);
  size_t inside = 0, hits = 0;
  for (size_t i = 0; i < absent->n; i++) {
    const lanebloom_slice key = list_key(absent, i);
    const bool is_inside = !info->has_range || (compare_slices(key, info->smallest) >= 0 &&
                                                compare_slices(key, info->largest) <= 0);
    cr_assert(is_inside || !has_bit(bitmap, i), "%s: key %zu is outside of the range", set->name,
              i);
    inside += is_inside;
    hits += has_bit(bitmap, i);
    const lanebloom_keys one = lanebloom_keys_part(&keys, i, 1);
    if (i % 64 == 0)
      cr_assert((lanebloom_table_screen(table, &one, NULL) == 1) == has_bit(bitmap, i),
                "%s: key %zu alone", set->name, i);
  }
  cr_assert(count == hits);
  if (!set->uses_filter)
    cr_assert(info->model_rate == 1 && hits == inside, "%s: a filter that is not used", set->name);
  if (!set->has_whole_keys || !set->uses_filter || set->is_skewed || inside == 0) {
    free(bitmap);
    return;
  }
  const double expected = info->model_rate * (double)inside, deviation = sqrt(expected) + 1;
  cr_assert((double)hits < 6 * deviation + 1.3 * expected, "%s: expected %.1f of %zu, found %zu",
            set->name, expected, inside, hits);
  /* If each key is looked up in only one of many filters, the share of hits depends on the filter,
   * because these keys are distributed differently from the table's keys. */
  if (info->filter == LANEBLOOM_TABLE_FILTER_FULL || table->asks_all_filters)
    cr_assert((double)hits > 0.7 * expected - 6 * deviation, "%s: expected %.1f of %zu, found %zu",
              set->name, expected, inside, hits);
  free(bitmap);
}

/* Screens the keys in parts that are too small to be sorted. */
static size_t screen_parts(const lanebloom_table *table, const lanebloom_keys *keys,
                           uint8_t *bitmap)
{
  enum { PART_NKEYS = 504 };
  size_t count = 0;
  for (size_t first = 0; first < keys->n; first += PART_NKEYS) {
    const lanebloom_keys part = lanebloom_keys_part(keys, first, PART_NKEYS);
    count += lanebloom_table_screen(table, &part, bitmap + first / 8);
  }
  return count;
}

void check_together(const lanebloom_table *const *tables, size_t n, const struct key_list *keys,
                    bool is_live, const char *name)
{
  const lanebloom_keys batch = list_keys(keys);
  uint8_t **bitmaps = test_alloc(n * sizeof *bitmaps), *any = bitmap_make(keys->n),
          *alone = bitmap_make(keys->n);
  size_t *counts = test_alloc(n * sizeof *counts);
  for (size_t i = 0; i < n; i++)
    bitmaps[i] = bitmap_make(keys->n);
  const size_t count = lanebloom_tables_screen(tables, n, &batch, any, bitmaps, counts);
  for (size_t i = 0; i < n; i++) {
    const size_t found = screen_parts(tables[i], &batch, alone);
    cr_assert(found == counts[i], "%s: table %zu: %zu together, %zu alone", name, i, counts[i],
              found);
    test_same_bytes("bitmap", bitmaps[i], alone, (keys->n + 7) / 8);
  }
  size_t expected = 0;
  for (size_t i = 0; i < keys->n; i++) {
    bool is_any = false;
    for (size_t j = 0; j < n; j++)
      is_any = is_any || has_bit(bitmaps[j], i);
    cr_assert(is_any == has_bit(any, i));
    cr_assert(is_any || !is_live, "%s: live key %zu is in no table", name, i);
    expected += is_any;
  }
  cr_assert(count == expected);
  cr_assert(lanebloom_tables_screen(tables, n, &batch, NULL, NULL, NULL) == expected);
  for (size_t i = 0; i < n; i++)
    free(bitmaps[i]);
  free(bitmaps);
  free(counts);
  free(any);
  free(alone);
}

void check_warned(const uint8_t *bytes, size_t size, const struct key_list *keys,
                  const char *warning)
{
  lanebloom_table *table;
  lanebloom_table_info info;
  cr_assert(lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
            LANEBLOOM_OK);
  lanebloom_table_describe(table, &info, sizeof info);
  cr_assert(strstr(info.warning, warning), "%s", info.warning);
  check_keys(table, keys, warning);
  lanebloom_table_free(table);
}

void assert_refused(const uint8_t *bytes, size_t size, lanebloom_status expected,
                    const char *part_of_problem)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_table *table;
  lanebloom_status status =
      lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, problem, sizeof problem);
  cr_assert(status == expected && !table && strstr(problem, part_of_problem), "%d: %s", status,
            problem);
}

void check_damaged(const uint8_t *bytes, size_t size, const lanebloom_keys *keys, const char *what,
                   size_t at)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_table *table;
  lanebloom_status status =
      lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, problem, sizeof problem);
  cr_assert((status == LANEBLOOM_OK) == (table != NULL) && (status == LANEBLOOM_OK) == !problem[0]);
  cr_assert(!strchr(problem, '\n'));
  if (status)
    return;
  if (keys)
    cr_assert(lanebloom_table_screen(table, keys, NULL) == keys->n, "%s: damage at %zu lost a key",
              what, at);
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  lanebloom_table_free(table);
}
