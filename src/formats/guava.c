/* Defines the formats of the Bloom filters of Google's Guava. The bytes of a filter are the ones
 * that BloomFilter.writeTo writes. All numbers are big-endian.
 *
 *   strategy, 1 byte: 0 or 1 | probes, 1 byte | words, 4 bytes | words of 8 bytes
 *
 * The strategies are MURMUR128_MITZ_32, which old versions of Guava wrote, and MURMUR128_MITZ_64.
 * Source: Guava 33.4 BloomFilter.java, BloomFilterStrategies.java.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>

#include "../common/bytes.h"
#include "../format.h"
#include "../layouts/double_hashing.h"

static const double LN_2 = 0.6931471805599453; /* the value of Java's Math.log(2) */

enum strategy { STRATEGY_32, STRATEGY_64, STRATEGY_END };

enum {
  STRATEGY_OFFSET = 0,
  NPROBES_OFFSET = 1,
  NWORDS_OFFSET = 2,
  HEADER_NBYTES = 6,
  WORD_NBITS = 64,
  WORD_NBYTES = WORD_NBITS / 8,
  MAX_NWORDS = INT_MAX,
  PROBE_32_NBITS = 31,
  HASH_32_NBITS = 64, /* the strategy of 32 bits uses half of the hash */
  MIN_MILLIBITS = 500,
  MAX_MILLIBITS = 100000,
};

static struct filter_shape guava_64_shape(uint64_t nbytes, uint32_t line_nbytes, uint32_t nprobes)
{
  (void)line_nbytes;
  return (struct filter_shape){
      .answer = ANSWER_BY_PROBES,
      .nprobes = nprobes,
      .nbytes = nbytes,
      .nbits = 8 * nbytes,
      .double_hashing = {.sums = SUMS_GUAVA_64, .is_big_endian = true},
  };
}

/* The probes are those of version 1 of Spark's filters: bits from 2^31 on are never probed. */
static struct filter_shape guava_32_shape(uint64_t nbytes, uint32_t line_nbytes, uint32_t nprobes)
{
  const uint64_t max_nbits = (uint64_t)1 << PROBE_32_NBITS;
  struct filter_shape shape = guava_64_shape(nbytes, line_nbytes, nprobes);
  shape.double_hashing.sums = SUMS_SPARK_V1;
  if (shape.nbits > max_nbits)
    shape.nbits = max_nbits;
  return shape;
}

/* ---- Frames ---- */

/* Parses a header as Guava's reader does. Guava's reader ignores bytes after the words; here no
 * bytes may follow, because little else tells that bytes are a filter. */
static lanebloom_status parse(enum strategy strategy, const uint8_t *bytes, size_t size,
                              struct filter_shape *shape, const struct problem *problem)
{
  if (size <= HEADER_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a Guava filter, which has more than %d bytes, found %zu",
                       HEADER_NBYTES, size);
  if (bytes[STRATEGY_OFFSET] != strategy)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected Guava's strategy %d in the first byte, found %u", (int)strategy,
                       (unsigned)bytes[STRATEGY_OFFSET]);
  const uint64_t nwords = load_be32(bytes + NWORDS_OFFSET);
  if (nwords > MAX_NWORDS || size - HEADER_NBYTES != nwords * WORD_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected %" PRIu64 " bytes after the header, as it says, found %zu",
                       nwords * WORD_NBYTES, size - HEADER_NBYTES);
  const uint32_t nprobes = bytes[NPROBES_OFFSET];
  if (nprobes == 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT, "expected 1 to %d probes per key, found 0",
                       GUAVA_MAX_NPROBES);
  *shape = guava_64_shape(nwords * WORD_NBYTES, WORD_NBYTES, nprobes);
  return LANEBLOOM_OK;
}

static lanebloom_status guava_64_parse(const uint8_t *bytes, size_t size,
                                       struct filter_shape *shape, const struct problem *problem)
{
  return parse(STRATEGY_64, bytes, size, shape, problem);
}

static lanebloom_status guava_32_parse(const uint8_t *bytes, size_t size,
                                       struct filter_shape *shape, const struct problem *problem)
{
  const lanebloom_status status = parse(STRATEGY_32, bytes, size, shape, problem);
  if (!status)
    *shape = guava_32_shape(shape->nbytes, WORD_NBYTES, shape->nprobes);
  return status;
}

