/* Prints the columns of row groups of Parquet files.
 * SPDX-License-Identifier: MIT */
#include "parquet_row.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/characters.h"
#include "../base/json_object.h"
#include "../base/report.h"
#include "parquet_bounds.h"

void print_row_columns(const char *file, const char *group, const char *column, const char *type,
                       const char *rows, const char *nulls, const char *filter, const char *keys,
                       const char *rate, const char *min, const char *max, const char *bounds)
{
  outputf("%s %5s %-16s %-15s %10s %8s %9s %9s %6s %s %s %s\n", file, group, column, type, rows,
          nulls, filter, keys, rate, min, max, bounds);
}

const char *print_count(char text[32], uint64_t n)
{
  snprintf(text, 32, "%" PRIu64, n);
  return n == LANEBLOOM_UNKNOWN ? "-" : text;
}

const char *bounds_word(const struct row *row)
{
  return row->chunk.has_min || row->chunk.has_max ? "used"
         : row->chunk.bounds_doubt                ? row->chunk.bounds_doubt
                                                  : "-";
}

void print_row(const struct row *row)
{
  char group[32], rows[32], nulls[32], filter[32], keys[32], rate[32];
  char *file = escape_word(row->path, strlen(row->path), SIZE_MAX),
       *column = escape_word(row->type.path, strlen(row->type.path), SIZE_MAX);
  const bool has_filter = row->chunk.has_filter;
  snprintf(rate, sizeof rate, "%.3g%%", 100 * row->filter.model_rate);
  print_row_columns(file, print_count(group, row->row_group), column, row->type.type,
                    print_count(rows, row->chunk.nrows), print_count(nulls, row->chunk.nnulls),
                    has_filter ? print_count(filter, row->filter.nbits / 8) : "-",
                    has_filter ? print_count(keys, row->filter.nkeys_estimate) : "-",
                    has_filter ? rate : "-", row->min ? row->min : "-", row->max ? row->max : "-",
                    bounds_word(row));
  free(file);
  free(column);
}

void add_count(struct json_object *object, const char *name, bool is_known, uint64_t n)
{
  const bool is_there = is_known && n != LANEBLOOM_UNKNOWN;
  json_object_object_add(object, name, is_there ? json_object_new_uint64(n) : NULL);
}

/* Adds a bound as text and in hexadecimal. `text' is NULL if there is no bound. If the column holds
 * text, the bytes of the bound are its text; if these bytes are not UTF-8, adds null in the place
 * of the text. */
static void add_bound(struct json_object *object, const char *name, const char *hex_name,
                      const char *text, const lanebloom_parquet_column_info *type,
                      lanebloom_slice value)
{
  struct json_object *string = NULL;
  if (text && is_text_type(type))
    string = is_text(value.data, value.size)
                 ? json_object_new_string_len(value.data, (int)value.size)
                 : NULL;
  else if (text)
    string = json_object_new_string(text);
  char *hex = text ? print_hex(value) : NULL;
  json_object_object_add(object, name, string);
  json_object_object_add(object, hex_name, hex ? json_object_new_string(hex + 2) : NULL);
  free(hex);
}

void print_row_json(const struct row *row)
{
  struct json_object *object = json_begin();
  const bool has_filter = row->chunk.has_filter;
  json_object_object_add(object, "file", json_name(row->path));
  json_object_object_add(object, "row_group", json_object_new_uint64(row->row_group));
  json_object_object_add(object, "column", json_name(row->type.path));
  json_object_object_add(object, "type", json_object_new_string(row->type.type));
  json_object_object_add(object, "decode",
                         row->type.has_keys
                             ? json_object_new_string(lanebloom_encoding_name(row->type.encoding))
                             : NULL);
  add_count(object, "first_row", true, row->chunk.first_row);
  add_count(object, "rows", true, row->chunk.nrows);
  add_count(object, "values", true, row->chunk.nvalues);
  add_count(object, "nulls", true, row->chunk.nnulls);
  add_count(object, "offset", true, row->chunk.offset);
  add_count(object, "bytes", true, row->chunk.nbytes);
  add_count(object, "filter_offset", has_filter, row->chunk.filter_offset);
  add_count(object, "filter_bytes", has_filter, row->filter.nbits / 8);
  add_count(object, "keys_estimate", has_filter, row->filter.nkeys_estimate);
  json_object_object_add(object, "model_rate",
                         has_filter ? json_number(row->filter.model_rate) : NULL);
  add_bound(object, "smallest", "smallest_hex", row->min, &row->type, row->chunk.min);
  add_bound(object, "largest", "largest_hex", row->max, &row->type, row->chunk.max);
  json_object_object_add(object, "bounds", json_object_new_string(bounds_word(row)));
  if (errno == ENOMEM) /* json_begin() explains this */
    die(NULL, "%s", strerror(ENOMEM));
  output_json(object);
}
