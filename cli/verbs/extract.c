/* lanebloom extract: saves the filter of a table file.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../answer/database.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../options/options.h"
#include "verbs.h"

enum { OPTION_RAW = 0x100, OPTION_PREFIXES };

struct extract {
  const char *table_path, *path;
  bool raw, prefixes, force;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct extract *extract = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &extract->force;
    return 0;
  case 'o':
    extract->path = text;
    return 0;
  case OPTION_RAW:
    extract->raw = true;
    return 0;
  case OPTION_PREFIXES:
    extract->prefixes = true;
    return 0;
  case ARGP_KEY_ARG:
    if (extract->table_path)
      argp_error(state, "expected one TABLE, found more");
    extract->table_path = text;
    return 0;
  case ARGP_KEY_END:
    if (!extract->table_path)
      argp_error(state, "expected a TABLE, found none");
    if (!extract->path)
      argp_error(state, "expected -o FILE, the file to write; found none");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"output", 'o', "FILE", 0, "Write the filter to FILE; `-' is standard output", 1},
            {"raw", OPTION_RAW, NULL, 0, "Write the engine's bare bytes instead of a container", 1},
            {"prefixes", OPTION_PREFIXES, NULL, 0,
             "Save the filter even if it holds prefixes of keys instead of keys, or if the table "
             "does not say which",
             1},
            {0}},
    .parser = parse,
    .args_doc = "TABLE -o FILE",
    .doc = "Saves the filter of a table file that has one filter for all its keys: a full filter "
           "of RocksDB or Pebble. `lanebloom tables' lists the kind of each table's filter. The "
           "table's key range is not saved.\v"
           "Examples:\n"
           "  lanebloom extract db/000012.sst -o table.lbf\n"
           "  lanebloom extract db/000012.sst --raw -o table.raw\n"
           "  lanebloom extract db/000012.sst -o - | lanebloom info -",
    .children = (const struct argp_child[]){{.argp = &force_argp}, {.argp = &kernel_argp}, {0}},
};

static _Noreturn void refuse(const char *path, const lanebloom_table_info *info)
{
  static const char wanted[] = "expected one filter for the whole table";
  static const char advice[] = "; `lanebloom screen --db' queries it in the table";
  const char *name = info->filter_name;
  if (info->filter == LANEBLOOM_TABLE_FILTER_NONE)
    die(path, "%s, found none; `lanebloom tables DIR' shows which tables have one", wanted);
  if (info->filter == LANEBLOOM_TABLE_FILTER_BLOCK)
    die(path, "%s, found a filter block, which has many (%s)%s", wanted, name, advice);
  if (info->filter == LANEBLOOM_TABLE_FILTER_PARTITIONED)
    die(path, "%s, found a partitioned filter (%s)%s", wanted, name, advice);
  die(path, "%s, found one of an unknown policy or not a Bloom filter (%s)%s", wanted, name,
      advice);
}

/* Unless --prefixes was given, prints a message and exits if the filter contains no whole keys, or
 * if the table does not say what its filter contains. If a filter contains only prefixes, a query
 * for a whole key would report the key as absent. */
static void check_prefixes(const struct extract *extract, const lanebloom_table_info *info)
{
  if (info->has_whole_keys || extract->prefixes)
    return;
  if (!info->has_prefixes)
    die(extract->table_path,
        "expected a filter of keys, found one that may hold prefixes instead; --prefixes saves it "
        "anyway");
  die(extract->table_path,
      "expected a filter of keys, found prefixes by %s; --prefixes saves it anyway",
      *info->prefix_extractor ? info->prefix_extractor : "an unnamed extractor");
}

static bool are_same_file(const char *a, const char *b)
{
  struct system_info status_a, status_b;
  return lanebloom_system_info(a, &status_a) && lanebloom_system_info(b, &status_b) &&
         is_same_file(&status_a, &status_b);
}

int extract_main(int argc, char **argv)
{
  struct extract extract = {0};
  parse_options(&argp, 0, argc, argv, &extract);
  const struct target target = check_target(extract.path);
  if (are_same_file(extract.table_path, target.path))
    die(extract.table_path, "%s", also_output_text);
  if (!extract.force && !extract.raw)
    check_is_filter(&target);
  lanebloom_table *table = open_table(extract.table_path, LANEBLOOM_WRITER_UNKNOWN, true);
  if (!table)
    return EXIT_TROUBLE;

  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  const lanebloom_filter *filter = lanebloom_table_full_filter(table);
  if (!filter)
    refuse(extract.table_path, &info);
  check_prefixes(&extract, &info);
  warn_of_tables((char *const *)&extract.table_path, &info.warning, 1);
  if (!extract.force)
    check_keeps_keys(&target, filter, extract.raw);
  const bool saved = save_filter(filter, &target, extract.raw);
  lanebloom_table_free(table);
  return saved ? EXIT_SUCCESS : EXIT_TROUBLE;
}
