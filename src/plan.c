/* Plans filters: computes the size, the number of probes and the expected false-positive rate.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "format.h"
#include "kernels.h"

/* If the share `fill` of bits is set and probes are independent, all k probes of an absent key find
 * set bits with the probability fill^k. Returns this probability (B. H. Bloom, Space/time
 * trade-offs in hash coding, CACM 13(7), 1970). */
double lanebloom_rate_filled(double fill, unsigned nprobes)
{
  return pow(fill, nprobes);
}

/* Returns the rate of a filter of nkeys keys. n keys of k probes set the share 1 - (1 - 1/m)^(k n)
 * of m bits, and lanebloom_rate_filled() turns this share into the rate (A. Broder and M.
 * Mitzenmacher, Network applications of Bloom filters: a survey, Internet Mathematics 1(4), 2004,
 * section 2.1). Double hashing, which computes all probes of a key from two hashes, has the same
 * rate if m is large and the two hashes are independent (A. Kirsch and M. Mitzenmacher, Less
 * hashing, same performance, ESA 2006). LevelDB's two hashes are not independent;
 * docs/leveldb-false-positives.md describes the effect on the rate. */
double lanebloom_rate_planned(double nbits, unsigned nprobes, double nkeys)
{
  double fill = -expm1(nprobes * nkeys * log1p(-1 / nbits));
  return lanebloom_rate_filled(fill, nprobes);
}

/* Returns the probability that the w-bit hash of an absent key equals the hash of one of n keys, in
 * which case the absent key always passes: 1 - (1 - 2^-w)^n, which is nearly 1 - e^(-n / 2^w). The
 * function computes the second expression as RocksDB does, so that the results are equal to the
 * last bit (7.8.3 util/bloom_impl.h, FingerprintFpRate). */
double lanebloom_rate_collision(double nkeys, int hash_nbits)
{
  const double mean = nkeys * pow(0.5, hash_nbits);
  return mean > 0.0001 ? 1 - exp(-mean) : mean - mean * mean * 0.5;
}

/* Returns the probability that at least one of two independent events happens. */
double lanebloom_rate_either(double a, double b)
{
  return a + b - a * b;
}

double lanebloom_spread_planned_rate(const struct format_table *format,
                                     const struct filter_shape *shape, uint64_t nkeys)
{
  const double n = (double)nkeys;
  const double probes = lanebloom_rate_planned((double)shape->nbits, shape->nprobes, n);
  return format->hash_nbits == 0
             ? probes
             : lanebloom_rate_either(probes, lanebloom_rate_collision(n, format->hash_nbits));
}

double lanebloom_spread_filled_rate(const struct format_table *format,
                                    const struct filter_shape *shape, uint64_t nbits_set,
                                    uint64_t nkeys)
{
  const double probes =
      lanebloom_rate_filled((double)nbits_set / (double)shape->nbits, shape->nprobes);
  if (nkeys == LANEBLOOM_UNKNOWN || format->hash_nbits == 0)
    return probes;
  return lanebloom_rate_either(probes, lanebloom_rate_collision((double)nkeys, format->hash_nbits));
}

/* Estimates the number of distinct keys from the number of set bits. A key sets a given bit of its
 * line's m bits with the probability p = 1 - (1 - 1/m)^k, or 1/w if each probe has w bits of the
 * line to itself. The number of keys in a line is Poisson distributed, so n keys in L lines leave
 * the share e^(-p n / L) of bits unset; solving for n gives the estimate. A filter without lines
 * counts as one line of m bits; for it the estimate is -m / k ln(1 - X / m), if X bits are set (S.
 * J. Swamidass and P. Baldi, Mathematical correction for fingerprint similarity measures to improve
 * chemical retrieval, J. Chem. Inf. Model. 47(3), 2007, equation 7). This is an estimate of the
 * number of different hashes, because keys of equal hashes set the same bits. n keys have
 * 2^w (1 - e^(-n / 2^w)) different hashes of w bits, and the last step solves this for n. */
