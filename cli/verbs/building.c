/* Reads all inputs and adds their keys to a filter, with several workers.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/common/problem.h"
#include "../../src/system/system.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../input/inputs.h"
#include "../input/records.h"
#include "../input/workers.h"
#include "../options/options.h"
#include "../system/threads.h"
#include "build.h"

/* ---- messages ---- */

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

/* Call this if nkeys keys do not fit into a filter with these bits per key. Returns the largest
 * number of keys that fits, and sets *nbytes to the size of the filter for this number. */
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
  char size[SIZE_TEXT_NBYTES];
  const uint64_t most = most_keys(build, nkeys, &nbytes);
  die(NULL,
      "expected at most %" PRIu64 " keys, which take %" PRIu64
      " bytes of %s at %.10g bits per key; found %" PRIu64 " keys, which need %s",
      most, nbytes, lanebloom_format_name(build->format), build->bits_per_key, nkeys,
      size_text(size, (double)nbytes / (double)most * (double)nkeys));
}

/* Call this if no filter of nkeys keys reaches --rate. */
static _Noreturn void die_of_rate(const struct build *build, uint64_t nkeys)
{
  double bits;
  const bool default_does =
      lanebloom_plan_bits(DEFAULT_FORMAT, build->rate, nkeys, &bits) == LANEBLOOM_OK;
  die(NULL, "--rate %s: %s cannot reach this rate with %" PRIu64 " keys; %s%s", build->rate_text,
      lanebloom_format_name(build->format), nkeys,
      default_does ? "use --format " : "give a higher one",
      default_does ? lanebloom_format_name(DEFAULT_FORMAT) : "");
}

/* Returns advice for the end of messages about memory. */
static const char *memory_advice(const struct build *build)
{
  return build->expected_keys ? "" : "; --expected N needs less: it stores no hashes";
}

_Noreturn void die_of(lanebloom_status status, const struct build *build, uint64_t nkeys)
{
  double bits = build->bits_per_key;
  char size[SIZE_TEXT_NBYTES];
  uint64_t nbytes;
  unsigned nprobes;
  if (status == LANEBLOOM_ERR_ARGUMENT && build->bits_text)
    die_of_bits(build);
  if (status == LANEBLOOM_ERR_LIMIT && build->rate > 0)
    die_of_rate(build, nkeys);
  if (status == LANEBLOOM_ERR_LIMIT)
    die_of_limit(build, nkeys);
  if (status == LANEBLOOM_ERR_MEMORY &&
      lanebloom_plan_size(build->format, bits, nkeys, &nbytes, &nprobes) == LANEBLOOM_OK)
    die(NULL,
        "out of memory: %" PRIu64 " keys at %.10g bits per key need a filter of %s; fewer keys, or "
        "fewer bits for each, need less%s",
        nkeys, bits, size_text(size, (double)nbytes), memory_advice(build));
  die(NULL, "%s", status_text(status));
}

/* ---- reading ---- */

void check_is_no_input(const struct build *build)
{
  static const char *const standard_input[] = {"-"};
  const char *const *paths = build->ninputs ? (const char *const *)build->inputs : standard_input;
  const size_t n = build->ninputs ? build->ninputs : 1;
  struct system_info target, input;
  if (!lanebloom_system_info(build->target.path, &target) || target.kind != SYSTEM_FILE)
    return;
  for (size_t i = 0; i < n; i++)
    if (lanebloom_system_info(is_standard_input(paths[i]) ? "/dev/stdin" : paths[i], &input) &&
        is_same_file(&input, &target))
      die(input_name(paths[i]), "%s", also_output_text);
}

/* Reads all inputs with this job and returns the number of records that have a key. */
static uint64_t work_on_all(const struct build *build, size_t nworkers, struct job *job)
{
  static struct inputs inputs;
  inputs_begin(&inputs, &build->messages, &build->syntax, build->inputs, build->ninputs, NULL);
  job->inputs = &inputs;
  job->nworkers = nworkers;
  job->progress = resolve_progress(build->progress, false);
  job->needs_all = true;
  job_run(job);
  return job->nrecords - job->nmissing;
}

