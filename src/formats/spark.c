/* Defines the formats of Apache Spark's own Bloom filters. The bytes of a filter are the ones that
 * BloomFilter.writeTo writes. All numbers are big-endian.
 *
 *   version 1: 1, probes, words: 4 bytes each | words of 8 bytes
 *   version 2: 2, probes, seed, words: 4 bytes each | words of 8 bytes
 *
 * Sources: Spark 3.5 and 4.1, common/sketch: BloomFilter.java, BloomFilterImpl.java,
 * BloomFilterImplV2.java, BitArray.java.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "java.h"

enum {
  VERSION_OFFSET = 0,
  NPROBES_OFFSET = 4,
  V1_HEADER_NBYTES = 12,
  V2_SEED_OFFSET = 8,
  V2_HEADER_NBYTES = 16,
  MIN_MILLIBITS = 500,
  MAX_MILLIBITS = 100000, /* 69 probes; with more, equal hashes would still limit the rate */
};

/* ---- Frames ---- */

/* Parses a header, mostly as Spark's reader does. Spark's reader accepts any number of probes; with
 * 0 probes, or a negative number, every key passes. Seeds other than 0 are refused, because with
 * them the hash of a key would depend on the filter. Spark SQL always writes 0. */
static lanebloom_status spark_parse(const struct format_table *format, const uint8_t *bytes,
                                    size_t size, struct filter_shape *shape,
                                    const struct problem *problem)
{
  if (size <= format->header_nbytes)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a Spark filter, which has more than %zu bytes, found %zu",
                       format->header_nbytes, size);
  const uint32_t found = load_be32(bytes + VERSION_OFFSET);
  if (found != format->version)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected version %" PRIu32 " of Spark's filters, found %" PRIu32,
                       format->version, found);
  const uint32_t nprobes = load_be32(bytes + NPROBES_OFFSET);
  const uint32_t seed = format->version == 2 ? load_be32(bytes + V2_SEED_OFFSET) : 0;
  const lanebloom_status status = java_parse(format, bytes, size, nprobes, shape, problem);
  if (status)
    return status;
  if (nprobes > SPARK_MAX_NPROBES && nprobes <= INT_MAX)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "expected at most %d probes per key, found %" PRIu32, SPARK_MAX_NPROBES,
                       nprobes);
  if (seed != 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT, "expected the seed 0, found %" PRIu32, seed);
  if (nprobes == 0 || nprobes > INT_MAX) /* negative in Java */
    *shape = (struct filter_shape){.answer = ANSWER_ALWAYS};
  return LANEBLOOM_OK;
}

static void spark_write_frame(const struct format_table *format, const struct filter_shape *shape,
                              uint8_t *bytes)
{
  store_be32(bytes + VERSION_OFFSET, format->version);
  store_be32(bytes + NPROBES_OFFSET, shape->nprobes);
  store_be32(bytes + V2_SEED_OFFSET, 0); /* in version 1, the number of words is here */
  java_write_nwords(format, shape, bytes);
}

/* ---- Sizes ---- */

/* Returns the same number of probes as Spark's BloomFilter.optimalNumOfHashFunctions, by the same
 * operations in the same order. */
static uint32_t nprobes_of(uint64_t nbits, uint64_t nkeys)
{
  const double nprobes = round((double)nbits / (double)(nkeys > 0 ? nkeys : 1) * JAVA_LN_2);
  return nprobes < 1 ? 1 : (uint32_t)nprobes;
}

/* Plans the number of bits that a user of Spark would pass to BloomFilter.create(expectedNumItems,
 * numBits). */
static lanebloom_status spark_plan(const struct format_table *format, uint64_t millibits,
                                   uint64_t nkeys, struct filter_shape *shape)
{
  uint64_t nbits;
  const lanebloom_status status = java_nbits(millibits, nkeys, &nbits);
  return status ? status : java_plan(format, nbits, nprobes_of(nbits, nkeys), shape);
}

/* The number of probes rises as soon as nbits / nkeys * ln 2 is rounded up to the next whole
 * number. But nbits is rounded down to whole bits, so with few keys the number may rise up to
 * 1000 / nkeys steps later. Bisection finds the last step before it rises. */
static uint64_t last_with_same_nprobes(uint64_t millibits, uint64_t nkeys)
{
  uint64_t nbits;
  if (java_nbits(millibits, nkeys, &nbits))
    return UINT64_MAX; /* all larger values are too large, too */
  const uint32_t nprobes = nprobes_of(nbits, nkeys);
  const uint64_t next = (uint64_t)((nprobes + 0.5) / JAVA_LN_2 * 1000);
  uint64_t last = next - 1 > millibits ? next - 1 : millibits;
  uint64_t end = last + 4 + 1000 / (nkeys > 0 ? nkeys : 1);
  while (last + 1 < end) {
    const uint64_t middle = last + (end - last) / 2;
    if (java_nbits(middle, nkeys, &nbits) || nprobes_of(nbits, nkeys) > nprobes)
      end = middle;
    else
      last = middle;
  }
  return last;
}

/* ---- Probes ---- */

static void spark_positions(const struct filter_shape *shape, const void *hash, uint64_t *positions)
{
  double_hash_positions(shape, hash_at(hash, 0, sizeof(uint64_t)), positions);
}

/* The members that both versions share. */
#define SPARK                                                                                      \
  .hash = HASH_SPARK_MURMUR3, .hash_nbits = 64, .layout = LAYOUT_DOUBLE_HASHING,                   \
  .positions = spark_positions, .min_nprobes = 1, .max_nprobes = SPARK_MAX_NPROBES,                \
  .min_millibits = MIN_MILLIBITS, .max_millibits = MAX_MILLIBITS, .step_millibits = 1,             \
  .rounds_bits = true, .round_bits = lanebloom_round_bits, .plan = spark_plan,                     \
  .bits_for_rate = lanebloom_search_bits, .last_with_same_nprobes = last_with_same_nprobes,        \
  .line_nbytes = JAVA_WORD_NBYTES, .shape = java_shape, .parse = spark_parse,                      \
  .write_frame = spark_write_frame, .planned_rate = lanebloom_spread_planned_rate,                 \
  .filled_rate = lanebloom_spread_filled_rate

const struct format_table lanebloom_format_spark_v1 = {
    .id = LANEBLOOM_SPARK_V1,
    .name = "spark-v1",
    .text = "Apache Spark's own Bloom filter, version 1",
    .version = 1,
    .probe_nbits = 31,
    .header_nbytes = V1_HEADER_NBYTES,
    .max_nbytes = V1_HEADER_NBYTES + (uint64_t)JAVA_MAX_NWORDS * JAVA_WORD_NBYTES,
    .double_hashing = {.sums = SUMS_SPARK_V1, .is_big_endian = true},
    SPARK,
};

const struct format_table lanebloom_format_spark_v2 = {
    .id = LANEBLOOM_SPARK_V2,
    .name = "spark-v2",
    .text = "Apache Spark's own Bloom filter, version 2, of Spark 4.1 and later",
    .version = 2,
    .probe_nbits = 63,
    .header_nbytes = V2_HEADER_NBYTES,
    .max_nbytes = V2_HEADER_NBYTES + (uint64_t)JAVA_MAX_NWORDS * JAVA_WORD_NBYTES,
    .double_hashing = {.sums = SUMS_SPARK_V2, .is_big_endian = true},
    SPARK,
};
