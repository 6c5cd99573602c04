/* Planning: what size and how many probes a filter will have, and which false-positive rate to
 * expect.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "format.h"
#include "kernels.h"

/* A filter of which the share `fill` of bits is set lets an absent key pass when all its probes
 * meet one of them, taken as independent: fill^k (B. H. Bloom, Space/time trade-offs in hash
 * coding, CACM 13(7), 1970). */
double lanebloom_rate_filled(double fill, unsigned nprobes)
{
  return pow(fill, nprobes);
}

/* The share of m bits that n keys of k probes set is 1 - (1 - 1/m)^(k n); then as above (A. Broder
 * and M. Mitzenmacher, Network applications of Bloom filters: a survey, Internet Mathematics 1(4),
 * 2004, section 2.1). Double hashing comes to the same when m is large and the two hashes are
 * independent (A. Kirsch and M. Mitzenmacher, Less hashing, same performance, ESA 2006), which
 * LevelDB's are not: see docs/leveldb-false-positives.md. */
double lanebloom_rate_planned(double nbits, unsigned nprobes, double nkeys)
{
  double fill = -expm1(nprobes * nkeys * log1p(-1 / nbits));
  return lanebloom_rate_filled(fill, nprobes);
}

/* An absent key whose whole hash of w bits equals that of one of n keys always passes: 1 - (1 -
 * 2^-w)^n, which is nearly 1 - e^(-n / 2^w). In this form doubles come out as RocksDB's (7.8.3
 * util/bloom_impl.h, FingerprintFpRate). */
double lanebloom_rate_collision(double nkeys, int hash_nbits)
{
  const double mean = nkeys * pow(0.5, hash_nbits);
  return mean > 0.0001 ? 1 - exp(-mean) : mean - mean * mean * 0.5;
}

/* The probability that at least one of two independent events happens. */
double lanebloom_rate_either(double a, double b)
{
  return a + b - a * b;
}

/* Finds the format and makes the shape, for a call's arguments. */
static lanebloom_status plan(lanebloom_format id, double bits_per_key, uint64_t nkeys,
                             const struct format_table **format, struct filter_shape *shape)
{
  uint64_t millibits;
  lanebloom_status status = lanebloom_format_find_to_build(id, format);
  if (!status)
    status = (*format)->round_bits(bits_per_key, &millibits);
  return status ? status : (*format)->plan(millibits, nkeys, shape);
}

lanebloom_status lanebloom_plan_size(lanebloom_format id, double bits_per_key, uint64_t nkeys,
                                     uint64_t *nbytes, unsigned *nprobes)
{
  const struct format_table *format;
  struct filter_shape shape;
  lanebloom_status status = plan(id, bits_per_key, nkeys, &format, &shape);
  if (status)
    return status;
  *nbytes = shape.nbytes + format->trailer_nbytes;
  *nprobes = shape.nprobes;
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_plan_rate(lanebloom_format id, double bits_per_key, uint64_t nkeys,
                                     double *rate)
{
  const struct format_table *format;
  struct filter_shape shape;
  lanebloom_status status = plan(id, bits_per_key, nkeys, &format, &shape);
  if (!status)
    *rate = format->planned_rate(&shape, nkeys);
  return status;
}

lanebloom_status lanebloom_plan_bits(lanebloom_format id, double rate, uint64_t nkeys,
                                     double *bits_per_key)
{
  const struct format_table *format;
  lanebloom_status status = lanebloom_format_find_to_build(id, &format);
  if (status)
    return status;
  if (!(rate > 0 && rate < 1))
    return LANEBLOOM_ERR_ARGUMENT;

  double bits;
  for (uint64_t i = 0; format->bits_candidate(i, &bits); i++) {
    struct filter_shape shape;
    if ((status = plan(id, bits, nkeys, &format, &shape)))
      return status;
    if (format->planned_rate(&shape, nkeys) <= rate) {
      *bits_per_key = bits;
      return LANEBLOOM_OK;
    }
  }
  return LANEBLOOM_ERR_LIMIT;
}
