/* Probes and adds to DCSO's filters: each of the probes of a hash may be anywhere in the payload.
 * This scalar code is the specification. Source: DCSO/bloom 0.2.4, bloom.go.
 * SPDX-License-Identifier: MIT */
#include "../layouts/dcso.h"
#include "each_hash.h"

static inline bool dcso_may_match(const struct filter_shape *shape, const uint8_t *payload,
                                  const void *hashes, size_t i)
{
  uint64_t step = dcso_reduced(hash64_at(hashes, i));
  for (uint32_t k = 0; k < shape->nprobes; k++) {
    step = dcso_next(step);
    const uint64_t bit = step % shape->nbits;
    if (!(payload[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

/* Sets the bits of a hash. Returns true if one of them was not set before. */
static inline bool dcso_set(const struct filter_shape *shape, uint8_t *payload, const void *hashes,
                            size_t i)
{
  const uint64_t nbits = shape->nbits;
  const uint32_t nprobes = shape->nprobes;
  uint64_t step = dcso_reduced(hash64_at(hashes, i));
  bool is_new = false;
  for (uint32_t k = 0; k < nprobes; k++) {
    step = dcso_next(step);
    const uint64_t bit = step % nbits;
    is_new |= !(payload[bit / 8] >> bit % 8 & 1);
    payload[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
  return is_new;
}

bool lanebloom_dcso_may_match_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                     struct key_hash hash)
{
  return dcso_may_match(shape, payload, &hash.low, 0);
}

void lanebloom_dcso_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                 struct hash_source *source, uint8_t *bitmap)
{
  probe_each_hash(shape, payload, source, bitmap, dcso_may_match);
}

void lanebloom_dcso_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                               struct hash_source *source)
{
  for (size_t n; source->next < source->n;) {
    const void *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    for (size_t i = 0; i < n; i++)
      source->nnew += dcso_set(shape, payload, hashes, i);
  }
}
