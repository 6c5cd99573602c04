/* Reads all inputs and keeps their keys in memory. Also keeps the records if the caller wants this.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_STORED_KEYS_H
#define LANEBLOOM_CLI_STORED_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

#include "inputs.h"
#include "workers.h"

/* A chunk that was read. Its records are cut again when it is known which of them to print. */
struct stored_chunk {
  struct chunk chunk;
  uint64_t first; /* the number of the first record of the chunk, from 1 */
};

struct stored_keys {
  bool keeps_chunks;
  bool keeps_records; /* keep the record of each key, too; this needs keeps_chunks, because records
                       * are parts of chunks */

  struct stored_chunk *chunks;
  size_t nchunks;
  char *header; /* the header of the inputs; NULL: none */
  size_t header_nbytes;
  uint8_t *bytes; /* the bytes of all keys, one key after the other */
  size_t nbytes;
  uint64_t *offsets;        /* nkeys + 1 offsets in `bytes': key i is between offsets i and i + 1 */
  lanebloom_slice *records; /* the record of each key; NULL: not stored */
  uint64_t *numbers;        /* the number of the record of each key, from 1 */
  size_t nkeys;
  uint64_t nrecords;

  /* private */
  size_t capacity, keys_capacity;
};

/* Reads all inputs of the job. Sets the job's numbers of records, bytes and failed inputs. Before
 * the call, set keeps_chunks and keeps_records and zero all other members. If memory runs out,
 * prints a message and exits. */
void stored_keys_read(struct stored_keys *stored, struct job *job);
void stored_keys_free(struct stored_keys *stored);

#endif
