/* Probes and adds to Guava's filters: a hash has k probes, and each may be anywhere in the payload.
 * The probes are made by double hashing with 32 bits or with 64 bits. This scalar code is the
 * specification. Source: Guava 33.4 BloomFilterStrategies.java.
 * SPDX-License-Identifier: MIT */
#include "../layouts/steps.h"
#include "each_hash.h"

static inline struct key_hash guava_hash_at(const void *hashes, size_t i)
{
  return hash_at(hashes, i, sizeof(struct key_hash));
}

/* ---- MURMUR128_MITZ_32 ---- */

static inline bool guava_32_may_match(const struct filter_shape *shape, const uint8_t *payload,
                                      const void *hashes, size_t i)
{
  const struct key_hash hash = guava_hash_at(hashes, i);
  for (uint32_t k = 0; k < shape->nprobes; k++) {
    const uint64_t bit = spark_bit(guava_32_probe(hash, k) % shape->nbits);
    if (!(payload[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

/* Sets the bits of a hash. The members of the shape that the loop needs are copied first: the
 * compiler must assume that a store to the payload changes the shape, and would load them again
 * after each store. */
static inline void guava_32_set(const struct filter_shape *shape, uint8_t *payload,
                                const void *hashes, size_t i)
{
  const struct key_hash hash = guava_hash_at(hashes, i);
  const uint64_t nbits = shape->nbits;
  const uint32_t nprobes = shape->nprobes;
  for (uint32_t k = 0; k < nprobes; k++) {
    const uint64_t bit = spark_bit(guava_32_probe(hash, k) % nbits);
    payload[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
}

bool lanebloom_guava_32_may_match_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                         struct key_hash hash)
{
  return guava_32_may_match(shape, payload, &hash, 0);
}

void lanebloom_guava_32_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                     struct hash_source *source, uint8_t *bitmap)
{
  probe_each_hash(shape, payload, source, bitmap, guava_32_may_match);
}

void lanebloom_guava_32_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                   struct hash_source *source)
{
  add_each_hash(shape, payload, source, guava_32_set);
}

/* ---- MURMUR128_MITZ_64 ---- */

static inline bool guava_64_may_match(const struct filter_shape *shape, const uint8_t *payload,
                                      const void *hashes, size_t i)
{
  const struct key_hash hash = guava_hash_at(hashes, i);
  for (uint32_t k = 0; k < shape->nprobes; k++) {
    const uint64_t bit = spark_bit(guava_64_probe(hash, k) % shape->nbits);
    if (!(payload[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

static inline void guava_64_set(const struct filter_shape *shape, uint8_t *payload,
                                const void *hashes, size_t i)
{
  const struct key_hash hash = guava_hash_at(hashes, i);
  const uint64_t nbits = shape->nbits;
  const uint32_t nprobes = shape->nprobes;
  for (uint32_t k = 0; k < nprobes; k++) {
    const uint64_t bit = spark_bit(guava_64_probe(hash, k) % nbits);
    payload[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
}

bool lanebloom_guava_64_may_match_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                         struct key_hash hash)
{
  return guava_64_may_match(shape, payload, &hash, 0);
}

void lanebloom_guava_64_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                     struct hash_source *source, uint8_t *bitmap)
{
  probe_each_hash(shape, payload, source, bitmap, guava_64_may_match);
}

void lanebloom_guava_64_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                   struct hash_source *source)
{
  add_each_hash(shape, payload, source, guava_64_set);
}
