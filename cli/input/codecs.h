/* Decompresses gzip and zstd data in steps. The data may consist of several streams, one after the
 * other.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_CODECS_H
#define LANEBLOOM_CLI_CODECS_H

#include <stdbool.h>
#include <stddef.h>

enum codec { CODEC_NONE, CODEC_GZIP, CODEC_ZSTD };

/* Can this build decompress the codec? A build may lack zstd. */
bool codec_is_built(enum codec codec);

/* Compressed bytes, and room for the decompressed bytes. Each step moves `in' and `out' forward,
 * and reduces the sizes. */
struct codec_step {
  const char *in;
  size_t nin;
  char *out;
  size_t nout;
};

/* Says why the data cannot be decompressed. */
struct codec_error {
  char text[120]; /* what was expected and what was found */
  bool is_out_of_memory;
};

struct decoder;

/* Creates a decoder. The codec must be in the build and must not be CODEC_NONE. Returns NULL if
 * memory ran out. */
struct decoder *decoder_create(enum codec codec);
void decoder_destroy(struct decoder *decoder);

/* Decompresses until all of `in` was used or `out` is full. If `out` is full, the decoder may hold
 * more output, so call this again with new room, even if `in` is empty. Returns false on an error;
 * the caller must not use the bytes that were written into `out`. */
bool decoder_run(struct decoder *decoder, struct codec_step *step, struct codec_error *error);

/* Call this at the end of the input. Returns false, with an error, if the data are truncated. */
bool decoder_end(const struct decoder *decoder, struct codec_error *error);

#endif
