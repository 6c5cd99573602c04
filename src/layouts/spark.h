/* Spark's filters: defines which bits of the payload a hash probes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_SPARK_H
#define LANEBLOOM_LAYOUTS_SPARK_H

#include "shape.h"

/* Spark's filters: probes 1, 2, ... k of a hash are at first + i * second, modulo the number of
 * bits. In version 1, first and second are the low and the high half of the hash, and sums have 32
 * bits (Spark 3.5 BloomFilterImpl.java). In version 2, sums have 64 bits, both halves are signed,
 * and the low half is multiplied by 2^31 - 1 (Spark 4.1 BloomFilterImplV2.java). Java's integers
 * are signed: if a sum is negative, its complement is taken. */
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

/* Spark's readers have no limit; with this limit a damaged number cannot cost minutes. No rate
 * needs more probes: 255 probes make a rate of 2^-255. */
enum { SPARK_MAX_NPROBES = 255, SPARK_WORD_NBITS = 64 };

/* Returns the position of a bit of Spark's in the payload, as bit p mod 8 of byte p / 8: its words
 * of 64 bits are big-endian. */
static inline uint64_t spark_bit(uint64_t bit)
{
  return bit ^ (SPARK_WORD_NBITS - 8);
}

#endif