uint64_t lanebloom_estimate_nkeys(const struct filter_shape *shape, uint64_t nbits_set,
                                  unsigned hash_nbits)
{
  const double nbits = (double)shape->nbits;
  const double line_nbits = shape->lines.n > 0 ? 8 * (double)shape->lines.nbytes : nbits;
  const double per_key = shape->lines.word_nbits > 0
                             ? 1.0 / shape->lines.word_nbits
                             : -expm1(shape->nprobes * log1p(-1 / line_nbits));
  const double nhashes = -log1p(-(double)nbits_set / nbits) / per_key * (nbits / line_nbits);
  const double all_hashes = ldexp(1, (int)hash_nbits);
  const double nkeys = -log1p(-nhashes / all_hashes) * all_hashes;
  /* unknown if NaN or infinite */
  return nkeys < 0x1p63 ? (uint64_t)round(nkeys) : LANEBLOOM_UNKNOWN;
}

lanebloom_status lanebloom_round_bits(const struct format_table *format, double bits_per_key,
                                      uint64_t *millibits)
{
  const double min = (double)format->min_millibits / 1000,
               max = (double)format->max_millibits / 1000;
  if (!(bits_per_key >= min) || isinf(bits_per_key))
    return LANEBLOOM_ERR_ARGUMENT;
  const double nsteps_per_bit = 1000 / (double)format->step_millibits;
  const double nsteps = round((bits_per_key < max ? bits_per_key : max) * nsteps_per_bit);
  *millibits = (uint64_t)nsteps * format->step_millibits;
  return LANEBLOOM_OK;
}

/* Finds the format and plans the shape of the filter. This also checks the arguments of a call. */
static lanebloom_status plan(lanebloom_format id, double bits_per_key, uint64_t nkeys,
                             const struct format_table **format, struct filter_shape *shape)
{
  uint64_t millibits;
  lanebloom_status status = lanebloom_format_find_to_build(id, format);
  if (!status)
    status = (*format)->round_bits(*format, bits_per_key, &millibits);
  return status ? status : (*format)->plan(*format, millibits, nkeys, shape);
}

lanebloom_status lanebloom_plan_size(lanebloom_format id, double bits_per_key, uint64_t nkeys,
                                     uint64_t *nbytes, uint32_t *nprobes)
{
  const struct format_table *format;
  struct filter_shape shape;
  lanebloom_status status = plan(id, bits_per_key, nkeys, &format, &shape);
  if (status)
    return status;
  *nbytes = format_nbytes(format, &shape);
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
    *rate = format->planned_rate(format, &shape, nkeys);
  return status;
}

/* ---- Bits per key for a rate ---- */

/* Returns true if a filter with these bits per key reaches the rate, or if it is too large to be
 * planned, which *status then says. If the result is true, it is also true for more bits per key
 * with the same number of probes, so that bisection can be used. */
static bool is_enough(const struct format_table *format, double rate, uint64_t nkeys,
                      uint64_t millibits, lanebloom_status *status)
{
  struct filter_shape shape;
  *status = format->plan(format, millibits, nkeys, &shape);
  return *status || format->planned_rate(format, &shape, nkeys) <= rate;
}

/* More bits per key lower the rate, but the larger number of probes that comes with them may raise
 * the rate. So the search goes through the ranges of bits per key that have the same number of
 * probes. If the last value of a range reaches the rate, bisection finds the first value of the
 * range that does. */
lanebloom_status lanebloom_search_bits(const struct format_table *format, double rate,
                                       uint64_t nkeys, uint64_t *millibits)
{
  const uint64_t max = format->max_millibits, step = format->step_millibits;
  uint64_t first, last;
  lanebloom_status status =
      format->round_bits(format, (double)format->min_millibits / 1000, &first);
  for (; !status && first <= max; first = last + step) {
    last = format->last_with_same_nprobes(first, nkeys);
    last = last < max ? last : max;
    if (!is_enough(format, rate, nkeys, last, &status))
      continue;
    while (first < last) {
      const uint64_t middle = first + (last - first) / step / 2 * step;
      if (is_enough(format, rate, nkeys, middle, &status))
        last = middle;
      else
        first = middle + step;
    }
    is_enough(format, rate, nkeys, last, &status);
    *millibits = last;
    return status;
  }
  return status ? status : LANEBLOOM_ERR_LIMIT;
}

