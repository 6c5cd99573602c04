/* lanebloom info: prints the format, size, fill and expected false-positive rate of filters.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/json_object.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../input/record_options.h"
#include "../options/numbers.h"
#include "../options/options.h"
#include "measure.h"
#include "verbs.h"

enum { OPTION_JSON = 0x100, OPTION_MEASURE };

struct report {
  struct filter_source source;
  bool json;
  uint64_t nhashes; /* the number of --measure; 0: measure nothing */
  char **paths;
  size_t npaths;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct report *report = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &report->source;
    return 0;
  case OPTION_JSON:
    report->json = true;
    return 0;
  case OPTION_MEASURE:
    report->nhashes = text ? parse_count(state, "--measure", text, UINT64_MAX) : 1000000;
    return 0;
  case ARGP_KEY_ARGS:
    report->paths = state->argv + state->next;
    report->npaths = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "expected a FILTER, found none");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"json", OPTION_JSON, NULL, 0, "Print one JSON object per filter, one per line", 1},
            {"measure", OPTION_MEASURE, "N", OPTION_ARG_OPTIONAL,
             "Screen N random hashes (1000000) and print the share that passes this filter", 1},
            {0}},
    .parser = parse,
    .args_doc = "FILTER...",
    .doc = "Prints what each FILTER is, how full it is, and the false-positive rate to expect.\n"
           "The rate comes from a model. LevelDB's double hashing deviates from it for some "
           "sizes and keys; --measure prints the rate of this very filter.\v"
           "Examples:\n"
           "  lanebloom info words.lbf\n"
           "  lanebloom info --measure=100000000 words.lbf\n"
           "  lanebloom info --json *.lbf | jq .model_rate\n"
           "  lanebloom info --raw --format leveldb filter.bin",
    .children = (const struct argp_child[]){{.argp = &filter_argp}, {.argp = &kernel_argp}, {0}},
};

/* ---- printing ---- */

static void print_text(const char *path, const lanebloom_filter *filter,
                       const lanebloom_filter_info *info, const struct measurement *measured,
                       uint64_t nhashes)
{
  size_t nbytes;
  lanebloom_filter_bytes(filter, &nbytes);
  fputs("file: ", stdout);
  print_name(stdout, input_name(path));
  outputf("\nformat: %s\n", lanebloom_format_name(info->format));
  outputf(info->nkeys == LANEBLOOM_UNKNOWN ? "keys: unknown\n" : "keys: %" PRIu64 "\n",
          info->nkeys);
  if (info->planned_nkeys != LANEBLOOM_UNKNOWN)
    outputf("planned for: %" PRIu64 " keys\n", info->planned_nkeys);
  outputf(isnan(info->bits_per_key) ? "bits per key: unknown\n" : "bits per key: %.10g\n",
          info->bits_per_key);
  outputf("probes per key: %" PRIu32 "\n", info->nprobes);
  if (info->nprobes == 0)
    outputf("constant answer: %s to every key\n",
            lanebloom_filter_may_contain(filter, NULL, 0) ? "yes" : "no");
  outputf("filter size: %zu bytes\n", nbytes);
  outputf("addressable bits: %" PRIu64 "\n", info->nbits);
  outputf("bits set: %" PRIu64, info->nbits_set);
  if (info->nbits > 0)
    outputf(" (%.2f %%)", 100 * (double)info->nbits_set / (double)info->nbits);
  outputf("\nfalse-positive rate, model: %.4g %%\n", 100 * info->model_rate);
  if (measured->done)
    outputf("false-positive rate, measured: %.4g %% (95 %% interval %.4g %% to %.4g %%; %" PRIu64
            " random hashes, seed %" PRIu64 ")\n",
            100 * measured->rate, 100 * measured->low, 100 * measured->high, nhashes, MEASURE_SEED);
  char form[LANEBLOOM_KEY_FORM_NBYTES];
  outputf("key form: %s\n", lanebloom_key_form_text(info->key_form, form, sizeof form));
}

