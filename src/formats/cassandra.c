/* Defines the formats of the Bloom filters of Apache Cassandra and ScyllaDB, which are the files
 * *-Filter.db. All numbers of the header are big-endian.
 *
 *   probes, 4 bytes | words, 4 bytes | words of 8 bytes
 *
 * The three formats have the same header; the version in the name of a file says which of them it
 * has. Sources: Cassandra 5.0 and 3.11 BloomFilterSerializer.java, BloomFilter.java,
 * BloomCalculations.java.
 * SPDX-License-Identifier: MIT */
#include "java.h"

enum {
  NPROBES_OFFSET = 0,
  HEADER_NBYTES = 8,
  EXTRA_NBITS = 20, /* every filter gets these bits in addition to those of its keys */
  MAX_BITS = 20,    /* the most bits per key that Cassandra plans */
};

/* ---- Frames ---- */

/* Parses a header. A file of 0 bytes stands for no filter: every key passes. Every key also passes
 * if the number of probes is 0 or negative. Cassandra's readers of 4.0 and later do not notice that
 * words are missing; here they must be there. */
static lanebloom_status cassandra_parse(const struct format_table *format, const uint8_t *bytes,
                                        size_t size, struct filter_shape *shape,
                                        const struct problem *problem)
{
  *shape = (struct filter_shape){.answer = ANSWER_ALWAYS};
  if (size == 0)
    return LANEBLOOM_OK;
  if (size <= HEADER_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a Cassandra filter, which has 0 or more than %d bytes, found %zu",
                       HEADER_NBYTES, size);
  const uint32_t nprobes = load_be32(bytes + NPROBES_OFFSET);
  const lanebloom_status status = java_parse(format, bytes, size, nprobes, shape, problem);
  if (status)
    return status;
  if (nprobes == 0 || nprobes > INT_MAX) /* negative in Java */
    *shape = (struct filter_shape){.answer = ANSWER_ALWAYS};
  else if (nprobes > CASSANDRA_MAX_NPROBES)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "expected at most %d probes per key, found %" PRIu32, CASSANDRA_MAX_NPROBES,
                       nprobes);
  return LANEBLOOM_OK;
}

static void cassandra_write_frame(const struct format_table *format,
                                  const struct filter_shape *shape, uint8_t *bytes)
{
  store_be32(bytes + NPROBES_OFFSET, shape->nprobes);
  java_write_nwords(format, shape, bytes);
}

/* ---- Sizes ---- */

/* Returns the number of probes that Cassandra considers best for whole bits per key. */
static uint32_t nprobes_of(uint64_t millibits)
{
  static const uint8_t best[MAX_BITS + 1] = {1, 1, 1, 2,  3,  3,  4,  5,  6,  6, 7,
                                             8, 8, 9, 10, 10, 11, 12, 12, 13, 14};
  return best[millibits / 1000];
}

static lanebloom_status plan(const struct format_table *format, uint64_t bits_per_key,
                             uint64_t nkeys, uint32_t nprobes, struct filter_shape *shape)
{
  uint64_t nbits;
  if (__builtin_mul_overflow(nkeys, bits_per_key, &nbits) ||
      __builtin_add_overflow(nbits, EXTRA_NBITS, &nbits))
    return LANEBLOOM_ERR_LIMIT;
  return java_plan(format, nbits, nprobes, shape);
}

static lanebloom_status cassandra_plan(const struct format_table *format, uint64_t millibits,
                                       uint64_t nkeys, struct filter_shape *shape)
{
  return plan(format, millibits / 1000, nkeys, nprobes_of(millibits), shape);
}

/* The plans of BloomCalculations.java, by the rate that each reaches. A plan serves for all rates
 * from its own up to the rate of the next plan. Upstream exchanged the two numbers of the last
 * one. */