static void write_frame(enum strategy strategy, const struct filter_shape *shape, uint8_t *bytes)
{
  bytes[STRATEGY_OFFSET] = (uint8_t)strategy;
  bytes[NPROBES_OFFSET] = (uint8_t)shape->nprobes;
  store_be32(bytes + NWORDS_OFFSET, (uint32_t)(shape->nbytes / WORD_NBYTES));
}

static void guava_32_write_frame(const struct filter_shape *shape, uint8_t *bytes)
{
  write_frame(STRATEGY_32, shape, bytes);
}

static void guava_64_write_frame(const struct filter_shape *shape, uint8_t *bytes)
{
  write_frame(STRATEGY_64, shape, bytes);
}

/* ---- Sizes ---- */

static lanebloom_status guava_round_bits(double bits_per_key, uint64_t *millibits)
{
  if (!(bits_per_key >= MIN_MILLIBITS / 1000.0) || isinf(bits_per_key))
    return LANEBLOOM_ERR_ARGUMENT;
  const double max = MAX_MILLIBITS / 1000.0;
  *millibits = (uint64_t)round((bits_per_key < max ? bits_per_key : max) * 1000);
  return LANEBLOOM_OK;
}

/* Plans a filter by the rate, by the same operations in the same order as Guava's
 * optimalNumOfBits and optimalNumOfHashFunctions. Guava refuses a filter of 0 bits. */
static lanebloom_status guava_64_plan_for_rate(double rate, uint64_t nkeys,
                                               struct filter_shape *shape)
{
  const double n = (double)(nkeys > 0 ? nkeys : 1);
  const double nbits = floor(-n * log(rate) / (LN_2 * LN_2)),
               nprobes = fmax(1, round(-log(rate) / LN_2));
  const double nwords = ceil(nbits / WORD_NBITS);
  if (nwords < 1 || nwords > MAX_NWORDS || nprobes > GUAVA_MAX_NPROBES)
    return LANEBLOOM_ERR_LIMIT;
  *shape = guava_64_shape((uint64_t)nwords * WORD_NBYTES, WORD_NBYTES, (uint32_t)nprobes);
  return LANEBLOOM_OK;
}

static lanebloom_status guava_32_plan_for_rate(double rate, uint64_t nkeys,
                                               struct filter_shape *shape)
{
  const lanebloom_status status = guava_64_plan_for_rate(rate, nkeys, shape);
  if (!status)
    *shape = guava_32_shape(shape->nbytes, WORD_NBYTES, shape->nprobes);
  return status;
}

/* Returns the number of probes that Guava chooses for the rate at which it chooses these bits per
 * key. */
static uint32_t nprobes_of(uint64_t millibits)
{
  const double nprobes = round((double)millibits / 1000 * LN_2);
  return nprobes < 1 ? 1 : (uint32_t)nprobes;
}

/* Plans as many bits as Guava does if it computes these bits per key from a rate, rounded down.
 * They are at least the bits of one key, and at least 1. */
static lanebloom_status guava_64_plan(uint64_t millibits, uint64_t nkeys,
                                      struct filter_shape *shape)
{
  uint64_t product;
  if (__builtin_mul_overflow(nkeys > 0 ? nkeys : 1, millibits, &product))
    return LANEBLOOM_ERR_LIMIT;
  const uint64_t nbits = product < 1000 ? 1 : product / 1000;
  const uint64_t nwords = nbits / WORD_NBITS + (nbits % WORD_NBITS > 0);
  if (nwords > MAX_NWORDS)
    return LANEBLOOM_ERR_LIMIT;
  *shape = guava_64_shape(nwords * WORD_NBYTES, WORD_NBYTES, nprobes_of(millibits));
  return LANEBLOOM_OK;
}

static lanebloom_status guava_32_plan(uint64_t millibits, uint64_t nkeys,
                                      struct filter_shape *shape)
{
  const lanebloom_status status = guava_64_plan(millibits, nkeys, shape);
  if (!status)
    *shape = guava_32_shape(shape->nbytes, WORD_NBYTES, shape->nprobes);
  return status;
}

/* Finds the bits per key with which a filter has the words that are planned for the rate, or the
 * most that give it the planned number of probes. */
