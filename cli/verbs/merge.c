/* lanebloom merge: writes the union of filters.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/memory.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../files/lock.h"
#include "../files/mapped.h"
#include "../input/record_options.h"
#include "../options/options.h"
#include "verbs.h"

struct merge {
  const char *path;
  char **paths;
  size_t npaths;
  struct filter_source source;
  bool force;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct merge *merge = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &merge->force;
    state->child_inputs[1] = &merge->source;
    return 0;
  case 'o':
    merge->path = text;
    return 0;
  case ARGP_KEY_ARGS:
    merge->paths = state->argv + state->next;
    merge->npaths = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_END:
    if (!merge->path)
      argp_error(state, "expected -o FILE, the file to write; found none");
    if (merge->npaths == 0)
      argp_error(state, "expected a FILTER, found none");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"output", 'o', "FILE", 0,
             "Write the union to FILE, which may be one of the filters; `-' is standard output", 1},
            {0}},
    .parser = parse,
    .args_doc = "-o FILE FILTER...",
    .doc =
        "Writes the union of filters: a key passes if it was added to any of them. All must have "
        "the same format, size and number of probes: build them with the same --format, --bits and "
        "--expected. The more filters, the more absent keys pass, so give --expected the number of "
        "keys of all filters. The union states the sum of their numbers of keys, and a sum of "
        "2^64 or more is unknown. If FILE already holds a filter, it is replaced; it is merged "
        "only if it is a FILTER, too.\n"
        "If a filter cannot be read or does not fit the first one, nothing is written. Files are "
        "mapped, so memory for one filter is enough.\v"
        "Examples:\n"
        "  lanebloom build --expected 10M -o monday.lbf monday.txt\n"
        "  lanebloom build --expected 10M -o tuesday.lbf tuesday.txt\n"
        "  lanebloom merge -o week.lbf monday.lbf tuesday.lbf",
    .children =
        (const struct argp_child[]){
            {.argp = &force_argp}, {.argp = &filter_argp}, {.argp = &kernel_argp}, {0}},
};

/* Maps all filters into memory. If a filter cannot be read, prints messages and exits. */
static struct mapped *map_all(const struct merge *merge)
{
  struct mapped *mapped = resize(NULL, merge->npaths * sizeof *mapped);
  bool failed = false;
  for (size_t i = 0; i < merge->npaths; i++) {
    const char *path = merge->paths[i];
    char problem[256];
    if (is_standard_output(path)) {
      complain(input_name(path), "%s", also_output_text);
      failed = true;
    } else if (merge->source.raw) {
      mapped[i] = (struct mapped){.filter = load_filter(path, &merge->source)};
      failed |= !mapped[i].filter;
    } else if (map_filter(&mapped[i], path, problem, sizeof problem) != LANEBLOOM_OK) {
      complain(input_name(path), "%s", problem);
      failed = true;
    }
  }
  if (failed)
    exit(EXIT_TROUBLE);
  return mapped;
}

/* Reports a filter that cannot be merged with the first one. */
static void complain_of_mismatch(const char *name, const lanebloom_filter *filter,
                                 const char *first, const char *problem)
{
  lanebloom_filter_info info;
  lanebloom_format_info format;
  lanebloom_filter_describe(filter, &info, sizeof info);
  if (info.nprobes > 0 &&
      lanebloom_format_describe(info.format, &format, sizeof format) == LANEBLOOM_OK &&
      !format.builds)
    complain(name,
             "%s, which can only be read; `lanebloom screen --filter' queries several filters "
             "without merging them",
             problem);
  else
    complain(name,
             "%s; a filter merges with %s if both were built with one --expected N, and with the "
             "same --format, --bits, -f, --decode, --digest, --lower, --upper and --trim",
             problem, first);
}

/* Merges the filters, then checks whether their files have changed since they were verified. A
 * change after this check does not matter, because the union is complete by then. */
