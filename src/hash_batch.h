/* Defines the batch of hashes of lanebloom.h, so that code in the library can have one without
 * allocating it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_HASH_BATCH_H
#define LANEBLOOM_HASH_BATCH_H

#include <stdatomic.h>

#include "kernels.h"

/* Sorting pays if at least this many filters are probed with the sorted hashes. */
enum { HASH_BATCH_MIN_NFILTERS = 64 };

struct lanebloom_hash_batch {
  enum layout layout; /* LAYOUT_END: the hashes are never sorted */
  size_t n;
  const uint8_t *hashes;      /* borrowed */
  unsigned sort_at;           /* the value of nscreened at which the hashes are sorted; 0: never */
  _Atomic unsigned nscreened; /* filters that sorted hashes would have been faster for */
  _Atomic(const struct sorted_hashes *) sorted; /* NULL until the hashes are sorted */
  struct sorted_hashes made;
};

/* Makes a batch as lanebloom_hash_batch_create() does. `hash` must be a format that hashes keys. */
void lanebloom_hash_batch_begin(lanebloom_hash_batch *batch, lanebloom_format hash,
                                const void *hashes, size_t n, size_t nfilters);

/* Frees the sorted hashes. Does nothing if the batch is zeroed. */
void lanebloom_hash_batch_end(lanebloom_hash_batch *batch);

#endif
