/* Adds up the columns of Parquet files over all row groups, and prints the totals.
 * SPDX-License-Identifier: MIT */
#include "parquet_totals.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/common/tree.h"
#include "../base/json_object.h"
#include "../base/memory.h"
#include "../base/report.h"

static int compare_totals(const void *a, const void *b)
{
  const struct total *left = a, *right = b;
  const int order = strcmp(left->column, right->column);
  return order != 0 ? order : strcmp(left->type, right->type);
}

static void free_total(struct total *total)
{
  free(total->column);
  free(total->type);
  free(total->damaged.path);
  free(total->damaged.text);
  free(total->of_another_kind.path);
  free(total->of_another_kind.text);
  free(total);
}

struct total *find_total(struct totals *totals, const lanebloom_parquet_column_info *type)
{
  struct total *total = resize(NULL, sizeof *total);
  *total = (struct total){.column = format_text("%s", type->path),
                          .type = format_text("%s", type->type)};
  struct total *known = find_or_add(total, &totals->known, compare_totals);
  if (known == total) {
    totals->all = grow_list(totals->all, totals->n, sizeof *totals->all);
    totals->all[totals->n++] = total;
  } else {
    free_total(total);
  }
  known->nfiles++;
  return known;
}

static void add_known(uint64_t *sum, uint64_t n)
{
  *sum = *sum == LANEBLOOM_UNKNOWN || n == LANEBLOOM_UNKNOWN ? LANEBLOOM_UNKNOWN : *sum + n;
}

void add_row(struct total *total, const struct row *row)
{
  const char *word = bounds_word(row);
  size_t i = 0;
  total->nrow_groups++;
  total->nrows += row->chunk.nrows;
  add_known(&total->nnulls, row->chunk.nnulls);
  if (row->chunk.has_filter) {
    total->nfilters++;
    total->filter_nbytes += row->filter.nbits / 8;
    add_known(&total->nkeys, row->filter.nkeys_estimate);
    total->rates += row->filter.model_rate;
  }
  while (i < total->nwords && strcmp(total->words[i], word) != 0)
    i++;
  if (i == total->nwords && i < MOST_NWORDS)
    total->words[total->nwords++] = word;
}

void add_fault(struct faults *faults, const struct row *row, const char *problem)
{
  if (faults->n++ > 0)
    return;
  faults->path = format_text("%s", row->path);
  faults->text =
      format_text("row group %zu: column %s: %s", row->row_group, row->type.path, problem);
}

static void print_faults(const struct faults *faults, const char *prefix)
{
  if (faults->n > 1)
    complain(faults->path, "%s%s (and %zu more of this column)", prefix, faults->text,
             faults->n - 1);
  else if (faults->n == 1)
    complain(faults->path, "%s%s", prefix, faults->text);
}

static void print_total_columns(const char *column, const char *type, const char *files,
                                const char *groups, const char *rows, const char *nulls,
                                const char *filters, const char *filter, const char *keys,
                                const char *bits, const char *rate, const char *bounds)
{
  outputf("%-16s %-15s %7s %7s %12s %9s %7s %11s %11s %6s %6s %s\n", column, type, files, groups,
          rows, nulls, filters, filter, keys, bits, rate, bounds);
}

/* Returns NaN if there is no filter, or if the number of keys is unknown for one of the filters. */
static double bits_per_key(const struct total *total)
{
  return total->nkeys > 0 && total->nkeys != LANEBLOOM_UNKNOWN
             ? 8 * (double)total->filter_nbytes / (double)total->nkeys
             : NAN;
}

static double mean_rate(const struct total *total)
{
  return total->nfilters > 0 ? total->rates / (double)total->nfilters : NAN;
}

static void print_total(const struct total *total)
{
  char files[32], groups[32], rows[32], nulls[32], filters[32], filter[32], keys[32];
  char bits[32] = "-", rate[32] = "-", *bounds;
  size_t nbytes;
  const bool has_filter = total->nfilters > 0;
  char *column = escape_word(total->column, strlen(total->column), SIZE_MAX);
  FILE *stream = open_string(&bounds, &nbytes);
  for (size_t i = 0; i < total->nwords; i++)
    fprintf(stream, "%s%s", i > 0 ? "," : "", total->words[i]);
  close_string(stream, &bounds);
  if (isfinite(bits_per_key(total)))
    snprintf(bits, sizeof bits, "%.2f", bits_per_key(total));
  if (has_filter)
    snprintf(rate, sizeof rate, "%.3g%%", 100 * mean_rate(total));
  print_total_columns(column, total->type, print_count(files, total->nfiles),
                      print_count(groups, total->nrow_groups), print_count(rows, total->nrows),
                      print_count(nulls, total->nnulls), print_count(filters, total->nfilters),
                      has_filter ? print_count(filter, total->filter_nbytes) : "-",
                      has_filter ? print_count(keys, total->nkeys) : "-", bits, rate,
                      *bounds ? bounds : "-");
  free(column);
  free(bounds);
}

static void print_total_json(const struct total *total)
{
  struct json_object *object = json_begin(), *words = json_needed(json_object_new_array());
  const bool has_filter = total->nfilters > 0;
  for (size_t i = 0; i < total->nwords; i++)
    if (strcmp(total->words[i], "-") != 0)
      json_object_array_add(words, json_object_new_string(total->words[i]));
  json_object_object_add(object, "column", json_name(total->column));
  json_object_object_add(object, "type", json_object_new_string(total->type));
  add_count(object, "files", true, total->nfiles);
  add_count(object, "row_groups", true, total->nrow_groups);
  add_count(object, "rows", true, total->nrows);
  add_count(object, "nulls", true, total->nnulls);
  add_count(object, "filters", true, total->nfilters);
  add_count(object, "filter_bytes", has_filter, total->filter_nbytes);
  add_count(object, "keys_estimate", has_filter, total->nkeys);
  json_object_object_add(object, "bits_per_key", json_number(bits_per_key(total)));
  json_object_object_add(object, "model_rate", json_number(mean_rate(total)));
  json_object_object_add(object, "bounds", words);
  if (errno == ENOMEM) /* json_begin() explains this */
    die(NULL, "%s", strerror(ENOMEM));
  output_json(object);
}

bool finish_totals(struct totals *totals, const struct parquet_listing *listing)
{
  bool is_whole = true;
  if (listing->summary && listing->header && !listing->json)
    print_total_columns("COLUMN", "TYPE", "FILES", "GROUPS", "ROWS", "NULLS", "FILTERS", "FILTER",
                        "KEYS", "BITS", "RATE", "BOUNDS");
  for (size_t i = 0; i < totals->n; i++) {
    struct total *total = totals->all[i];
    if (listing->summary)
      (listing->json ? print_total_json : print_total)(total);
    print_faults(&total->damaged, "");
    print_faults(&total->of_another_kind, "warning: ");
    is_whole &= total->damaged.n == 0;
    free_total(total);
  }
  tree_free(&totals->known, NULL);
  free(totals->all);
  return is_whole;
}