/* Returns bits_per_key * 0.69 as a whole number from 1 to 30. The best number of probes is
 * bits_per_key * ln 2; the engines round it down a little to do fewer probes (LevelDB 1.23
 * util/bloom.cc; RocksDB 7.8.3 util/bloom_impl.h, LegacyNoLocalityBloomImpl::ChooseNumProbes). */
uint32_t lanebloom_nprobes_by_bits(uint64_t bits_per_key)
{
  const double nprobes = (double)bits_per_key * 0.69;
  return nprobes < 1 ? 1 : nprobes > MAX_NPROBES_BY_BITS ? MAX_NPROBES_BY_BITS : (uint32_t)nprobes;
}

uint64_t lanebloom_last_with_same_nprobes_by_bits(uint64_t millibits, uint64_t nkeys)
{
  (void)nkeys;
  const uint32_t nprobes = lanebloom_nprobes_by_bits(millibits / 1000);
  if (nprobes == MAX_NPROBES_BY_BITS)
    return UINT64_MAX;
  while (lanebloom_nprobes_by_bits(millibits / 1000 + 1) == nprobes)
    millibits += 1000;
  return millibits;
}

lanebloom_status lanebloom_bits_of_plan(const struct format_table *format, double rate,
                                        uint64_t nkeys, uint64_t *millibits)
{
  struct filter_shape shape;
  const lanebloom_status status = format->plan_for_rate(format, rate, nkeys, &shape);
  if (status)
    return status;
  const double bits_per_key = (double)shape.nbits / (double)(nkeys > 0 ? nkeys : 1);
  const double min = (double)format->min_millibits, max = (double)format->max_millibits;
  *millibits = (uint64_t)fmin(fmax(ceil(bits_per_key * 1000), min), max);
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_format_plan_for_rate(const struct format_table *format, double rate,
                                                uint64_t nkeys, struct filter_shape *shape,
                                                uint64_t *millibits)
{
  const lanebloom_status status = format->bits_for_rate(format, rate, nkeys, millibits);
  if (status)
    return status;
  return format->plan_for_rate ? format->plan_for_rate(format, rate, nkeys, shape)
                               : format->plan(format, *millibits, nkeys, shape);
}

lanebloom_status lanebloom_plan_bits(lanebloom_format id, double rate, uint64_t nkeys,
                                     double *bits_per_key)
{
  const struct format_table *format;
  uint64_t millibits;
  lanebloom_status status = lanebloom_format_find_to_build(id, &format);
  if (status)
    return status;
  if (!(rate > 0 && rate < 1))
    return LANEBLOOM_ERR_ARGUMENT;
  if ((status = format->bits_for_rate(format, rate, nkeys, &millibits)))
    return status;
  *bits_per_key = (double)millibits / 1000;
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_plan_size_for_rate(lanebloom_format id, double rate, uint64_t nkeys,
                                              uint64_t *nbytes, uint32_t *nprobes,
                                              double *model_rate)
{
  const struct format_table *format;
  struct filter_shape shape;
  uint64_t millibits;
  lanebloom_status status = lanebloom_format_find_to_build(id, &format);
  if (status)
    return status;
  if (!(rate > 0 && rate < 1))
    return LANEBLOOM_ERR_ARGUMENT;
  if ((status = lanebloom_format_plan_for_rate(format, rate, nkeys, &shape, &millibits)))
    return status;
  *nbytes = format_nbytes(format, &shape);
  *nprobes = shape.nprobes;
  if (model_rate)
    *model_rate = format->planned_rate(format, &shape, nkeys);
  return LANEBLOOM_OK;
}
