/* Probes and adds to Cassandra's filters, also those of ScyllaDB: a hash has k probes, which are
 * made by double hashing with 64 bits, and each may be anywhere in the payload. This scalar code is
 * the specification. Source: Cassandra 5.0 and 3.11 BloomFilter.java.
 * SPDX-License-Identifier: MIT */
#include "../layouts/steps.h"
#include "each_hash.h"

static inline bool cassandra_may_match(const struct filter_shape *shape, const uint8_t *payload,
                                       const void *hashes, size_t i)
{
  const struct key_hash hash = hash_at(hashes, i, sizeof hash);
  for (uint32_t k = 0; k < shape->nprobes; k++) {
    const uint64_t bit = cassandra_bit(shape, cassandra_probe(shape, hash, k) % shape->nbits);
    if (!(payload[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

/* Sets the bits of a hash. The shape is copied first: the compiler must assume that a store to the
 * payload changes the original, and would load its members again after each store. */
static inline void cassandra_set(const struct filter_shape *shape, uint8_t *payload,
                                 const void *hashes, size_t i)
{
  const struct key_hash hash = hash_at(hashes, i, sizeof hash);
  const struct filter_shape copy = {
      .nprobes = shape->nprobes, .nbits = shape->nbits, .cassandra = shape->cassandra};
  for (uint32_t k = 0; k < copy.nprobes; k++) {
    const uint64_t bit = cassandra_bit(&copy, cassandra_probe(&copy, hash, k) % copy.nbits);
    payload[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
}

bool lanebloom_cassandra_may_match_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                          struct key_hash hash)
{
  return cassandra_may_match(shape, payload, &hash, 0);
}

void lanebloom_cassandra_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                      struct hash_source *source, uint8_t *bitmap)
{
  probe_each_hash(shape, payload, source, bitmap, cassandra_may_match);
}

void lanebloom_cassandra_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                    struct hash_source *source)
{
  add_each_hash(shape, payload, source, cassandra_set);
}
