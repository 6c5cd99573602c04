/* Serves the verbs that read Parquet files: parses the option --bounds, and lists the files that
 * names and patterns mean.
 * SPDX-License-Identifier: MIT */
#include "parquet_files.h"

#include "../base/report.h"
#include "../options/options.h"
#include "recognize.h"

/* ---- --bounds ---- */

enum { OPTION_BOUNDS = 0x600 };

static error_t parse(int key, char *text, struct argp_state *state)
{
  lanebloom_parquet_bounds *bounds = state->input;
  if (key != OPTION_BOUNDS)
    return ARGP_ERR_UNKNOWN;
  if (!lanebloom_parquet_bounds_by_name(text, bounds))
    usage_error(state, "--bounds: expected known, all or none, found '%s'", text);
  return 0;
}

const struct argp bounds_argp = {
    .options =
        (const struct argp_option[]){
            {"bounds", OPTION_BOUNDS, "WHOSE", 0,
             "Use bounds and counts of nulls in Parquet files to rule out keys: `known' (the "
             "default), those of writers that are known to write them correctly; `all', also those "
             "that may be wrong; `none'",
             3},
            {0}},
    .parser = parse,
};

/* ---- Names ---- */

lanebloom_parquet_files *parquet_list(char *const *names, size_t nnames)
{
  char problem[1024], others[64] = "";
  lanebloom_parquet_files *files;
  if (lanebloom_parquet_find_files((const char *const *)names, nnames, &files, problem,
                                   sizeof problem)) {
    for (size_t i = 0; i < nnames; i++)
      if (!is_parquet(names[i]) &&
          explain_other_kind(names[i], "Parquet files", problem, sizeof problem))
        die(names[i], "%s", problem);
    die(NULL, "%s", problem);
  }
  const lanebloom_parquet_paths *skipped = &files->skipped;
  if (skipped->n > 1)
    snprintf(others, sizeof others, " (and %zu more)", skipped->n - 1);
  if (skipped->n > 0)
    complain(skipped->all[0],
             "warning: this Parquet file is not read%s, because its name begins with a dot or an "
             "underscore: name it to read it, or remove it",
             others);
  return files;
}
