/* lanebloom tables FILE.parquet: describes the columns of each row group, with their filters and
 * bounds.
 * SPDX-License-Identifier: MIT */
#include "parquet_tables.h"

#include <endian.h>
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/json_object.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../files/parquet_files.h"

enum { BOUND_NCHARS = 24 };

/* ---- Bounds ---- */

static uint64_t load_number(lanebloom_slice value)
{
  uint64_t number = 0;
  memcpy(&number, value.data, value.size);
  return le64toh(number);
}

__attribute__((format(printf, 1, 2))) static char *print_text(const char *format, ...)
{
  char *text;
  va_list values;
  va_start(values, format);
  const int nbytes = vasprintf(&text, format, values);
  va_end(values);
  if (nbytes < 0)
    die(NULL, "%s", strerror(ENOMEM));
  return text;
}

static char *print_hex(lanebloom_slice value)
{
  char *text = resize(NULL, 2 * value.size + sizeof "0x");
  strcpy(text, "0x");
  for (size_t i = 0; i < value.size; i++)
    sprintf(text + 2 + 2 * i, "%02x", ((const uint8_t *)value.data)[i]);
  return text;
}

/* Converts a time to a date of the years 1 to 9999, the years that --decode can read. Returns false
 * if it is outside these years; the caller then prints the time as a number. */
static bool find_time(int64_t seconds, struct tm *time)
{
  const time_t since_1970 = (time_t)seconds;
  return since_1970 == seconds && gmtime_r(&since_1970, time) && time->tm_year >= 1 - 1900 &&
         time->tm_year <= 9999 - 1900;
}

/* Prints a time. `units' is the number of units in a second, and 10 to the power of ndigits. */
static char *print_time(int64_t value, int64_t units, int ndigits)
{
  const bool borrows = value % units < 0;
  const int64_t seconds = value / units - borrows, fraction = value % units + (borrows ? units : 0);
  struct tm time;
  if (!find_time(seconds, &time))
    return print_text("%" PRId64, value);
  return print_text("%04d-%02d-%02dT%02d:%02d:%02d.%0*" PRId64 "Z", time.tm_year + 1900,
                    time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec, ndigits,
                    fraction);
}

/* Prints hh:mm:ss and a fraction. Prints the value as a number if it is not within a day. */
static char *print_time_of_day(int64_t value, int64_t units)
{
  const int64_t seconds = value / units;
  int ndigits = 0;
  for (int64_t left = units; left > 1; left /= 10)
    ndigits++;
  if (value < 0 || seconds >= 86400)
    return print_text("%" PRId64, value);
  return print_text("%02d:%02d:%02d.%0*" PRId64, (int)(seconds / 3600), (int)(seconds / 60 % 60),
                    (int)(seconds % 60), ndigits, value % units);
}

static char *print_date(int32_t days)
{
  struct tm time;
  if (!find_time((int64_t)days * 86400, &time))
    return print_text("%" PRId32, days);
  return print_text("%04d-%02d-%02d", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday);
}

static char *print_uuid(const uint8_t *bytes)
{
  static const uint8_t ends[] = {4, 6, 8, 10, 16};
  char *text = resize(NULL, sizeof "123e4567-e89b-12d3-a456-426614174000"), *at = text;
  for (size_t group = 0, i = 0; group < sizeof ends; group++) {
    for (; i < ends[group]; i++)
      at += sprintf(at, "%02x", bytes[i]);
    strcpy(at++, group + 1 < sizeof ends ? "-" : "");
  }
  return text;
}

static char *print_float(uint64_t bits, bool is_single)
{
  const uint32_t low = (uint32_t)bits;
  float single;
  double value;
  memcpy(&single, &low, sizeof single);
  memcpy(&value, &bits, sizeof value);
  return is_single ? print_text("%.9g", (double)single) : print_text("%.17g", value);
}

