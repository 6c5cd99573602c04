/* lanebloom tables: describes table files and Parquet files with their filters.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../answer/database.h"
#include "../answer/sstable_filters.h"
#include "../base/characters.h"
#include "../base/json_object.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../files/parquet_files.h"
#include "../options/options.h"
#include "parquet_tables.h"
#include "sstable_tables.h"
#include "verbs.h"

enum { OPTION_JSON = 0x100, OPTION_NO_HEADER, OPTION_SUMMARY };

struct tables {
  struct database_options options;
  bool json, no_header, summary;
  lanebloom_parquet_bounds bounds;
  char **paths;
  size_t npaths;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  (void)text;
  struct tables *tables = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &tables->options;
    state->child_inputs[1] = NULL;
    state->child_inputs[2] = &tables->bounds;
    return 0;
  case OPTION_JSON:
    tables->json = true;
    return 0;
  case OPTION_NO_HEADER:
    tables->no_header = true;
    return 0;
  case OPTION_SUMMARY:
    tables->summary = true;
    return 0;
  case ARGP_KEY_ARGS:
    tables->paths = state->argv + state->next;
    tables->npaths = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "expected a FOLDER, a TABLE or a PARQUET file, found none");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"json", OPTION_JSON, NULL, 0,
             "Print one JSON object per table, one per line, with all details", 1},
            {"no-header", OPTION_NO_HEADER, NULL, 0, "Do not print the line that names the columns",
             1},
            {"summary", OPTION_SUMMARY, NULL, 0,
             "For Parquet files, print one line per column, which adds up its row groups", 1},
            {0}},
    .parser = parse,
    .args_doc = "FOLDER|TABLE|PARQUET...",
    .doc =
        "Describes table files of LevelDB, goleveldb, RocksDB and Pebble, one per line, the "
        "filters of SSTables of Cassandra and ScyllaDB, or each column of each row group of "
        "Parquet files. If a FOLDER is a database, describes the tables that belong to it, and its "
        "logs as a table named (log); in another FOLDER, describes each .ldb and .sst file. "
        "Nothing is written, and the database may be open.\n"
        "Columns have no spaces inside. FILE is the path. ENGINE is the engine and its format "
        "version. FILTER is the filter's kind and format, then `+prefixes' if it holds prefixes "
        "and keys, or `:prefixes' if it holds prefixes alone. ENTRIES counts deletions and old "
        "versions of keys too. BITS is the filter's bits per entry. RATE is the expected "
        "false-positive rate, from the bits that are set: 100% if no filter is used, `-' if a "
        "filter of prefixes alone is used. SMALLEST and LARGEST are the first and last key. LEVEL "
        "and FAMILY are known for tables of a database. CODEC lists how blocks are compressed, "
        "among those that were read. A `-' means unknown or absent. Spaces and bytes that could "
        "upset a terminal are printed as \\ooo. A long key ends in `...'; an empty key is \"\".\n"
        "For SSTables, VERSION is the version in the name of the file, FILTER the format of the "
        "filter, BYTES and PROBES its size and its probes per key, and KEYS the number of distinct "
        "partition keys, estimated from its bits.\n"
        "For Parquet files, GROUP is the row group, from 0. FILTER is the filter's size in bytes, "
        "KEYS the number of distinct keys, estimated from its bits. SMALLEST and LARGEST are "
        "bounds, which need not be values of the column. BOUNDS is `used', or says why they are "
        "not: `writer-untried', `writer-wrong', ... --bounds=all shows such bounds, too. With "
        "--summary, GROUPS is the number of row groups, FILTERS how many of them have a filter, "
        "FILTER the bytes of all filters, KEYS the sum of their keys, BITS the bits per key, RATE "
        "the mean rate of the filters, and BOUNDS each word that applies to a row group.\v"
        "Examples:\n"
        "  lanebloom tables db\n"
        "  lanebloom tables db/000012.sst\n"
        "  lanebloom tables events/day=1/part-0.parquet\n"
        "  lanebloom tables --summary events\n"
        "  lanebloom tables --json db | jq -r 'select(.filter == \"none\").file'",
    .children =
        (const struct argp_child[]){
            {.argp = &database_argp}, {.argp = &kernel_argp}, {.argp = &bounds_argp}, {0}},
};

/* ---- text ---- */

