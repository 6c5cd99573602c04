/* Defines the layouts of Guava and Cassandra. A hash has two numbers, the base and the step, and
 * probe i is base + i * step, modulo the number of bits. The layouts differ in the size of these
 * numbers and in what happens to negative sums.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_STEPS_H
#define LANEBLOOM_LAYOUTS_STEPS_H

#include "../batch.h"
#include "shape.h"
#include "spark.h"

/* Guava's MURMUR128_MITZ_32 uses the first 64 bits of a hash as version 1 of Spark's filters uses
 * its hash. i counts from 0. */
static inline uint64_t guava_32_probe(struct key_hash hash, uint32_t i)
{
  return spark_v1_probe(hash.low, i + 1);
}

/* In Guava's MURMUR128_MITZ_64, sums have 64 bits, and their highest bit is cleared (Guava 33.4
 * BloomFilterStrategies.java). */
static inline uint64_t guava_64_probe(struct key_hash hash, uint32_t i)
{
  return (hash.low + i * hash.high) & INT64_MAX;
}

/* Cassandra takes the remainder of a signed sum, and then its absolute value. The absolute value of
 * the sum has the same remainder (Cassandra 5.0 BloomFilter.java, setIndexes and getHashBuckets).
 * Until Cassandra 2.2, the base was the first half of the hash, as in Guava; since 3.0 it is the
 * second half. */
static inline uint64_t cassandra_probe(const struct filter_shape *shape, struct key_hash hash,
                                       uint32_t i)
{
  const uint64_t base = shape->cassandra.is_swapped ? hash.high : hash.low,
                 step = shape->cassandra.is_swapped ? hash.low : hash.high;
  const uint64_t sum = base + i * step;
  return sum >> 63 ? -sum : sum;
}

/* Guava stores words of 64 bits in big-endian order, and so did Cassandra until 3.11; positions in
 * such words are converted as Spark's (spark_bit). Cassandra 4.0 and later store plain bytes. */
static inline uint64_t cassandra_bit(const struct filter_shape *shape, uint64_t bit)
{
  return shape->cassandra.is_big_endian ? spark_bit(bit) : bit;
}

/* Cassandra plans at most 14 probes, and fails if a filter has more than this many. Guava's header
 * has one byte for the number of probes. */
enum { CASSANDRA_MAX_NPROBES = 21, GUAVA_MAX_NPROBES = 255 };

#endif
