/* Stores copies of the keys of a chunk.
 * SPDX-License-Identifier: MIT */
#include "chunk_keys.h"

#include <stdlib.h>
#include <string.h>

/* Makes room for n more keys of nbytes. Returns false if memory ran out. */
static bool reserve(struct chunk_keys *keys, size_t n, size_t nbytes)
{
  if (keys->n + n >= keys->capacity) {
    const size_t capacity = (keys->n + n + 1) * 3 / 2;
    uint64_t *larger = realloc(keys->offsets, capacity * sizeof *larger);
    if (!larger)
      return false;
    keys->offsets = larger;
    keys->capacity = capacity;
  }
  if (keys->nbytes + nbytes > keys->bytes_capacity) {
    const size_t capacity = (keys->nbytes + nbytes) * 3 / 2;
    uint8_t *larger = realloc(keys->bytes, capacity);
    if (!larger)
      return false;
    keys->bytes = larger;
    keys->bytes_capacity = capacity;
  }
  return true;
}

static bool add_batch(struct chunk_keys *keys, const struct batch *batch)
{
  size_t nbytes = 0;
  for (size_t i = 0; i < batch->n; i++)
    nbytes += batch_key(batch, i).size;
  if (!reserve(keys, batch->n, nbytes))
    return false;
  for (size_t i = 0; i < batch->n; i++) {
    const lanebloom_slice key = batch_key(batch, i);
    if (key.size > 0)
      memcpy(keys->bytes + keys->nbytes, key.data, key.size);
    keys->nbytes += key.size;
    keys->offsets[++keys->n] = keys->nbytes;
  }
  return true;
}

bool chunk_keys_take(struct chunk_keys *keys, struct cutter *cutter, const struct chunk *chunk,
                     bool at_beginning)
{
  keys->n = keys->nbytes = 0;
  if (!reserve(keys, 0, 1))
    return false;
  keys->offsets[0] = 0;
  for (struct batch batch; cutter_next(cutter, &batch);)
    if (!add_batch(keys, &batch))
      return false;
  if (cutter->fault.kind == FAULT_MEMORY)
    return false;
  const struct record_syntax syntax = cutter->syntax;
  cutter_begin(cutter, &syntax, chunk->data, chunk->nbytes, at_beginning);
  return true;
}

void chunk_keys_free(struct chunk_keys *keys)
{
  free(keys->offsets);
  free(keys->bytes);
}
