/* Decompresses gzip and zstd in steps. The data may be several concatenated streams.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_CODECS_H
#define LANEBLOOM_CLI_CODECS_H

#include <stdbool.h>
#include <stddef.h>

enum codec { CODEC_NONE, CODEC_GZIP, CODEC_ZSTD };

/* Is the codec part of this build? zstd may be left out. */
bool codec_is_built(enum codec codec);

/* Compressed bytes, and room for the result. A step advances both. */
struct codec_step {
  const char *in;
  size_t nin;
  char *out;
  size_t nout;
};

/* Says why data cannot be decompressed. */
struct codec_error {
  char text[120]; /* what was expected, and what was found */
  bool is_out_of_memory;
};

struct decoder;

/* Creates a decoder. The codec must be in the build and not CODEC_NONE. NULL: memory ran out. */
struct decoder *decoder_create(enum codec codec);
void decoder_destroy(struct decoder *decoder);

/* Decompresses until `in` is used up or `out` is full. If `out` is full, the same bytes may yield
 * more output: call this again before the input ends. false: an error; do not use what was written
 * into `out`. */
bool decoder_run(struct decoder *decoder, struct codec_step *step, struct codec_error *error);

/* Call this at the end of the input. false: the data are truncated. */
bool decoder_end(const struct decoder *decoder, struct codec_error *error);

#endif
