/* lanebloom add: adds keys to a filter that has room for them.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/memory.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/compressed_filter.h"
#include "../files/filters.h"
#include "../files/lock.h"
#include "../files/mapped.h"
#include "../input/record_options.h"
#include "../options/options.h"
#include "../system/files.h"
#include "build.h"
#include "verbs.h"

enum { OPTION_OVERFILL = 0x100 };

struct add {
  struct build build; /* says how to build a filter of the new keys that can be merged with the
                       * filter at build.path */
  const char *file;   /* the file that build.path leads to, after links */
  struct filter_source source;
  struct mapped mapped; /* the filter, until the filter of the new keys is built */
  double planned_rate;
  bool overfill;
};

/* ---- options ---- */

static error_t parse(int key, char *text, struct argp_state *state)
{
  (void)text;
  struct add *add = state->input;
  struct build *build = &add->build;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &build->syntax;
    state->child_inputs[1] = &build->nworkers;
    state->child_inputs[2] = &build->progress;
    state->child_inputs[3] = &add->source;
    return 0;
  case OPTION_OVERFILL:
    add->overfill = true;
    return 0;
  case ARGP_KEY_ARGS:
    build->path = state->argv[state->next];
    build->inputs = state->argv + state->next + 1;
    build->ninputs = (size_t)(state->argc - state->next) - 1;
    return 0;
  case ARGP_KEY_END:
    if (!build->path)
      argp_error(state, "expected a FILTER, found none");
    refuse_keep(&build->syntax, state);
    if (is_standard_input(build->path))
      argp_error(state, "FILTER is replaced, so it cannot be standard input");
    build->raw = add->source.raw;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"overfill", OPTION_OVERFILL, NULL, 0,
             "Add the keys even if the filter then passes more absent keys than planned", 1},
            {0}},
    .parser = parse,
    .args_doc = "FILTER [INPUT...]",
    .doc = "Adds the records of INPUT, or of standard input, to FILTER. FILTER is replaced at the "
           "end, so it gets all new keys or none. If an input cannot be read, or if the "
           "false-positive rate would become more than a tenth higher than the filter was built "
           "for, FILTER is not changed. Build it with --expected to leave room; keys that it "
           "already has need no room.\n"
           "Several commands may add to one FILTER at a time: each locks it with flock from "
           "reading it to replacing it, so no key is lost.\v"
           "Examples:\n"
           "  lanebloom build --expected 100M -o seen.lbf monday.txt\n"
           "  lanebloom add seen.lbf tuesday.txt wednesday.txt\n"
           "  lanebloom screen -v seen.lbf new.txt | lanebloom add seen.lbf",
    .children = (const struct argp_child[]){{.argp = &record_argp},
                                            {.argp = &jobs_argp},
                                            {.argp = &progress_argp},
                                            {.argp = &filter_argp},
                                            {.argp = &kernel_argp},
                                            {0}},
};

/* ---- room ---- */

/* Returns the largest number of keys for which a filter with these bits per key has at most
 * nbytes. */
static uint64_t find_room(lanebloom_format format, double bits_per_key, uint64_t nbytes)
{
  uint64_t enough = 0, too_many = UINT64_MAX, planned;
  unsigned nprobes;
  while (too_many - enough > 1) {
    const uint64_t middle = enough + (too_many - enough) / 2;
    if (lanebloom_plan_size(format, bits_per_key, middle, &planned, &nprobes) == LANEBLOOM_OK &&
        planned <= nbytes)
      enough = middle;
    else
      too_many = middle;
  }
  return enough;
}

/* Plans a filter of the new keys that has the same size and probes as this filter. If the filter
 * cannot take more keys, prints a message and exits. */
static void plan_like(struct add *add, const lanebloom_filter *filter)
{
  struct build *build = &add->build;
  lanebloom_filter_info info;
  size_t nbytes;
  lanebloom_filter_describe(filter, &info, sizeof info);
  lanebloom_filter_bytes(filter, &nbytes);
  if (info.nprobes == 0)
    die(build->path,
        "expected a filter with bits to set, found one that %s key passes; "
        "`lanebloom build --expected N' makes one that has room",
        lanebloom_filter_may_contain(filter, NULL, 0) ? "every" : "no");
  if (info.nkeys == LANEBLOOM_UNKNOWN || isnan(info.bits_per_key))
    die(build->path, "expected a filter that states its number of keys and its bits per key, found "
                     "one that does not: its room for more keys is unknown");
  build->format = info.format;
  build->bits_per_key = info.bits_per_key;
  build->like = filter;
  if (info.planned_nkeys != LANEBLOOM_UNKNOWN) { /* the filter itself says how much room it has */
    build->expected_keys = info.planned_nkeys;
    if (lanebloom_plan_rate(build->format, build->bits_per_key, build->expected_keys,
                            &add->planned_rate) != LANEBLOOM_OK)
      die(build->path, "expected a filter that has room for keys, found one that was planned for "
                       "none");
    return;
  }
  build->expected_keys = find_room(info.format, info.bits_per_key, nbytes);
  uint64_t planned_nbytes = 0;
  unsigned nprobes = 0;
  if (lanebloom_plan_size(build->format, build->bits_per_key, build->expected_keys, &planned_nbytes,
                          &nprobes) != LANEBLOOM_OK ||
      planned_nbytes != nbytes || nprobes != info.nprobes ||
      lanebloom_plan_rate(build->format, build->bits_per_key, build->expected_keys,
                          &add->planned_rate) != LANEBLOOM_OK)
    die(build->path,
        "expected the size and the number of probes of %s at %.10g bits per key, found %zu bytes "
        "and %" PRIu32 " probes",
        lanebloom_format_name(build->format), build->bits_per_key, nbytes, info.nprobes);
}

