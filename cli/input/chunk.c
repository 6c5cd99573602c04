/* Allocates, shrinks and enlarges the buffers of chunks.
 * SPDX-License-Identifier: MIT */
#include "chunk.h"

#include <stdlib.h>

/* The first half of a buffer holds the bytes carried over from the previous chunk. The second half
 * receives the data of read(2). */
static size_t buffer_nbytes(size_t read_nbytes)
{
  return 2 * read_nbytes + CHUNK_PADDING_NBYTES;
}

bool chunk_create(struct chunk *chunk, size_t read_nbytes)
{
  const size_t capacity = buffer_nbytes(read_nbytes);
  *chunk = (struct chunk){
      .buffer = malloc(capacity), .capacity = capacity, .read_nbytes = read_nbytes, .fd = -1};
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
  const size_t normal = buffer_nbytes(chunk->read_nbytes);
  if (chunk->capacity > normal && nused <= normal) {
    char *smaller = realloc(chunk->buffer, normal);
    if (smaller) {
      chunk->buffer = smaller;
      chunk->capacity = normal;
    }
  }
  chunk->data = chunk->buffer + chunk->read_nbytes;
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
