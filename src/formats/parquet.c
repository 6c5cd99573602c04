/* Defines the format of the bits of Parquet's split-block Bloom filter. In a Parquet file a header
 * in Thrift's compact protocol precedes the bits. The header is not part of this format, so that
 * the bits are aligned in a container.
 *
 *   blocks of 32 bytes
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "../format.h"
#include "../layouts/parquet.h"

enum {
  NPROBES = 8, /* one in each word of a block */
  MIN_MILLIBITS = 500,
  MAX_MILLIBITS = 1000000,
  HASH_NBITS = 64,
  WORD_NBITS = 32,
};

/* The header of a filter stores the size as a signed number of 32 bits, so no filter is larger than
 * MAX_NBYTES. The sizes of built filters are powers of two, because Arrow C++ refuses other sizes;
 * it also refuses sizes above 128 MiB (Arrow C++ 17, parquet/bloom_filter.h). */
static const uint64_t MAX_NBYTES = ((uint64_t)1 << 31) - PARQUET_BLOCK_NBYTES;
static const uint64_t MAX_BUILT_NBYTES = (uint64_t)1 << 30;

static struct filter_shape parquet_shape(const struct format_table *format, uint64_t nbytes,
                                         uint32_t line_nbytes, uint32_t nprobes)
{
  (void)format;
  return (struct filter_shape){
      .answer = ANSWER_BY_PROBES,
      .nprobes = nprobes,
      .nbytes = nbytes,
      .nbits = 8 * nbytes,
      .lines = {(uint32_t)(nbytes / line_nbytes), line_nbytes, WORD_NBITS, {0}},
  };
}

static lanebloom_status parquet_parse(const struct format_table *format, const uint8_t *bytes,
                                      size_t size, struct filter_shape *shape,
                                      const struct problem *problem)
{
  (void)bytes;
  if (size == 0 || size % PARQUET_BLOCK_NBYTES != 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected the bits of a Parquet filter, whole blocks of %d bytes, found %zu "
                       "bytes",
                       PARQUET_BLOCK_NBYTES, size);
  *shape = parquet_shape(format, size, PARQUET_BLOCK_NBYTES, NPROBES);
  return LANEBLOOM_OK;
}

/* ---- Sizes ---- */

/* Finds the smallest size that is a power of two, at least one block, and has at least nbits bits.
 * Errors: LIMIT. */
static lanebloom_status nbytes_of(uint64_t nbits, uint64_t *nbytes)
{
  *nbytes = PARQUET_BLOCK_NBYTES;
  while (8 * *nbytes < nbits && *nbytes < MAX_BUILT_NBYTES)
    *nbytes *= 2;
  return 8 * *nbytes < nbits ? LANEBLOOM_ERR_LIMIT : LANEBLOOM_OK;
}

static lanebloom_status parquet_plan(const struct format_table *format, uint64_t millibits,
                                     uint64_t nkeys, struct filter_shape *shape)
{
  uint64_t product, nbytes;
  if (__builtin_mul_overflow(nkeys, millibits, &product))
    return LANEBLOOM_ERR_LIMIT;
  const lanebloom_status status = nbytes_of(product / 1000, &nbytes);
  if (!status)
    *shape = parquet_shape(format, nbytes, PARQUET_BLOCK_NBYTES, NPROBES);
  return status;
}

/* Sizes filters as other writers do: for n keys and the rate p, the size is the smallest power of
 * two with at least -8 n / ln(1 - p^(1/8)) bits. With this number of bits, the rate would be p if
 * each of the eight words of a key could be anywhere in an eighth of all bits, independently of the
 * others (Arrow C++ 17, parquet/bloom_filter.h, BlockSplitBloomFilter::OptimalNumOfBits). But the
 * words of a key are in one block, and chance puts more keys into some blocks than into others, so
 * planned_rate may be up to 1.5 times p. Several values of bits per key lead to the same size. The
 * function returns the highest of them, because the least may not be a whole number of
 * thousandths. */
static lanebloom_status parquet_bits_for_rate(const struct format_table *format, double rate,
                                              uint64_t nkeys, uint64_t *millibits)
{
  (void)format;
  const double n = (double)(nkeys > 0 ? nkeys : 1);
  const double nbits = -NPROBES * n / log(1 - pow(rate, 1.0 / NPROBES));
  uint64_t nbytes;
  if (!(nbits >= 0 && nbits < 0x1p53)) /* negative if 1 - rate^(1/8) was rounded to 1 */
    return LANEBLOOM_ERR_LIMIT;
  const lanebloom_status status = nbytes_of((uint64_t)nbits, &nbytes);
  if (status)
    return status;
  const uint64_t most = (uint64_t)(8000.0 * (double)nbytes / n);
  *millibits = most < MIN_MILLIBITS ? MIN_MILLIBITS : most > MAX_MILLIBITS ? MAX_MILLIBITS : most;
  return LANEBLOOM_OK;
}