static struct json_object *json_measurement(const struct measurement *measured, uint64_t nhashes)
{
  if (!measured->done)
    return NULL;
  struct json_object *object = json_needed(json_object_new_object());
  json_object_object_add(object, "rate", json_object_new_double(measured->rate));
  json_object_object_add(object, "low", json_object_new_double(measured->low));
  json_object_object_add(object, "high", json_object_new_double(measured->high));
  json_object_object_add(object, "hashes", json_object_new_uint64(nhashes));
  json_object_object_add(object, "seed", json_object_new_uint64(MEASURE_SEED));
  return object;
}

static struct json_object *json_flag(lanebloom_key_form form, uint32_t flag)
{
  return json_object_new_boolean((form.flags & flag) != 0);
}

/* Returns the digest as --digest takes it, or null if the key is no digest. */
static struct json_object *json_digest(lanebloom_key_form form)
{
  char text[LANEBLOOM_KEY_FORM_NBYTES];
  const uint32_t digest = LANEBLOOM_KEY_DIGEST | LANEBLOOM_KEY_LOWER_HEX | LANEBLOOM_KEY_UPPER_HEX;
  form.flags &= digest;
  return form.flags ? json_object_new_string(lanebloom_key_form_text(form, text, sizeof text))
                    : NULL;
}

static struct json_object *json_form(lanebloom_key_form form)
{
  struct json_object *object = json_needed(json_object_new_object());
  json_object_object_add(object, "encoding",
                         json_object_new_string(lanebloom_encoding_name(form.encoding)));
  json_object_object_add(object, "trimmed", json_flag(form, LANEBLOOM_KEY_TRIMMED));
  json_object_object_add(object, "lowered", json_flag(form, LANEBLOOM_KEY_LOWERED));
  json_object_object_add(object, "uppered", json_flag(form, LANEBLOOM_KEY_UPPERED));
  json_object_object_add(object, "joined", json_flag(form, LANEBLOOM_KEY_JOINED));
  json_object_object_add(object, "digest", json_digest(form));
  return object;
}

static void print_json(const char *path, const lanebloom_filter *filter,
                       const lanebloom_filter_info *info, const struct measurement *measured,
                       uint64_t nhashes)
{
  size_t nbytes;
  lanebloom_filter_bytes(filter, &nbytes);
  struct json_object *object = json_begin();
  struct json_object *keys =
      info->nkeys == LANEBLOOM_UNKNOWN ? NULL : json_object_new_uint64(info->nkeys);
  json_object_object_add(object, "file", json_name(input_name(path)));
  json_object_object_add(object, "format",
                         json_object_new_string(lanebloom_format_name(info->format)));
  json_object_object_add(object, "keys", keys);
  if (info->planned_nkeys != LANEBLOOM_UNKNOWN)
    json_object_object_add(object, "planned_keys", json_object_new_uint64(info->planned_nkeys));
  json_object_object_add(object, "bits_per_key", json_number(info->bits_per_key));
  json_object_object_add(object, "probes", json_object_new_uint64(info->nprobes));
  json_object_object_add(object, "filter_bytes", json_object_new_uint64(nbytes));
  json_object_object_add(object, "bits", json_object_new_uint64(info->nbits));
  json_object_object_add(object, "bits_set", json_object_new_uint64(info->nbits_set));
  json_object_object_add(object, "fill",
                         json_number((double)info->nbits_set / (double)info->nbits));
  json_object_object_add(object, "model_rate", json_number(info->model_rate));
  if (nhashes > 0)
    json_object_object_add(object, "measured_rate", json_measurement(measured, nhashes));
  json_object_object_add(object, "key_form", json_form(info->key_form));
  output_json(object);
}

int info_main(int argc, char **argv)
{
  struct report report = {0};
  parse_options(&argp, 0, argc, argv, &report);
  int status = EXIT_SUCCESS;
  for (size_t i = 0; i < report.npaths; i++) {
    lanebloom_filter *filter = load_filter(report.paths[i], &report.source);
    if (!filter) {
      status = EXIT_TROUBLE;
      continue;
    }
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    struct measurement measured = measure(filter, info.format, report.nhashes);
    (report.json ? print_json : print_text)(report.paths[i], filter, &info, &measured,
                                            report.nhashes);
    lanebloom_filter_free(filter);
  }
  return status;
}
