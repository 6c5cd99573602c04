/* Defines the formats of Apache Spark's own Bloom filters. The bytes of a filter are the ones that
 * BloomFilter.writeTo writes. All numbers are big-endian.
 *
 *   version 1: 1, probes, words: 4 bytes each | words of 8 bytes
 *   version 2: 2, probes, seed, words: 4 bytes each | words of 8 bytes
 *
 * Sources: Spark 3.5 and 4.1, common/sketch: BloomFilter.java, BloomFilterImpl.java,
 * BloomFilterImplV2.java, BitArray.java.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>

#include "../common/bytes.h"
#include "../format.h"
#include "../layouts/double_hashing.h"

static const double LN_2 = 0.6931471805599453; /* the value of Java's Math.log(2) */

enum {
  VERSION_OFFSET = 0,
  NPROBES_OFFSET = 4,
  V1_HEADER_NBYTES = 12,
  V2_SEED_OFFSET = 8,
  V2_HEADER_NBYTES = 16,
  NWORDS_FROM_END = 4, /* the last number of a header */
  WORD_NBITS = 64,
  WORD_NBYTES = WORD_NBITS / 8,
  MAX_NWORDS = INT_MAX,
  V1_PROBE_NBITS = 31,
  HASH_NBITS = 64,
  MIN_MILLIBITS = 500,
  MAX_MILLIBITS = 100000, /* 69 probes; with more, equal hashes would still limit the rate */
};

static struct filter_shape spark_v2_shape(uint64_t nbytes, uint32_t line_nbytes, uint32_t nprobes)
{
  (void)line_nbytes;
  return (struct filter_shape){
      .answer = ANSWER_BY_PROBES,
      .nprobes = nprobes,
      .nbytes = nbytes,
      .nbits = 8 * nbytes,
      .double_hashing = {.sums = SUMS_SPARK_V2, .is_big_endian = true},
  };
}

/* In version 1, bits from 2^31 on are never probed. */
static struct filter_shape spark_v1_shape(uint64_t nbytes, uint32_t line_nbytes, uint32_t nprobes)
{
  const uint64_t max_nbits = (uint64_t)1 << V1_PROBE_NBITS;
  struct filter_shape shape = spark_v2_shape(nbytes, line_nbytes, nprobes);
  shape.double_hashing.sums = SUMS_SPARK_V1;
  if (shape.nbits > max_nbits)
    shape.nbits = max_nbits;
  return shape;
}

/* ---- Frames ---- */

/* Parses a header, mostly as Spark's reader does. Spark's reader accepts any number of probes; with
 * 0 probes, or a negative number, every key passes. Spark's reader reads as many words as the
 * header says and ignores the bytes after them; here no bytes may follow the words. */
static lanebloom_status parse(uint32_t version, size_t header_nbytes, const uint8_t *bytes,
                              size_t size, struct filter_shape *shape,
                              const struct problem *problem)
{
  if (size <= header_nbytes)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a Spark filter, which has more than %zu bytes, found %zu",
                       header_nbytes, size);
  const uint32_t found = load_be32(bytes + VERSION_OFFSET);
  if (found != version)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected version %" PRIu32 " of Spark's filters, found %" PRIu32, version,
                       found);
  const uint64_t nwords = load_be32(bytes + header_nbytes - NWORDS_FROM_END);
  const uint32_t nprobes = load_be32(bytes + NPROBES_OFFSET);
  if (size - header_nbytes != nwords * WORD_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected %" PRIu64 " bytes after the header, as it says, found %zu",
                       nwords * WORD_NBYTES, size - header_nbytes);
  if (nprobes > SPARK_MAX_NPROBES && nprobes <= INT_MAX)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "expected at most %d probes per key, found %" PRIu32, SPARK_MAX_NPROBES,
                       nprobes);
  *shape = spark_v2_shape(nwords * WORD_NBYTES, WORD_NBYTES, nprobes);
  if (nprobes == 0 || nprobes > INT_MAX) /* negative in Java */
    *shape = (struct filter_shape){.answer = ANSWER_ALWAYS};
  return LANEBLOOM_OK;
}

