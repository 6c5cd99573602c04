/* Defines the formats of the Bloom filters of Google's Guava. The bytes of a filter are the ones
 * that BloomFilter.writeTo writes. All numbers are big-endian.
 *
 *   strategy, 1 byte: 0 or 1 | probes, 1 byte | words, 4 bytes | words of 8 bytes
 *
 * The strategies are MURMUR128_MITZ_32, which old versions of Guava wrote, and MURMUR128_MITZ_64.
 * Source: Guava 33.4 BloomFilter.java, BloomFilterStrategies.java.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "java.h"

enum strategy { STRATEGY_32, STRATEGY_64, STRATEGY_END };

enum {
  STRATEGY_OFFSET = 0,
  NPROBES_OFFSET = 1,
  HEADER_NBYTES = 6,
  MIN_MILLIBITS = 500,
  MAX_MILLIBITS = 100000,
};

/* ---- Frames ---- */

static lanebloom_status guava_parse(const struct format_table *format, const uint8_t *bytes,
                                    size_t size, struct filter_shape *shape,
                                    const struct problem *problem)
{
  if (size <= HEADER_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a Guava filter, which has more than %d bytes, found %zu",
                       HEADER_NBYTES, size);
  if (bytes[STRATEGY_OFFSET] != format->version)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected Guava's strategy %" PRIu32 " in the first byte, found %u",
                       format->version, (unsigned)bytes[STRATEGY_OFFSET]);
  const uint32_t nprobes = bytes[NPROBES_OFFSET];
  const lanebloom_status status = java_parse(format, bytes, size, nprobes, shape, problem);
  if (!status && nprobes == 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT, "expected 1 to %d probes per key, found 0",
                       GUAVA_MAX_NPROBES);
  return status;
}

static void guava_write_frame(const struct format_table *format, const struct filter_shape *shape,
                              uint8_t *bytes)
{
  bytes[STRATEGY_OFFSET] = (uint8_t)format->version;
  bytes[NPROBES_OFFSET] = (uint8_t)shape->nprobes;
  java_write_nwords(format, shape, bytes);
}

/* ---- Sizes ---- */

/* Plans a filter by the rate, by the same operations in the same order as Guava's
 * optimalNumOfBits and optimalNumOfHashFunctions. Guava refuses a filter of 0 bits, which few keys
 * and a high rate would have; here it has one word. */
static lanebloom_status guava_plan_for_rate(const struct format_table *format, double rate,
                                            uint64_t nkeys, struct filter_shape *shape)
{
  const double n = (double)(nkeys > 0 ? nkeys : 1);
  const double nbits = fmax(1, floor(-n * log(rate) / (JAVA_LN_2 * JAVA_LN_2))),
               nprobes = fmax(1, round(-log(rate) / JAVA_LN_2));
  if (nbits > 0x1p62 || nprobes > GUAVA_MAX_NPROBES)
    return LANEBLOOM_ERR_LIMIT;
  return java_plan(format, (uint64_t)nbits, (uint32_t)nprobes, shape);
}

/* Returns the number of probes that Guava chooses for the rate at which it chooses these bits per
 * key. */
static uint32_t nprobes_of(uint64_t millibits)
{
  const double nprobes = round((double)millibits / 1000 * JAVA_LN_2);
  return nprobes < 1 ? 1 : (uint32_t)nprobes;
}

static lanebloom_status guava_plan(const struct format_table *format, uint64_t millibits,
                                   uint64_t nkeys, struct filter_shape *shape)
{
  uint64_t nbits;
  const lanebloom_status status = java_nbits(millibits, nkeys, &nbits);
  return status ? status : java_plan(format, nbits, nprobes_of(millibits), shape);
}

/* Finds the bits per key with which a filter has the words that are planned for the rate, or the
 * most that give it the planned number of probes. */
