/* Defines the filter format FastLocalBloom, which RocksDB uses in tables with format_version 5 and
 * above.
 *
 *   cache lines of 64 bytes | 0xff | 0 | number of probes | 0 | 0
 *                           | 1 byte each
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "../common/bytes.h"
#include "rocksdb.h"

enum { MAX_NPROBES = 30 };

static const uint64_t MAX_PAYLOAD_NBYTES = 0xffffffc0;

/* The highest bits per key, in thousandths, for 1, 2, 3, ... probes. RocksDB chose these numbers by
 * measurement. More bits per key do not always mean more probes: 25.501 bits per key make 12
 * probes, but 25.502 bits make 11 (RocksDB 7.8.3 util/bloom_impl.h,
 * FastLocalBloomImpl::ChooseNumProbes). */
static const uint16_t most_millibits[] = {2080,  3580,  5100,  6640,  8300,  10070,
                                          11720, 14001, 16050, 18300, 22001, 25501};
enum { NMOST = sizeof most_millibits / sizeof *most_millibits };

static uint32_t nprobes_for(uint64_t millibits)
{
  for (uint32_t i = 0; i < NMOST; i++)
    if (millibits <= most_millibits[i])
      return i + 1;
  return millibits > 50000 ? 24 : (uint32_t)((millibits - 1) / 2000 - 1);
}

static uint64_t last_with_same_nprobes(uint64_t millibits, uint64_t nkeys)
{
  (void)nkeys;
  for (uint32_t i = 0; i < NMOST; i++)
    if (millibits <= most_millibits[i])
      return most_millibits[i];
  return millibits > 50000 ? UINT64_MAX : (millibits + 1999) / 2000 * 2000;
}

/* Makes the shape. If the payload does not end with a whole line, the bytes after the last whole
 * line are never probed. */
static struct filter_shape rocksdb_local_shape(const struct format_table *format, uint64_t nbytes,
                                               uint32_t line_nbytes, uint32_t nprobes)
{
  (void)format;
  const uint64_t nlines = nbytes / line_nbytes;
  return (struct filter_shape){
      .answer = ANSWER_BY_PROBES,
      .nprobes = nprobes,
      .nbytes = nbytes,
      .nbits = nlines * line_nbytes * 8,
      .lines = {.n = (uint32_t)nlines, .nbytes = line_nbytes},
  };
}

/* Sizes filters as the engine does if its option optimize_filters_for_memory is off (RocksDB 7.8.3
 * table/block_based/filter_policy.cc, FastLocalBloomBitsBuilder). */
static lanebloom_status rocksdb_local_plan(const struct format_table *format, uint64_t millibits,
                                           uint64_t nkeys, struct filter_shape *shape)
{
  uint64_t product;
  if (__builtin_mul_overflow(nkeys, millibits, &product) || product > 8000 * MAX_PAYLOAD_NBYTES)
    return LANEBLOOM_ERR_LIMIT;

  const uint64_t nlines = ((product + 7999) / 8000 + ROCKSDB_LINE_NBYTES - 1) / ROCKSDB_LINE_NBYTES;
  *shape = rocksdb_local_shape(format, nlines * ROCKSDB_LINE_NBYTES, ROCKSDB_LINE_NBYTES,
                               nprobes_for(millibits));
  if (nkeys == 0)
    shape->answer = ANSWER_NEVER;
  return LANEBLOOM_OK;
}

/* Parses as the engine's reader does (RocksDB 7.8.3 table/block_based/filter_policy.cc,
 * GetBloomBitsReader), with one exception. If the payload has no whole line, the engine reads out
 * of bounds; here every key may be present. */
static lanebloom_status rocksdb_local_parse(const struct format_table *format, const uint8_t *bytes,
                                            size_t size, struct filter_shape *shape,
                                            const struct problem *problem)
{
  lanebloom_status status =
      lanebloom_rocksdb_parse(bytes, size, ROCKSDB_KIND_LOCAL, shape, problem);
  if (status || shape->answer != ANSWER_BY_PROBES)
    return status;

  const uint8_t *trailer = bytes + shape->nbytes;
  const uint8_t implementation = trailer[1], nprobes = trailer[2] & 31, line_size = trailer[2] >> 5;
  const bool understood =
      implementation == 0 && line_size == 0 && trailer[3] == 0 && trailer[4] == 0;
  if (!understood || nprobes < 1 || nprobes > MAX_NPROBES || shape->nbytes < ROCKSDB_LINE_NBYTES)
    shape->answer = ANSWER_ALWAYS;
  else
    *shape = rocksdb_local_shape(format, shape->nbytes, ROCKSDB_LINE_NBYTES, nprobes);
  return LANEBLOOM_OK;
}

static void rocksdb_local_write_frame(const struct format_table *format,
                                      const struct filter_shape *shape, uint8_t *bytes)
{
  (void)format;
  const uint8_t trailer[ROCKSDB_TRAILER_NBYTES] = {0xff, 0, (uint8_t)shape->nprobes, 0, 0};
  memcpy(bytes + shape->nbytes, trailer, sizeof trailer);
}

static void rocksdb_local_positions(const struct filter_shape *shape, const void *hash,
                                    uint64_t *positions)
{
  const uint64_t whole = hash64_at(hash, 0);
  const uint64_t line = 8 * (uint64_t)rocksdb_local_line(whole, shape->lines.n);
  uint32_t probe = (uint32_t)(whole >> 32);
  for (uint32_t i = 0; i < shape->nprobes; i++, probe *= ROCKSDB_LOCAL_MULTIPLIER)
    positions[i] = line + rocksdb_local_bit(probe);
}

const struct format_table lanebloom_format_rocksdb_local = {
    .id = LANEBLOOM_ROCKSDB_LOCAL,
    .name = "rocksdb-local",
    .text = "RocksDB with format_version 5 and above (FastLocalBloom)",
    .hash = HASH_XXPH3,
    .hash_nbits = 64,
    .layout = LAYOUT_ROCKSDB_LOCAL,
    .trailer_nbytes = ROCKSDB_TRAILER_NBYTES,
    .max_nbytes = ROCKSDB_MAX_NBYTES,
    .drops_equal_neighbours = true,
    .min_nprobes = 1,
    .max_nprobes = MAX_NPROBES,
    .min_millibits = ROCKSDB_MIN_MILLIBITS,
    .max_millibits = ROCKSDB_MAX_MILLIBITS,
    .step_millibits = 1,
    .rounds_bits = true,
    .round_bits = lanebloom_rocksdb_round_bits,
    .plan = rocksdb_local_plan,
    .bits_for_rate = lanebloom_search_bits,
    .last_with_same_nprobes = last_with_same_nprobes,
    .parse = rocksdb_local_parse,
    .write_frame = rocksdb_local_write_frame,
    .line_nbytes = ROCKSDB_LINE_NBYTES,
    .shape = rocksdb_local_shape,
    .planned_rate = lanebloom_rocksdb_planned_rate,
    .filled_rate = lanebloom_rocksdb_filled_rate,
    .positions = rocksdb_local_positions,
};