enum {
  ENGINE_WIDTH = sizeof "rocksdb/5" - 1,
  FILTER_WIDTH = sizeof "full:rocksdb-legacy+prefixes" - 1,
  KEY_NCHARS = 24,
};

/* Formats the columns that follow the name of the file. The caller frees the string. */
static char *columns(const char *engine, const char *filter, const char *entries, const char *bits,
                     const char *rate, const char *smallest, const char *largest, const char *level,
                     const char *family, const char *codecs)
{
  char *line;
  size_t nbytes;
  FILE *stream = open_string(&line, &nbytes);
  fprintf(stream, "%-*s %-*s %10s %6s %6s %s %s %s %s %s\n", ENGINE_WIDTH, engine, FILTER_WIDTH,
          filter, entries, bits, rate, smallest, largest, level, family, codecs);
  return close_string(stream, &line);
}

static void format_number(char word[32], const char *format, double value)
{
  snprintf(word, 32, isfinite(value) ? format : "-", value);
}

static char *describe_in_text(const lanebloom_table_info *info, const struct table_place *place)
{
  char engine[32], filter[80], entries[32] = "-", bits[32], rate[32];
  snprintf(engine, sizeof engine, info->version ? "%s/%" PRIu32 : "%s",
           lanebloom_engine_name(info->engine), info->version);
  const char *format = info->filter_format ? lanebloom_format_name(info->filter_format) : "";
  snprintf(filter, sizeof filter, "%s%s%s%s", lanebloom_table_filter_name(info->filter),
           *format ? ":" : "", format,
           !info->has_prefixes    ? ""
           : info->has_whole_keys ? "+prefixes"
                                  : ":prefixes");
  if (info->nentries != LANEBLOOM_UNKNOWN)
    snprintf(entries, sizeof entries, "%" PRIu64, info->nentries);
  format_number(bits, "%.2f", info->bits_per_key);
  format_number(rate, "%.3g%%", 100 * info->model_rate);
  char level[32] = "-", *family = NULL, *smallest = NULL, *largest = NULL;
  if (place->table.family) {
    snprintf(level, sizeof level, "%" PRIu32, place->table.level);
    family = escape_word(place->table.family, strlen(place->table.family), SIZE_MAX);
  }
  if (info->has_range) {
    smallest = escape_word(info->smallest.data, info->smallest.size, KEY_NCHARS);
    largest = escape_word(info->largest.data, info->largest.size, KEY_NCHARS);
  }
  char *line = columns(engine, filter, entries, bits, rate, smallest ? smallest : "-",
                       largest ? largest : "-", level, family ? family : "-",
                       *info->codecs ? info->codecs : "-");
  free(smallest);
  free(largest);
  free(family);
  return line;
}

/* ---- JSON ---- */

/* Longer keys are not printed as JSON, because json-c counts the bytes of an object in an int. Two
 * keys are printed, each of them twice: as text, in which an escaped byte takes 6 characters, and
 * in hexadecimal, in which a byte takes 2. */
enum { MAX_JSON_KEY_NBYTES = INT_MAX / 32 };

/* Returns the text as a JSON string. For "" returns NULL, which json-c prints as null. */
static struct json_object *json_text(const char *text)
{
  return *text ? json_name(text) : NULL;
}

/* Adds a key as text and in hexadecimal. The text is null if the key is not UTF-8. If there is no
 * key, or if the key is too long, both are null. */
static void add_key(struct json_object *object, const char *name, const char *hex_name,
                    const lanebloom_slice *key)
{
  struct json_object *text = NULL, *digits = NULL;
  if (key && key->size <= MAX_JSON_KEY_NBYTES) {
    char *hex = resize(NULL, 2 * key->size + 1);
    for (size_t i = 0; i < key->size; i++)
      snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)key->data)[i]);
    digits = json_object_new_string_len(hex, (int)(2 * key->size));
    free(hex);
    if (is_text(key->data, key->size))
      text = json_object_new_string_len(key->data, (int)key->size);
  }
  json_object_object_add(object, name, text);
  json_object_object_add(object, hex_name, digits);
}

