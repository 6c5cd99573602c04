/* Defines which bits of the payload a hash probes in the filters of Spark, Guava and Cassandra. All
 * of them use double hashing: from a hash follow two numbers, the base and the step, and probe i is
 * base + i * step, modulo the number of bits. They differ in the size of these sums, and in what
 * happens to sums that are negative in Java, whose integers are signed.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_DOUBLE_HASHING_H
#define LANEBLOOM_LAYOUTS_DOUBLE_HASHING_H

#include "../batch.h"
#include "shape.h"

/* Cassandra plans at most 14 probes, and fails if a filter has more than its limit. Guava's header
 * has one byte for the number of probes. Spark's readers accept any number of probes; the limit
 * makes sure that a damaged number does not cost minutes of probing. No filter needs more probes:
 * 255 probes make a rate of 2^-255. */
enum { CASSANDRA_MAX_NPROBES = 21, GUAVA_MAX_NPROBES = 255, SPARK_MAX_NPROBES = 255 };

/* The sum of the next probe, before its sign is considered, and the step. */
struct double_hash {
  uint64_t sum, step;
};

/* Returns the sum of the first probe, and the step.
 *
 * - Version 1 of Spark's filters, and Guava's MURMUR128_MITZ_32: base and step are the low and the
 *   high half of the first 64 bits of the hash, sums have 32 bits, and i counts from 1 (Spark 3.5
 *   BloomFilterImpl.java, Guava 33.4 BloomFilterStrategies.java).
 * - Version 2 of Spark's filters: both halves are signed, the base is the low half times 2^31 - 1,
 *   sums have 64 bits, and i counts from 1 (Spark 4.1 BloomFilterImplV2.java).
 * - Guava's MURMUR128_MITZ_64, and Cassandra: base and step are the two numbers of the hash, sums
 *   have 64 bits, and i counts from 0. Since Cassandra 3.0, the base is the second number
 *   (Cassandra 5.0 BloomFilter.java, setIndexes). */
static inline struct double_hash double_hash_of(const struct double_hashing_shape *shape,
                                                struct key_hash hash)
{
  const uint64_t lower = hash.low & UINT32_MAX, upper = hash.low >> 32;
  switch (shape->sums) {
  case SUMS_SPARK_V1:
    return (struct double_hash){lower + upper, upper};
  case SUMS_SPARK_V2: {
    const int64_t base = (int32_t)(uint32_t)lower * (int64_t)INT32_MAX,
                  step = (int32_t)(uint32_t)upper;
    return (struct double_hash){(uint64_t)(base + step), (uint64_t)step};
  }
  case SUMS_GUAVA_64:
  case SUMS_NONE:
    break;
  case SUMS_CASSANDRA:
    if (shape->is_swapped)
      return (struct double_hash){hash.high, hash.low};
  }
  return (struct double_hash){hash.low, hash.high};
}

/* Returns the number whose remainder is the bit to probe. In the place of a negative sum, Spark
 * uses its bitwise complement; MURMUR128_MITZ_64 clears the sign; and Cassandra takes the absolute
 * value of the remainder, which is the remainder of the absolute value. */
static inline uint64_t double_hash_value(enum sums sums, uint64_t sum)
{
  switch (sums) {
  case SUMS_SPARK_V1:
    return (sum >> 31 & 1 ? ~sum : sum) & UINT32_MAX;
  case SUMS_SPARK_V2:
    return sum >> 63 ? ~sum : sum;
  case SUMS_CASSANDRA:
    return sum >> 63 ? -sum : sum;
  case SUMS_GUAVA_64:
  case SUMS_NONE:
    break;
  }
  return sum & INT64_MAX;
}

/* Returns the position of the next probe in the payload: position p means bit p mod 8 of byte
 * p / 8. Spark, Guava, and Cassandra until 3.11 store words of 64 bits in big-endian order. */
static inline uint64_t double_hash_next(const struct filter_shape *shape, struct double_hash *hash)
{
  const uint64_t bit = double_hash_value(shape->double_hashing.sums, hash->sum) % shape->nbits;
  hash->sum += hash->step;
  return shape->double_hashing.is_big_endian ? bit ^ BIG_ENDIAN_FLIP : bit;
}

/* Writes the positions of all probes. */
static inline void double_hash_positions(const struct filter_shape *shape, struct key_hash hash,
                                         uint64_t *positions)
{
  struct double_hash next = double_hash_of(&shape->double_hashing, hash);
  for (uint32_t i = 0; i < shape->nprobes; i++)
    positions[i] = double_hash_next(shape, &next);
}

#endif
