/* lanebloom match: prints the records whose key is in a file of keys, exactly.
 * SPDX-License-Identifier: MIT */
#include "screen.h"

struct match {
  struct screen screen;
  char *keys; /* the file */
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct match *match = state->input;
  struct screen *screen = &match->screen;
  (void)text;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &screen->syntax;
    state->child_inputs[1] = &screen->job.nworkers;
    state->child_inputs[2] = &screen->job.progress;
    state->child_inputs[3] = screen;
    return 0;
  case ARGP_KEY_END:
    if (screen->ninputs == 0)
      argp_error(state, "expected KEYS, a file of keys; found none");
    match->keys = take_first_input(screen);
    check_standard_input(screen, state, &match->keys, 1, "KEYS");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .parser = parse,
    .args_doc = "KEYS [INPUT...]",
    .doc = "Prints the records whose key is in the file KEYS. Unlike `screen', `match' is exact: a "
           "filter in front leaves out most records, and the keys themselves decide on the rest.\n"
           "Each record of KEYS is one key. -f and what belongs to it speak of INPUT alone; all "
           "other options of records speak of both. KEYS is mapped and must not change meanwhile; "
           "a pipe is read into memory. Keys may repeat. Besides, each key takes about 14 bytes. "
           "Records come from INPUT, or from standard input if there is none or it is `-'. The "
           "exit status is 0 if a record was selected, 1 if none was, 2 after an error.\v"
           "Examples:\n"
           "  lanebloom match users.txt seen.txt\n"
           "  lanebloom match --csv -f user_id users.txt events.csv\n"
           "  lanebloom match -v --tsv -f 2 blocked.txt requests.tsv\n"
           "  cut -f 1 a.tsv | lanebloom match -f 1 - b.tsv",
    .children = (const struct argp_child[]){{.argp = &record_argp},
                                            {.argp = &jobs_argp},
                                            {.argp = &progress_argp},
                                            {.argp = &selection_argp},
                                            {.argp = &kernel_argp},
                                            {0}},
};

int match_main(int argc, char **argv)
{
  static const struct input_messages messages = {
      .verb = "match",
      .container_advice = "`match' compares keys; `lanebloom screen' takes a filter"};
  struct match match = {.keys = NULL};
  struct key_set keys;
  parse_options(&argp, 0, argc, argv, &match);
  open_sinks(&match.screen);
  check_is_no_output(&match.screen, match.keys);
  key_set_read(&keys, match.keys, &match.screen.syntax, &messages);
  match.screen.exact = &keys;
  const int status = run_screen(&match.screen, &messages);
  key_set_free(&keys);
  return status;
}
