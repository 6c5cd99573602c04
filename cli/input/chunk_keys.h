/* Stores copies of the keys of a chunk, so that all of them can be screened together.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_CHUNK_KEYS_H
#define LANEBLOOM_CLI_CHUNK_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chunk.h"
#include "records.h"

/* Zero it before its first use. */
struct chunk_keys {
  uint64_t *offsets; /* n + 1 offsets in `bytes': key i is between offsets i and i + 1 */
  uint8_t *bytes;
  size_t n;

  /* private */
  size_t nbytes, capacity, bytes_capacity;
};

/* Stores the keys of all records that the cutter cuts, in place of the keys of the last chunk, and
 * then begins again to cut the chunk. A record without a key has an empty key. at_beginning: as for
 * cutter_begin(). Returns false if memory ran out. The memory stays allocated for later chunks. It
 * is bounded by the largest chunk: at most 1.5 times the bytes of its keys, and 12 bytes per key.
 */
bool chunk_keys_take(struct chunk_keys *keys, struct cutter *cutter, const struct chunk *chunk,
                     bool at_beginning);
void chunk_keys_free(struct chunk_keys *keys);

#endif
