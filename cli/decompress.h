/* Compressed inputs: a thread reads and decompresses a file while others work on its records.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DECOMPRESS_H
#define LANEBLOOM_CLI_DECOMPRESS_H

#include <sys/types.h>

#include "codecs.h"

struct decompressor;

/* Begins to decompress: first the nbytes, at most READ_NBYTES, which are copied, then what the file
 * still has. The file may be closed. Where no thread is to be had, decompressor_read() does the
 * work. NULL: memory or descriptors ran out, as errno says. */
struct decompressor *decompressor_create(enum codec codec, int fd, const char *bytes,
                                         size_t nbytes);

/* As read(2), but at most READ_NBYTES, and an error says more. *nread: how many bytes of the file
 * were read for them, except those that decompressor_create() got. */
ssize_t decompressor_read(struct decompressor *decompressor, char *to, size_t *nread,
                          struct codec_error *error);

/* Also before the end of the file, without waiting for it. NULL: does nothing. */
void decompressor_destroy(struct decompressor *decompressor);

#endif