static lanebloom_status spark_v1_parse(const uint8_t *bytes, size_t size,
                                       struct filter_shape *shape, const struct problem *problem)
{
  const lanebloom_status status = parse(1, V1_HEADER_NBYTES, bytes, size, shape, problem);
  if (!status && shape->answer == ANSWER_BY_PROBES)
    *shape = spark_v1_shape(shape->nbytes, WORD_NBYTES, shape->nprobes);
  return status;
}

/* Parses a filter and refuses seeds other than 0, because with them the hash of a key would depend
 * on the filter. Spark SQL always writes 0. */
static lanebloom_status spark_v2_parse(const uint8_t *bytes, size_t size,
                                       struct filter_shape *shape, const struct problem *problem)
{
  const lanebloom_status status = parse(2, V2_HEADER_NBYTES, bytes, size, shape, problem);
  if (status)
    return status;
  const uint32_t seed = load_be32(bytes + V2_SEED_OFFSET);
  if (seed != 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT, "expected the seed 0, found %" PRIu32, seed);
  return LANEBLOOM_OK;
}

static void write_frame(uint32_t version, size_t header_nbytes, const struct filter_shape *shape,
                        uint8_t *bytes)
{
  store_be32(bytes + VERSION_OFFSET, version);
  store_be32(bytes + NPROBES_OFFSET, shape->nprobes);
  store_be32(bytes + header_nbytes - NWORDS_FROM_END, (uint32_t)(shape->nbytes / WORD_NBYTES));
}

static void spark_v1_write_frame(const struct filter_shape *shape, uint8_t *bytes)
{
  write_frame(1, V1_HEADER_NBYTES, shape, bytes);
}

static void spark_v2_write_frame(const struct filter_shape *shape, uint8_t *bytes)
{
  write_frame(2, V2_HEADER_NBYTES, shape, bytes);
  store_be32(bytes + V2_SEED_OFFSET, 0);
}

/* ---- Sizes ---- */

static lanebloom_status spark_round_bits(double bits_per_key, uint64_t *millibits)
{
  if (!(bits_per_key >= MIN_MILLIBITS / 1000.0) || isinf(bits_per_key))
    return LANEBLOOM_ERR_ARGUMENT;
  const double max = MAX_MILLIBITS / 1000.0;
  *millibits = (uint64_t)round((bits_per_key < max ? bits_per_key : max) * 1000);
  return LANEBLOOM_OK;
}

/* Finds the number of bits that a user of Spark would pass to BloomFilter.create(expectedNumItems,
 * numBits). The number is nkeys times the bits per key, rounded down. It is at least the bits of
 * one key, and at least 1. Errors: LIMIT. */
static lanebloom_status nbits_of(uint64_t millibits, uint64_t nkeys, uint64_t *nbits)
{
  uint64_t product;
  if (__builtin_mul_overflow(nkeys > 0 ? nkeys : 1, millibits, &product))
    return LANEBLOOM_ERR_LIMIT;
  *nbits = product < 1000 ? 1 : product / 1000;
  return LANEBLOOM_OK;
}

/* Returns the same number of probes as Spark's BloomFilter.optimalNumOfHashFunctions, by the same
 * operations in the same order. */
static uint32_t nprobes_of(uint64_t nbits, uint64_t nkeys)
{
  const double nprobes = round((double)nbits / (double)(nkeys > 0 ? nkeys : 1) * LN_2);
  return nprobes < 1 ? 1 : (uint32_t)nprobes;
}

static lanebloom_status spark_plan(uint64_t millibits, uint64_t nkeys, struct filter_shape *shape)
{
  uint64_t nbits;
  const lanebloom_status status = nbits_of(millibits, nkeys, &nbits);
  if (status)
    return status;
  const uint64_t nwords = nbits / WORD_NBITS + (nbits % WORD_NBITS > 0);
  if (nwords > MAX_NWORDS)
    return LANEBLOOM_ERR_LIMIT;
  *shape = spark_v2_shape(nwords * WORD_NBYTES, WORD_NBYTES, nprobes_of(nbits, nkeys));
  return LANEBLOOM_OK;
}

static lanebloom_status spark_v1_plan(uint64_t millibits, uint64_t nkeys,
                                      struct filter_shape *shape)
{
  const lanebloom_status status = spark_plan(millibits, nkeys, shape);
  if (!status)
    *shape = spark_v1_shape(shape->nbytes, WORD_NBYTES, shape->nprobes);
  return status;
}

