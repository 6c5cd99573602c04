/* lanebloom plan: predicts size, rate and memory of a filter in each format before one is built.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../base/json_object.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../options/numbers.h"
#include "../options/options.h"
#include "measure.h"
#include "timing.h"
#include "verbs.h"

enum { OPTION_KEYS = 0x100, OPTION_RATE, OPTION_BITS, OPTION_SIZE, OPTION_JSON, OPTION_MEASURE };

struct plan {
  uint64_t nkeys; /* 0: the option was not given */
  double rate;    /* 0: the option was not given */
  double bits_per_key;
  bool has_bits;
  uint64_t nbytes; /* 0: the option was not given */
  bool json, measure;
  struct timing *timings;
  size_t ntimings; /* 0: --measure was not given */
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct plan *plan = state->input;
  switch (key) {
  case OPTION_KEYS:
    plan->nkeys = parse_count(state, "--keys", text, UINT64_MAX);
    return 0;
  case OPTION_RATE:
    plan->rate = parse_rate(state, "--rate", text);
    return 0;
  case OPTION_BITS:
    plan->bits_per_key = parse_number(state, "--bits", text);
    plan->has_bits = true;
    return 0;
  case OPTION_SIZE:
    plan->nbytes = parse_size(state, "--size", text);
    return 0;
  case OPTION_JSON:
    plan->json = true;
    return 0;
  case OPTION_MEASURE:
    plan->measure = true;
    return 0;
  case ARGP_KEY_ARG:
    if (!*text || strspn(text, "%kKMGTiB") < strlen(text))
      return ARGP_ERR_UNKNOWN;
    usage_error(state,
                "expected numbers and their units in one word, as in 10M or 0.1%%, found "
                "the unit '%s'",
                text);
  case ARGP_KEY_END:
    if (plan->nkeys == 0)
      argp_error(state, "expected --keys N, the number of keys; found none");
    if ((plan->rate > 0) + plan->has_bits + (plan->nbytes > 0) != 1)
      argp_error(state, "expected one of --rate, --bits and --size");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"keys", OPTION_KEYS, "N", 0, "Plan for N keys, such as 1e9 or 10M", 1},
            {"rate", OPTION_RATE, "P", 0,
             "Plan the smallest filters with a false-positive rate of at most P, such as 0.001 or "
             "0.1%",
             1},
            {"bits", OPTION_BITS, "N", 0, "Plan filters of N bits per key", 1},
            {"size", OPTION_SIZE, "N", 0,
             "Plan the largest filters of at most N bytes, such as 64MiB or 1GB", 1},
            {"json", OPTION_JSON, NULL, 0, "Print one JSON object per format, one per line", 2},
            {"measure", OPTION_MEASURE, NULL, 0,
             "Add the nanoseconds per key that the kernel in use takes; measuring takes about a "
             "second",
             2},
            {0}},
    .parser = parse,
    .args_doc = "--keys N --rate P|--bits N|--size N",
    .doc = "Prints what a filter of N keys would be in each format: bits per key, probes per key, "
           "bytes, the false-positive rate by the model, and the memory that `build' needs. MEMORY "
           "is what `build --expected' needs, UNSIZED what `build' needs without it. For large "
           "filters, `build' takes more if memory allows: up to half the filter's size for "
           "LevelDB's formats, and up to the filter's size for `rocksdb-local' and `parquet'. The "
           "exit status is 1 if no format can have such a filter.\n"
           "The model is rough for LevelDB's formats; `info --measure' measures a filter. ABSENT "
           "and PRESENT are nanoseconds per key, hash included, in a filter that fits the caches "
           "of most CPUs; a larger one takes longer.\v"
           "Examples:\n"
           "  lanebloom plan --keys 1e9 --rate 0.1%\n"
           "  lanebloom plan --keys 10M --size 16MiB\n"
           "  lanebloom plan --keys 10M --bits 12 --json | jq .filter_bytes",
    .children = (const struct argp_child[]){{.argp = &kernel_argp}, {0}},
};

/* ---- planning ---- */

struct planned {
  char problem[128]; /* "": the format has such a filter; otherwise the reason why it has none, and
                      * only `format` is set besides */
  lanebloom_format_info format;
  double bits_per_key;
  uint64_t nbytes, unsized_nbytes;
  unsigned nprobes;
  double rate;
  double absent_ns, present_ns; /* NaN: not measured */
};

/* Returns the bits per key that are nsteps steps above the minimum of the format. */
static double bits_at(const lanebloom_format_info *format, uint64_t nsteps)
{
  return format->min_bits_per_key + (double)nsteps * format->bits_per_key_step;
}

