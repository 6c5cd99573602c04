/* lanebloom build: builds a filter from records.
 * SPDX-License-Identifier: MIT */
#include "build.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "../../src/system/system.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../input/record_options.h"
#include "../options/numbers.h"
#include "../options/options.h"
#include "measure.h"
#include "verbs.h"

enum { OPTION_FORMAT = 0x100, OPTION_BITS, OPTION_RATE, OPTION_EXPECTED, OPTION_RAW };

/* ---- options ---- */

/* Checks that --rate can be used. The bits per key for a rate depend on the number of keys. Without
 * --expected, the inputs are read twice, first to count the keys and then to build the filter, so
 * they must be regular files. */
static void check_rate(const struct build *build, const struct argp_state *state)
{
  if (build->rate == 0)
    return;
  if (build->bits_text)
    argp_error(state, "give only one of --bits and --rate");
  if (build->expected_keys > 0)
    return;
  bool twice = build->ninputs > 0;
  for (size_t i = 0; i < build->ninputs; i++) {
    struct system_info input;
    twice &= !is_standard_input(build->inputs[i]);
    twice &= !lanebloom_system_info(build->inputs[i], &input) || input.kind == SYSTEM_FILE ||
             input.kind == SYSTEM_FOLDER;
  }
  if (!twice)
    argp_error(state,
               "--rate reads its input twice, so every INPUT must be a regular file; for other "
               "input, give the number of keys by --expected N");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct build *build = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &build->syntax;
    state->child_inputs[1] = &build->nworkers;
    state->child_inputs[2] = &build->progress;
    state->child_inputs[3] = &build->force;
    return 0;
  case 'o':
    build->path = text;
    return 0;
  case OPTION_FORMAT:
    build->format = parse_building_format(state, text);
    return 0;
  case OPTION_BITS:
    build->bits_per_key = parse_number(state, "--bits", text);
    build->bits_text = text;
    return 0;
  case OPTION_RATE:
    build->rate = parse_rate(state, "--rate", text);
    build->rate_text = text;
    return 0;
  case OPTION_EXPECTED:
    build->expected_keys = parse_count(state, "--expected", text, UINT64_MAX);
    return 0;
  case OPTION_RAW:
    build->raw = true;
    return 0;
  case ARGP_KEY_ARGS:
    build->inputs = state->argv + state->next;
    build->ninputs = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_END:
    if (!build->path)
      argp_error(state, "expected -o FILE, the file to write; found none");
    check_rate(build, state);
    refuse_keep(&build->syntax, state);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static char *help(int key, const char *text, void *input)
{
  (void)input;
  return key == OPTION_FORMAT ? with_formats(text, true) : (char *)text;
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"output", 'o', "FILE", 0, "Write the filter to FILE; `-' is standard output", 1},
            {"format", OPTION_FORMAT, "NAME", 0, "Build a filter of this format. ", 1},
            {"bits", OPTION_BITS, "N", 0, "Bits per key (10)", 1},
            {"rate", OPTION_RATE, "P", 0,
             "Choose the bits per key for a false-positive rate of P, such as 0.01 or 1%. Without "
             "--expected, inputs are read twice and must be regular files",
             1},
            {"expected", OPTION_EXPECTED, "N", 0,
             "Size the filter for N keys, such as 1e6 or 1M, in advance. Without this option, each "
             "record takes 4 or 8 bytes of memory until the end",
             1},
            {"raw", OPTION_RAW, NULL, 0, "Write the engine's bare bytes instead of a container", 1},
            {0}},
    .parser = parse,
    .args_doc = "-o FILE [INPUT...]",
    .doc = "Builds a Bloom filter from records.\n"
           "The key is the whole record, or the fields of it that -f names. Records come from "
           "INPUT, or from standard input if there is none or it is `-'. A repeated key counts "
           "every time in the filter's size: `sort -u' makes the smallest filter. If an input "
           "cannot be read to its end, no filter is written, because it would miss keys. If there "
           "are no keys, a filter that may have some is not replaced, unless --force is given.\v"
           "Examples:\n"
           "  lanebloom build -o words.lbf words.txt\n"
           "  lanebloom build -o words.lbf --rate 0.001 words.txt more.txt\n"
           "  lanebloom build -o column.lbf --csv -f email customers.csv\n"
           "  lanebloom build -o log.lbf --bits 16 --expected 1e9 log.gz\n"
           "  lanebloom build -o filter.bin --raw --format leveldb keys.txt",
    .help_filter = help,
    .children = (const struct argp_child[]){{.argp = &record_argp},
                                            {.argp = &jobs_argp},
                                            {.argp = &progress_argp},
                                            {.argp = &force_argp},
                                            {.argp = &kernel_argp},
                                            {0}},
};

/* ---- checking the filter ---- */

static bool has_more_keys(const struct build *build, uint64_t nkeys)
{
  return build->expected_keys > 0 && nkeys > build->expected_keys;
}

