/* Opens Parquet files, and describes files, columns and chunks from the footer.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../info.h"
#include "file.h"

/* Loads a file. On success the file owns the input; on an error the input is closed. */
static lanebloom_status load(struct input *input, lanebloom_parquet_bounds bounds,
                             lanebloom_parquet **file, const struct problem *problem)
{
  lanebloom_parquet *loaded = malloc(sizeof *loaded);
  if (!loaded) {
    lanebloom_input_close(input);
    return problem_memory(problem, sizeof *loaded);
  }
  lanebloom_status status = lanebloom_footer_load(input, bounds, &loaded->footer, problem);
  if (status) {
    lanebloom_input_close(input);
    free(loaded);
    return status;
  }
  loaded->input = *input;
  *file = loaded;
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_parquet_open(const char *path, lanebloom_parquet_bounds bounds,
                                        lanebloom_parquet **file, char *problem_text,
                                        size_t problem_size)
{
  const struct problem problem = problem_begin(problem_text, problem_size);
  struct input input;
  *file = NULL;
  lanebloom_status status = lanebloom_input_open(path, &input, &problem);
  return status ? status : load(&input, bounds, file, &problem);
}

lanebloom_status lanebloom_parquet_parse(const void *bytes, size_t size,
                                         lanebloom_parquet_bounds bounds, lanebloom_parquet **file,
                                         char *problem_text, size_t problem_size)
{
  const struct problem problem = problem_begin(problem_text, problem_size);
  struct input input = {.file = -1, .bytes = bytes, .nbytes = size};
  *file = NULL;
  return load(&input, bounds, file, &problem);
}

void lanebloom_parquet_free(lanebloom_parquet *file)
{
  if (!file)
    return;
  lanebloom_input_close(&file->input);
  lanebloom_footer_free(&file->footer);
  free(file);
}

void lanebloom_parquet_describe(const lanebloom_parquet *file, lanebloom_parquet_info *info,
                                size_t info_size)
{
  const struct footer *footer = &file->footer;
  const lanebloom_parquet_info full = {.file_nbytes = file->input.nbytes,
                                       .footer_nbytes = footer->nbytes,
                                       .nrows = footer->nrows,
                                       .nrow_groups = footer->nrow_groups,
                                       .ncolumns = footer->schema.ncolumns,
                                       .created_by = footer->created_by ? footer->created_by : ""};
  info_copy(info, info_size, &full, sizeof full);
}

void lanebloom_parquet_describe_column(const lanebloom_parquet *file, size_t column,
                                       lanebloom_parquet_column_info *info, size_t info_size)
{
  const struct column *found = &file->footer.schema.columns[column];
  const struct column_type *type = &found->type;
  const lanebloom_parquet_column_info full = {.path = found->path,
                                              .type = type->text,
                                              .has_keys = type->has_keys,
                                              .encoding = type->encoding,
                                              .key_size = type->key_nbytes,
                                              .precision = type->precision,
                                              .scale = type->scale,
                                              .is_big_endian = type->order == ORDER_BIG_ENDIAN,
                                              .units_per_second = type->units_per_second,
                                              .is_int96 = type->physical == PHYSICAL_INT96};
  info_copy(info, info_size, &full, sizeof full);
}

void lanebloom_parquet_describe_chunk(const lanebloom_parquet *file, size_t row_group,
                                      size_t column, lanebloom_parquet_chunk_info *info,
                                      size_t info_size)
{
  const struct row_group *rows = &file->footer.row_groups[row_group];
  const struct chunk chunk = lanebloom_footer_chunk(&file->footer, row_group, column);
  const lanebloom_parquet_chunk_info full = {.first_row = rows->first_row,
                                             .nrows = rows->nrows,
                                             .nvalues = chunk.nvalues,
                                             .nnulls = chunk.nnulls,
                                             .offset = chunk.offset,
                                             .nbytes = chunk.nbytes,
                                             .is_elsewhere = chunk.is_elsewhere,
                                             .has_filter = chunk.has_filter,
                                             .filter_offset = chunk.filter_offset,
                                             .filter_nbytes = chunk.filter_nbytes,
                                             .has_min = chunk.known.min.is_there,
                                             .has_max = chunk.known.max.is_there,
                                             .min = chunk.known.min.value,
                                             .max = chunk.known.max.value,
                                             .bounds_doubt = chunk.known.doubt};
  info_copy(info, info_size, &full, sizeof full);
}

/* Checks whether the path names this column, or a group that contains the column. */
static bool is_in(const struct column *column, const char *path, size_t path_nbytes)
{
  return column->path_nbytes >= path_nbytes && memcmp(column->path, path, path_nbytes) == 0 &&
         (column->path_nbytes == path_nbytes || column->path[path_nbytes] == '.');
}

/* Writes the names of a file's first columns to `text`, for an error message. */
static void list_columns(const struct schema *schema, char *text, size_t size)
{
  size_t nbytes = 0;
  *text = '\0';
  for (size_t i = 0; i < schema->ncolumns; i++) {
    const struct column *column = &schema->columns[i];
    if (nbytes + column->path_nbytes + sizeof ", ..." > size) {
      snprintf(text + nbytes, size - nbytes, "%s", nbytes > 0 ? ", ..." : "...");
      return;
    }
    nbytes +=
        (size_t)snprintf(text + nbytes, size - nbytes, "%s%s", i > 0 ? ", " : "", column->path);
  }
}

lanebloom_status lanebloom_parquet_find(const lanebloom_parquet *file, const char *path,
                                        size_t *column, char *problem_text, size_t problem_size)
{
  const struct problem problem = problem_begin(problem_text, problem_size);
  const struct schema *schema = &file->footer.schema;
  const size_t path_nbytes = strlen(path);
  size_t nsame = 0, nwithin = 0, same = 0, within = 0;
  for (size_t i = 0; i < schema->ncolumns; i++) {
    if (!is_in(&schema->columns[i], path, path_nbytes))
      continue;
    if (schema->columns[i].path_nbytes == path_nbytes) {
      nsame++;
      same = i;
    } else {
      nwithin++;
      within = i;
    }
  }
  const size_t nfound = nsame > 0 ? nsame : nwithin;
  if (nfound == 1) {
    *column = nsame > 0 ? same : within;
    return LANEBLOOM_OK;
  }
  char names[160];
  list_columns(schema, names, sizeof names);
  return problem_set(&problem, LANEBLOOM_ERR_ARGUMENT,
                     "expected one column \"%s\", found %s; the file has %s", path,
                     nfound == 0  ? "none"
                     : nsame == 0 ? "a group with several"
                                  : "several",
                     schema->ncolumns > 0 ? names : "no columns");
}