/* Returns the bits per key that the format really uses if these bits per key are requested. */
static double bits_in_effect(const lanebloom_format_info *format, double bits_per_key)
{
  if (!format->rounds_bits)
    return bits_per_key;
  const double step = format->bits_per_key_step;
  return fmin(round(bits_per_key / step) * step, format->max_bits_per_key);
}

static bool fits(const struct plan *plan, lanebloom_format id, double bits_per_key)
{
  uint64_t nbytes;
  unsigned nprobes;
  return lanebloom_plan_size(id, bits_per_key, plan->nkeys, &nbytes, &nprobes) == LANEBLOOM_OK &&
         nbytes <= plan->nbytes;
}

/* Finds the most bits per key with which the filter has at most plan->nbytes. Returns false if the
 * filter is too large even with the fewest bits per key. */
static bool bits_for_size(const struct plan *plan, lanebloom_format id,
                          const lanebloom_format_info *format, double *bits_per_key)
{
  const double range = format->max_bits_per_key - format->min_bits_per_key;
  uint64_t enough = 0, too_many = (uint64_t)round(range / format->bits_per_key_step) + 1;
  if (!fits(plan, id, bits_at(format, 0)))
    return false;
  while (too_many - enough > 1) {
    const uint64_t middle = enough + (too_many - enough) / 2;
    if (fits(plan, id, bits_at(format, middle)))
      enough = middle;
    else
      too_many = middle;
  }
  *bits_per_key = bits_in_effect(format, bits_at(format, enough));
  return true;
}

__attribute__((format(printf, 2, 3))) static void refuse(struct planned *planned,
                                                         const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(planned->problem, sizeof planned->problem, format, arguments);
  va_end(arguments);
}

/* Chooses the bits per key. If no choice is possible for the format, writes the reason into
 * planned->problem. */
static void choose_bits(const struct plan *plan, lanebloom_format id, struct planned *planned)
{
  const lanebloom_format_info *format = &planned->format;
  if (plan->has_bits) {
    planned->bits_per_key = bits_in_effect(format, plan->bits_per_key);
  } else if (plan->nbytes > 0) {
    if (!bits_for_size(plan, id, format, &planned->bits_per_key))
      refuse(planned, "has no filter of so few bytes for so many keys");
  } else {
    const lanebloom_status status =
        lanebloom_plan_bits(id, plan->rate, plan->nkeys, &planned->bits_per_key);
    if (status == LANEBLOOM_ERR_LIMIT)
      refuse(planned, "cannot reach this rate with so many keys");
    else if (status != LANEBLOOM_OK)
      die(NULL, "%s", status_text(status));
  }
}

static void plan_size(const struct plan *plan, lanebloom_format id, struct planned *planned)
{
  const lanebloom_format_info *format = &planned->format;
  lanebloom_status status;
  if (plan->rate > 0) {
    status = lanebloom_plan_size_for_rate(id, plan->rate, plan->nkeys, &planned->nbytes,
                                          &planned->nprobes, &planned->rate);
  } else {
    status = lanebloom_plan_size(id, planned->bits_per_key, plan->nkeys, &planned->nbytes,
                                 &planned->nprobes);
    if (status == LANEBLOOM_OK)
      status = lanebloom_plan_rate(id, planned->bits_per_key, plan->nkeys, &planned->rate);
  }
  if (status == LANEBLOOM_ERR_LIMIT)
    refuse(planned, "cannot hold so many keys at %.10g bits per key", planned->bits_per_key);
  else if (status == LANEBLOOM_ERR_ARGUMENT && format->rounds_bits)
    refuse(planned, "expected at least %.10g bits per key", format->min_bits_per_key);
  else if (status == LANEBLOOM_ERR_ARGUMENT)
    refuse(planned, "expected %.10g to %.10g bits per key in steps of %.10g",
           format->min_bits_per_key, format->max_bits_per_key, format->bits_per_key_step);
  else if (status != LANEBLOOM_OK)
    die(NULL, "%s", status_text(status));
}

/* If the kernel in use was measured, stores its times. */
static void take_times(const struct plan *plan, lanebloom_format id, struct planned *planned)
{
  size_t kernel = 0;
  while (strcmp(lanebloom_kernel_at(kernel), lanebloom_kernel_active()) != 0)
    kernel++;
  planned->absent_ns = planned->present_ns = NAN;
  for (size_t i = 0; i < plan->ntimings; i++) {
    const struct timing *timing = &plan->timings[i];
    if (timing->format == id)
      *(timing->present ? &planned->present_ns : &planned->absent_ns) = timing->ns[kernel];
  }
}

