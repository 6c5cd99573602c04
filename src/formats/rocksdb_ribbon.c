/* Defines the format of Ribbon filters, which RocksDB 6.15 and above write.
 *
 *   segments of 16 bytes | 0xfe | seed | number of blocks
 *                        | 1 byte each | 3 bytes
 *
 * lanebloom opens Ribbon filters but does not build them, because their size depends on the keys,
 * and a builder would have to try to solve up to 256 systems of equations.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "../common/bytes.h"
#include "../layouts/rocksdb_ribbon.h"
#include "rocksdb.h"

enum { HASH_NBITS = 64 };

/* Returns the seed for the number in a trailer. The computation makes sure that seeds differ in
 * many bits (RocksDB 7.8.3 util/ribbon_impl.h, StandardRehasherAdapter::SetOrdinalSeed). */
static uint32_t seed_numbered(uint8_t number)
{
  uint64_t seed = number * UINT64_C(0xc78219a23eeadd03);
  seed ^= (seed & UINT64_C(0xf0f0f0f0f0f0f0f0)) >> 4;
  return (uint32_t)seed;
}

/* Parses as the engine's reader does (RocksDB 7.8.3 util/ribbon_impl.h,
 * SerializableInterleavedSolution::InternalConfigure). The segments are divided among the blocks.
 * If the division is not even, the last blocks get one segment more than the others. Bytes after
 * the last segment are not read. */
static lanebloom_status rocksdb_ribbon_parse(const struct format_table *format,
                                             const uint8_t *bytes, size_t size,
                                             struct filter_shape *shape,
                                             const struct problem *problem)
{
  (void)format;
  lanebloom_status status =
      lanebloom_rocksdb_parse(bytes, size, ROCKSDB_KIND_RIBBON, shape, problem);
  if (status || shape->answer != ANSWER_BY_PROBES)
    return status;

  const uint8_t *trailer = bytes + shape->nbytes;
  const uint64_t nblocks = load_le32(trailer + 1) >> 8;
  const uint64_t nsegments = shape->nbytes / ROCKSDB_RIBBON_SEGMENT_NBYTES;
  if (nblocks < 2) /* another process changed the mapped file meanwhile */
    return rocksdb_bytes_changed(problem);
  uint64_t ncolumns = (nsegments + nblocks - 1) / nblocks;
  uint64_t nnarrow = ncolumns * nblocks - nsegments;
  if (ncolumns > ROCKSDB_RIBBON_MAX_NCOLUMNS) {
    ncolumns = ROCKSDB_RIBBON_MAX_NCOLUMNS;
    nnarrow = 0;
  }
  if (ncolumns == 0) {
    shape->answer = ANSWER_ALWAYS;
    return LANEBLOOM_OK;
  }
  shape->nprobes = (uint32_t)ncolumns;
  shape->nbits = (ncolumns * nblocks - nnarrow) * ROCKSDB_RIBBON_BLOCK_NSLOTS;
  shape->ribbon.nblocks = (uint32_t)nblocks;
  shape->ribbon.nnarrow = (uint32_t)nnarrow;
  shape->ribbon.seed = seed_numbered(trailer[1]);
  return LANEBLOOM_OK;
}

/* Each column halves the rate, regardless of which bits are set (RocksDB 7.8.3 util/ribbon_impl.h,
 * SerializableInterleavedSolution::ExpectedFpRate; table/block_based/filter_policy.cc,
 * Standard128RibbonBitsBuilder::EstimatedFpRate). */
static double rocksdb_ribbon_filled_rate(const struct format_table *format,
                                         const struct filter_shape *shape, uint64_t nbits_set,
                                         uint64_t nkeys)
{
  (void)format;
  (void)nbits_set;
  const double nslots = ROCKSDB_RIBBON_BLOCK_NSLOTS;
  const double nstarts = (shape->ribbon.nblocks - 1) * nslots + 1;
  const double narrow = shape->ribbon.nnarrow * nslots / nstarts;
  const int ncolumns = (int)shape->nprobes;
  const double rate = narrow * ldexp(1, 1 - ncolumns) + (1 - narrow) * ldexp(1, -ncolumns);
  if (nkeys == LANEBLOOM_UNKNOWN)
    return rate;
  return lanebloom_rate_either(rate, lanebloom_rate_collision((double)nkeys, HASH_NBITS));
}

const struct format_table lanebloom_format_rocksdb_ribbon = {
    .id = LANEBLOOM_ROCKSDB_RIBBON,
    .name = "rocksdb-ribbon",
    .text = "RocksDB 6.15 and above with a Ribbon filter policy (read-only)",
    .trailer_nbytes = ROCKSDB_TRAILER_NBYTES,
    .max_nbytes = ROCKSDB_MAX_NBYTES,
    .parse = rocksdb_ribbon_parse,
    .hash = HASH_XXPH3,
    .layout = LAYOUT_ROCKSDB_RIBBON,
    .filled_rate = rocksdb_ribbon_filled_rate,
};
