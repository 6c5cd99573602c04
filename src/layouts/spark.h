/* Defines which bits of the payload a hash probes in Spark's filters.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_SPARK_H
#define LANEBLOOM_LAYOUTS_SPARK_H

#include "shape.h"

/* In Spark's filters, probe i of a hash, for i from 1 to the number of probes, is
 * first + i * second, modulo the number of bits. In version 1, `first` and `second` are the low and
 * the high half of the hash, and the sums have 32 bits (Spark 3.5 BloomFilterImpl.java). In version
 * 2, the sums have 64 bits, both halves are signed, and `first` is the low half times 2^31 - 1
 * (Spark 4.1 BloomFilterImplV2.java). Java's integers are signed: if a sum is negative, its bitwise
 * complement is used in its place. */
static inline uint32_t spark_v1_probe(uint64_t hash, uint32_t i)
{
  const uint32_t sum = (uint32_t)hash + i * (uint32_t)(hash >> 32);
  return sum >> 31 ? ~sum : sum;
}

static inline uint64_t spark_v2_probe(uint64_t hash, uint32_t i)
{
  const int64_t first = (int32_t)(uint32_t)hash, second = (int32_t)(hash >> 32);
  const int64_t sum = first * INT32_MAX + i * second; /* below 2^63: see SPARK_MAX_NPROBES */
  return (uint64_t)(sum < 0 ? ~sum : sum);
}

/* Spark's readers accept any number of probes. This limit makes sure that a damaged number does not
 * cost minutes of probing. No filter needs more probes: 255 probes make a rate of 2^-255. */
enum { SPARK_MAX_NPROBES = 255, SPARK_WORD_NBITS = 64 };

/* Converts Spark's number of a bit to a position p in the payload, where p means bit p mod 8 of
 * byte p / 8. The two differ because Spark stores its words of 64 bits in big-endian order. */
static inline uint64_t spark_bit(uint64_t bit)
{
  return bit ^ (SPARK_WORD_NBITS - 8);
}

#endif