static void count_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk)
{
  (void)context, (void)worker, (void)chunk;
  struct batch batch;
  while (cutter_next(cutter, &batch))
    ;
}

uint64_t count_keys(const struct build *build)
{
  return work_on_all(build, build->nworkers,
                     &(struct job){.work = count_chunk, .is_first_of_two = true});
}

/* ---- building ---- */

/* The state while a filter is built. A single worker adds keys to `builder'. Several workers each
 * have a partial builder of their own, and the partials are merged into `builder'. If the size is
 * not known at the start, builders store hashes, and the order of the hashes matters. So each
 * worker merges its partial after every chunk, while it holds the output token, and the bits are
 * set at the end. If --expected gave the size, keys may be added in any order, so all partials are
 * merged at the end. */
struct building {
  const struct build *build;
  size_t nworkers;
  lanebloom_builder *builder;
  struct partial {
    lanebloom_builder *builder; /* NULL: the worker has not created it yet */
    lanebloom_status status;
  } * partials; /* one for each worker */
};

/* The most memory that the filters of all workers together may take. This limits the number of
 * workers. One filter that workers share under a lock is slower: to add 10 million keys to a filter
 * of 12.5 MB, two workers took 0.78 s with a shared filter and 0.46 s with a filter each. One
 * worker alone took 0.54 s. */
static const uint64_t MAX_FILTERS_NBYTES = (uint64_t)64 << 20;

/* Returns how many workers can each have a filter for nkeys keys if all these filters together take
 * at most max_nbytes. Returns at least 1, and at most the number of workers that the user
 * allows. */
static size_t count_workers(const struct build *build, uint64_t nkeys, uint64_t max_nbytes)
{
  uint64_t nbytes;
  unsigned nprobes;
  if (lanebloom_plan_size(build->format, build->bits_per_key, nkeys, &nbytes, &nprobes) !=
      LANEBLOOM_OK)
    return 1;
  const uint64_t n = nbytes ? max_nbytes / nbytes : WORKERS_MAX;
  return n >= build->nworkers ? build->nworkers : n > 1 ? (size_t)n : 1;
}

static lanebloom_status create_builder(const struct build *build, lanebloom_builder **builder)
{
  const lanebloom_status status =
      build->like       ? lanebloom_builder_create_like(build->like, builder)
      : build->rate > 0 ? lanebloom_builder_create_for_rate(build->format, build->rate,
                                                            build->expected_keys, builder)
                        : lanebloom_builder_create(build->format, build->bits_per_key,
                                                   build->expected_keys, builder);
  if (status || (build->like && build->raw)) /* bare bytes have no key form */
    return status;
  return lanebloom_builder_set_key_form(*builder, build->syntax.form);
}

static void add_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk)
{
  (void)chunk;
  struct building *building = context;
  struct partial *partial = &building->partials[worker];
  lanebloom_builder **builder = building->nworkers == 1 ? &building->builder : &partial->builder;
  if (!*builder)
    partial->status = create_builder(building->build, builder);
  for (struct batch batch; !partial->status && cutter_next(cutter, &batch);) {
    batch_drop_missing(&batch);
    partial->status = lanebloom_builder_add(*builder, &batch.keys);
  }
}