static const struct rated_plan {
  double rate;
  uint8_t nprobes, bits;
} PLANS[] = {
    {6.71e-5, 14, 20},  {6.79e-5, 13, 20},  {7.12e-5, 12, 20},  {7.77e-5, 11, 20},
    {8.89e-5, 10, 20},  {0.000108, 9, 20},  {0.000109, 13, 19}, {0.000111, 12, 19},
    {0.000118, 11, 19}, {0.000132, 10, 19}, {0.000155, 9, 19},  {0.000176, 12, 18},
    {0.000183, 11, 18}, {0.000198, 10, 18}, {0.000226, 9, 18},  {0.000275, 8, 18},
    {0.000284, 12, 17}, {0.000287, 11, 17}, {0.000302, 10, 17}, {0.000335, 9, 17},
    {0.000394, 8, 17},  {0.000459, 11, 16}, {0.00047, 10, 16},  {0.000505, 9, 16},
    {0.000574, 8, 16},  {0.000702, 7, 16},  {0.000744, 10, 15}, {0.000775, 9, 15},
    {0.000852, 8, 15},  {0.001, 7, 15},     {0.0012, 10, 14},   {0.00121, 9, 14},
    {0.00129, 8, 14},   {0.00146, 7, 14},   {0.00179, 6, 14},   {0.00194, 9, 13},
    {0.00199, 8, 13},   {0.00217, 7, 13},   {0.00255, 6, 13},   {0.00314, 8, 12},
    {0.00329, 7, 12},   {0.00371, 6, 12},   {0.00459, 5, 12},   {0.00509, 8, 11},
    {0.00513, 7, 11},   {0.00552, 6, 11},   {0.0065, 5, 11},    {0.00819, 7, 10},
    {0.00844, 6, 10},   {0.00943, 5, 10},   {0.0118, 4, 10},    {0.0133, 6, 9},
    {0.0141, 5, 9},     {0.0166, 4, 9},     {0.0216, 6, 8},     {0.0217, 5, 8},
    {0.024, 4, 8},      {0.0306, 3, 8},     {0.0347, 5, 7},     {0.0359, 4, 7},
    {0.0423, 3, 7},     {0.0561, 4, 6},     {0.0609, 3, 6},     {0.0804, 2, 6},
    {0.092, 3, 5},      {0.109, 2, 5},      {0.147, 3, 4},      {0.155, 2, 4},
    {0.221, 1, 4},      {0.237, 2, 3},      {0.283, 1, 3},      {0.393, 2, 1},
};

/* Returns the plan for a rate, or NULL if the rate is below all plans. */
static const struct rated_plan *find_plan(double rate)
{
  size_t n = 0;
  while (n < sizeof PLANS / sizeof *PLANS && PLANS[n].rate <= rate)
    n++;
  return n > 0 ? &PLANS[n - 1] : NULL;
}

static lanebloom_status cassandra_plan_for_rate(const struct format_table *format, double rate,
                                                uint64_t nkeys, struct filter_shape *shape)
{
  const struct rated_plan *found = find_plan(rate);
  return found ? plan(format, found->bits, nkeys, found->nprobes, shape) : LANEBLOOM_ERR_LIMIT;
}

static lanebloom_status cassandra_bits_for_rate(const struct format_table *format, double rate,
                                                uint64_t nkeys, uint64_t *millibits)
{
  struct filter_shape shape;
  const lanebloom_status status = cassandra_plan_for_rate(format, rate, nkeys, &shape);
  if (!status)
    *millibits = find_plan(rate)->bits * UINT64_C(1000);
  return status;
}

/* The members that all three formats share. */
#define CASSANDRA                                                                                  \
  .hash = HASH_MURMUR3_128_SIGNED, .layout = LAYOUT_DOUBLE_HASHING, .probe_nbits = 63,             \
  .header_nbytes = HEADER_NBYTES,                                                                  \
  .max_nbytes = HEADER_NBYTES + (uint64_t)JAVA_MAX_NWORDS * JAVA_WORD_NBYTES, .min_nprobes = 1,    \
  .max_nprobes = CASSANDRA_MAX_NPROBES, .min_millibits = 500, .max_millibits = MAX_BITS * 1000,    \
  .step_millibits = 1000, .rounds_bits = true, .round_bits = lanebloom_round_bits,                 \
  .plan = cassandra_plan, .plan_for_rate = cassandra_plan_for_rate,                                \
  .bits_for_rate = cassandra_bits_for_rate, .line_nbytes = JAVA_WORD_NBYTES, .shape = java_shape,  \
  .parse = cassandra_parse, .write_frame = cassandra_write_frame, .positions = java_positions,     \
  .planned_rate = lanebloom_spread_planned_rate, .filled_rate = lanebloom_spread_filled_rate

const struct format_table lanebloom_format_cassandra = {
    .id = LANEBLOOM_CASSANDRA,
    .name = "cassandra",
    .text = "Filter.db of Cassandra 4.0 and later (versions na, nb, oa, da)",
    .double_hashing = {.sums = SUMS_CASSANDRA, .is_swapped = true},
    CASSANDRA,
};

const struct format_table lanebloom_format_cassandra_3 = {
    .id = LANEBLOOM_CASSANDRA_3,
    .name = "cassandra-3",
    .text = "Filter.db of Cassandra 3.0 to 3.11 and ScyllaDB (versions ma to me, ms, mt)",
    .double_hashing = {.sums = SUMS_CASSANDRA, .is_swapped = true, .is_big_endian = true},
    CASSANDRA,
};

const struct format_table lanebloom_format_cassandra_2 = {
    .id = LANEBLOOM_CASSANDRA_2,
    .name = "cassandra-2",
    .text = "Filter.db of Cassandra 2.2 and earlier and old ScyllaDB (versions ka, la)",
    .double_hashing = {.sums = SUMS_CASSANDRA, .is_big_endian = true},
    CASSANDRA,
};
