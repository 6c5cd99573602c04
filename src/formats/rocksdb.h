/* What RocksDB's filter formats share: a trailer that says which one it is, and sizing in
 * thousandths of bits per key.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FORMATS_ROCKSDB_H
#define LANEBLOOM_FORMATS_ROCKSDB_H

#include "../format.h"

enum {
  ROCKSDB_TRAILER_NBYTES = 5,
  ROCKSDB_LEGACY_MAX_NPROBES = 127, /* larger bytes mean other filters */
  ROCKSDB_MIN_MILLIBITS = 500,      /* below half a bit per key the engine writes no filter */
  ROCKSDB_MAX_MILLIBITS = 100000,
  ROCKSDB_LINE_NBYTES =
      ROCKSDB_LOCAL_LINE_NBYTES, /* in the legacy format, that of a writer on x86 */
};

static const uint64_t ROCKSDB_MAX_NBYTES = UINT32_MAX; /* the engine would take more modulo 2^32 */

/* What a trailer says of the bytes before it. */
enum rocksdb_kind {
  ROCKSDB_KIND_NEVER,
  ROCKSDB_KIND_ALWAYS,
  ROCKSDB_KIND_LEGACY,
  ROCKSDB_KIND_LOCAL,
  ROCKSDB_KIND_RIBBON,
};

/* Parses what is the same for every kind: sizes, constant answers, and kinds other than the
 * expected one. On success with ANSWER_BY_PROBES the rest of the shape is the caller's to fill.
 * Errors: FORMAT. */
lanebloom_status lanebloom_rocksdb_parse(const uint8_t *bytes, size_t size,
                                         enum rocksdb_kind expected, struct filter_shape *shape);

/* format_table.round_bits: thousandths, as the engine keeps them. */
lanebloom_status lanebloom_rocksdb_round_bits(double bits_per_key, uint64_t *millibits);

/* The false-positive rate of probes that stay in a cache line of 512 bits. */
double lanebloom_rocksdb_line_rate(double bits_per_key, unsigned nprobes);

/* A format's estimate of the rate from these three. */
typedef double rocksdb_estimate(double bits_per_key, unsigned nprobes, double nkeys);

/* format_table.planned_rate and .filled_rate by an estimate. */
double lanebloom_rocksdb_planned_rate(const struct filter_shape *shape, uint64_t nkeys,
                                      rocksdb_estimate *estimate);
double lanebloom_rocksdb_filled_rate(const struct filter_shape *shape, uint64_t nbits_set,
                                     uint64_t nkeys, rocksdb_estimate *estimate);

#endif