/* Prints a number in two's complement. Its last `scale' digits follow the decimal point. */
static char *print_decimal(lanebloom_slice value, bool is_big_endian, int32_t scale)
{
  enum { MOST_NBYTES = 32, MOST_NDIGITS = 78 };
  uint8_t rest[MOST_NBYTES]; /* the absolute value, as big-endian bytes */
  char text[1 + MOST_NDIGITS + sizeof "."], *at = text + sizeof text;
  const uint8_t *bytes = value.data;
  if (value.size == 0 || value.size > MOST_NBYTES || scale >= MOST_NDIGITS)
    return print_hex(value);
  const bool is_negative = bytes[is_big_endian ? 0 : value.size - 1] & 0x80;
  unsigned carry = is_negative; /* because -x is ~x + 1 */
  for (size_t i = value.size; i-- > 0; carry >>= 8) {
    const uint8_t byte = bytes[is_big_endian ? i : value.size - 1 - i];
    carry += is_negative ? (uint8_t)~byte : byte;
    rest[i] = (uint8_t)carry;
  }
  *--at = '\0';
  bool is_any = true;
  for (int32_t ndigits = 0; is_any || ndigits <= scale; ndigits++) {
    unsigned remainder = 0;
    is_any = false;
    for (size_t i = 0; i < value.size; i++) {
      remainder = remainder << 8 | rest[i];
      rest[i] = (uint8_t)(remainder / 10);
      remainder %= 10;
      is_any |= rest[i] > 0;
    }
    if (ndigits == scale && scale > 0)
      *--at = '.';
    *--at = (char)('0' + remainder);
  }
  if (is_negative)
    *--at = '-';
  return print_text("%s", at);
}

static bool is_text_type(const lanebloom_parquet_column_info *type)
{
  return type->has_keys && type->encoding == LANEBLOOM_BYTES && type->key_size == 0;
}

/* Prints a bound as text that --decode can read. If there is no such text for its type, prints it
 * in hexadecimal. The caller frees the text. */
static char *print_bound(const lanebloom_parquet_column_info *type, lanebloom_slice value)
{
  const bool has_size = type->key_size == value.size;
  if (is_text_type(type))
    return escape_word(value.data, value.size, BOUND_NCHARS);
  if (type->has_keys && type->encoding == LANEBLOOM_DECIMAL128)
    return print_decimal(value, type->is_big_endian, type->scale);
  if (type->has_keys && type->encoding == LANEBLOOM_UUID && has_size)
    return print_uuid(value.data);
  if (!type->has_keys || !has_size || value.size > sizeof(uint64_t))
    return print_hex(value);
  const uint64_t number = load_number(value);
  if (type->units_per_second)
    return print_time_of_day(value.size == 4 ? (int32_t)number : (int64_t)number,
                             type->units_per_second);
  switch (type->encoding) {
  case LANEBLOOM_INT32:
    return print_text("%" PRId32, (int32_t)number);
  case LANEBLOOM_INT64:
    return print_text("%" PRId64, (int64_t)number);
  case LANEBLOOM_UINT32:
  case LANEBLOOM_UINT64:
    return print_text("%" PRIu64, number);
  case LANEBLOOM_FLOAT32:
  case LANEBLOOM_FLOAT64:
    return print_float(number, type->encoding == LANEBLOOM_FLOAT32);
  case LANEBLOOM_DATE32:
    return print_date((int32_t)number);
  case LANEBLOOM_TIMESTAMP_MS:
    return print_time((int64_t)number, 1000, 3);
  case LANEBLOOM_TIMESTAMP_US:
    return print_time((int64_t)number, 1000000, 6);
  case LANEBLOOM_TIMESTAMP_NS:
    return print_time((int64_t)number, 1000000000, 9);
  default:
    return print_hex(value);
  }
}

/* ---- Lines for one column of a row group ---- */

/* A column of a row group. */
struct row {
  const char *path;
  size_t row_group;
  lanebloom_parquet_column_info type;
  lanebloom_parquet_chunk_info chunk;
  lanebloom_filter_info filter; /* zeros if there is no filter */
  char *min, *max;              /* NULL: the bound is unknown or not used */
};

static void print_columns(const char *file, const char *group, const char *column, const char *type,
                          const char *rows, const char *nulls, const char *filter, const char *keys,
                          const char *rate, const char *min, const char *max, const char *bounds)
{
  outputf("%s %5s %-16s %-15s %10s %8s %9s %9s %6s %s %s %s\n", file, group, column, type, rows,
          nulls, filter, keys, rate, min, max, bounds);
}

static const char *print_count(char text[32], uint64_t n)
{
  snprintf(text, 32, "%" PRIu64, n);
  return n == LANEBLOOM_UNKNOWN ? "-" : text;
}

/* Returns "used" if the bounds are used. Otherwise returns the word that says why they are not. */
static const char *bounds_word(const struct row *row)
{
  return row->chunk.has_min || row->chunk.has_max ? "used"
         : row->chunk.bounds_doubt                ? row->chunk.bounds_doubt
                                                  : "-";
}