static lanebloom_filter *merge_all(const struct merge *merge, struct mapped *mapped)
{
  const size_t n = merge->npaths;
  const lanebloom_filter **filters = resize(NULL, n * sizeof *filters);
  for (size_t i = 0; i < n; i++)
    filters[i] = mapped[i].filter;
  lanebloom_filter *merged;
  size_t bad;
  char problem[256];
  lanebloom_status status =
      lanebloom_filter_merge(filters, n, &merged, &bad, problem, sizeof problem);
  free(filters);
  if (status == LANEBLOOM_ERR_MISMATCH) {
    complain_of_mismatch(input_name(merge->paths[bad]), mapped[bad].filter,
                         input_name(merge->paths[0]), problem);
    exit(EXIT_TROUBLE);
  }
  if (status != LANEBLOOM_OK)
    die(NULL, "%s", problem);
  for (size_t i = 0; i < n; i++) {
    status = verify_again(&mapped[i]);
    if (status != LANEBLOOM_OK)
      die(input_name(merge->paths[i]), "%s",
          status == LANEBLOOM_ERR_MEMORY ? status_text(status)
                                         : "the file was changed while it was read; merge again");
  }
  return merged;
}

/* If the target is one of the filters, locks it, as `add' does. Without the lock, keys that another
 * command adds in the meantime would be lost. Returns the descriptor that holds the lock, or -1. */
static int lock_target(const struct merge *merge, const struct target *target)
{
  struct system_info found, input;
  if (!lanebloom_system_info(target->path, &found) || found.kind != SYSTEM_FILE)
    return -1;
  for (size_t i = 0; i < merge->npaths; i++)
    if (lanebloom_system_info(merge->paths[i], &input) && is_same_file(&found, &input))
      return lock_file(target->path, target->name);
  return -1;
}

/* The union of one filter is a copy of it. Warns if the copy replaces a different filter, because
 * the user may have wanted to merge these two. */
static void warn_of_copy(const struct merge *merge, const struct target *target,
                         const lanebloom_filter *merged)
{
  struct system_info found;
  struct mapped replaced = {.filter = NULL};
  if (merge->npaths != 1 || !lanebloom_system_info(target->path, &found) ||
      found.kind != SYSTEM_FILE || map_filter(&replaced, target->path, NULL, 0) != LANEBLOOM_OK)
    return;
  size_t nbytes, nmerged;
  const void *bytes = lanebloom_filter_bytes(replaced.filter, &nbytes);
  const void *merged_bytes = lanebloom_filter_bytes(merged, &nmerged);
  const bool is_other = nbytes != nmerged || memcmp(bytes, merged_bytes, nbytes) != 0;
  if (is_other && !has_no_keys(replaced.filter))
    complain(target->name,
             "warning: a copy of %s replaces this filter and is not merged with it: to merge both, "
             "name FILE as a FILTER, too",
             input_name(merge->paths[0]));
  unmap_filter(&replaced);
}

int merge_main(int argc, char **argv)
{
  struct merge merge = {0};
  parse_options(&argp, 0, argc, argv, &merge);
  const struct target target = check_target(merge.path);
  const bool raw = merge.source.raw;
  if (!merge.force && !raw)
    check_is_filter(&target);
  const int fd = lock_target(&merge, &target);
  struct mapped *mapped = map_all(&merge);
  lanebloom_filter *merged = merge_all(&merge, mapped);
  for (size_t i = merge.npaths; i-- > 0;)
    unmap_filter(&mapped[i]);
  free(mapped);
  if (fd >= 0 && !is_named(fd, target.path))
    die(target.name,
        "the filter was replaced while it was merged; nothing was changed: merge again");
  if (!merge.force) {
    check_keeps_keys(&target, merged, raw);
    warn_of_copy(&merge, &target, merged);
  }
  const bool saved = save_filter(merged, &target, raw);
  if (fd >= 0)
    lanebloom_system_close(fd);
  lanebloom_filter_free(merged);
  return saved ? EXIT_SUCCESS : EXIT_TROUBLE;
}
