/* Reads all inputs and keeps their keys in memory, and their records if the caller wants them.
 * SPDX-License-Identifier: MIT */
#include "kept.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static void reserve_keys(struct kept *kept, size_t n, size_t nbytes)
{
  if (kept->nkeys + n + 1 > kept->keys_capacity) {
    kept->keys_capacity = (kept->nkeys + n) * 3 / 2 + BATCH_NRECORDS;
    kept->offsets = resize(kept->offsets, kept->keys_capacity * sizeof *kept->offsets);
    kept->numbers = resize(kept->numbers, kept->keys_capacity * sizeof *kept->numbers);
    if (kept->keeps_records)
      kept->records = resize(kept->records, kept->keys_capacity * sizeof *kept->records);
  }
  if (kept->nbytes + nbytes > kept->capacity) {
    kept->capacity = (kept->nbytes + nbytes) * 3 / 2;
    kept->bytes = resize(kept->bytes, kept->capacity);
  }
}

static void keep_key(struct kept *kept, lanebloom_slice key, lanebloom_slice record,
                     uint64_t number)
{
  if (key.size > 0)
    memcpy(kept->bytes + kept->nbytes, key.data, key.size);
  kept->nbytes += key.size;
  kept->numbers[kept->nkeys] = number;
  if (kept->records)
    kept->records[kept->nkeys] = record;
  kept->offsets[++kept->nkeys] = kept->nbytes;
}

/* Stores the keys of a batch, which was cut out of `data`. `copy` is a copy of the data, in which
 * the records stay, or NULL. */
static void keep_batch(struct kept *kept, const struct batch *batch, const char *data,
                       const char *copy)
{
  size_t nbytes = 0;
  for (size_t i = 0; i < batch->n; i++)
    nbytes += batch_key(batch, i).size;
  reserve_keys(kept, batch->n, nbytes);
  for (size_t i = 0; i < batch->n; i++) {
    const char *begin = batch_record(batch, i), *end = batch_record(batch, i + 1);
    kept->nrecords++;
    if (batch_has_key(batch, i))
      keep_key(kept, batch_key(batch, i),
               (lanebloom_slice){copy ? copy + (begin - data) : NULL, (size_t)(end - begin)},
               kept->nrecords);
  }
}

/* Stores a chunk. A single worker calls this, because copying keys is cheaper than synchronizing
 * several workers. */
static void keep_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk)
{
  struct kept *kept = context;
  char *copy = NULL;
  (void)worker;
  if (kept->keeps_chunks && chunk->nbytes > 0) {
    copy = resize(NULL, chunk->nbytes + CHUNK_PADDING_NBYTES);
    memcpy(copy, chunk->data, chunk->nbytes);
    kept->chunks = grow_list(kept->chunks, kept->nchunks, sizeof *kept->chunks);
    struct kept_chunk *last = &kept->chunks[kept->nchunks++];
    *last = (struct kept_chunk){.chunk = *chunk, .first = kept->nrecords + 1};
    last->chunk.data = copy;
  }
  for (struct batch batch; cutter_next(cutter, &batch);)
    keep_batch(kept, &batch, chunk->data, copy);
}

static void keep_header(void *context, const char *header, size_t nbytes)
{
  struct kept *kept = context;
  kept->header = resize(NULL, nbytes);
  kept->header_nbytes = nbytes;
  memcpy(kept->header, header, nbytes);
}

void kept_read(struct kept *kept, struct job *job)
{
  struct job reading = {.inputs = job->inputs,
                        .nworkers = 1,
                        .progress = job->progress,
                        .needs_all = job->needs_all,
                        .context = kept,
                        .work = keep_chunk,
                        .deliver_header = keep_header};
  reserve_keys(kept, 0, 1);
  kept->offsets[0] = 0;
  job_run(&reading);
  job->nrecords = reading.nrecords;
  job->nmissing = reading.nmissing;
  job->nread = reading.nread;
  job->nfailed = reading.nfailed;
}

void kept_free(struct kept *kept)
{
  for (size_t i = 0; i < kept->nchunks; i++)
    free(kept->chunks[i].chunk.data);
  free(kept->chunks);
  free(kept->header);
  free(kept->bytes);
  free(kept->offsets);
  free(kept->records);
  free(kept->numbers);
}