static void print_row(const struct row *row)
{
  char group[32], rows[32], nulls[32], filter[32], keys[32], rate[32];
  char *file = escape_word(row->path, strlen(row->path), SIZE_MAX),
       *column = escape_word(row->type.path, strlen(row->type.path), SIZE_MAX);
  const bool has_filter = row->chunk.has_filter;
  snprintf(rate, sizeof rate, "%.3g%%", 100 * row->filter.model_rate);
  print_columns(file, print_count(group, row->row_group), column, row->type.type,
                print_count(rows, row->chunk.nrows), print_count(nulls, row->chunk.nnulls),
                has_filter ? print_count(filter, row->filter.nbits / 8) : "-",
                has_filter ? print_count(keys, row->filter.nkeys_estimate) : "-",
                has_filter ? rate : "-", row->min ? row->min : "-", row->max ? row->max : "-",
                bounds_word(row));
  free(file);
  free(column);
}

static void add_count(struct json_object *object, const char *name, bool is_known, uint64_t n)
{
  const bool is_there = is_known && n != LANEBLOOM_UNKNOWN;
  json_object_object_add(object, name, is_there ? json_object_new_uint64(n) : NULL);
}

/* Adds a bound as text and in hexadecimal. `text' is NULL if there is no bound. If the column holds
 * text, the bytes of the bound are added as text, provided that they are UTF-8. */
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

static void print_json(const struct row *row)
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

/* ---- Totals over all files ---- */

/* Counts messages of one kind, and keeps the first one. */
struct faults {
  char *path, *text;
  size_t n;
};

enum { MOST_NWORDS = 16 }; /* bounds_word() has fewer different words */

/* The sums over all row groups that have a column of this name and type. */
struct total {
  char *column, *type;
  size_t nfiles, nrow_groups, nfilters;
  uint64_t nrows, nnulls, filter_nbytes, nkeys; /* LANEBLOOM_UNKNOWN if it is unknown for any row
                                                 * group */
  double rates;
  const char *words[MOST_NWORDS]; /* the different words of bounds_word() */
  size_t nwords;
  struct faults damaged, of_another_kind; /* messages about filters */
};

struct totals {
  struct total **all;
  size_t n;
  void *known; /* the same totals, as a tree of tsearch(3) */
};

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

static struct total *find_total(struct totals *totals, const lanebloom_parquet_column_info *type)
{
  struct total *total = resize(NULL, sizeof *total);
  *total =
      (struct total){.column = print_text("%s", type->path), .type = print_text("%s", type->type)};
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

static void add_row(struct total *total, const struct row *row)
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

static void add_fault(struct faults *faults, const struct row *row, const char *problem)
{
  if (faults->n++ > 0)
    return;
  faults->path = print_text("%s", row->path);
  faults->text =
      print_text("row group %zu: column %s: %s", row->row_group, row->type.path, problem);
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

/* Returns NaN if there is no filter, or if the number of keys in one of the filters is unknown. */
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

/* Prints the totals of all columns and the messages about filters. Returns false if a filter is
 * damaged. */
static bool finish_totals(struct totals *totals, const struct parquet_listing *listing)
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
  tdestroy(totals->known, leave_key);
  free(totals->all);
  return is_whole;
}

/* ---- Files ---- */

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
  lanebloom_filter_close(filter);
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
  (listing->json ? print_json : print_row)(&row);
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
  lanebloom_parquet_close(file);
  return true;
}

int parquet_tables(char *const *names, size_t nnames, const struct parquet_listing *listing)
{
  lanebloom_parquet_files *files = parquet_list(names, nnames);
  struct totals totals = {0};
  bool is_whole = true;
  if (listing->header && !listing->json && !listing->summary)
    print_columns("FILE", "GROUP", "COLUMN", "TYPE", "ROWS", "NULLS", "FILTER", "KEYS", "RATE",
                  "SMALLEST", "LARGEST", "BOUNDS");
  for (size_t i = 0; i < files->read.n; i++)
    is_whole &= describe_file(files->read.all[i], &totals, listing);
  is_whole &= finish_totals(&totals, listing);
  lanebloom_parquet_files_free(files);
  return is_whole ? EXIT_SUCCESS : EXIT_TROUBLE;
}