/* Measures the rate, because only a model chose the bits per key. Warns if even the lower end of
 * the confidence interval is more than a tenth above --rate. Queries so many random hashes that
 * about a hundred pass, but at least 500,000 and at most 50 million. */
static void check_rate_is_kept(const struct build *build, const lanebloom_filter *filter,
                               uint64_t nkeys)
{
  const double wanted = 100 / build->rate;
  const uint64_t nhashes = wanted < 500000     ? 500000
                           : wanted > 50000000 ? 50000000
                                               : (uint64_t)wanted;
  const struct measurement measured = measure(filter, build->format, nhashes);
  if (measured.low <= 1.1 * build->rate)
    return;
  const bool overfull = has_more_keys(build, nkeys), is_default = build->format == DEFAULT_FORMAT;
  complain(build->target.name,
           "warning: --rate: expected a false-positive rate of %.3g %%, measured %.3g %%%s%s",
           100 * build->rate, 100 * measured.rate,
           overfull     ? ": there were more keys than --expected"
           : is_default ? ""
                        : "; try --format ",
           overfull || is_default ? "" : lanebloom_format_name(DEFAULT_FORMAT));
}

/* Warns if there were more keys than --expected, and the rate is therefore more than a tenth higher
 * than planned. */
static void check_keys_fit(const struct build *build, const lanebloom_filter_info *info,
                           uint64_t nkeys)
{
  double planned;
  if (!has_more_keys(build, nkeys) ||
      lanebloom_plan_rate(build->format, build->bits_per_key, build->expected_keys, &planned) !=
          LANEBLOOM_OK ||
      info->model_rate <= 1.1 * planned)
    return;
  complain(build->target.name,
           "warning: --expected: expected %" PRIu64 " keys, found %" PRIu64
           "; the model's false-positive rate is %.3g %% instead of %.3g %%",
           build->expected_keys, nkeys, 100 * info->model_rate, 100 * planned);
}

/* Warns if the filter has other bits per key than --bits says. Formats limit the bits per key, and
 * round them to thousandths or whole numbers. */
static void check_bits_are_kept(const struct build *build, const lanebloom_filter_info *info)
{
  lanebloom_format_info format;
  if (fabs(info->bits_per_key - build->bits_per_key) <= 0.0005 ||
      lanebloom_format_describe(build->format, &format, sizeof format) != LANEBLOOM_OK)
    return;
  const bool is_limited = build->bits_per_key > format.max_bits_per_key;
  complain(build->target.name, "warning: --bits %s: %s %s %.10g bits per key", build->bits_text,
           format.name, is_limited ? "uses at most" : "rounds it to", info->bits_per_key);
}

static void check_filter(const struct build *build, const lanebloom_filter *filter, uint64_t nkeys)
{
  if (nkeys == 0 && build->expected_keys == 0 && !build->force)
    complain(build->target.name, "warning: found no keys: no key passes this filter");
  if (build->rate > 0) {
    check_rate_is_kept(build, filter, nkeys);
    return;
  }
  if (!build->bits_text && !has_more_keys(build, nkeys))
    return; /* saves time, because describing a filter counts its bits */
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  check_keys_fit(build, &info, nkeys);
  check_bits_are_kept(build, &info);
}

/* ---- the verb ---- */

/* Returns the bits per key for --rate. If the format's writer takes the rate itself, the builder
 * gets it, too, and these bits are only for messages. */
static double bits_for_rate(const struct build *build, uint64_t nkeys)
{
  double bits;
  const lanebloom_status status = lanebloom_plan_bits(build->format, build->rate, nkeys, &bits);
  if (status != LANEBLOOM_OK)
    die_of(status, build, nkeys);
  return bits;
}

int build_main(int argc, char **argv)
{
  struct build build = {.messages = {.verb = "build",
                                     .container_advice = "`build' reads keys; `merge' merges "
                                                         "filters"},
                        .format = DEFAULT_FORMAT,
                        .bits_per_key = 10};
  parse_options(&argp, 0, argc, argv, &build);
  build.target = check_target(build.path);
  check_is_no_input(&build);
  if (!build.force && !build.raw)
    check_is_filter(&build.target);
  if (build.rate > 0 && build.expected_keys)
    build.bits_per_key = bits_for_rate(&build, build.expected_keys);
  else if (build.rate > 0)
    build.bits_per_key = bits_for_rate(&build, count_keys(&build));
  uint64_t nkeys;
  lanebloom_filter *filter = build_filter(&build, &nkeys);
  if (!build.force)
    check_keeps_keys(&build.target, filter, build.raw);
  check_filter(&build, filter, nkeys);
  bool saved = save_filter(filter, &build.target, build.raw);
  lanebloom_filter_free(filter);
  return saved ? EXIT_SUCCESS : EXIT_TROUBLE;
}