/* The number of probes rises as soon as nbits / nkeys * ln 2 is rounded up to the next whole
 * number. But nbits is rounded down to whole bits, so with few keys the number may rise up to
 * 1000 / nkeys steps later. Bisection finds the last step before it rises. */
static uint64_t last_with_same_nprobes(uint64_t millibits, uint64_t nkeys)
{
  uint64_t nbits;
  if (nbits_of(millibits, nkeys, &nbits))
    return UINT64_MAX; /* all larger values are too large, too */
  const uint32_t nprobes = nprobes_of(nbits, nkeys);
  const uint64_t next = (uint64_t)((nprobes + 0.5) / LN_2 * 1000);
  uint64_t last = next - 1 > millibits ? next - 1 : millibits;
  uint64_t end = last + 4 + 1000 / (nkeys > 0 ? nkeys : 1);
  while (last + 1 < end) {
    const uint64_t middle = last + (end - last) / 2;
    if (nbits_of(middle, nkeys, &nbits) || nprobes_of(nbits, nkeys) > nprobes)
      end = middle;
    else
      last = middle;
  }
  return last;
}

/* ---- Rates ---- */

static double spark_planned_rate(const struct filter_shape *shape, uint64_t nkeys)
{
  const double n = (double)nkeys;
  return lanebloom_rate_either(lanebloom_rate_planned((double)shape->nbits, shape->nprobes, n),
                               lanebloom_rate_collision(n, HASH_NBITS));
}

static double spark_filled_rate(const struct filter_shape *shape, uint64_t nbits_set,
                                uint64_t nkeys)
{
  const double probes =
      lanebloom_rate_filled((double)nbits_set / (double)shape->nbits, shape->nprobes);
  const double collision =
      nkeys == LANEBLOOM_UNKNOWN ? 0 : lanebloom_rate_collision((double)nkeys, HASH_NBITS);
  return lanebloom_rate_either(probes, collision);
}

static void spark_positions(const struct filter_shape *shape, const void *hash, uint64_t *positions)
{
  double_hash_positions(shape, hash_at(hash, 0, sizeof(uint64_t)), positions);
}

/* The members that both versions share. */
#define SPARK_PLANS                                                                                \
  .hash = HASH_SPARK_MURMUR3, .min_nprobes = 1, .max_nprobes = SPARK_MAX_NPROBES,                  \
  .min_millibits = MIN_MILLIBITS, .max_millibits = MAX_MILLIBITS, .step_millibits = 1,             \
  .rounds_bits = true, .round_bits = spark_round_bits, .bits_for_rate = lanebloom_search_bits,     \
  .last_with_same_nprobes = last_with_same_nprobes, .line_nbytes = WORD_NBYTES,                    \
  .layout = LAYOUT_DOUBLE_HASHING, .positions = spark_positions,                                   \
  .planned_rate = spark_planned_rate, .filled_rate = spark_filled_rate

const struct format_table lanebloom_format_spark_v1 = {
    .id = LANEBLOOM_SPARK_V1,
    .name = "spark-v1",
    .text = "Apache Spark's own Bloom filter, version 1",
    SPARK_PLANS,
    .header_nbytes = V1_HEADER_NBYTES,
    .max_nbytes = V1_HEADER_NBYTES + (uint64_t)MAX_NWORDS * WORD_NBYTES,
    .plan = spark_v1_plan,
    .parse = spark_v1_parse,
    .write_frame = spark_v1_write_frame,
    .shape = spark_v1_shape,
};

const struct format_table lanebloom_format_spark_v2 = {
    .id = LANEBLOOM_SPARK_V2,
    .name = "spark-v2",
    .text = "Apache Spark's own Bloom filter, version 2, of Spark 4.1 and later",
    SPARK_PLANS,
    .header_nbytes = V2_HEADER_NBYTES,
    .max_nbytes = V2_HEADER_NBYTES + (uint64_t)MAX_NWORDS * WORD_NBYTES,
    .plan = spark_plan,
    .parse = spark_v2_parse,
    .write_frame = spark_v2_write_frame,
    .shape = spark_v2_shape,
};
