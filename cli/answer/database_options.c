/* Parses the options that say which tables and logs belong to a database.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../base/memory.h"
#include "../options/options.h"
#include "database.h"

enum {
  OPTION_ALL_FILES = 0x300,
  OPTION_COLUMN_FAMILY,
  OPTION_WAL_DIR,
  OPTION_DB_PATH,
  OPTION_WRITER
};

static error_t parse_writer_option(int key, char *text, struct argp_state *state)
{
  lanebloom_writer *writer = state->input;
  if (key != OPTION_WRITER)
    return ARGP_ERR_UNKNOWN;
  if (!lanebloom_writer_by_name(text, writer))
    usage_error(state, "--writer: expected leveldb or goleveldb, found '%s'", text);
  return 0;
}

const struct argp writer_argp = {
    .options =
        (const struct argp_option[]){
            {"writer", OPTION_WRITER, "NAME", 0,
             "The writer of filters named leveldb.BuiltinBloomFilter: `goleveldb', or `leveldb' "
             "before 1.18 on x86. Without this option a key is absent only if both say so",
             3},
            {0}},
    .parser = parse_writer_option,
};

static void add_name(const char *const **names, size_t *n, const char *name)
{
  const char **grown = grow_list((void *)(uintptr_t)*names, *n, sizeof *grown);
  grown[(*n)++] = name;
  *names = grown;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct database_options *options = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &options->writer;
    return 0;
  case OPTION_ALL_FILES:
    options->all_files = true;
    return 0;
  case OPTION_COLUMN_FAMILY:
    add_name(&options->where.families, &options->where.nfamilies, text);
    return 0;
  case OPTION_WAL_DIR:
    options->where.log_folder = text;
    return 0;
  case OPTION_DB_PATH:
    add_name(&options->where.table_folders, &options->where.ntable_folders, text);
    return 0;
  case ARGP_KEY_END:
    if (options->all_files && (options->where.log_folder || options->where.nfamilies > 0 ||
                               options->where.ntable_folders > 0))
      argp_error(state, "--all-files reads no MANIFEST, and so takes no --column-family, --wal-dir "
                        "or --db-path");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp database_argp = {
    .options =
        (const struct argp_option[]){
            {"all-files", OPTION_ALL_FILES, NULL, 0,
             "Read all tables in a folder, and no logs, whatever its MANIFEST says", 3},
            {"column-family", OPTION_COLUMN_FAMILY, "NAME", 0,
             "Read only this column family of RocksDB; repeatable", 3},
            {"wal-dir", OPTION_WAL_DIR, "DIR", 0,
             "The logs of RocksDB or Pebble are here; by default where the OPTIONS file says", 3},
            {"db-path", OPTION_DB_PATH, "DIR", 0,
             "Look for tables in this folder, too: RocksDB's db_paths and cf_paths; repeatable", 3},
            {0}},
    .parser = parse,
    .children = (const struct argp_child[]){{.argp = &writer_argp}, {0}},
};

bool has_database_options(const struct database_options *options)
{
  return options->writer || options->all_files || options->where.log_folder ||
         options->where.nfamilies > 0 || options->where.ntable_folders > 0;
}

void free_database_options(struct database_options *options)
{
  free((void *)(uintptr_t)options->where.families);
  free((void *)(uintptr_t)options->where.table_folders);
}