static lanebloom_status guava_bits_for_rate(const struct format_table *format, double rate,
                                            uint64_t nkeys, uint64_t *millibits)
{
  struct filter_shape shape;
  const lanebloom_status status = guava_plan_for_rate(format, rate, nkeys, &shape);
  if (status)
    return status;
  const double bits_per_key = 8 * (double)shape.nbytes / (double)(nkeys > 0 ? nkeys : 1);
  const double most =
      fmin(floor(bits_per_key * 1000), (shape.nprobes + 0.5) / JAVA_LN_2 * 1000 - 1);
  *millibits = (uint64_t)fmin(fmax(most, MIN_MILLIBITS), MAX_MILLIBITS);
  return LANEBLOOM_OK;
}

/* ---- The format that recognises the others ---- */

static const struct format_table *guava_recognise(const uint8_t *bytes, size_t size)
{
  static const struct format_table *const formats[STRATEGY_END] = {&lanebloom_format_guava_32,
                                                                   &lanebloom_format_guava_64};
  return size > STRATEGY_OFFSET && bytes[STRATEGY_OFFSET] < STRATEGY_END
             ? formats[bytes[STRATEGY_OFFSET]]
             : &lanebloom_format_guava;
}

/* Refuses bytes without a strategy. Other bytes do not get here, because they were recognised as
 * another format. */
static lanebloom_status guava_refuse(const struct format_table *format, const uint8_t *bytes,
                                     size_t size, struct filter_shape *shape,
                                     const struct problem *problem)
{
  (void)format;
  (void)shape;
  if (size <= STRATEGY_OFFSET)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a Guava filter, which has more than %d bytes, found %zu",
                       HEADER_NBYTES, size);
  return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                     "expected Guava's strategy 0 or 1 in the first byte, found %u",
                     (unsigned)bytes[STRATEGY_OFFSET]);
}

/* The members that both strategies share. */
#define GUAVA                                                                                      \
  .hash = HASH_MURMUR3_128, .layout = LAYOUT_DOUBLE_HASHING, .positions = java_positions,          \
  .header_nbytes = HEADER_NBYTES,                                                                  \
  .max_nbytes = HEADER_NBYTES + (uint64_t)JAVA_MAX_NWORDS * JAVA_WORD_NBYTES, .min_nprobes = 1,    \
  .max_nprobes = GUAVA_MAX_NPROBES, .min_millibits = MIN_MILLIBITS,                                \
  .max_millibits = MAX_MILLIBITS, .step_millibits = 1, .rounds_bits = true,                        \
  .round_bits = lanebloom_round_bits, .plan = guava_plan, .plan_for_rate = guava_plan_for_rate,    \
  .bits_for_rate = guava_bits_for_rate, .line_nbytes = JAVA_WORD_NBYTES, .shape = java_shape,      \
  .parse = guava_parse, .write_frame = guava_write_frame,                                          \
  .planned_rate = lanebloom_spread_planned_rate, .filled_rate = lanebloom_spread_filled_rate

const struct format_table lanebloom_format_guava_32 = {
    .id = LANEBLOOM_GUAVA_32,
    .name = "guava-32",
    .text = "Guava's BloomFilter, strategy MURMUR128_MITZ_32 of old versions",
    .version = STRATEGY_32,
    .hash_nbits = 64, /* half of the hash */
    .probe_nbits = 31,
    .double_hashing = {.sums = SUMS_SPARK_V1, .is_big_endian = true},
    GUAVA,
};

const struct format_table lanebloom_format_guava_64 = {
    .id = LANEBLOOM_GUAVA_64,
    .name = "guava-64",
    .text = "Guava's BloomFilter, strategy MURMUR128_MITZ_64, its default",
    .version = STRATEGY_64,
    .probe_nbits = 63,
    .double_hashing = {.sums = SUMS_GUAVA_64, .is_big_endian = true},
    GUAVA,
};

const struct format_table lanebloom_format_guava = {
    .id = LANEBLOOM_GUAVA,
    .name = "guava",
    .text = "Guava's BloomFilter, with the strategy that its first byte names",
    .max_nbytes = HEADER_NBYTES + (uint64_t)JAVA_MAX_NWORDS * JAVA_WORD_NBYTES,
    .recognise = guava_recognise,
    .parse = guava_refuse,
};