/* Every number of bits per key has the same number of probes, so there is no last value. */
static uint64_t last_with_same_nprobes(uint64_t millibits, uint64_t nkeys)
{
  (void)millibits;
  (void)nkeys;
  return UINT64_MAX;
}

/* ---- Rates ---- */

/* Returns the false-positive rate of a filter whose blocks have keys_per_block keys on average. If
 * a block has k keys, the bit that a probe tests in one of its words is set with the probability
 * 1 - (31/32)^k; words are independent, and k is Poisson distributed (J. Apple, Split block Bloom
 * filters, arXiv 2101.01719, section 2; F. Putze, P. Sanders and J. Singler, Cache-, hash- and
 * space-efficient Bloom filters, WEA 2007, section 3). If there are very many keys, every bit is
 * set, and the rate is 1. */
static double block_rate(double keys_per_block)
{
  const double many = 4096;
  if (!(keys_per_block < many))
    return 1;
  const double log_unset = log1p(-1.0 / WORD_NBITS);
  const int most = (int)(keys_per_block + 12 * sqrt(keys_per_block) + 32);
  double rate = 0, log_share = -keys_per_block;
  for (int k = 1; k <= most; k++) {
    log_share += log(keys_per_block / k);
    rate += exp(log_share) * pow(-expm1(k * log_unset), NPROBES);
  }
  return rate < 1 ? rate : 1;
}

static double parquet_rate(const struct filter_shape *shape, double nkeys, double nkeys_hashed)
{
  return lanebloom_rate_either(block_rate(nkeys / shape->lines.n),
                               lanebloom_rate_collision(nkeys_hashed, HASH_NBITS));
}

static double parquet_planned_rate(const struct format_table *format,
                                   const struct filter_shape *shape, uint64_t nkeys)
{
  (void)format;
  return nkeys == 0 ? 0 : parquet_rate(shape, (double)nkeys, (double)nkeys);
}

/* Estimates the number of keys from the set bits, and computes the rate from this estimate. n keys
 * leave the share e^(-n / (32 L)) of the bits of L blocks unset; solving this for n gives the
 * estimate. */
static double parquet_filled_rate(const struct format_table *format,
                                  const struct filter_shape *shape, uint64_t nbits_set,
                                  uint64_t nkeys)
{
  (void)format;
  if (nbits_set == 0 || nbits_set == shape->nbits)
    return nbits_set > 0;
  const double unset = log1p(-(double)nbits_set / (double)shape->nbits);
  const double nkeys_by_bits = -unset * WORD_NBITS * shape->lines.n;
  return parquet_rate(shape, nkeys_by_bits,
                      nkeys == LANEBLOOM_UNKNOWN ? nkeys_by_bits : (double)nkeys);
}

static void parquet_positions(const struct filter_shape *shape, const void *hash,
                              uint64_t *positions)
{
  const uint64_t whole = hash64_at(hash, 0);
  const uint64_t block = 8 * (uint64_t)parquet_block(whole, shape->lines.n);
  for (uint32_t word = 0; word < PARQUET_BLOCK_NWORDS; word++)
    positions[word] = block + WORD_NBITS * word + parquet_bit((uint32_t)whole, word);
}

const struct format_table lanebloom_format_parquet = {
    .id = LANEBLOOM_PARQUET,
    .name = "parquet",
    .text = "Parquet's split-block Bloom filter, without its header",
    .hash = HASH_XXH64,
    .layout = LAYOUT_PARQUET,
    .max_nbytes = MAX_NBYTES,
    .min_nprobes = NPROBES,
    .max_nprobes = NPROBES,
    .min_millibits = MIN_MILLIBITS,
    .max_millibits = MAX_MILLIBITS,
    .step_millibits = 1,
    .rounds_bits = true,
    .round_bits = lanebloom_round_bits,
    .plan = parquet_plan,
    .bits_for_rate = parquet_bits_for_rate,
    .last_with_same_nprobes = last_with_same_nprobes,
    .parse = parquet_parse,
    .line_nbytes = PARQUET_BLOCK_NBYTES,
    .shape = parquet_shape,
    .planned_rate = parquet_planned_rate,
    .filled_rate = parquet_filled_rate,
    .positions = parquet_positions,
};
