/* lanebloom build: a filter from records.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum { OPTION_FORMAT = 0x100, OPTION_BITS, OPTION_RATE, OPTION_EXPECTED, OPTION_RAW, OPTION_PROGRESS };

struct build {
  struct record_syntax syntax;
  const char *target; /* for people */
  const char *path;
  struct stat target_status;
  lanebloom_format format;
  double bits_per_key;
  bool bits_given;
  double rate;            /* 0: not given */
  uint64_t expected_keys; /* 0: not given */
  bool raw, progress;
  char **inputs;
  size_t ninputs;
};

/* ---- options ---- */

/* Without --expected, a rate needs the number of records before the first one, and so all of them twice. */
static void check_rate(const struct build *build, const struct argp_state *state)
{
  if (build->rate == 0)
    return;
  if (build->bits_given)
    argp_error(state, "--bits and --rate exclude each other");
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
               "--rate counts the records first, which takes regular files: tell how many to expect, by --expected N");
}

static double parse_rate(const struct argp_state *state, const char *text)
{
  double rate = parse_number(state, "--rate", text);
  if (!(rate > 0 && rate < 1))
    argp_error(state, "--rate '%s': not between 0 and 1", text);
  return rate;
}

static void set_target(struct build *build, const char *text)
{
  bool is_stdout = strcmp(text, "-") == 0;
  build->target = is_stdout ? "(standard output)" : text;
  build->path = is_stdout ? "/dev/stdout" : text;
  if (stat(build->path, &build->target_status) == 0)
    return;
  build->target_status = (struct stat){0};
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", text);
  char *slash = strrchr(folder, '/');
  if (slash)
    slash[1] = '\0';
  if (slash && access(folder, F_OK) != 0) /* better now than after all input */
    die(build->target, "%s", strerror(errno));
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct build *build = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &build->syntax;
    return 0;
  case 'o':
    set_target(build, text);
    return 0;
  case OPTION_FORMAT:
    build->format = parse_hashing_format(state, text);
    return 0;
  case OPTION_BITS:
    build->bits_per_key = parse_number(state, "--bits", text);
    build->bits_given = true;
    return 0;
  case OPTION_RATE:
    build->rate = parse_rate(state, text);
    return 0;
  case OPTION_EXPECTED:
    build->expected_keys = parse_count(state, "--expected", text);
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
    if (!build->target)
      argp_error(state, "where to? -o FILE is needed");
    check_rate(build, state);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"output", 'o', "FILE", 0, "Write the filter to FILE; `-' is standard output", 1},
            {"format", OPTION_FORMAT, "NAME", 0, "Build in this format (rocksdb-local)", 1},
            {"bits", OPTION_BITS, "N", 0, "Bits per key (10)", 1},
            {"rate", OPTION_RATE, "P", 0,
             "As many bits as a false-positive rate of P takes, by the model: 0.01 is one percent", 1},
            {"expected", OPTION_EXPECTED, "N", 0,
             "Size the filter for N keys now; otherwise each record takes 4 or 8 bytes of memory until the end", 1},
            {"raw", OPTION_RAW, NULL, 0, "Write bare engine bytes, not a container", 1},
            {"progress", OPTION_PROGRESS, NULL, 0, "Report the speed each second", 8},
            {0}},
    .parser = parse,
    .args_doc = "-o FILE [INPUT...]",
    .doc = "Builds a Bloom filter from records.\n"
           "Whole records are keys. Without INPUT, or where it is `-', they come from standard input. A key that comes "
           "twice counts twice in the filter's size: `sort -u' makes the smallest filter. When an input cannot be read "
           "to its end, nothing is written: such a filter would turn away keys that it should know.\v"
           "Examples:\n"
           "  lanebloom build -o words.lbf words.txt\n"
           "  lanebloom build -o words.lbf --rate 0.001 words.txt more.txt\n"
           "  cut -d, -f2 table.csv | sort -u | lanebloom build -o column.lbf\n"
           "  zcat log.gz | lanebloom build -o log.lbf --bits 16 --expected 1000000000\n"
           "  lanebloom build -o filter.bin --raw --format leveldb keys.txt",
    .children = (const struct argp_child[]){{.argp = &record_argp}, {.argp = &kernel_argp}, {0}},
};

/* ---- building ---- */

/* What --bits may be. */
static const char *bits_range(lanebloom_format format)
{
  const bool whole = format == LANEBLOOM_LEVELDB || format == LANEBLOOM_LEVELDB_SIGNED;
  return whole ? "whole numbers of bits per key, from 0 to 2147483647" : "0.5 bits per key and more";
}

