/* lanebloom tables FILE.parquet: describes the columns of each row group, with their filters and
 * bounds.
 * SPDX-License-Identifier: MIT */
#include "parquet_tables.h"

#include <stdlib.h>

#include "../base/memory.h"
#include "../base/report.h"
#include "../files/parquet_files.h"
#include "parquet_bounds.h"
#include "parquet_row.h"
#include "parquet_totals.h"

static void describe_filter(const lanebloom_parquet *file, size_t column, struct row *row,
                            struct total *total)
{
  char problem[PARQUET_PROBLEM_NBYTES];
  lanebloom_filter *filter;
  if (!row->chunk.has_filter)
    return;
  const lanebloom_status status =
      lanebloom_parquet_load_filter(file, row->row_group, column, &filter, problem, sizeof problem);
  if (status) {
    row->chunk.has_filter = false;
    add_fault(status == LANEBLOOM_ERR_FORMAT ? &total->of_another_kind : &total->damaged, row,
              problem);
    return;
  }
  lanebloom_filter_describe(filter, &row->filter, sizeof row->filter);
  lanebloom_filter_free(filter);
}

static void describe_chunk(const lanebloom_parquet *file, const char *path, size_t row_group,
                           size_t column, struct total *total,
                           const struct parquet_listing *listing)
{
  struct row row = {.path = path, .row_group = row_group};
  lanebloom_parquet_describe_column(file, column, &row.type, sizeof row.type);
  lanebloom_parquet_describe_chunk(file, row_group, column, &row.chunk, sizeof row.chunk);
  describe_filter(file, column, &row, total);
  add_row(total, &row);
  if (listing->summary)
    return;
  row.min = row.chunk.has_min ? print_bound(&row.type, row.chunk.min) : NULL;
  row.max = row.chunk.has_max ? print_bound(&row.type, row.chunk.max) : NULL;
  (listing->json ? print_row_json : print_row)(&row);
  free(row.min);
  free(row.max);
}

static bool describe_file(const char *path, struct totals *totals,
                          const struct parquet_listing *listing)
{
  char problem[PARQUET_PROBLEM_NBYTES];
  lanebloom_parquet *file;
  lanebloom_parquet_info info;
  if (lanebloom_parquet_open(path, listing->bounds, &file, problem, sizeof problem)) {
    complain(path, "%s", problem);
    return false;
  }
  lanebloom_parquet_describe(file, &info, sizeof info);
  struct total **columns = resize(NULL, (info.ncolumns + 1) * sizeof(struct total *));
  for (size_t i = 0; i < info.ncolumns; i++) {
    lanebloom_parquet_column_info type;
    lanebloom_parquet_describe_column(file, i, &type, sizeof type);
    columns[i] = find_total(totals, &type);
  }
  for (size_t group = 0; group < info.nrow_groups; group++)
    for (size_t i = 0; i < info.ncolumns; i++)
      describe_chunk(file, path, group, i, columns[i], listing);
  free(columns);
  lanebloom_parquet_free(file);
  return true;
}

int parquet_tables(char *const *names, size_t nnames, const struct parquet_listing *listing)
{
  lanebloom_parquet_files *files = parquet_list(names, nnames);
  struct totals totals = {0};
  bool is_whole = true;
  if (listing->header && !listing->json && !listing->summary)
    print_row_columns("FILE", "GROUP", "COLUMN", "TYPE", "ROWS", "NULLS", "FILTER", "KEYS", "RATE",
                      "SMALLEST", "LARGEST", "BOUNDS");
  for (size_t i = 0; i < files->read.n; i++)
    is_whole &= describe_file(files->read.all[i], &totals, listing);
  is_whole &= finish_totals(&totals, listing);
  lanebloom_parquet_files_free(files);
  return is_whole ? EXIT_SUCCESS : EXIT_TROUBLE;
}
