/* Screens one batch of hashes against many filters. When the batch has been screened against enough
 * filters that have many of its hashes per line, it sorts its hashes (layouts/sorted.h), and from
 * then on such filters are probed line by line.
 * SPDX-License-Identifier: MIT */
#include "hash_batch.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "filter.h"
#include "hits.h"
#include "sorted.h"

enum {
  /* A filter is probed with sorted hashes if it has at least this many of them per line. Times per
   * hash in ns without and with sorting (AVX2 on Zen 3, filters of 128 KiB):
   *
   *   hashes per line          8           12           16           24          244
   *   parquet           1.1  1.4     1.0  1.0     1.0  0.8     1.0  0.6     1.0  0.4
   *   rocksdb-local     2.2  1.8     2.1  1.3     2.0  1.0     2.0  0.9     2.1  0.5  */
  MIN_KEYS_PER_LINE = 12,
};

struct lanebloom_hash_batch {
  enum layout layout; /* LAYOUT_END: the hashes are never sorted */
  size_t n;
  const uint8_t *hashes;      /* borrowed */
  unsigned sort_at;           /* the value of nscreened at which the hashes are sorted; 0: never */
  _Atomic unsigned nscreened; /* filters that sorted hashes would have been faster for */
  _Atomic(const struct sorted_hashes *) sorted; /* NULL until the hashes are sorted */
  struct sorted_hashes made;
};

lanebloom_status lanebloom_hash_batch_create(lanebloom_format id, const void *hashes, size_t n,
                                             size_t nfilters, lanebloom_hash_batch **batch)
{
  *batch = NULL;
  if (lanebloom_format_hash_size(id) == 0)
    return LANEBLOOM_ERR_FORMAT;
  lanebloom_hash_batch *made = malloc(sizeof *made);
  if (!made)
    return LANEBLOOM_ERR_MEMORY;
  const enum layout layout = lanebloom_layout_to_sort(lanebloom_format_table(id)->hash);
  *made = (lanebloom_hash_batch){.layout = n <= UINT32_MAX ? layout : LAYOUT_END,
                                 .n = n,
                                 .hashes = hashes,
                                 .sort_at = nfilters == 0 ? HASH_BATCH_MIN_NFILTERS
                                            : nfilters >= HASH_BATCH_MIN_NFILTERS ? 1
                                                                                  : 0};
  *batch = made;
  return LANEBLOOM_OK;
}

void lanebloom_hash_batch_free(lanebloom_hash_batch *batch)
{
  if (batch)
    lanebloom_sorted_free(&batch->made);
  free(batch);
}

/* ---- Screening ---- */

/* Returns the kernel that probes the filter with sorted hashes, or NULL if there is none, or if
 * probing hash by hash is faster. */
static sorted_probe_function *sorted_probe_of(const lanebloom_filter *filter,
                                              const lanebloom_hash_batch *batch)
{
  const struct filter_shape *shape = &filter->shape;
  if (shape->answer != ANSWER_BY_PROBES || filter->format->layout != batch->layout ||
      batch->n / MIN_KEYS_PER_LINE < shape->lines.n)
    return NULL;
  return lanebloom_kernels_current()->layout[batch->layout].sorted_probe;
}

/* Returns the sorted hashes, or NULL if they are not sorted yet. One call of one thread sorts
 * them. */
static const struct sorted_hashes *sorted_of(lanebloom_hash_batch *batch)
{
  const struct sorted_hashes *sorted = atomic_load_explicit(&batch->sorted, memory_order_acquire);
  if (sorted)
    return sorted;
  if (batch->sort_at == 0)
    return NULL;
  const unsigned nscreened =
      atomic_fetch_add_explicit(&batch->nscreened, 1, memory_order_relaxed) + 1;
  if (nscreened != batch->sort_at ||
      !lanebloom_hashes_sort(batch->layout, batch->hashes, batch->n, &batch->made))
    return NULL;
  atomic_store_explicit(&batch->sorted, &batch->made, memory_order_release);
  return &batch->made;
}

size_t lanebloom_filter_screen_batch(const lanebloom_filter *filter, lanebloom_hash_batch *batch,
                                     uint8_t *bitmap)
{
  sorted_probe_function *const probe = sorted_probe_of(filter, batch);
  const struct sorted_hashes *sorted = probe ? sorted_of(batch) : NULL;
  if (!sorted)
    return lanebloom_filter_screen_hashes(filter, batch->hashes, batch->n, bitmap);
  if (bitmap)
    memset(bitmap, 0, hits_nbytes(batch->n));
  return probe(&filter->shape, filter->payload, sorted, bitmap);
}
