/* Compressed inputs: a thread reads and decompresses a file while others work on its records.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DECOMPRESS_H
#define LANEBLOOM_CLI_DECOMPRESS_H

#include <sys/types.h>

#include "codecs.h"

struct decompressor;

/* Starts to decompress nbytes, at most READ_NBYTES, which are copied, followed by the rest of the
 * file. The caller may close fd. If no thread can be started, decompressor_read() does the work.
 * NULL: memory or descriptors ran out, as errno says. */
struct decompressor *decompressor_create(enum codec codec, int fd, const char *bytes,
                                         size_t nbytes);

/* Works like read(2), but returns at most READ_NBYTES and describes errors in *error. *nread: the
 * number of bytes of the file that were read for this result, without those passed to
 * decompressor_create(). */
ssize_t decompressor_read(struct decompressor *decompressor, char *to, size_t *nread,
                          struct codec_error *error);

/* May be called before the end of the file, and does not wait for it. NULL: does nothing. */
void decompressor_destroy(struct decompressor *decompressor);

#endif