static lanebloom_status guava_bits_for_rate(const struct format_table *format, double rate,
                                            uint64_t nkeys, uint64_t *millibits)
{
  struct filter_shape shape;
  const lanebloom_status status = format->plan_for_rate(rate, nkeys, &shape);
  if (status)
    return status;
  const double bits_per_key = 8 * (double)shape.nbytes / (double)(nkeys > 0 ? nkeys : 1);
  const double most = fmin(floor(bits_per_key * 1000), (shape.nprobes + 0.5) / LN_2 * 1000 - 1);
  *millibits = (uint64_t)fmin(fmax(most, MIN_MILLIBITS), MAX_MILLIBITS);
  return LANEBLOOM_OK;
}

/* ---- Rates ---- */

static double guava_64_planned_rate(const struct filter_shape *shape, uint64_t nkeys)
{
  return lanebloom_rate_planned((double)shape->nbits, shape->nprobes, (double)nkeys);
}

static double guava_64_filled_rate(const struct filter_shape *shape, uint64_t nbits_set,
                                   uint64_t nkeys)
{
  (void)nkeys;
  return lanebloom_rate_filled((double)nbits_set / (double)shape->nbits, shape->nprobes);
}

static double guava_32_planned_rate(const struct filter_shape *shape, uint64_t nkeys)
{
  return lanebloom_rate_either(guava_64_planned_rate(shape, nkeys),
                               lanebloom_rate_collision((double)nkeys, HASH_32_NBITS));
}

static double guava_32_filled_rate(const struct filter_shape *shape, uint64_t nbits_set,
                                   uint64_t nkeys)
{
  const double collision =
      nkeys == LANEBLOOM_UNKNOWN ? 0 : lanebloom_rate_collision((double)nkeys, HASH_32_NBITS);
  return lanebloom_rate_either(guava_64_filled_rate(shape, nbits_set, nkeys), collision);
}

static void guava_positions(const struct filter_shape *shape, const void *hash, uint64_t *positions)
{
  double_hash_positions(shape, hash_at(hash, 0, sizeof(struct key_hash)), positions);
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
static lanebloom_status guava_parse(const uint8_t *bytes, size_t size, struct filter_shape *shape,
                                    const struct problem *problem)
{
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
#define GUAVA_PLANS                                                                                \
  .hash = HASH_MURMUR3_128, .header_nbytes = HEADER_NBYTES,                                        \
  .max_nbytes = HEADER_NBYTES + (uint64_t)MAX_NWORDS * WORD_NBYTES, .min_nprobes = 1,              \
  .max_nprobes = GUAVA_MAX_NPROBES, .min_millibits = MIN_MILLIBITS,                                \
  .max_millibits = MAX_MILLIBITS, .step_millibits = 1, .rounds_bits = true,                        \
  .round_bits = guava_round_bits, .bits_for_rate = guava_bits_for_rate, .line_nbytes = WORD_NBYTES

const struct format_table lanebloom_format_guava_32 = {
    .id = LANEBLOOM_GUAVA_32,
    .name = "guava-32",
    .text = "Guava's BloomFilter, strategy MURMUR128_MITZ_32 of old versions",
    GUAVA_PLANS,
    .layout = LAYOUT_DOUBLE_HASHING,
    .plan = guava_32_plan,
    .plan_for_rate = guava_32_plan_for_rate,
    .parse = guava_32_parse,
    .write_frame = guava_32_write_frame,
    .shape = guava_32_shape,
    .positions = guava_positions,
    .planned_rate = guava_32_planned_rate,
    .filled_rate = guava_32_filled_rate,
};

const struct format_table lanebloom_format_guava_64 = {
    .id = LANEBLOOM_GUAVA_64,
    .name = "guava-64",
    .text = "Guava's BloomFilter, strategy MURMUR128_MITZ_64, its default",
    GUAVA_PLANS,
    .layout = LAYOUT_DOUBLE_HASHING,
    .plan = guava_64_plan,
    .plan_for_rate = guava_64_plan_for_rate,
    .parse = guava_64_parse,
    .write_frame = guava_64_write_frame,
    .shape = guava_64_shape,
    .positions = guava_positions,
    .planned_rate = guava_64_planned_rate,
    .filled_rate = guava_64_filled_rate,
};

const struct format_table lanebloom_format_guava = {
    .id = LANEBLOOM_GUAVA,
    .name = "guava",
    .text = "Guava's BloomFilter, with the strategy that its first byte names",
    .max_nbytes = HEADER_NBYTES + (uint64_t)MAX_NWORDS * WORD_NBYTES,
    .recognise = guava_recognise,
    .parse = guava_parse,
};
