/* Keeps all keys of the inputs in memory, and their records if they are wanted.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_KEPT_H
#define LANEBLOOM_CLI_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

#include "inputs.h"
#include "workers.h"

/* A chunk that was read. Its records are cut again once it is known which of them are printed. */
struct kept_chunk {
  struct chunk chunk;
  uint64_t first; /* the number of its first record, from 1 */
};

struct kept {
  bool keeps_chunks;
  bool keeps_records; /* of each key; they are in the chunks */

  struct kept_chunk *chunks;
  size_t nchunks;
  char *header; /* NULL: none */
  size_t header_nbytes;
  uint8_t *bytes; /* of all keys, one after another */
  size_t nbytes;
  uint64_t *offsets;        /* nkeys + 1 of them */
  lanebloom_slice *records; /* of each key, or NULL */
  uint64_t *numbers;        /* the number of each key's record */
  size_t nkeys;
  uint64_t nrecords;

  /* private */
  size_t capacity, keys_capacity;
};

/* Reads all inputs of the job. The job gets the counts of records, bytes and failed inputs. Set
 * keeps_chunks and keeps_records, and zero the rest, before the call. If memory runs out, prints a
 * message and exits. */
void kept_read(struct kept *kept, struct job *job);
void kept_free(struct kept *kept);

#endif
