/* Probes and adds to version 2 of Spark's filters: a hash has k probes, which are made by double
 * hashing with 64 bits, and each may be anywhere in the payload. This scalar code is the
 * specification. Source: Spark 4.1 BloomFilterImplV2.java.
 * SPDX-License-Identifier: MIT */
#include "../layouts/spark.h"
#include "each_hash.h"

static inline bool spark_v2_may_match(const struct filter_shape *shape, const uint8_t *payload,
                                      const void *hashes, size_t i)
{
  const uint64_t hash = hash64_at(hashes, i);
  for (uint32_t k = 1; k <= shape->nprobes; k++) {
    const uint64_t bit = spark_bit(spark_v2_probe(hash, k) % shape->nbits);
    if (!(payload[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

/* Sets the bits of a hash. The members of the shape that the loop needs are copied first: the
 * compiler must assume that a store to the payload changes the shape, and would load them again
 * after each store. */
static inline void spark_v2_set(const struct filter_shape *shape, uint8_t *payload,
                                const void *hashes, size_t i)
{
  const uint64_t hash = hash64_at(hashes, i);
  const uint64_t nbits = shape->nbits;
  const uint32_t nprobes = shape->nprobes;
  for (uint32_t k = 1; k <= nprobes; k++) {
    const uint64_t bit = spark_bit(spark_v2_probe(hash, k) % nbits);
    payload[bit / 8] |= (uint8_t)(1 << bit % 8);
  }
}

bool lanebloom_spark_v2_may_match_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                         struct key_hash hash)
{
  return spark_v2_may_match(shape, payload, &hash.low, 0);
}

void lanebloom_spark_v2_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                     struct hash_source *source, uint8_t *bitmap)
{
  probe_each_hash(shape, payload, source, bitmap, spark_v2_may_match);
}

void lanebloom_spark_v2_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                   struct hash_source *source)
{
  add_each_hash(shape, payload, source, spark_v2_set);
}
