/* lanebloom build: builds a filter from records.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum {
  OPTION_FORMAT = 0x100,
  OPTION_BITS,
  OPTION_RATE,
  OPTION_EXPECTED,
  OPTION_RAW,
  OPTION_PROGRESS
};

struct build {
  struct record_syntax syntax;
  const char *path;
  struct target target;
  struct stat target_status; /* zeroed: the target does not exist yet */
  lanebloom_format format;
  double bits_per_key;
  const char *bits_text; /* as it was given, for messages; NULL: not given */
  double rate;           /* 0: not given */
  const char *rate_text;
  uint64_t expected_keys; /* 0: not given */
  bool raw, progress;
  char **inputs;
  size_t ninputs;
  size_t nworkers;
};

/* ---- options ---- */

/* The bits per key for a rate depend on the number of keys. Without --expected, the input is read
 * twice: once to count, once to build. */
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
    struct stat input;
    twice &= !is_standard_input(build->inputs[i]);
    twice &= stat(build->inputs[i], &input) < 0 || S_ISREG(input.st_mode) || S_ISDIR(input.st_mode);
  }
  if (!twice)
    argp_error(state,
               "--rate reads its input twice, so every INPUT must be a regular file; for other "
               "input, give the number of keys by --expected N");
}

static double parse_rate(const struct argp_state *state, const char *text)
{
  double rate = parse_number(state, "--rate", text);
  if (!(rate > 0 && rate < 1))
    usage_error(state, "--rate: expected a number between 0 and 1, found '%s'", text);
  return rate;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct build *build = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &build->syntax;
    state->child_inputs[1] = &build->nworkers;
    return 0;
  case 'o':
    build->path = text;
    return 0;
  case OPTION_FORMAT:
    build->format = parse_hashing_format(state, text);
    return 0;
  case OPTION_BITS:
    build->bits_per_key = parse_number(state, "--bits", text);
    build->bits_text = text;
    return 0;
  case OPTION_RATE:
    build->rate = parse_rate(state, text);
    build->rate_text = text;
    return 0;
  case OPTION_EXPECTED:
    build->expected_keys = parse_count(state, "--expected", text, UINT64_MAX);
    return 0;
  case OPTION_RAW:
    build->raw = true;
    return 0;
  case OPTION_PROGRESS:
    build->progress = true;
    return 0;
  case ARGP_KEY_ARGS:
    build->inputs = state->argv + state->next;
    build->ninputs = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_END:
    if (!build->path)
      argp_error(state, "expected -o FILE, the file to write; found none");
    check_rate(build, state);
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
             "Choose the bits per key for a false-positive rate of P; 0.01 is one percent", 1},
            {"expected", OPTION_EXPECTED, "N", 0,
             "Size the filter for N keys at the start. Without this option, each record takes 4 or "
             "8 bytes of memory until the end",
             1},
            {"raw", OPTION_RAW, NULL, 0, "Write the engine's bare bytes instead of a container", 1},
            {"progress", OPTION_PROGRESS, NULL, 0, "Report the speed every second", 8},
            {0}},
    .parser = parse,
    .args_doc = "-o FILE [INPUT...]",
    .doc = "Builds a Bloom filter from records.\n"
           "Each whole record is a key. Records come from INPUT, or from standard input if there "
           "is none or it is `-'. A key that comes twice counts twice in the filter's size: "
           "`sort -u' makes the smallest filter. If an input cannot be read to its end, no "
           "filter is written, because it would miss keys.\v"
           "Examples:\n"
           "  lanebloom build -o words.lbf words.txt\n"
           "  lanebloom build -o words.lbf --rate 0.001 words.txt more.txt\n"
           "  cut -d, -f2 table.csv | sort -u | lanebloom build -o column.lbf\n"
           "  zcat log.gz | lanebloom build -o log.lbf --bits 16 --expected 1000000000\n"
           "  lanebloom build -o filter.bin --raw --format leveldb keys.txt",
    .help_filter = help,
    .children =
        (const struct argp_child[]){
            {.argp = &record_argp}, {.argp = &jobs_argp}, {.argp = &kernel_argp}, {0}},
};

/* ---- building ---- */

static _Noreturn void die_of_bits(const struct build *build)
{
  lanebloom_format_info info;
  if (lanebloom_format_describe(build->format, &info, sizeof info) != LANEBLOOM_OK)
    die(NULL, "%s", lanebloom_status_text(LANEBLOOM_ERR_FORMAT));
  if (info.rounds_bits)
    die(NULL, "--bits: expected at least %.10g for %s, found %s", info.min_bits_per_key, info.name,
        build->bits_text);
  die(NULL, "--bits: expected %.10g to %.10g in steps of %.10g for %s, found %s",
      info.min_bits_per_key, info.max_bits_per_key, info.bits_per_key_step, info.name,
      build->bits_text);
}

