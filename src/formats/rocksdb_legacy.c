/* Defines the filter format of RocksDB's tables with format_version below 5. Pebble uses this
 * format, too.
 *
 *   cache lines | number of probes, 1 byte | number of lines, 4 bytes
 *
 * SPDX-License-Identifier: MIT */
#include "../common/bytes.h"
#include "../layouts/bloomhash.h"
#include "rocksdb.h"

static const uint64_t MAX_NBITS = 0xffff0000;
static const uint64_t MAX_LINE_NBYTES = (uint64_t)1
                                        << 27; /* larger lines overflow the engine's arithmetic */

/* Rounds bits per key to whole numbers (RocksDB 7.8.3 table/block_based/filter_policy.cc,
 * BloomLikeFilterPolicy). */
static lanebloom_status rocksdb_legacy_round_bits(const struct format_table *format,
                                                  double bits_per_key, uint64_t *millibits)
{
  lanebloom_status status = lanebloom_rocksdb_round_bits(format, bits_per_key, millibits);
  if (!status)
    *millibits = (*millibits + 500) / 1000 * 1000;
  return status;
}

static struct filter_shape rocksdb_legacy_shape(const struct format_table *format, uint64_t nbytes,
                                                uint32_t line_nbytes, uint32_t nprobes)
{
  (void)format;
  const uint32_t nlines = (uint32_t)(nbytes / line_nbytes);
  return (struct filter_shape){
      .answer = ANSWER_BY_PROBES,
      .nprobes = nprobes,
      .nbytes = nbytes,
      .nbits = 8 * nbytes,
      .lines = {.n = nlines, .nbytes = line_nbytes, .reciprocal = reciprocal_32(nlines)},
  };
}

/* The planned number of lines is odd, as in RocksDB. The hash modulo the number of lines selects
 * the line, and the low bits of the same hash select the bits in the line. If the number of lines
 * were even, the line would depend on these low bits, too (RocksDB 7.8.3
 * table/block_based/filter_policy.cc, LegacyBloomBitsBuilder). */
static lanebloom_status rocksdb_legacy_plan(const struct format_table *format, uint64_t millibits,
                                            uint64_t nkeys, struct filter_shape *shape)
{
  const uint64_t bits_per_key = millibits / 1000;
  uint64_t nbits;
  if (__builtin_mul_overflow(nkeys, bits_per_key, &nbits) || nbits > MAX_NBITS)
    return LANEBLOOM_ERR_LIMIT;

  const uint64_t line_nbits = 8 * ROCKSDB_LINE_NBYTES;
  const uint64_t nlines = (nbits + line_nbits - 1) / line_nbits | 1;
  *shape = rocksdb_legacy_shape(format, nlines * ROCKSDB_LINE_NBYTES, ROCKSDB_LINE_NBYTES,
                                lanebloom_nprobes_by_bits(bits_per_key));
  if (nkeys == 0)
    *shape = (struct filter_shape){.answer = ANSWER_NEVER, .nprobes = shape->nprobes};
  return LANEBLOOM_OK;
}

/* The size of a line is the size of the payload divided by the number of lines. If the result is
 * not a power of two, every key may be present (RocksDB 7.8.3 table/block_based/filter_policy.cc,
 * GetBuiltinFilterBitsReader). */
static lanebloom_status rocksdb_legacy_parse(const struct format_table *format,
                                             const uint8_t *bytes, size_t size,
                                             struct filter_shape *shape,
                                             const struct problem *problem)
{
  lanebloom_status status =
      lanebloom_rocksdb_parse(bytes, size, ROCKSDB_KIND_LEGACY, shape, problem);
  if (status || shape->answer != ANSWER_BY_PROBES)
    return status;

  const uint8_t *trailer = bytes + shape->nbytes;
  const uint8_t nprobes = trailer[0];
  const uint32_t nlines = load_le32(trailer + 1);
  /* true only if another process changed the mapped file meanwhile */
  if (nprobes < 1 || nprobes > ROCKSDB_LEGACY_MAX_NPROBES)
    return rocksdb_bytes_changed(problem);
  const uint64_t line_nbytes = nlines == 0 ? 0 : shape->nbytes / nlines;
  const bool power_of_two = line_nbytes != 0 && (line_nbytes & (line_nbytes - 1)) == 0;
  if (!power_of_two || line_nbytes * nlines != shape->nbytes || line_nbytes > MAX_LINE_NBYTES) {
    shape->answer = ANSWER_ALWAYS;
    return LANEBLOOM_OK;
  }
  *shape = rocksdb_legacy_shape(format, shape->nbytes, (uint32_t)line_nbytes, nprobes);
  return LANEBLOOM_OK;
}

static void rocksdb_legacy_write_frame(const struct format_table *format,
                                       const struct filter_shape *shape, uint8_t *bytes)
{
  (void)format;
  uint8_t *trailer = bytes + shape->nbytes;
  trailer[0] = (uint8_t)shape->nprobes;
  store_le32(trailer + 1, shape->lines.n);
}

static void rocksdb_legacy_positions(const struct filter_shape *shape, const void *hash,
                                     uint64_t *positions)
{
  uint32_t probe = hash32_at(hash, 0);
  const uint64_t line_nbits = 8 * (uint64_t)shape->lines.nbytes;
  const uint64_t line = probe % shape->lines.n * line_nbits;
  const uint32_t stride = bloomhash_stride(probe);
  for (uint32_t i = 0; i < shape->nprobes; i++, probe += stride)
    positions[i] = line + probe % line_nbits;
}

const struct format_table lanebloom_format_rocksdb_legacy = {
    .id = LANEBLOOM_ROCKSDB_LEGACY,
    .name = "rocksdb-legacy",
    .text = "RocksDB with format_version below 5, and Pebble",
    .hash = HASH_BLOOMHASH_SIGNED,
    .hash_nbits = 32,
    .layout = LAYOUT_ROCKSDB_LEGACY,
    .trailer_nbytes = ROCKSDB_TRAILER_NBYTES,
    .max_nbytes = ROCKSDB_MAX_NBYTES,
    .drops_equal_neighbours = true,
    .min_nprobes = 1,
    .max_nprobes = ROCKSDB_LEGACY_MAX_NPROBES,
    .min_millibits = ROCKSDB_MIN_MILLIBITS,
    .max_millibits = ROCKSDB_MAX_MILLIBITS,
    .step_millibits = 1000,
    .rounds_bits = true,
    .round_bits = rocksdb_legacy_round_bits,
    .plan = rocksdb_legacy_plan,
    .bits_for_rate = lanebloom_search_bits,
    .last_with_same_nprobes = lanebloom_last_with_same_nprobes_by_bits,
    .parse = rocksdb_legacy_parse,
    .write_frame = rocksdb_legacy_write_frame,
    .line_nbytes = ROCKSDB_LINE_NBYTES,
    .shape = rocksdb_legacy_shape,
    .planned_rate = lanebloom_rocksdb_planned_rate,
    .filled_rate = lanebloom_rocksdb_filled_rate,
    .positions = rocksdb_legacy_positions,
};
