/* lanebloom kernels: the kernels that this CPU can run.
 * SPDX-License-Identifier: MIT */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli.h"

enum { OPTION_JSON = 0x100 };

static error_t parse(int key, char *text, struct argp_state *state)
{
  (void)text;
  if (key != OPTION_JSON)
    return ARGP_ERR_UNKNOWN;
  *(bool *)state->input = true;
  return 0;
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){{"json", OPTION_JSON, NULL, 0, "Print one JSON object", 1},
                                     {0}},
    .parser = parse,
    .doc = "Prints the name of this CPU and the kernels that it can run, best first. A star "
           "marks the one in use: the best, unless --kernel or the environment variable "
           "LANEBLOOM_KERNEL names another.\v"
           "Examples:\n"
           "  lanebloom kernels\n"
           "  LANEBLOOM_KERNEL=scalar lanebloom kernels --json",
    .children = (const struct argp_child[]){{.argp = &kernel_argp}, {0}},
};

/* Reads the first "model name : NAME" of /proc/cpuinfo. Some architectures have no such line. */
static bool read_model_name(char *name, size_t size)
{
  FILE *file = fopen("/proc/cpuinfo", "re");
  char line[512];
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file)) {
    const char *value = strchr(line, ':');
    found = value && strncmp(line, "model name", strlen("model name")) == 0;
    if (found) {
      value += 1 + strspn(value + 1, " \t");
      snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
    }
  }
  if (file)
    fclose(file);
  return found;
}

static void print_json(const char *cpu)
{
  struct json_object *object = json_begin();
  struct json_object *kernels = json_needed(json_object_new_array());
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    json_object_array_add(kernels, json_object_new_string(lanebloom_kernel_name(i)));
  json_object_object_add(object, "cpu", json_object_new_string(cpu));
  json_object_object_add(object, "kernels", kernels);
  json_object_object_add(object, "active", json_object_new_string(lanebloom_kernel_active()));
  json_object_object_add(object, "reason", json_object_new_string(lanebloom_kernel_reason()));
  output_json(object);
}

static void print_text(const char *cpu)
{
  outputf("%s\n", cpu);
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    const char *name = lanebloom_kernel_name(i);
    if (strcmp(name, lanebloom_kernel_active()) == 0)
      outputf("* %s (%s)\n", name, lanebloom_kernel_reason());
    else
      outputf("  %s\n", name);
  }
}

int kernels_main(int argc, char **argv)
{
  bool json = false;
  parse_options(&argp, 0, argc, argv, &json);
  struct utsname machine;
  char model[256];
  const char *cpu = model;
  if (!read_model_name(model, sizeof model))
    cpu = uname(&machine) == 0 ? machine.machine : "unknown";
  if (json)
    print_json(cpu);
  else
    print_text(cpu);
  return EXIT_SUCCESS;
}