static struct json_object *describe_in_json(const char *path, const struct table_place *place,
                                            const lanebloom_table_info *info)
{
  const bool has_filter = info->filter != LANEBLOOM_TABLE_FILTER_NONE;
  struct json_object *object = json_begin();
  json_object_object_add(object, "file", json_name(path));
  json_object_object_add(object, "engine",
                         json_object_new_string(lanebloom_engine_name(info->engine)));
  json_object_object_add(object, "version", json_object_new_uint64(info->version));
  json_object_object_add(object, "checksum",
                         json_object_new_string(lanebloom_table_checksum_name(info->checksum)));
  json_object_object_add(object, "filter",
                         json_object_new_string(lanebloom_table_filter_name(info->filter)));
  json_object_object_add(object, "format",
                         info->filter_format
                             ? json_object_new_string(lanebloom_format_name(info->filter_format))
                             : NULL);
  json_object_object_add(object, "whole_keys",
                         has_filter ? json_object_new_boolean(info->has_whole_keys) : NULL);
  json_object_object_add(object, "prefixes",
                         has_filter ? json_object_new_boolean(info->has_prefixes) : NULL);
  json_object_object_add(object, "probes", json_object_new_uint64(info->nprobes));
  json_object_object_add(object, "filters", json_object_new_uint64(info->nfilters));
  json_object_object_add(object, "filter_bytes", json_object_new_uint64(info->filter_nbytes));
  json_object_object_add(object, "file_bytes", json_object_new_uint64(info->file_nbytes));
  json_object_object_add(
      object, "entries",
      info->nentries == LANEBLOOM_UNKNOWN ? NULL : json_object_new_uint64(info->nentries));
  json_object_object_add(object, "bits_per_key", json_number(info->bits_per_key));
  json_object_object_add(object, "model_rate", json_number(info->model_rate));
  add_key(object, "smallest", "smallest_hex", info->has_range ? &info->smallest : NULL);
  add_key(object, "largest", "largest_hex", info->has_range ? &info->largest : NULL);
  json_object_object_add(object, "filter_name", json_text(info->filter_name));
  json_object_object_add(object, "comparator", json_text(info->comparator));
  json_object_object_add(object, "prefix_extractor", json_text(info->prefix_extractor));
  json_object_object_add(object, "codecs", json_text(info->codecs));
  json_object_object_add(object, "warning", json_text(info->warning));
  const char *family = place->table.family;
  json_object_object_add(object, "level",
                         family ? json_object_new_uint64(place->table.level) : NULL);
  json_object_object_add(object, "column_family", family ? json_name(family) : NULL);
  if (place->is_log)
    json_object_object_add(object, "database", version_in_json(place->source));
  if (errno == ENOMEM) /* json_begin() explains this */
    die(NULL, "%s", strerror(ENOMEM));
  return object;
}

/* ---- the verb ---- */

/* The output for one table. Each table is closed before the next one is opened, and only its output
 * is kept, because a folder may have more tables than fit into memory. */
struct row {
  char *line;               /* all columns except the name of the file; NULL with --json */
  struct json_object *json; /* NULL without --json */
  char *warning;
  bool has_large_key; /* a key has more than MAX_JSON_KEY_NBYTES and is not printed */
};

static void *describe_table(void *context, const char *path, const struct table_place *place,
                            lanebloom_table *table)
{
  const struct tables *tables = context;
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  if (info.nfilters == LANEBLOOM_UNKNOWN)
    die(path, "%s", strerror(ENOMEM));
  struct row *row = resize(NULL, sizeof *row);
  *row = (struct row){.warning = resize(NULL, strlen(info.warning) + 1)};
  strcpy(row->warning, info.warning);
  row->has_large_key =
      info.smallest.size > MAX_JSON_KEY_NBYTES || info.largest.size > MAX_JSON_KEY_NBYTES;
  if (tables->json)
    row->json = describe_in_json(path, place, &info);
  else
    row->line = describe_in_text(&info, place);
  lanebloom_table_free(table);
  return row;
}

static void free_row(void *loaded)
{
  struct row *row = loaded;
  json_object_put(row->json);
  free(row->line);
  free(row->warning);
  free(row);
}

static void warn_of_rows(const struct database *database)
{
  const size_t n = database->ntables;
  const char **warnings = resize(NULL, (n + 1) * sizeof *warnings);
  for (size_t i = 0; i < n; i++) {
    const struct row *row = database->loaded[i];
    warnings[i] = row ? row->warning : "";
  }
  warn_of_tables(database->paths, warnings, n);
  for (size_t i = 0; i < n; i++) {
    const struct row *row = database->loaded[i];
    if (row && row->json && row->has_large_key)
      warnings[i] = "a key of more than 64 MiB is not printed";
  }
  warn_of_tables(database->paths, warnings, n);
  free(warnings);
}

