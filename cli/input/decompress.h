/* Decompresses an input in a thread, which reads the file while other threads handle the records
 * that were decompressed before.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DECOMPRESS_H
#define LANEBLOOM_CLI_DECOMPRESS_H

#include <stdint.h>

#include "codecs.h"

struct decompressor;

/* Starts to decompress a file. `bytes` are its first bytes, at most READ_NBYTES, which the caller
 * has already read; they are copied. The rest is read from fd, which the caller may close at once.
 * If no thread can be started, decompressor_read() does the work. Returns NULL with errno if memory
 * or descriptors ran out. */
struct decompressor *decompressor_create(enum codec codec, int fd, const char *bytes,
                                         size_t nbytes);

/* Works like read(2), but returns at most READ_NBYTES bytes and describes an error in *error. Sets
 * *nread to the number of bytes of the file that were read for this result. The bytes that were
 * passed to decompressor_create() do not count. */
int64_t decompressor_read(struct decompressor *decompressor, char *to, size_t *nread,
                          struct codec_error *error);

/* Ends the decompression. This is allowed before the end of the file, and does not wait for a read
 * of the file. Does nothing if the decompressor is NULL. */
void decompressor_destroy(struct decompressor *decompressor);

#endif
