/* Decompresses gzip and zstd, a step at a time. Both may be several streams, one after the other.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_CODECS_H
#define LANEBLOOM_CLI_CODECS_H

#include <stdbool.h>
#include <stddef.h>

enum codec { CODEC_NONE, CODEC_GZIP, CODEC_ZSTD };

/* zstd may be left out of a build. */
bool codec_is_built(enum codec codec);

/* Bytes to be decompressed, and room for what they become. A step takes bytes off both. */
struct codec_step {
  const char *in;
  size_t nin;
  char *out;
  size_t nout;
};

/* Why data cannot be decompressed. */
struct codec_error {
  char text[120]; /* what was expected, and found */
  bool is_out_of_memory;
};

struct decoder;

/* The codec is in the build and not NONE. NULL: memory ran out. */
struct decoder *decoder_create(enum codec codec);
void decoder_destroy(struct decoder *decoder);

/* Decompresses until `in` is used up or `out` is full. If it is full, there may be more to come of
 * the same bytes: call this again before the input ends. false: an error. What was written into
 * `out` is then not to be used. */
bool decoder_run(struct decoder *decoder, struct codec_step *step, struct codec_error *error);

/* Call this at the end of the input. false: the data are truncated. */
bool decoder_end(const struct decoder *decoder, struct codec_error *error);

#endif