static void print_row(const char *name, size_t width, const char *line)
{
  const size_t nchars = count_characters(name);
  outputf("%s%*s %s", name, nchars < width ? (int)(width - nchars) : 0, "", line);
}

static void print_header(size_t width)
{
  char *line = columns("ENGINE", "FILTER", "ENTRIES", "BITS", "RATE", "SMALLEST", "LARGEST",
                       "LEVEL", "FAMILY", "CODEC");
  print_row("FILE", width, line);
  free(line);
}

static void print_rows(const struct tables *tables, const struct database *database)
{
  const size_t n = database->ntables;
  char **names = resize(NULL, (n + 1) * sizeof *names);
  size_t width = strlen("FILE"), nrows = 0;
  for (size_t i = 0; i < n; i++) {
    names[i] = escape_word(database->paths[i], strlen(database->paths[i]), SIZE_MAX);
    const size_t nchars = count_characters(names[i]);
    width = nchars > width ? nchars : width;
    nrows += database->loaded[i] != NULL;
  }
  if (nrows > 0 && !tables->no_header)
    print_header(width);
  for (size_t i = 0; i < n; i++) {
    const struct row *row = database->loaded[i];
    if (row)
      print_row(names[i], width, row->line);
    free(names[i]);
  }
  free(names);
}

/* Are all names Parquet files, or folders of Parquet files? If a name cannot be read, or if names
 * or options conflict, prints a message and exits. */
static bool are_parquet(const struct tables *tables)
{
  int error = 0;
  const char *missing = NULL; /* a name that does not exist. For Parquet files, this is reported
                               * here and ends the command; for databases, loading reports it later
                               * and goes on with the other names */
  const char *one = NULL, *other = NULL;
  for (size_t i = 0; i < tables->npaths; i++) {
    char problem[1024];
    bool is_one;
    if (lanebloom_parquet_recognize(tables->paths[i], &is_one, problem, sizeof problem))
      die(NULL, "%s", problem);
    *(is_one ? &one : &other) = tables->paths[i];
    if (!lanebloom_system_exists(tables->paths[i])) {
      missing = tables->paths[i];
      error = errno;
    }
  }
  if (missing && (one || tables->summary))
    die(missing, "%s", strerror(error));
  if (one && other)
    die(other, "expected Parquet files like %s, found something else: name it in another command",
        one);
  if (one && has_database_options(&tables->options))
    die(tables->paths[0], "--writer, --all-files, --column-family, --wal-dir and --db-path apply "
                          "to databases, and this is no database");
  if (!one && tables->summary)
    die(tables->paths[0],
        "expected Parquet files, which --summary adds up, found none; without it, "
        "`tables' lists the tables of a database");
  return one;
}

int tables_main(int argc, char **argv)
{
  struct tables tables = {0};
  parse_options(&argp, 0, argc, argv, &tables);
  if (are_parquet(&tables)) {
    free_database_options(&tables.options);
    const struct parquet_listing listing = {.bounds = tables.bounds,
                                            .summary = tables.summary,
                                            .json = tables.json,
                                            .header = !tables.no_header};
    return parquet_tables(tables.paths, tables.npaths, &listing);
  }
  if (are_sstables(tables.paths, tables.npaths)) {
    if (has_database_options(&tables.options))
      die(tables.paths[0], "--writer, --all-files, --column-family, --wal-dir and --db-path do not "
                           "apply to SSTables");
    free_database_options(&tables.options);
    return sstable_tables(tables.paths, tables.npaths, tables.json, !tables.no_header);
  }
  const struct table_loader loader = {describe_table, free_row, &tables, true};
  struct database database;
  const bool complete =
      database_load(&database, tables.paths, tables.npaths, &tables.options, &loader) &&
      !database.is_damaged;
  warn_of_rows(&database);
  if (tables.json)
    for (size_t i = 0; i < database.ntables; i++) {
      struct row *row = database.loaded[i];
      errno = 0;
      if (row)
        output_json(json_object_get(row->json));
    }
  else
    print_rows(&tables, &database);
  database_free(&database, &loader);
  free_database_options(&tables.options);
  return complete ? EXIT_SUCCESS : EXIT_TROUBLE;
}
