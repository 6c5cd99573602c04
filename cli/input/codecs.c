/* Decompresses gzip data by gzip.h and zstd data by libzstd.
 * SPDX-License-Identifier: MIT */
#include "codecs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LANEBLOOM_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#endif

#include "gzip.h"

struct decoder {
  enum codec codec;
  enum { BEFORE_STREAM, IN_STREAM, IN_PADDING } place;
  struct gzip *gzip; /* the state of gzip; NULL for zstd */
#ifdef LANEBLOOM_WITH_ZSTD
  ZSTD_DCtx *zstd; /* the state of zstd; NULL for gzip */
#endif
};

bool codec_is_built(enum codec codec)
{
#ifdef LANEBLOOM_WITH_ZSTD
  return codec != CODEC_NONE;
#else
  return codec == CODEC_GZIP;
#endif
}

static bool refuse(struct codec_error *error, const char *expected, const char *found)
{
  snprintf(error->text, sizeof error->text, "%s, found %s", expected, found);
  return false;
}

static bool refuse_memory(struct codec_error *error)
{
  error->is_out_of_memory = true;
  snprintf(error->text, sizeof error->text, "%s", strerror(ENOMEM));
  return false;
}

/* ---- gzip ---- */

static bool refuse_gzip(struct codec_error *error, enum gzip_result result)
{
  switch (result) {
  case GZIP_OUT_OF_MEMORY:
    return refuse_memory(error);
  case GZIP_BAD_HEADER:
    return refuse(error, "damaged: expected a gzip header", "other bytes");
  case GZIP_BAD_CHECKSUM:
    return refuse(error, "damaged: expected the checksum of the gzip data", "another one");
  default:
    return refuse(error, "damaged: expected deflate data", "other bytes");
  }
}

/* Begins a stream, or padding. Zeros may follow the last stream, for example if the data come from
 * a tape. Like gzip(1), the decoder ignores these zeros. */
static bool begin_stream(struct decoder *decoder, const struct codec_step *step,
                         struct codec_error *error)
{
  enum { FIRST_BYTE = 0x1f };
  if (*step->in != FIRST_BYTE && *step->in)
    return refuse(error, "expected the end of the gzip data", "other bytes after it");
  decoder->place = *step->in ? IN_STREAM : IN_PADDING;
  gzip_begin(decoder->gzip);
  return true;
}

static bool skip_padding(struct codec_step *step, struct codec_error *error)
{
  for (; step->nin > 0; step->in++, step->nin--)
    if (*step->in)
      return refuse(error, "expected zeros after the gzip data", "other bytes");
  return true;
}

static bool run_stream(struct decoder *decoder, struct codec_step *step, struct codec_error *error)
{
  const enum gzip_result result = gzip_run(decoder->gzip, step);
  if (result == GZIP_END)
    decoder->place = BEFORE_STREAM;
  return result == GZIP_OK || result == GZIP_END || refuse_gzip(error, result);
}

static bool run_gzip(struct decoder *decoder, struct codec_step *step, struct codec_error *error)
{
  do {
    if (decoder->place == BEFORE_STREAM && step->nin > 0 && !begin_stream(decoder, step, error))
      return false;
    if (decoder->place == IN_PADDING)
      return skip_padding(step, error);
    if (decoder->place != BEFORE_STREAM && !run_stream(decoder, step, error))
      return false;
  } while (step->nin > 0 && step->nout > 0);
  return true;
}

/* ---- zstd ---- */

#ifdef LANEBLOOM_WITH_ZSTD
enum { WINDOW_LOG_MAX = 27 }; /* 128 MiB, which is also the limit of zstd(1) without options */

static bool refuse_zstd(struct codec_error *error, size_t result)
{
  switch (ZSTD_getErrorCode(result)) {
  case ZSTD_error_memory_allocation:
    return refuse_memory(error);
  case ZSTD_error_frameParameter_windowTooLarge:
    return refuse(error, "expected a zstd window of at most 128 MiB",
                  "a larger one: decompress it by zstd -dc --long=31");
  case ZSTD_error_checksum_wrong:
    return refuse(error, "damaged: expected the checksum of the zstd data", "another one");
  case ZSTD_error_prefix_unknown:
    return refuse(error, "expected the end of the zstd data or another frame", "other bytes");
  case ZSTD_error_dictionary_wrong:
    return refuse(error, "expected zstd data without a dictionary", "data that needs one");
  default:
    return refuse(error, "damaged: expected zstd data", "other bytes");
  }
}

static bool run_zstd(struct decoder *decoder, struct codec_step *step, struct codec_error *error)
{
  ZSTD_inBuffer in = {step->in, step->nin, 0};
  ZSTD_outBuffer out = {step->out, step->nout, 0};
  while (in.pos < in.size || decoder->place == IN_STREAM) {
    const size_t result = ZSTD_decompressStream(decoder->zstd, &out, &in);
    if (ZSTD_isError(result))
      return refuse_zstd(error, result);
    decoder->place = result == 0 ? BEFORE_STREAM : IN_STREAM;
    if (out.pos == out.size || in.pos == in.size)
      break;
  }
  step->in += in.pos;
  step->nin -= in.pos;
  step->out += out.pos;
  step->nout -= out.pos;
  return true;
}
#endif

/* ---- gzip and zstd ---- */

static bool create(struct decoder *decoder)
{
#ifdef LANEBLOOM_WITH_ZSTD
  if (decoder->codec == CODEC_ZSTD) {
    decoder->zstd = ZSTD_createDCtx();
    return decoder->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax,
                                                                 WINDOW_LOG_MAX));
  }
#endif
  decoder->gzip = gzip_create();
  return decoder->gzip != NULL;
}

struct decoder *decoder_create(enum codec codec)
{
  struct decoder *decoder = malloc(sizeof *decoder);
  if (!decoder)
    return NULL;
  *decoder = (struct decoder){.codec = codec, .place = BEFORE_STREAM};
  if (create(decoder))
    return decoder;
  decoder_destroy(decoder);
  return NULL;
}

void decoder_destroy(struct decoder *decoder)
{
  if (!decoder)
    return;
#ifdef LANEBLOOM_WITH_ZSTD
  ZSTD_freeDCtx(decoder->zstd);
#endif
  gzip_destroy(decoder->gzip);
  free(decoder);
}

bool decoder_run(struct decoder *decoder, struct codec_step *step, struct codec_error *error)
{
#ifdef LANEBLOOM_WITH_ZSTD
  if (decoder->codec == CODEC_ZSTD)
    return run_zstd(decoder, step, error);
#endif
  return run_gzip(decoder, step, error);
}

bool decoder_end(const struct decoder *decoder, struct codec_error *error)
{
  return decoder->place == BEFORE_STREAM || decoder->place == IN_PADDING ||
         refuse(error,
                decoder->codec == CODEC_GZIP ? "truncated: expected more gzip data"
                                             : "truncated: expected more zstd data",
                "the end of the input");
}
