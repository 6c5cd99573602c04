/* lanebloom verify: checks whether files of filters are intact.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "../base/paths.h"
#include "../base/report.h"
#include "../files/mapped.h"
#include "../options/options.h"
#include "verbs.h"

/* sha256sum -c and gzip -t have the same exit statuses. */
enum { EXIT_WHOLE = 0, EXIT_DAMAGED = 1 };

struct verify {
  bool quiet;
  char **paths;
  size_t npaths;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  (void)text;
  struct verify *verify = state->input;
  switch (key) {
  case 'q':
    verify->quiet = true;
    return 0;
  case ARGP_KEY_ARGS:
    verify->paths = state->argv + state->next;
    verify->npaths = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "expected a FILE, found none");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"quiet", 'q', NULL, 0, "Print only the files that are not ok", 1}, {0}},
    .parser = parse,
    .args_doc = "FILE...",
    .doc = "Reads each container and checks its header, its size, its checksum, and that its bytes "
           "are a filter. Prints \"FILE: ok\", or what was expected and what was found.\n"
           "The exit status is 0 if all files are ok, 1 if one is not, 2 if one could not be read. "
           "Files are mapped and take no memory.\v"
           "Examples:\n"
           "  lanebloom verify words.lbf\n"
           "  lanebloom verify -q backup/*.lbf\n"
           "  ssh host cat words.lbf | lanebloom verify -",
    .children = (const struct argp_child[]){{.argp = &kernel_argp}, {0}},
};

/* Checks properties that every valid filter has, because the checksum does not detect errors that
 * were made before the file was written. If the filter lacks one of these properties, stores a
 * message in `problem' and returns false. */
static bool check_bits(const lanebloom_filter *filter, char *problem, size_t size)
{
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  if (info.nprobes == 0 && lanebloom_filter_may_contain(filter, NULL, 0)) {
    snprintf(problem, size,
             "expected a filter that its engine can read, found one that every key "
             "passes");
    return false;
  }
  if (info.nkeys != LANEBLOOM_UNKNOWN && info.nkeys > 0 && info.nbits_set == 0) {
    snprintf(problem, size, "expected the bits of %" PRIu64 " keys, found no bit set", info.nkeys);
    return false;
  }
  return true;
}

/* Prints the line for a file and returns an exit status. */
static int verify_file(const struct verify *verify, const char *path)
{
  struct mapped mapped;
  char problem[256];
  output_flush(); /* if the file becomes shorter, map_filter() may end the command */
  const lanebloom_status status = map_filter(&mapped, path, problem, sizeof problem);
  if (status == LANEBLOOM_ERR_IO || status == LANEBLOOM_ERR_MEMORY) {
    complain(input_name(path), "%s", problem);
    return EXIT_TROUBLE;
  }
  const bool is_whole = !status && check_bits(mapped.filter, problem, sizeof problem);
  if (!is_whole || !verify->quiet) {
    char *name = escape_name(input_name(path));
    outputf("%s: %s\n", name, is_whole ? "ok" : problem);
    free(name);
  }
  unmap_filter(&mapped);
  return is_whole ? EXIT_WHOLE : EXIT_DAMAGED;
}

int verify_main(int argc, char **argv)
{
  struct verify verify = {0};
  parse_options(&argp, 0, argc, argv, &verify);
  int worst = EXIT_WHOLE;
  for (size_t i = 0; i < verify.npaths; i++) {
    const int status = verify_file(&verify, verify.paths[i]);
    worst = status > worst ? status : worst;
  }
  return worst;
}
