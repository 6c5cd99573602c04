/* Decompresses streams of gzip data. gzip_isal.c does so by ISA-L, and gzip_zlib.c by zlib; a build
 * has one of them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_GZIP_H
#define LANEBLOOM_CLI_GZIP_H

#include "codecs.h"

enum gzip_result {
  GZIP_OK,
  GZIP_END, /* this was the end of the stream */
  GZIP_OUT_OF_MEMORY,
  GZIP_BAD_HEADER,
  GZIP_BAD_DATA,
  GZIP_BAD_CHECKSUM
};

struct gzip;

/* Returns NULL if memory ran out. */
struct gzip *gzip_create(void);
void gzip_destroy(struct gzip *gzip);

/* Begins a stream. */
void gzip_begin(struct gzip *gzip);

/* Decompresses a part of the stream, and moves the step forward. */
enum gzip_result gzip_run(struct gzip *gzip, struct codec_step *step);

#endif