static _Noreturn void die_of(lanebloom_status status, const struct build *build, uint64_t nkeys)
{
  const char *format = lanebloom_format_name(build->format);
  double bits = build->bits_per_key;
  uint64_t nbytes;
  unsigned nprobes;
  if (status == LANEBLOOM_ERR_ARGUMENT)
    die(NULL, "--bits %.17g: %s takes %s", bits, format, bits_range(build->format));
  if (status == LANEBLOOM_ERR_LIMIT)
    die(NULL, "%" PRIu64 " keys at %.17g bits per key are more than %s can hold", nkeys, bits, format);
  if (status == LANEBLOOM_ERR_MEMORY &&
      lanebloom_plan_size(build->format, bits, nkeys, &nbytes, &nprobes) == LANEBLOOM_OK)
    die(NULL, "out of memory: %" PRIu64 " keys at %.17g bits per key need a filter of %" PRIu64 " bytes", nkeys, bits,
        nbytes);
  die(NULL, "%s", status_text(status));
}

static void begin(const struct build *build, struct records *records)
{
  records_begin(records, &build->syntax, build->inputs, build->ninputs, &build->target_status);
}

static void end(struct records *records)
{
  records_end(records);
  if (records->failed)
    exit(EXIT_TROUBLE);
}

static uint64_t count_records(const struct build *build, struct records *records)
{
  struct batch batch;
  begin(build, records);
  while (!records->failed && records_next(records, &batch))
    ;
  end(records);
  return records->nrecords;
}

static double bits_for_rate(const struct build *build, uint64_t nkeys)
{
  double bits;
  lanebloom_status status = lanebloom_plan_bits(build->format, build->rate, nkeys, &bits);
  if (status == LANEBLOOM_ERR_LIMIT)
    die(NULL, "--rate %.17g: no filter of format %s reaches it with %" PRIu64 " keys%s", build->rate,
        lanebloom_format_name(build->format), nkeys,
        lanebloom_plan_bits(LANEBLOOM_ROCKSDB_LOCAL, build->rate, nkeys, &bits) == LANEBLOOM_OK
            ? "; --format rocksdb-local does"
            : "");
  if (status != LANEBLOOM_OK)
    die(NULL, "%s", status_text(status));
  return bits;
}

static lanebloom_filter *build_filter(const struct build *build, struct records *records)
{
  lanebloom_builder *builder;
  lanebloom_status status =
      lanebloom_builder_create(build->format, build->bits_per_key, build->expected_keys, &builder);
  if (status != LANEBLOOM_OK)
    die_of(status, build, build->expected_keys);

  struct batch batch;
  begin(build, records);
  records->progress = build->progress;
  while (!records->failed && records_next(records, &batch)) {
    status = lanebloom_builder_add(builder, &batch.keys);
    if (status != LANEBLOOM_OK)
      die(NULL, "%s, after %" PRIu64 " records", status_text(status), records->nrecords);
  }
  end(records);

  lanebloom_filter *filter;
  status = lanebloom_builder_finish(builder, &filter);
  if (status != LANEBLOOM_OK)
    die_of(status, build, records->nrecords);
  lanebloom_builder_destroy(builder);
  return filter;
}

/* A model chose the bits. What came out is measured, with so many random hashes that a hundred should pass, within
 * bounds; a tenth more than was asked for is let be. */
static void check_rate_is_kept(const struct build *build, const lanebloom_filter *filter, uint64_t nkeys)
{
  const double wanted = 100 / build->rate;
  const uint64_t nhashes = wanted < 500000 ? 500000 : wanted > 50000000 ? 50000000 : (uint64_t)wanted;
  const struct measurement measured = measure(filter, build->format, nhashes);
  if (measured.low <= 1.1 * build->rate)
    return;
  const bool overfull = build->expected_keys > 0 && nkeys > build->expected_keys;
  complain(build->target, "warning: of absent keys %.3g %% pass, measured, not the %.3g %% that were asked for%s",
           100 * measured.rate, 100 * build->rate,
           overfull                                   ? ": there were more keys than --expected"
           : build->format != LANEBLOOM_ROCKSDB_LOCAL ? "; see --format rocksdb-local"
                                                      : "");
}

static int save(const struct build *build, const lanebloom_filter *filter)
{
  lanebloom_status status =
      build->raw ? lanebloom_filter_save_raw(filter, build->path) : lanebloom_filter_save(filter, build->path);
  if (status == LANEBLOOM_OK)
    return EXIT_SUCCESS;
  if (status != LANEBLOOM_ERR_IO || errno != EPIPE)
    complain(build->target, "%s", status_text(status));
  return EXIT_TROUBLE;
}

int build_main(int argc, char **argv)
{
  struct build build = {.format = DEFAULT_FORMAT, .bits_per_key = 10};
  argp_parse(&argp, argc, argv, 0, NULL, &build);
  static struct records records;
  if (build.rate > 0)
    build.bits_per_key =
        bits_for_rate(&build, build.expected_keys ? build.expected_keys : count_records(&build, &records));
  lanebloom_filter *filter = build_filter(&build, &records);
  if (build.rate > 0)
    check_rate_is_kept(&build, filter, records.nrecords);
  int status = save(&build, filter);
  lanebloom_filter_close(filter);
  return status;
}
