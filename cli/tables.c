/* lanebloom tables: what table files hold, and which filters.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { OPTION_JSON = 0x100 };

struct tables {
  lanebloom_writer writer;
  bool json;
  char **paths;
  size_t npaths;
  size_t name_width; /* characters of the longest name */
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  (void)text;
  struct tables *tables = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &tables->writer;
    return 0;
  case OPTION_JSON:
    tables->json = true;
    return 0;
  case ARGP_KEY_ARGS:
    tables->paths = state->argv + state->next;
    tables->npaths = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "which FOLDER or TABLE?");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"json", OPTION_JSON, NULL, 0,
             "Print one JSON object per table, each on a line, with all that is known", 1},
            {0}},
    .parser = parse,
    .args_doc = "FOLDER|TABLE...",
    .doc = "Says what each TABLE file of LevelDB, goleveldb, RocksDB or Pebble is; of a FOLDER, "
           "each .ldb and .sst "
           "file in "
           "it. They are read, never written, and the database may be open.\n"
           "A line has eight words: file; engine and format version; filter and its format, with "
           "`+prefixes' where it "
           "holds those besides keys, `:prefixes' where it holds nothing else; entries, among them "
           "deletions and old "
           "versions of keys; bits per entry; the false-positive rate to expect by the bits that "
           "are set; the smallest "
           "and the largest key. A `-' is not known or not there. Bytes that a terminal should not "
           "see are \\ooo, "
           "spaces too; long keys end in `...', and an empty one is \"\".\v"
           "Examples:\n"
           "  lanebloom tables db\n"
           "  lanebloom tables db/000012.sst\n"
           "  lanebloom tables --json db | jq -r 'select(.filter == \"none\").file'",
    .children = (const struct argp_child[]){{.argp = &writer_argp}, {.argp = &kernel_argp}, {0}},
};

/* ---- text ---- */

/* At the left of a column. */
static void print_column(const char *word, size_t width)
{
  const size_t nchars = mbstowcs(NULL, word, 0);
  outputf("%s%*s ", word, nchars < width ? (int)(width - nchars) : 0, "");
}

static void print_engine(const lanebloom_table_info *info)
{
  char word[32];
  snprintf(word, sizeof word, info->version ? "%s/%" PRIu32 : "%s",
           lanebloom_engine_name(info->engine), info->version);
  print_column(word, sizeof "rocksdb/5" - 1);
}

static void print_filter(const lanebloom_table_info *info)
{
  char word[80];
  const char *format = info->filter_format ? lanebloom_format_name(info->filter_format) : "";
  snprintf(word, sizeof word, "%s%s%s%s", lanebloom_table_filter_name(info->filter),
           *format ? ":" : "", format,
           !info->has_prefixes    ? ""
           : info->has_whole_keys ? "+prefixes"
                                  : ":prefixes");
  print_column(word, sizeof "full:rocksdb-legacy+prefixes" - 1);
}

static void print_number(const char *format, double value)
{
  char word[32] = "-";
  if (isfinite(value))
    snprintf(word, sizeof word, format, value);
  outputf("%6s ", word);
}

static void print_range(const lanebloom_table_info *info)
{
  enum { KEY_NCHARS = 24 };
  if (!info->has_range) {
    outputf("- -\n");
    return;
  }
  char *smallest = escape_word(info->smallest.data, info->smallest.size, KEY_NCHARS);
  char *largest = escape_word(info->largest.data, info->largest.size, KEY_NCHARS);
  outputf("%s %s\n", smallest, largest);
  free(smallest);
  free(largest);
}

static void print_text(const struct tables *tables, const char *path,
                       const lanebloom_table_info *info)
{
  char *name = escape_word(path, strlen(path), SIZE_MAX);
  print_column(name, tables->name_width);
  free(name);
  print_engine(info);
  print_filter(info);
  char entries[32] = "-";
  if (info->nentries != LANEBLOOM_UNKNOWN)
    snprintf(entries, sizeof entries, "%" PRIu64, info->nentries);
  outputf("%10s ", entries);
  print_number("%.2f", info->bits_per_key);
  print_number("%.3g%%", 100 * info->model_rate);
  print_range(info);
}

/* ---- JSON ---- */

/* json-c counts the bytes of a whole object in int, and an escaped one takes six. There are two
 * keys, each twice. */
enum { MAX_JSON_KEY_NBYTES = INT_MAX / 32 };

/* null where there is none. */
static struct json_object *json_text(const char *text)
{
  return *text ? json_name(text) : NULL;
}

/* A key as text, where it is some, and as hexadecimal digits. */
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

static void print_json(const char *path, const lanebloom_table_info *info)
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
  json_object_object_add(object, "warning", json_text(info->warning));
  output_json(object);
}

/* ---- the verb ---- */

static size_t widest_name(const struct database *database)
{
  size_t width = 0;
  for (size_t i = 0; i < database->ntables; i++) {
    char *name = escape_word(database->paths[i], strlen(database->paths[i]), SIZE_MAX);
    const size_t nchars = mbstowcs(NULL, name, 0);
    width = nchars > width ? nchars : width;
    free(name);
  }
  return width;
}

/* One at a time: a folder may have more tables than fit in memory. */
static bool print_table(const struct tables *tables, const char *path)
{
  lanebloom_table *table = open_table(path, tables->writer);
  if (!table)
    return false;
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  if (info.nfilters == LANEBLOOM_UNKNOWN)
    die(path, "%s", strerror(ENOMEM));
  if (*info.warning)
    warn_of_table(path, info.warning, 0);
  if (tables->json &&
      (info.smallest.size > MAX_JSON_KEY_NBYTES || info.largest.size > MAX_JSON_KEY_NBYTES))
    warn_of_table(path, "a key of more than 64 MiB is not printed", 0);
  if (tables->json)
    print_json(path, &info);
  else
    print_text(tables, path, &info);
  lanebloom_table_close(table);
  return true;
}

int tables_main(int argc, char **argv)
{
  struct tables tables = {0};
  parse_options(&argp, 0, argc, argv, &tables);
  struct database database = {0};
  bool complete = true;
  for (size_t i = 0; i < tables.npaths; i++)
    complete &= database_add(&database, tables.paths[i]);
  tables.name_width = widest_name(&database);
  for (size_t i = 0; i < database.ntables; i++)
    complete &= print_table(&tables, database.paths[i]);
  database_close(&database);
  return complete ? EXIT_SUCCESS : EXIT_TROUBLE;
}
