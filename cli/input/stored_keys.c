/* Reads all inputs and keeps their keys in memory, and their records if the caller wants them.
 * SPDX-License-Identifier: MIT */
#include "stored_keys.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static void reserve_keys(struct stored_keys *stored, size_t n, size_t nbytes)
{
  if (stored->nkeys + n + 1 > stored->keys_capacity) {
    stored->keys_capacity = (stored->nkeys + n) * 3 / 2 + BATCH_NRECORDS;
    stored->offsets = resize(stored->offsets, stored->keys_capacity * sizeof *stored->offsets);
    stored->numbers = resize(stored->numbers, stored->keys_capacity * sizeof *stored->numbers);
    if (stored->keeps_records)
      stored->records = resize(stored->records, stored->keys_capacity * sizeof *stored->records);
  }
  if (stored->nbytes + nbytes > stored->capacity) {
    stored->capacity = (stored->nbytes + nbytes) * 3 / 2;
    stored->bytes = resize(stored->bytes, stored->capacity);
  }
}

static void keep_key(struct stored_keys *stored, lanebloom_slice key, lanebloom_slice record,
                     uint64_t number)
{
  if (key.size > 0)
    memcpy(stored->bytes + stored->nbytes, key.data, key.size);
  stored->nbytes += key.size;
  stored->numbers[stored->nkeys] = number;
  if (stored->records)
    stored->records[stored->nkeys] = record;
  stored->offsets[++stored->nkeys] = stored->nbytes;
}

/* Stores the keys of a batch, which was cut out of `data`. `copy` is NULL, or a copy of the data;
 * the stored records are then parts of this copy. */
static void keep_batch(struct stored_keys *stored, const struct batch *batch, const char *data,
                       const char *copy)
{
  size_t nbytes = 0;
  for (size_t i = 0; i < batch->n; i++)
    nbytes += batch_key(batch, i).size;
  reserve_keys(stored, batch->n, nbytes);
  for (size_t i = 0; i < batch->n; i++) {
    const char *begin = batch_record(batch, i), *end = batch_record(batch, i + 1);
    stored->nrecords++;
    if (batch_has_key(batch, i))
      keep_key(stored, batch_key(batch, i),
               (lanebloom_slice){copy ? copy + (begin - data) : NULL, (size_t)(end - begin)},
               stored->nrecords);
  }
}

/* Stores a chunk. A single worker calls this, because copying keys is cheaper than synchronizing
 * several workers. */
static void keep_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk)
{
  struct stored_keys *stored = context;
  char *copy = NULL;
  (void)worker;
  if (stored->keeps_chunks && chunk->nbytes > 0) {
    copy = resize(NULL, chunk->nbytes + CHUNK_PADDING_NBYTES);
    memcpy(copy, chunk->data, chunk->nbytes);
    stored->chunks = grow_list(stored->chunks, stored->nchunks, sizeof *stored->chunks);
    struct stored_chunk *last = &stored->chunks[stored->nchunks++];
    *last = (struct stored_chunk){.chunk = *chunk, .first = stored->nrecords + 1};
    last->chunk.data = copy;
  }
  for (struct batch batch; cutter_next(cutter, &batch);)
    keep_batch(stored, &batch, chunk->data, copy);
}

static void keep_header(void *context, const char *header, size_t nbytes)
{
  struct stored_keys *stored = context;
  stored->header = resize(NULL, nbytes);
  stored->header_nbytes = nbytes;
  memcpy(stored->header, header, nbytes);
}

void stored_keys_read(struct stored_keys *stored, struct job *job)
{
  struct job reading = {.inputs = job->inputs,
                        .nworkers = 1,
                        .progress = job->progress,
                        .needs_all = job->needs_all,
                        .context = stored,
                        .work = keep_chunk,
                        .deliver_header = keep_header};
  reserve_keys(stored, 0, 1);
  stored->offsets[0] = 0;
  job_run(&reading);
  job->nrecords = reading.nrecords;
  job->nmissing = reading.nmissing;
  job->nread = reading.nread;
  job->nfailed = reading.nfailed;
}

void stored_keys_free(struct stored_keys *stored)
{
  for (size_t i = 0; i < stored->nchunks; i++)
    free(stored->chunks[i].chunk.data);
  free(stored->chunks);
  free(stored->header);
  free(stored->bytes);
  free(stored->offsets);
  free(stored->records);
  free(stored->numbers);
}
