/* Decompresses gzip data by ISA-L.
 * SPDX-License-Identifier: MIT */
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "gzip.h"

struct gzip {
  struct inflate_state inflate;
  struct isal_gzip_header header; /* isal_inflate() does not preserve it between two calls */
  bool is_in_header;
};

struct gzip *gzip_create(void)
{
  struct gzip *gzip = malloc(sizeof *gzip);
  if (gzip)
    isal_inflate_init(&gzip->inflate);
  return gzip;
}

void gzip_destroy(struct gzip *gzip)
{
  free(gzip);
}

void gzip_begin(struct gzip *gzip)
{
  isal_inflate_reset(&gzip->inflate);
  gzip->inflate.crc_flag = ISAL_GZIP_NO_HDR_VER; /* makes ISA-L verify the checksum */
  isal_gzip_header_init(&gzip->header);
  gzip->is_in_header = true;
}

/* If the header of the stream was not read yet, reads more of it. Otherwise decompresses more of
 * the stream. */
static int run(struct gzip *gzip)
{
  if (!gzip->is_in_header)
    return isal_inflate(&gzip->inflate);
  const int result = isal_read_gzip_header(&gzip->inflate, &gzip->header);
  gzip->is_in_header = result != ISAL_DECOMP_OK;
  return result;
}

enum gzip_result gzip_run(struct gzip *gzip, struct codec_step *step)
{
  struct inflate_state *state = &gzip->inflate;
  const size_t nin = step->nin < INT32_MAX ? step->nin : INT32_MAX;
  const size_t nout = step->nout < INT32_MAX ? step->nout : INT32_MAX;
  state->next_in = (uint8_t *)(uintptr_t)step->in;
  state->avail_in = (uint32_t)nin;
  state->next_out = (uint8_t *)step->out;
  state->avail_out = (uint32_t)nout;
  const int result = run(gzip);
  if (result == ISAL_INCORRECT_CHECKSUM)
    return GZIP_BAD_CHECKSUM;
  if (result == ISAL_INVALID_WRAPPER || result == ISAL_UNSUPPORTED_METHOD)
    return GZIP_BAD_HEADER;
  if (result < 0)
    return GZIP_BAD_DATA;
  step->in += nin - state->avail_in;
  step->nin -= nin - state->avail_in;
  step->out += nout - state->avail_out;
  step->nout -= nout - state->avail_out;
  return state->block_state == ISAL_BLOCK_FINISH ? GZIP_END : GZIP_OK;
}
