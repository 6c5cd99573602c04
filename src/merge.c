/* Merges filters.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "filter.h"

static bool same_bytes(const lanebloom_filter *a, const lanebloom_filter *b, size_t first, size_t n)
{
  return n == 0 || memcmp(a->bytes + first, b->bytes + first, n) == 0;
}

/* Checks whether two filters can be merged by a bitwise or: everything but the payload must be
 * equal, and keys must set bits in the payload, as in all formats but Ribbon. */
static bool same_layout(const lanebloom_filter *a, const lanebloom_filter *b)
{
  if (a->shape.answer == ANSWER_BY_PROBES && !a->format->plan)
    return false;
  if (a->format != b->format || a->nbytes != b->nbytes || !same_shape(&a->shape, &b->shape))
    return false;
  const size_t header = (size_t)(a->payload - a->bytes), end = header + a->shape.nbytes;
  return same_bytes(a, b, 0, header) && same_bytes(a, b, end, a->nbytes - end);
}

lanebloom_status lanebloom_filter_merge(const lanebloom_filter *const *filters, size_t n,
                                        lanebloom_filter **merged)
{
  *merged = NULL;
  if (!lanebloom_kernels_current())
    return LANEBLOOM_ERR_KERNEL;
  if (n == 0)
    return LANEBLOOM_ERR_ARGUMENT;
  const lanebloom_filter *first = filters[0];
  uint64_t nkeys = 0;
  double bits_per_key = first->bits_per_key;
  for (size_t i = 0; i < n; i++) {
    if (!same_layout(first, filters[i]) || !same_key_form(first->key_form, filters[i]->key_form))
      return LANEBLOOM_ERR_MISMATCH;
    nkeys =
        add_counts(nkeys, filters[i]->nkeys); /* if one of the numbers is unknown, the sum is too */
    if (filters[i]->bits_per_key != bits_per_key)
      bits_per_key = NAN;
  }

  struct memory memory = lanebloom_memory_create(first->nbytes);
  if (!memory.bytes)
    return LANEBLOOM_ERR_MEMORY;
  for (size_t i = 0; i < n; i++)
    or_bytes(memory.bytes, filters[i]->bytes,
             first->nbytes); /* the frames are equal, so their bitwise or is again the frame */
  lanebloom_status status = lanebloom_filter_adopt(first->format, memory.bytes, first->nbytes,
                                                   nkeys, bits_per_key, memory, merged);
  if (status)
    lanebloom_memory_free(&memory);
  else
    (*merged)->key_form = first->key_form;
  return status;
}
