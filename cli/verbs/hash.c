/* lanebloom hash: prints the hash of each record, and the bits of a filter that the hash probes.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../input/file_kinds.h"
#include "../input/inputs.h"
#include "../input/record_options.h"
#include "../input/records.h"
#include "../input/workers.h"
#include "../options/options.h"
#include "../system/files.h"
#include "verbs.h"

enum { OPTION_FORMAT = 0x100, OPTION_FILTER };

struct hash {
  struct record_syntax syntax;
  lanebloom_format format; /* 0: the option was not given */
  const char *path;
  char **inputs;
  size_t ninputs;
  lanebloom_filter *filter; /* NULL: --filter was not given */
  uint64_t *positions;
  size_t hash_nbytes;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct hash *hash = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &hash->syntax;
    return 0;
  case OPTION_FORMAT:
    hash->format = parse_hashing_format(state, text);
    return 0;
  case OPTION_FILTER:
    hash->path = text;
    return 0;
  case ARGP_KEY_END:
    refuse_keep(&hash->syntax, state);
    return 0;
  case ARGP_KEY_ARGS:
    hash->inputs = state->argv + state->next;
    hash->ninputs = (size_t)(state->argc - state->next);
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
            {"format", OPTION_FORMAT, "NAME", 0, "Hash in this format. ", 1},
            {"filter", OPTION_FILTER, "FILE", 0,
             "Hash in this filter's format, and print the bits that each record probes", 1},
            {0}},
    .parser = parse,
    .args_doc = "[INPUT...]",
    .doc = "Prints for each record its hash in hexadecimal, a tab, and the record. With "
           "--filter, the positions of the probed bits, in order, and another tab come before "
           "the record. Records of fixed width are printed in hexadecimal.\v"
           "Examples:\n"
           "  printf 'hello\\n' | lanebloom hash\n"
           "  lanebloom hash --format leveldb-signed keys.txt\n"
           "  lanebloom hash --filter words.lbf words.txt",
    .help_filter = help,
    .children = (const struct argp_child[]){{.argp = &record_argp}, {.argp = &kernel_argp}, {0}},
};

static void open_filter(struct hash *hash)
{
  hash->filter = load_filter(hash->path, &(struct filter_source){0});
  if (!hash->filter)
    exit(EXIT_TROUBLE);
  if (!take_form(&hash->syntax, hash->path, hash->filter))
    exit(EXIT_TROUBLE);
  lanebloom_filter_info info;
  lanebloom_filter_describe(hash->filter, &info, sizeof info);
  if (hash->format && hash->format != info.format)
    die(hash->path, "expected format %s, found %s", lanebloom_format_name(hash->format),
        lanebloom_format_name(info.format));
  hash->format = info.format;
  hash->positions = resize(NULL, (info.nprobes + 1) * sizeof *hash->positions);
}

/* Prints a hash, and with --filter the bits that the hash probes. `value' points to a result of
 * lanebloom_hash(), which consists of one or two integers in the byte order of this machine. */
static void print_hash(const struct hash *hash, const void *value)
{
  uint64_t wide;
  uint32_t narrow;
  if (hash->hash_nbytes == sizeof narrow) {
    memcpy(&narrow, value, sizeof narrow);
    outputf("%08" PRIx32, narrow);
  }
  for (size_t at = 0; at + sizeof wide <= hash->hash_nbytes; at += sizeof wide) {
    memcpy(&wide, (const char *)value + at, sizeof wide);
    outputf("%016" PRIx64, wide);
  }
  output("\t", 1);
  if (!hash->filter)
    return;
  size_t npositions = lanebloom_filter_positions(hash->filter, value, hash->positions);
  for (size_t i = 0; i < npositions; i++)
    outputf(i ? " %" PRIu64 : "%" PRIu64, hash->positions[i]);
  output("\t", 1);
}

static void print_record(const struct hash *hash, const struct batch *batch, size_t i)
{
  const char *record = batch_record(batch, i);
  const char *end = batch_record(batch, i + 1);
  if (hash->syntax.width == 0) {
    output(record, (size_t)(end - record));
    return;
  }
  for (; record < end; record++)
    outputf("%02x", (unsigned)(unsigned char)*record);
  output("\n", 1);
}

static void hash_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk)
{
  (void)worker, (void)chunk;
  const struct hash *hash = context;
  static uint8_t hashes[BATCH_NRECORDS * LANEBLOOM_MAX_HASH_SIZE];
  struct batch batch;
  while (cutter_next(cutter, &batch)) {
    lanebloom_status status = lanebloom_hash(hash->format, &batch.keys, hashes);
    if (status != LANEBLOOM_OK)
      die(NULL, "%s", status_text(status));
    for (size_t i = 0; i < batch.n; i++) {
      if (!batch_has_key(&batch, i))
        continue;
      print_hash(hash, (const char *)hashes + i * hash->hash_nbytes);
      print_record(hash, &batch, i);
    }
  }
}

int hash_main(int argc, char **argv)
{
  struct hash hash = {0};
  parse_options(&argp, 0, argc, argv, &hash);
  if (hash.path)
    open_filter(&hash);
  if (!hash.format)
    hash.format = DEFAULT_FORMAT;
  hash.hash_nbytes = lanebloom_format_hash_size(hash.format);
  if (hash.hash_nbytes == 0)
    die(hash.path, "format %s hashes no keys", lanebloom_format_name(hash.format));

  static const struct input_messages messages = {
      .verb = "hash",
      .container_advice = "to hash records in its format, give it as --filter FILE"};
  static struct inputs inputs;
  struct system_info target = {0};
  lanebloom_system_file_info(STANDARD_OUTPUT, &target);
  inputs_begin(&inputs, &messages, &hash.syntax, hash.inputs, hash.ninputs, &target);
  struct job job = {.inputs = &inputs,
                    .nworkers = 1,
                    .context = &hash,
                    .work = hash_chunk}; /* hash_chunk() prints, so the order of the records is kept
                                          * only if there is a single worker */
  job_run(&job);
  free(hash.positions);
  lanebloom_filter_free(hash.filter);
  return job.nfailed > 0 ? EXIT_TROUBLE : EXIT_SUCCESS;
}
