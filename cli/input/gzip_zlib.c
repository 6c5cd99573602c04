/* Decompresses gzip data by zlib.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "gzip.h"

struct gzip {
  z_stream stream;
  gz_header header; /* shows whether zlib has read the whole header */
};

struct gzip *gzip_create(void)
{
  enum { ONLY_GZIP = 16 }; /* added to the size of the window: zlib accepts no zlib header */
  struct gzip *gzip = calloc(1, sizeof *gzip);
  if (gzip && inflateInit2(&gzip->stream, MAX_WBITS + ONLY_GZIP) == Z_OK)
    return gzip;
  free(gzip);
  return NULL;
}

void gzip_destroy(struct gzip *gzip)
{
  if (gzip)
    inflateEnd(&gzip->stream);
  free(gzip);
}

void gzip_begin(struct gzip *gzip)
{
  inflateReset(&gzip->stream);
  inflateGetHeader(&gzip->stream, &gzip->header);
}

/* Says what is wrong with the data. zlib tells checksums from other faults only by its message. */
static enum gzip_result fault(const struct gzip *gzip)
{
  static const char *const checksums[] = {"incorrect data check", "incorrect length check",
                                          "header crc mismatch"};
  const char *message = gzip->stream.msg ? gzip->stream.msg : "";
  for (size_t i = 0; i < sizeof checksums / sizeof *checksums; i++)
    if (strcmp(message, checksums[i]) == 0)
      return GZIP_BAD_CHECKSUM;
  return gzip->header.done ? GZIP_BAD_DATA : GZIP_BAD_HEADER;
}

enum gzip_result gzip_run(struct gzip *gzip, struct codec_step *step)
{
  z_stream *stream = &gzip->stream;
  const size_t nin = step->nin < INT_MAX ? step->nin : INT_MAX;
  const size_t nout = step->nout < INT_MAX ? step->nout : INT_MAX;
  stream->next_in = (Bytef *)(uintptr_t)step->in;
  stream->avail_in = (uInt)nin;
  stream->next_out = (Bytef *)step->out;
  stream->avail_out = (uInt)nout;
  const int result = inflate(stream, Z_NO_FLUSH);
  if (result == Z_MEM_ERROR)
    return GZIP_OUT_OF_MEMORY;
  /* Z_BUF_ERROR means that zlib needs more input or more room. */
  if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
    return fault(gzip);
  step->in += nin - stream->avail_in;
  step->nin -= nin - stream->avail_in;
  step->out += nout - stream->avail_out;
  step->nout -= nout - stream->avail_out;
  return result == Z_STREAM_END ? GZIP_END : GZIP_OK;
}