/* Returns the path of the file to which `path' leads. Links are followed only here, so the same
 * file is read, locked and replaced. If the path names a descriptor, such as /dev/fd/3, returns the
 * path of the open file itself, because writing to the descriptor would not replace the filter. The
 * caller frees the result. */
static char *resolve(const char *path)
{
  struct system_info found;
  const bool is_regular = lanebloom_system_info(path, &found) && found.kind == SYSTEM_FILE;
  char *file = is_regular ? resolve_path(path) : NULL;
  if (is_regular && !file && errno == ENOENT)
    die(path, "expected a file with a name, which can be replaced");
  return file ? file : strcpy(resize(NULL, strlen(path) + 1), path); /* look_at_filter() will refuse
                                                                      * other files */
}

/* Examines the filter before any input is read, so that errors are reported early. Another command
 * may still replace the filter later. */
static void look_at_filter(struct add *add)
{
  struct build *build = &add->build;
  struct system_info target;
  if (!lanebloom_system_info(add->file, &target))
    die(build->path, "%s%s", strerror(errno),
        errno == ENOENT ? "; `lanebloom build --expected N' makes a filter that has room" : "");
  if (target.kind != SYSTEM_FILE)
    die(build->path, "expected a regular file, which can be replaced");
  check_is_no_input(build);
  if (add->source.raw) {
    if (is_gzip_filter(add->file, add->source.format))
      die(build->path, "expected a filter that is not compressed, found one in gzip");
    add->mapped = (struct mapped){.filter = load_filter(add->file, &add->source)};
    if (!add->mapped.filter)
      exit(EXIT_TROUBLE);
    plan_like(add, add->mapped.filter);
    return;
  }
  char problem[256];
  const lanebloom_status status = map_filter(&add->mapped, add->file, problem, sizeof problem);
  if (status == LANEBLOOM_ERR_FORMAT &&
      complain_of_order("add", build->path, problem, build->inputs, build->ninputs))
    exit(EXIT_TROUBLE);
  if (status != LANEBLOOM_OK)
    die(build->path, "%s", problem);
  if (!take_form(&build->syntax, build->path, add->mapped.filter))
    exit(EXIT_TROUBLE);
  plan_like(add, add->mapped.filter);
}

/* ---- the verb ---- */

/* Does nothing unless the filter holds more keys than it has room for, and its false-positive rate
 * is more than a tenth higher than planned. Then prints a warning if --overfill was given;
 * otherwise prints a message and exits. */
static void check_rate_is_kept(const struct add *add, const lanebloom_filter *filter)
{
  const struct build *build = &add->build;
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  if (info.nkeys <= build->expected_keys || info.model_rate <= 1.1 * add->planned_rate)
    return;
  const uint64_t nkeys =
      info.nkeys_estimate == LANEBLOOM_UNKNOWN ? info.nkeys : info.nkeys_estimate;
  (add->overfill ? complain : die)(
      build->path,
      "%sexpected a false-positive rate of %.3g %%, found %.3g %% with the new keys: the filter "
      "has room for %" PRIu64 " keys, and would have about %" PRIu64 "%s",
      add->overfill ? "warning: " : "", 100 * add->planned_rate, 100 * info.model_rate,
      build->expected_keys, nkeys,
      add->overfill ? "" : "; nothing was added: build a larger filter, or give --overfill");
}

/* Reads the filter again, because it may have changed, and returns its union with the filter of the
 * new keys. On failure prints a message and exits. */
static lanebloom_filter *add_to_current(const struct add *add, const lanebloom_filter *new_keys)
{
  lanebloom_filter *current = load_filter(add->file, &add->source), *sum;
  if (!current)
    exit(EXIT_TROUBLE);
  char problem[256];
  const lanebloom_status status = lanebloom_filter_merge(
      (const lanebloom_filter *const[]){new_keys, current}, 2, &sum, NULL, problem, sizeof problem);
  if (status == LANEBLOOM_ERR_MISMATCH)
    die(add->build.path,
        "the filter was replaced by another kind while keys were read: %s; nothing was added",
        problem);
  if (status != LANEBLOOM_OK)
    die(add->build.path, "%s", problem);
  lanebloom_filter_free(current);
  return sum;
}

int add_main(int argc, char **argv)
{
  struct add add = {
      .build = {.messages = {.verb = "add",
                             .container_advice = "`add' reads keys; `merge' merges filters"}}};
  struct build *build = &add.build;
  parse_options(&argp, 0, argc, argv, &add);
  char *file = resolve(build->path);
  add.file = file;
  build->target = check_target(add.file);
  build->target.name = build->path;
  look_at_filter(&add);
  uint64_t nkeys;
  lanebloom_filter *new_keys = build_filter(build, &nkeys);
  unmap_filter(&add.mapped);

  const int fd = lock_file(add.file, build->path);
  lanebloom_filter *sum = add_to_current(&add, new_keys);
  lanebloom_filter_free(new_keys);
  check_rate_is_kept(&add, sum);
  if (!is_named(fd, add.file))
    die(build->path, "the filter was replaced while keys were added to it; nothing was added: add "
                     "them again");
  const bool saved = save_filter(sum, &build->target, build->raw);
  lanebloom_system_close(fd);
  lanebloom_filter_free(sum);
  free(file);
  return saved ? EXIT_SUCCESS : EXIT_TROUBLE;
}
