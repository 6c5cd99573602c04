/* Allocates, shrinks and enlarges the buffers of chunks.
 * SPDX-License-Identifier: MIT */
#include "chunk.h"

#include <stdlib.h>

/* The first half of a buffer holds the bytes carried over from the previous chunk. The second half
 * receives the data of read(2). */
static const size_t BUFFER_NBYTES = (size_t)2 * READ_NBYTES + CHUNK_PADDING_NBYTES;

bool chunk_create(struct chunk *chunk)
{
  *chunk = (struct chunk){.buffer = malloc(BUFFER_NBYTES), .capacity = BUFFER_NBYTES, .fd = -1};
  return chunk->buffer != NULL;
}

void chunk_destroy(struct chunk *chunk)
{
  free(chunk->buffer);
  *chunk = (struct chunk){.fd = -1};
}

void chunk_reset(struct chunk *chunk)
{
  const size_t nused = chunk->data ? (size_t)(chunk->data - chunk->buffer) + chunk->nbytes : 0;
  if (chunk->capacity > BUFFER_NBYTES && nused <= BUFFER_NBYTES) {
    char *smaller = realloc(chunk->buffer, BUFFER_NBYTES);
    if (smaller) {
      chunk->buffer = smaller;
      chunk->capacity = BUFFER_NBYTES;
    }
  }
  chunk->data = chunk->buffer + READ_NBYTES;
  chunk->nbytes = 0;
  chunk->error[0] = '\0';
  chunk->is_fatal = chunk->at_beginning = chunk->has_nuls = false;
  chunk->header = NULL;
  chunk->header_nlines = 0;
  chunk->nread = 0;
}

bool chunk_grow(struct chunk *chunk)
{
  char *larger =
      chunk->capacity <= PTRDIFF_MAX / 2 ? realloc(chunk->buffer, 2 * chunk->capacity) : NULL;
  if (!larger)
    return false;
  chunk->data = larger + (chunk->data - chunk->buffer);
  chunk->buffer = larger;
  chunk->capacity *= 2;
  return true;
}
