/* Defines the format "rocksdb", which stands for all of RocksDB's formats: the trailer of a filter
 * says which of these formats the filter has. This file also has the functions that RocksDB's
 * formats share.
 * SPDX-License-Identifier: MIT */
#include "rocksdb.h"

#include <math.h>

/* Returns the kind of a filter, which the first byte of its trailer gives. If RocksDB does not know
 * the kind, every key may be present (RocksDB 7.8.3 table/block_based/filter_policy.cc,
 * GetBuiltinFilterBitsReader). */
static enum rocksdb_kind kind_of(const uint8_t *bytes, size_t size)
{
  if (size <= ROCKSDB_TRAILER_NBYTES)
    return ROCKSDB_KIND_NEVER;
  const uint8_t *trailer = bytes + size - ROCKSDB_TRAILER_NBYTES;
  if (trailer[0] >= 1 && trailer[0] <= ROCKSDB_LEGACY_MAX_NPROBES)
    return ROCKSDB_KIND_LEGACY;
  if (trailer[0] == 0xff)
    return ROCKSDB_KIND_LOCAL;
  if (trailer[0] == 0xfe &&
      (trailer[2] >= 2 || trailer[3] || trailer[4])) /* fewer than 2 blocks hold no keys */
    return ROCKSDB_KIND_RIBBON;
  return ROCKSDB_KIND_ALWAYS;
}

/* The format of each kind. Filters with constant answers have the format "rocksdb". */
static const struct format_table *const FORMATS[] = {
    [ROCKSDB_KIND_NEVER] = &lanebloom_format_rocksdb,
    [ROCKSDB_KIND_ALWAYS] = &lanebloom_format_rocksdb,
    [ROCKSDB_KIND_LEGACY] = &lanebloom_format_rocksdb_legacy,
    [ROCKSDB_KIND_LOCAL] = &lanebloom_format_rocksdb_local,
    [ROCKSDB_KIND_RIBBON] = &lanebloom_format_rocksdb_ribbon,
};

lanebloom_status lanebloom_rocksdb_parse(const uint8_t *bytes, size_t size,
                                         enum rocksdb_kind expected, struct filter_shape *shape,
                                         const struct problem *problem)
{
  const enum rocksdb_kind kind = kind_of(bytes, size);
  *shape = (struct filter_shape){
      .nbytes = size < ROCKSDB_TRAILER_NBYTES ? 0 : size - ROCKSDB_TRAILER_NBYTES};
  if (kind == ROCKSDB_KIND_NEVER)
    shape->answer = ANSWER_NEVER;
  else if (kind == ROCKSDB_KIND_ALWAYS)
    shape->answer = ANSWER_ALWAYS;
  else if (kind == expected)
    shape->answer = ANSWER_BY_PROBES;
  else
    return problem_set(problem, LANEBLOOM_ERR_FORMAT, "expected a filter of %s, found one of %s",
                       FORMATS[expected]->name, FORMATS[kind]->name);
  return LANEBLOOM_OK;
}

/* Source: RocksDB 7.8.3 table/block_based/filter_policy.cc, BloomLikeFilterPolicy. */
lanebloom_status lanebloom_rocksdb_round_bits(const struct format_table *format,
                                              double bits_per_key, uint64_t *millibits)
{
  const double min = (double)format->min_millibits / 1000,
               max = (double)format->max_millibits / 1000;
  if (!(bits_per_key >= min) || isinf(bits_per_key))
    return LANEBLOOM_ERR_ARGUMENT;
  const double bits = bits_per_key < 1 ? 1 : bits_per_key > max ? max : bits_per_key;
  *millibits = (uint64_t)(bits * 1000 + 0.500001);
  return LANEBLOOM_OK;
}

/* Returns the rate of a filter in which all probes of a key are in one cache line of 512 bits. The
 * number of keys per line varies by chance. So the result is the mean of two rates: the rate of
 * a line that has one standard deviation more keys than average, and the rate of a line that has
 * one standard deviation fewer keys. The operations are done in RocksDB's order, so that the
 * results are equal to the last bit (7.8.3 util/bloom_impl.h, BloomMath). */
static double line_rate(double bits_per_key, unsigned nprobes)
{
  const double line_nbits = 8 * ROCKSDB_LINE_NBYTES;
  if (bits_per_key <= 0)
    return 1;
  const double keys_per_line = line_nbits / bits_per_key;
  const double deviation = sqrt(keys_per_line);
  const double crowded =
      pow(1 - exp(-(double)nprobes / (line_nbits / (keys_per_line + deviation))), nprobes);
  const double uncrowded =
      pow(1 - exp(-(double)nprobes / (line_nbits / (keys_per_line - deviation))), nprobes);
  return (crowded + uncrowded) / 2;
}

/* Source: RocksDB 7.8.3 util/bloom_impl.h, EstimatedFpRate of FastLocalBloomImpl and
 * LegacyBloomImpl. */
static double estimate(const struct format_table *format, double bits_per_key, unsigned nprobes,
                       double nkeys)
{
  double probes = line_rate(bits_per_key, nprobes);
  if (format == &lanebloom_format_rocksdb_legacy)
    probes += 0.1 / (bits_per_key * 0.75 + 22);
  return lanebloom_rate_either(probes, lanebloom_rate_collision(nkeys, format->hash_nbits));
}

double lanebloom_rocksdb_planned_rate(const struct format_table *format,
                                      const struct filter_shape *shape, uint64_t nkeys)
{
  if (nkeys == 0)
    return 0;
  return estimate(format, 8.0 * (double)shape->nbytes / (double)nkeys, shape->nprobes,
                  (double)nkeys);
}

/* Estimates the number of distinct keys from the set bits, and computes the rate from this
 * estimate. n distinct keys with k probes each set the share 1 - e^(-k n / m) of m bits (Broder and
 * Mitzenmacher 2004, section 2.1); solving this for n gives the estimate. */
double lanebloom_rocksdb_filled_rate(const struct format_table *format,
                                     const struct filter_shape *shape, uint64_t nbits_set,
                                     uint64_t nkeys)
{
  if (nbits_set == 0 || nbits_set == shape->nbits)
    return nbits_set > 0;
  const double nbits = (double)shape->nbits;
  const double nkeys_by_bits = -log1p(-(double)nbits_set / nbits) * nbits / shape->nprobes;
  return estimate(format, nbits / nkeys_by_bits, shape->nprobes,
                  nkeys == LANEBLOOM_UNKNOWN ? nkeys_by_bits : (double)nkeys);
}

/* ---- The format that recognises the others ---- */

static const struct format_table *rocksdb_recognise(const uint8_t *bytes, size_t size)
{
  return FORMATS[kind_of(bytes, size)];
}

/* Parses filters with constant answers. Filters that are probed do not get here, because they were
 * recognised as another format. */
static lanebloom_status rocksdb_parse(const struct format_table *format, const uint8_t *bytes,
                                      size_t size, struct filter_shape *shape,
                                      const struct problem *problem)
{
  (void)format;
  const lanebloom_status status =
      lanebloom_rocksdb_parse(bytes, size, ROCKSDB_KIND_NEVER, shape, problem);
  return status ? rocksdb_bytes_changed(problem) : LANEBLOOM_OK;
}

const struct format_table lanebloom_format_rocksdb = {
    .id = LANEBLOOM_ROCKSDB,
    .name = "rocksdb",
    .text = "RocksDB, in the format that the bytes name (read-only)",
    .max_nbytes = ROCKSDB_MAX_NBYTES,
    .recognise = rocksdb_recognise,
    .parse = rocksdb_parse,
};