/* The most keys that fit at these bits per key, given that nkeys do not. */
static uint64_t most_keys(const struct build *build, uint64_t nkeys, uint64_t *nbytes)
{
  uint64_t enough = 0, too_many = nkeys, planned;
  unsigned nprobes;
  *nbytes = 0;
  while (too_many - enough > 1) {
    const uint64_t middle = enough + (too_many - enough) / 2;
    if (lanebloom_plan_size(build->format, build->bits_per_key, middle, &planned, &nprobes)) {
      too_many = middle;
    } else {
      enough = middle;
      *nbytes = planned;
    }
  }
  return enough;
}

static _Noreturn void die_of_limit(const struct build *build, uint64_t nkeys)
{
  uint64_t nbytes;
  const uint64_t most = most_keys(build, nkeys, &nbytes);
  die(NULL,
      "expected at most %" PRIu64 " keys, which take %" PRIu64
      " bytes of %s at %.10g bits per key; "
      "found %" PRIu64 " keys, which need %.3g bytes",
      most, nbytes, lanebloom_format_name(build->format), build->bits_per_key, nkeys,
      (double)nbytes / (double)most * (double)nkeys);
}

/* Appended to messages about memory. */
static const char *memory_advice(const struct build *build)
{
  return build->expected_keys ? "" : "; --expected N needs less: it stores no hashes";
}

static _Noreturn void die_of(lanebloom_status status, const struct build *build, uint64_t nkeys)
{
  double bits = build->bits_per_key;
  uint64_t nbytes;
  unsigned nprobes;
  if (status == LANEBLOOM_ERR_ARGUMENT && build->bits_text)
    die_of_bits(build);
  if (status == LANEBLOOM_ERR_LIMIT)
    die_of_limit(build, nkeys);
  if (status == LANEBLOOM_ERR_MEMORY &&
      lanebloom_plan_size(build->format, bits, nkeys, &nbytes, &nprobes) == LANEBLOOM_OK)
    die(NULL,
        "out of memory: %" PRIu64 " keys at %.10g bits per key need a filter of %" PRIu64
        " bytes%s",
        nkeys, bits, nbytes, memory_advice(build));
  die(NULL, "%s", status_text(status));
}

/* Runs the job on every record and returns how many there were. */
static uint64_t work_on_all(const struct build *build, size_t nworkers, struct job *job)
{
  static const struct input_messages messages = {
      .verb = "build", .container_advice = "`build' reads keys; it does not merge filters"};
  static struct inputs inputs;
  inputs_begin(&inputs, &messages, &build->syntax, build->inputs, build->ninputs,
               &build->target_status);
  job->inputs = &inputs;
  job->nworkers = nworkers;
  job->needs_all = true;
  job_run(job);
  return job->nrecords;
}

static void count_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk)
{
  (void)context, (void)worker, (void)chunk;
  struct batch batch;
  while (cutter_next(cutter, &batch))
    ;
}

static double bits_for_rate(const struct build *build, uint64_t nkeys)
{
  double bits;
  lanebloom_status status = lanebloom_plan_bits(build->format, build->rate, nkeys, &bits);
  if (status == LANEBLOOM_ERR_LIMIT) {
    const bool default_does =
        lanebloom_plan_bits(DEFAULT_FORMAT, build->rate, nkeys, &bits) == LANEBLOOM_OK;
    die(NULL, "--rate %s: %s cannot reach this rate with %" PRIu64 " keys%s%s", build->rate_text,
        lanebloom_format_name(build->format), nkeys, default_does ? "; use --format " : "",
        default_does ? lanebloom_format_name(DEFAULT_FORMAT) : "");
  }
  if (status != LANEBLOOM_OK)
    die(NULL, "%s", status_text(status));
  return bits;
}

/* One worker adds to the builder itself. Several workers have a partial builder each. If hashes are
 * stored, their order counts: each worker merges its partial after every chunk, with the output
 * token. If the filter is sized at the start, keys may come in any order: all are merged at the
 * end. */
struct building {
  const struct build *build;
  size_t nworkers;
  lanebloom_builder *builder;
  struct partial {
    lanebloom_builder *builder; /* NULL: none yet */
    lanebloom_status status;
  } * partials; /* of each worker */
};

/* The most memory that all partial filters may take; it limits the number of workers.
 * One shared filter under a lock is slower: 10 million keys into 12.5 MB took two workers 0.78 s
 * with a shared filter, 0.46 s with a filter each, and one worker alone 0.54 s. */
static const uint64_t MAX_PARTIALS_NBYTES = (uint64_t)64 << 20;

