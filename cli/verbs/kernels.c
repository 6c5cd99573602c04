/* lanebloom kernels: lists the kernels that this CPU can run.
 * SPDX-License-Identifier: MIT */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "../base/json_object.h"
#include "../base/report.h"
#include "../options/options.h"
#include "../system/process.h"
#include "measure.h"
#include "timing.h"
#include "verbs.h"

enum { OPTION_JSON = 0x100, OPTION_MEASURE };

struct kernels {
  bool json, measure;
  const char *cpu;
  struct timing *timings;
  size_t ntimings; /* 0: --measure was not given */
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  (void)text;
  struct kernels *kernels = state->input;
  switch (key) {
  case OPTION_JSON:
    kernels->json = true;
    return 0;
  case OPTION_MEASURE:
    kernels->measure = true;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"json", OPTION_JSON, NULL, 0, "Print one JSON object", 1},
            {"measure", OPTION_MEASURE, NULL, 0,
             "Time each kernel with each format, and name the fastest; takes about a second", 1},
            {0}},
    .parser = parse,
    .doc = "Prints the name of this CPU and the kernels that it can run, best first. A star marks "
           "the one in use: the best, unless --kernel or the environment variable LANEBLOOM_KERNEL "
           "names another.\n"
           "--measure prints nanoseconds per key, hash included, for keys that are absent from a "
           "filter and for keys that are present in it. Filter and keys fit the caches of most "
           "CPUs; larger filters may order the kernels differently. Kernels take turns, and the "
           "fastest run of each counts. A difference below 3 % is a tie.\v"
           "Examples:\n"
           "  lanebloom kernels\n"
           "  lanebloom kernels --measure\n"
           "  LANEBLOOM_KERNEL=scalar lanebloom kernels --json",
    .children = (const struct argp_child[]){{.argp = &kernel_argp}, {0}},
};

static bool is_active(size_t kernel)
{
  return strcmp(lanebloom_kernel_at(kernel), lanebloom_kernel_active()) == 0;
}

/* Returns by how many percent the kernel in use is slower than the fastest kernel. Returns 0 if
 * is_fastest() is true of the kernel in use. */
static double excess(const struct timing *timing)
{
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    if (is_active(i) && !is_fastest(timing, i))
      return 100 * (timing->ns[i] / timing->least_ns - 1);
  return 0;
}

/* ---- JSON ---- */

static struct json_object *json_timing(const struct timing *timing)
{
  struct json_object *object = json_needed(json_object_new_object());
  struct json_object *ns = json_needed(json_object_new_object());
  struct json_object *fastest = json_needed(json_object_new_array());
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    const char *name = lanebloom_kernel_at(i);
    json_object_object_add(ns, name, json_number(timing->ns[i]));
    if (is_fastest(timing, i))
      json_object_array_add(fastest, json_object_new_string(name));
  }
  json_object_object_add(object, "format",
                         json_object_new_string(lanebloom_format_name(timing->format)));
  json_object_object_add(object, "keys",
                         json_object_new_string(timing->present ? "present" : "absent"));
  json_object_object_add(object, "ns_per_key", ns);
  json_object_object_add(object, "fastest", fastest);
  json_object_object_add(object, "active_is_fastest", json_object_new_boolean(excess(timing) == 0));
  return object;
}

static void print_json(const struct kernels *kernels)
{
  struct json_object *object = json_begin();
  struct json_object *names = json_needed(json_object_new_array());
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    json_object_array_add(names, json_object_new_string(lanebloom_kernel_at(i)));
  json_object_object_add(object, "cpu", json_object_new_string(kernels->cpu));
  json_object_object_add(object, "kernels", names);
  json_object_object_add(object, "active", json_object_new_string(lanebloom_kernel_active()));
  json_object_object_add(object, "reason", json_object_new_string(lanebloom_kernel_reason()));
  if (kernels->measure) {
    struct json_object *timings = json_needed(json_object_new_array());
    for (size_t i = 0; i < kernels->ntimings; i++)
      json_object_array_add(timings, json_timing(&kernels->timings[i]));
    json_object_object_add(object, "timings", timings);
  }
  output_json(object);
}

/* ---- text ---- */

enum { FORMAT_WIDTH = sizeof "leveldb-signed", NS_WIDTH = sizeof "12.34" };

static int column_width(size_t kernel)
{
  const int width = (int)strlen(lanebloom_kernel_at(kernel)) + is_active(kernel);
  return width > NS_WIDTH ? width : NS_WIDTH;
}

static void print_header(void)
{
  outputf("\nNanoseconds per key of 8 bytes, in filters of %d keys at %d bits each, one thread:\n",
          TIMING_NKEYS, TIMING_BITS_PER_KEY);
  outputf("%-*s %-7s", FORMAT_WIDTH, "FORMAT", "KEYS");
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    outputf(" %*s%s", column_width(i) - (int)strlen(lanebloom_kernel_at(i)),
            is_active(i) ? "*" : "", lanebloom_kernel_at(i));
  outputf("  FASTEST\n");
}

static void print_timing(const struct timing *timing)
{
  size_t nfastest = 0;
  outputf("%-*s %-7s", FORMAT_WIDTH, lanebloom_format_name(timing->format),
          timing->present ? "present" : "absent");
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    outputf(" %*.2f", column_width(i), timing->ns[i]);
  outputf(" ");
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    if (is_fastest(timing, i))
      outputf("%s%s%s", nfastest++ ? ", " : " ", is_active(i) ? "*" : "", lanebloom_kernel_at(i));
  if (nfastest > 1)
    outputf(" (tie)");
  if (excess(timing) > 0)
    outputf("; *%s takes %.0f %% longer", lanebloom_kernel_active(), excess(timing));
  outputf("\n");
}

static void print_text(const struct kernels *kernels)
{
  outputf("%s\n", kernels->cpu);
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    if (is_active(i))
      outputf("* %s (%s)\n", lanebloom_kernel_at(i), lanebloom_kernel_reason());
    else
      outputf("  %s\n", lanebloom_kernel_at(i));
  if (kernels->measure)
    print_header();
  for (size_t i = 0; i < kernels->ntimings; i++)
    print_timing(&kernels->timings[i]);
}

int kernels_main(int argc, char **argv)
{
  struct kernels kernels = {0};
  parse_options(&argp, 0, argc, argv, &kernels);
  char cpu[256];
  name_cpu(cpu, sizeof cpu);
  kernels.cpu = cpu;
  if (kernels.measure)
    kernels.ntimings = time_kernels(&kernels.timings);
  (kernels.json ? print_json : print_text)(&kernels);
  timings_destroy(kernels.timings, kernels.ntimings);
  return EXIT_SUCCESS;
}