static lanebloom_status merge_partial(struct building *building, struct partial *partial)
{
  if (partial->builder && !partial->status)
    partial->status = lanebloom_builder_merge(building->builder, partial->builder, NULL, 0);
  lanebloom_builder_free(partial->builder);
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

/* ---- setting the bits of stored hashes ---- */

/* Each thread gets at least this many keys, because fewer do not repay the cost of a thread. */
enum { MIN_PART_NKEYS = 1 << 16 };

/* Returns how many threads set bits. Each thread has a filter of its own. Together these filters
 * take at most MAX_FILTERS_NBYTES, or, if the stored hashes take more than that, at most as much as
 * the hashes. */
static size_t count_parts(const struct build *build, uint64_t nkeys)
{
  const uint64_t hashes_nbytes = nkeys * lanebloom_format_hash_size(build->format);
  const uint64_t wanted = nkeys / MIN_PART_NKEYS;
  const size_t n = count_workers(
      build, nkeys, hashes_nbytes > MAX_FILTERS_NBYTES ? hashes_nbytes : MAX_FILTERS_NBYTES);
  return n <= wanted ? n : wanted > 1 ? (size_t)wanted : 1;
}

static void make_part(void *context, size_t i)
{
  struct building *building = context;
  struct partial *part = &building->partials[i];
  part->status = lanebloom_builder_part(building->builder, i, building->nworkers, &part->builder);
}

/* There are nworkers parts. Merges part i of the upper half into part i of the lower half. If the
 * number of parts is odd, the lower half has one part more. */
static void merge_upper(void *context, size_t i)
{
  struct building *building = context;
  struct partial *into = &building->partials[i];
  struct partial *from = &building->partials[(building->nworkers + 1) / 2 + i];
  if (!into->status)
    into->status = from->status;
  if (!into->status)
    into->status = lanebloom_builder_merge(into->builder, from->builder, NULL, 0);
  lanebloom_builder_free(from->builder);
}

/* Sets the bits of the stored hashes in nworkers threads, merges their filters in pairs, and
 * finishes the filter. */
static lanebloom_status finish_by_parts(struct building *building, lanebloom_filter **filter)
{
  run_in_threads(building->nworkers, make_part, building);
  for (; building->nworkers > 1; building->nworkers = (building->nworkers + 1) / 2)
    run_in_threads(building->nworkers / 2, merge_upper, building);
  struct partial *all = &building->partials[0];
  if (!all->status)
    all->status = lanebloom_builder_finish(all->builder, filter);
  lanebloom_builder_free(all->builder);
  return all->status;
}

static lanebloom_status finish(struct building *building, uint64_t nkeys, lanebloom_filter **filter)
{
  building->nworkers = building->build->expected_keys ? 1 : count_parts(building->build, nkeys);
  if (building->nworkers > 1) {
    const lanebloom_status status = finish_by_parts(building, filter);
    if (status != LANEBLOOM_ERR_MEMORY)
      return status;
  } /* If memory ran out, one filter may still fit where several do not. */
  return lanebloom_builder_finish(building->builder, filter);
}

/* ---- building a filter ---- */

lanebloom_filter *build_filter(const struct build *build, uint64_t *nkeys)
{
  struct building building = {.build = build, .nworkers = build->nworkers};
  if (build->expected_keys)
    building.nworkers = count_workers(build, build->expected_keys, MAX_FILTERS_NBYTES);
  lanebloom_status status = create_builder(build, &building.builder);
  if (status != LANEBLOOM_OK)
    die_of(status, build, build->expected_keys);
  building.partials = calloc(building.nworkers, sizeof *building.partials);
  if (!building.partials)
    die(NULL, "%s", strerror(ENOMEM));

  struct job job = {.context = &building, .work = add_chunk, .deliver = deliver_chunk};
  *nkeys = work_on_all(build, building.nworkers, &job);
  if (job.with_returns)
    complain(job.with_returns,
             "warning: the first keys all end in a carriage return (CR), as lines of Windows do: "
             "--crlf leaves it out");
  for (size_t i = 0; i < building.nworkers; i++)
    if ((status = merge_partial(&building, &building.partials[i])))
      die_after(status, build, *nkeys);

  lanebloom_filter *filter;
  status = finish(&building, *nkeys, &filter);
  if (status != LANEBLOOM_OK)
    die_of(status, build, *nkeys);
  free(building.partials);
  lanebloom_builder_free(building.builder);
  return filter;
}