static size_t count_workers(const struct build *build)
{
  uint64_t nbytes;
  unsigned nprobes;
  if (build->expected_keys == 0 ||
      lanebloom_plan_size(build->format, build->bits_per_key, build->expected_keys, &nbytes,
                          &nprobes) != LANEBLOOM_OK)
    return build->nworkers;
  const uint64_t npartials = nbytes ? MAX_PARTIALS_NBYTES / nbytes : WORKERS_MAX;
  return npartials >= build->nworkers ? build->nworkers : npartials > 1 ? (size_t)npartials : 1;
}

static lanebloom_status create_builder(const struct build *build, lanebloom_builder **builder)
{
  return lanebloom_builder_create(build->format, build->bits_per_key, build->expected_keys,
                                  builder);
}

static void add_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk)
{
  (void)chunk;
  struct building *building = context;
  struct partial *partial = &building->partials[worker];
  lanebloom_builder **builder = building->nworkers == 1 ? &building->builder : &partial->builder;
  if (!*builder)
    partial->status = create_builder(building->build, builder);
  for (struct batch batch; !partial->status && cutter_next(cutter, &batch);)
    partial->status = lanebloom_builder_add(*builder, &batch.keys);
}

static lanebloom_status merge_partial(struct building *building, struct partial *partial)
{
  if (partial->builder && !partial->status)
    partial->status = lanebloom_builder_merge(building->builder, partial->builder);
  lanebloom_builder_destroy(partial->builder);
  partial->builder = NULL;
  return partial->status;
}

static _Noreturn void die_after(lanebloom_status status, const struct build *build,
                                uint64_t nrecords)
{
  die(NULL, "%s after %" PRIu64 " records%s", status_text(status), nrecords,
      status == LANEBLOOM_ERR_MEMORY ? memory_advice(build) : "");
}

static void deliver_chunk(void *context, size_t worker, struct chunk *chunk, uint64_t first)
{
  (void)chunk;
  struct building *building = context;
  struct partial *partial = &building->partials[worker];
  if (building->build->expected_keys == 0)
    merge_partial(building, partial);
  if (partial->status)
    die_after(partial->status, building->build, first - 1);
}

static lanebloom_filter *build_filter(const struct build *build, uint64_t *nrecords)
{
  struct building building = {.build = build, .nworkers = count_workers(build)};
  lanebloom_status status = create_builder(build, &building.builder);
  if (status != LANEBLOOM_OK)
    die_of(status, build, build->expected_keys);
  building.partials = calloc(building.nworkers, sizeof *building.partials);
  if (!building.partials)
    die(NULL, "%s", strerror(ENOMEM));

  struct job job = {.context = &building,
                    .work = add_chunk,
                    .deliver = deliver_chunk,
                    .progress = build->progress};
  *nrecords = work_on_all(build, building.nworkers, &job);
  for (size_t i = 0; i < building.nworkers; i++)
    if ((status = merge_partial(&building, &building.partials[i])))
      die_after(status, build, *nrecords);
  free(building.partials);

  lanebloom_filter *filter;
  status = lanebloom_builder_finish(building.builder, &filter);
  if (status != LANEBLOOM_OK)
    die_of(status, build, *nrecords);
  lanebloom_builder_destroy(building.builder);
  return filter;
}

/* ---- checking the result ---- */

static bool has_more_keys(const struct build *build, uint64_t nkeys)
{
  return build->expected_keys > 0 && nkeys > build->expected_keys;
}

/* A model chose the bits per key, so the rate is measured. The number of random hashes, within
 * bounds, lets about a hundred pass. Up to a tenth more than --rate causes no warning. */
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

/* Too many keys raise the rate. Up to a tenth more than planned causes no warning. */
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

/* Formats round the bits per key to thousandths or whole numbers, and limit them. */
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
  if (build->rate > 0) {
    check_rate_is_kept(build, filter, nkeys);
    return;
  }
  if (!build->bits_text && !has_more_keys(build, nkeys))
    return; /* saves time: describing a filter counts its bits */
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  check_keys_fit(build, &info, nkeys);
  check_bits_are_kept(build, &info);
}

int build_main(int argc, char **argv)
{
  struct build build = {.format = DEFAULT_FORMAT, .bits_per_key = 10};
  parse_options(&argp, 0, argc, argv, &build);
  build.target = check_target(build.path);
  if (stat(build.target.path, &build.target_status) != 0)
    build.target_status = (struct stat){0};
  if (build.rate > 0 && build.expected_keys)
    build.bits_per_key = bits_for_rate(&build, build.expected_keys);
  else if (build.rate > 0)
    build.bits_per_key = bits_for_rate(
        &build, work_on_all(&build, build.nworkers, &(struct job){.work = count_chunk}));
  uint64_t nrecords;
  lanebloom_filter *filter = build_filter(&build, &nrecords);
  check_filter(&build, filter, nrecords);
  bool saved = save_filter(filter, &build.target, build.raw);
  lanebloom_filter_close(filter);
  return saved ? EXIT_SUCCESS : EXIT_TROUBLE;
}