/* Returns how much memory `build' takes without --expected: the hashes that it stores, and the
 * filter. Returns UINT64_MAX if the sum overflows. */
static uint64_t unsized_nbytes(const struct plan *plan, const struct planned *planned)
{
  uint64_t nbytes;
  return __builtin_mul_overflow(plan->nkeys, planned->format.hash_size, &nbytes) ||
                 __builtin_add_overflow(nbytes, planned->nbytes, &nbytes)
             ? UINT64_MAX
             : nbytes;
}

static struct planned plan_format(const struct plan *plan, lanebloom_format id,
                                  const lanebloom_format_info *format)
{
  struct planned planned = {.format = *format};
  choose_bits(plan, id, &planned);
  if (!*planned.problem)
    plan_size(plan, id, &planned);
  planned.unsized_nbytes = unsized_nbytes(plan, &planned);
  take_times(plan, id, &planned);
  return planned;
}

/* ---- printing ---- */

static void print_json(const struct plan *plan, const struct planned *planned)
{
  struct json_object *object = json_begin();
  json_object_object_add(object, "format", json_object_new_string(planned->format.name));
  json_object_object_add(object, "keys", json_object_new_uint64(plan->nkeys));
  if (*planned->problem) {
    json_object_object_add(object, "problem", json_object_new_string(planned->problem));
    output_json(object);
    return;
  }
  json_object_object_add(object, "bits_per_key", json_number(planned->bits_per_key));
  json_object_object_add(object, "probes", json_object_new_uint64(planned->nprobes));
  json_object_object_add(object, "filter_bytes", json_object_new_uint64(planned->nbytes));
  json_object_object_add(object, "model_rate", json_number(planned->rate));
  json_object_object_add(object, "build_bytes", json_object_new_uint64(planned->nbytes));
  json_object_object_add(object, "build_bytes_unsized",
                         json_object_new_uint64(planned->unsized_nbytes));
  if (plan->measure) {
    json_object_object_add(object, "ns_per_absent_key", json_number(planned->absent_ns));
    json_object_object_add(object, "ns_per_present_key", json_number(planned->present_ns));
  }
  output_json(object);
}

enum { FORMAT_WIDTH = sizeof "leveldb-signed" };

/* Prints a number of bytes in a column, in the unit that suits its size. */
static void print_bytes(uint64_t nbytes)
{
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = (double)nbytes;
  size_t unit = 0;
  for (; value >= 999.5; unit++)
    value /= 1000;
  outputf("  %6.*f %2s", unit == 0 || value >= 99.95 ? 0 : 1, value, units[unit]);
}

static void print_header(const struct plan *plan)
{
  outputf("%-*s %10s %7s %20s %10s  %9s  %9s", FORMAT_WIDTH, "FORMAT", "BITS", "PROBES", "BYTES",
          "RATE, %", "MEMORY", "UNSIZED");
  outputf(plan->measure ? " %8s %8s\n" : "\n", "ABSENT", "PRESENT");
}

static void print_row(const struct plan *plan, const struct planned *planned)
{
  outputf("%-*s ", FORMAT_WIDTH, planned->format.name);
  if (*planned->problem) {
    outputf("%s\n", planned->problem);
    return;
  }
  outputf("%10.10g %7u %20" PRIu64 " %10.3g", planned->bits_per_key, planned->nprobes,
          planned->nbytes, 100 * planned->rate);
  print_bytes(planned->nbytes);
  print_bytes(planned->unsized_nbytes);
  if (plan->measure)
    outputf(" %8.2f %8.2f", planned->absent_ns, planned->present_ns);
  outputf("\n");
}

int plan_main(int argc, char **argv)
{
  struct plan plan = {0};
  parse_options(&argp, 0, argc, argv, &plan);
  if (plan.measure)
    plan.ntimings = time_kernels(&plan.timings);
  if (!plan.json)
    print_header(&plan);
  int status = EXIT_NONE_SELECTED;
  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    const lanebloom_format id = lanebloom_format_at(i);
    lanebloom_format_info format;
    if (lanebloom_format_describe(id, &format, sizeof format) != LANEBLOOM_OK || !format.builds)
      continue;
    const struct planned planned = plan_format(&plan, id, &format);
    (plan.json ? print_json : print_row)(&plan, &planned);
    if (!*planned.problem)
      status = EXIT_SELECTED;
  }
  timings_destroy(plan.timings, plan.ntimings);
  return status;
}
