/* Defines the format of LevelDB's BuiltinBloomFilter2, and a second format, whose hash reads the
 * last bytes of a key as signed. Everything else is the same in both formats.
 *
 *   bits | number of probes, 1 byte
 *
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "../format.h"
#include "../layouts/leveldb.h"

enum {
  /* LevelDB's minimum, because smaller filters would have a high false-positive rate */
  MIN_NBITS = 64,
  HASH_NBITS = 32,
};

/* Makes the shape. The position of a probe h, which has 32 bits, is h modulo nbits. Because nbits
 * is a multiple of 8, the position equals 8 * (h / 8 % (nbits / 8)) + h % 8, so kernels need the
 * reciprocal of nbits / 8. Bits from 2^32 on are never probed. */
static struct filter_shape leveldb_shape(const struct format_table *format, uint64_t nbytes,
                                         uint32_t line_nbytes, uint32_t nprobes)
{
  (void)format;
  (void)line_nbytes;
  const uint64_t max_nbits = (uint64_t)1 << HASH_NBITS;
  const uint64_t nbits = nbytes < max_nbits / 8 ? nbytes * 8 : max_nbits;
  return (struct filter_shape){
      .answer = ANSWER_BY_PROBES,
      .nprobes = nprobes,
      .nbytes = nbytes,
      .nbits = nbits,
      .leveldb = {reciprocal_29((uint32_t)(nbits / 8))},
  };
}

/* Accepts only whole numbers that fit into the engine's type, an int. */
static lanebloom_status leveldb_round_bits(const struct format_table *format, double bits_per_key,
                                           uint64_t *millibits)
{
  (void)format;
  if (!(bits_per_key >= 0 && bits_per_key <= INT_MAX) || bits_per_key != floor(bits_per_key))
    return LANEBLOOM_ERR_ARGUMENT;
  *millibits = (uint64_t)bits_per_key * 1000;
  return LANEBLOOM_OK;
}

static lanebloom_status leveldb_plan(const struct format_table *format, uint64_t millibits,
                                     uint64_t nkeys, struct filter_shape *shape)
{
  const uint64_t bits_per_key = millibits / 1000;
  uint64_t nbits;
  if (__builtin_mul_overflow(nkeys, bits_per_key, &nbits) || nbits > UINT64_MAX - 7)
    return LANEBLOOM_ERR_LIMIT;
  if (nbits < MIN_NBITS)
    nbits = MIN_NBITS;
  *shape = leveldb_shape(format, (nbits + 7) / 8, 1, lanebloom_nprobes_by_bits(bits_per_key));
  return LANEBLOOM_OK;
}

/* Finds the shape by the checks that LevelDB's KeyMayMatch does, in the same order (LevelDB 1.23
 * util/bloom.cc). */
static lanebloom_status leveldb_parse(const struct format_table *format, const uint8_t *bytes,
                                      size_t size, struct filter_shape *shape,
                                      const struct problem *problem)
{
  (void)problem;
  *shape = (struct filter_shape){.answer = ANSWER_NEVER};
  if (size < 2)
    return LANEBLOOM_OK;
  const uint8_t nprobes = bytes[size - 1];
  if (nprobes == 0 || nprobes > LEVELDB_MAX_NPROBES)
    *shape = (struct filter_shape){.answer = ANSWER_ALWAYS, .nbytes = size - 1};
  else
    *shape = leveldb_shape(format, size - 1, 1, nprobes);
  return LANEBLOOM_OK;
}

static void leveldb_write_frame(const struct format_table *format, const struct filter_shape *shape,
                                uint8_t *bytes)
{
  (void)format;
  bytes[shape->nbytes] = (uint8_t)shape->nprobes;
}

static void leveldb_positions(const struct filter_shape *shape, const void *hash,
                              uint64_t *positions)
{
  uint32_t probe = hash32_at(hash, 0);
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t i = 0; i < shape->nprobes; i++, probe += stride)
    positions[i] = probe % shape->nbits;
}

/* The members that both formats share. */
#define LEVELDB_LAYOUT                                                                             \
  .layout = LAYOUT_LEVELDB, .hash_nbits = HASH_NBITS, .trailer_nbytes = 1,                         \
  .max_nbytes = UINT64_MAX, .min_nprobes = 1, .max_nprobes = LEVELDB_MAX_NPROBES,                  \
  .min_millibits = 0, .max_millibits = (uint64_t)INT_MAX * 1000, .step_millibits = 1000,           \
  .rounds_bits = false, .round_bits = leveldb_round_bits, .plan = leveldb_plan,                    \
  .bits_for_rate = lanebloom_search_bits,                                                          \
  .last_with_same_nprobes = lanebloom_last_with_same_nprobes_by_bits, .parse = leveldb_parse,      \
  .write_frame = leveldb_write_frame, .line_nbytes = 1, .shape = leveldb_shape,                    \
  .planned_rate = lanebloom_spread_planned_rate, .filled_rate = lanebloom_spread_filled_rate,      \
  .positions = leveldb_positions

const struct format_table lanebloom_format_leveldb = {
    .id = LANEBLOOM_LEVELDB,
    .name = "leveldb",
    .text = "LevelDB and goleveldb",
    .hash = HASH_BLOOMHASH,
    LEVELDB_LAYOUT,
};

const struct format_table lanebloom_format_leveldb_signed = {
    .id = LANEBLOOM_LEVELDB_SIGNED,
    .name = "leveldb-signed",
    .text = "LevelDB before 1.18 on x86, and RocksDB's block-based filter",
    .hash = HASH_BLOOMHASH_SIGNED,
    LEVELDB_LAYOUT,
};
