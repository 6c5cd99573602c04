/* Parses the options that say which Parquet files are screened, and what is printed about them:
 * --parquet, --column, --hudi, --prune, --row-groups and --require-filters.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "../base/memory.h"
#include "../files/parquet_files.h"
#include "parquet.h"

enum {
  OPTION_PARQUET = 0x500,
  OPTION_COLUMN,
  OPTION_HUDI,
  OPTION_PRUNE,
  OPTION_ROW_GROUPS,
  OPTION_REQUIRE_FILTERS
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct parquet_query *query = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &query->bounds;
    return 0;
  case OPTION_PARQUET:
    query->names = grow_list(query->names, query->nnames, sizeof *query->names);
    query->names[query->nnames++] = text;
    return 0;
  case OPTION_COLUMN:
    query->column = text;
    return 0;
  case OPTION_HUDI:
    query->hudi = true;
    return 0;
  case OPTION_PRUNE:
    query->prune = true;
    return 0;
  case OPTION_ROW_GROUPS:
    query->row_groups = true;
    return 0;
  case OPTION_REQUIRE_FILTERS:
    query->require_filters = true;
    return 0;
  case ARGP_KEY_END:
    if (query->nnames == 0 &&
        (query->column || query->hudi || query->prune || query->row_groups ||
         query->require_filters || query->bounds != LANEBLOOM_PARQUET_BOUNDS_KNOWN))
      argp_error(state,
                 "--column, --hudi, --prune, --row-groups, --require-filters and --bounds need "
                 "--parquet PATH");
    if (query->hudi && query->column && strcmp(query->column, hudi_column) != 0)
      argp_error(state, "--hudi: expected no --column, or --column %s, found '%s'", hudi_column,
                 query->column);
    if (query->hudi)
      query->column = hudi_column;
    if (query->nnames > 0 && !query->column)
      argp_error(state, "--parquet needs --column NAME, the column that holds the keys, or --hudi");
    if (query->row_groups && !query->prune)
      argp_error(state, "--row-groups needs --prune");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp parquet_argp = {
    .options =
        (const struct argp_option[]){
            {"parquet", OPTION_PARQUET, "PATH", 0,
             "Select the records whose key may be in this Parquet file, in a file in or below this "
             "folder, or in a file that matches this quoted pattern; repeatable. Every argument is "
             "an INPUT, and all records are kept in memory",
             3},
            {"column", OPTION_COLUMN, "NAME", 0,
             "The keys are in this column; name a nested one by its path, as in user.id. The text "
             "of keys is converted to the column's type: numbers, dates, ...",
             3},
            {"hudi", OPTION_HUDI, NULL, 0,
             "The keys are record keys of Apache Hudi, in the column _hoodie_record_key. Its "
             "filters and ranges of keys in the footers are used whenever this column is queried",
             3},
            {"prune", OPTION_PRUNE, NULL, 0,
             "Print the names of the Parquet files that may have any of the keys; with -c, print "
             "their number",
             3},
            {"row-groups", OPTION_ROW_GROUPS, NULL, 0,
             "With --prune, print \"FILE<tab>NUMBER\" for each row group, from 0", 3},
            {"require-filters", OPTION_REQUIRE_FILTERS, NULL, 0,
             "Fail if a row group has no filter of the column: every key within its bounds may be "
             "in it",
             3},
            {0}},
    .parser = parse,
    .children = (const struct argp_child[]){{.argp = &bounds_argp}, {0}},
};
