/* Definitions that RocksDB's filter formats share: a trailer that identifies the format, and bits
 * per key in thousandths.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FORMATS_ROCKSDB_H
#define LANEBLOOM_FORMATS_ROCKSDB_H

#include "../format.h"
#include "../layouts/rocksdb_local.h"

enum {
  ROCKSDB_TRAILER_NBYTES = 5,
  ROCKSDB_LEGACY_MAX_NPROBES = 127, /* larger values identify other filters */
  ROCKSDB_MIN_MILLIBITS = 500,      /* for less, the engine writes no filter */
  ROCKSDB_MAX_MILLIBITS = 100000,
  ROCKSDB_LINE_NBYTES =
      ROCKSDB_LOCAL_LINE_NBYTES, /* in the legacy format: as a writer on x86 makes it */
};

static const uint64_t ROCKSDB_MAX_NBYTES = UINT32_MAX; /* the engine stores sizes in 32 bits */

/* The kinds of filters that a trailer distinguishes. NEVER, ALWAYS: constant answers. */
enum rocksdb_kind {
  ROCKSDB_KIND_NEVER,
  ROCKSDB_KIND_ALWAYS,
  ROCKSDB_KIND_LEGACY,
  ROCKSDB_KIND_LOCAL,
  ROCKSDB_KIND_RIBBON,
};

/* Parses the parts that all kinds share: size and constant answers. If shape->answer is
 * ANSWER_BY_PROBES, the filter has the expected kind, and the caller fills in the rest of the
 * shape. Errors: FORMAT: a filter of another kind. */
lanebloom_status lanebloom_rocksdb_parse(const uint8_t *bytes, size_t size,
                                         enum rocksdb_kind expected, struct filter_shape *shape);

/* format_table.round_bits for thousandths: rounds as the engine does. */
lanebloom_status lanebloom_rocksdb_round_bits(double bits_per_key, uint64_t *millibits);

/* Returns the false-positive rate if all probes of a key are in one cache line of 512 bits. */
double lanebloom_rocksdb_line_rate(double bits_per_key, unsigned nprobes);

/* Returns the engine's estimate of a format's false-positive rate. */
typedef double rocksdb_estimate(double bits_per_key, unsigned nprobes, double nkeys);

/* format_table.planned_rate and .filled_rate, computed with a format's estimate. */
double lanebloom_rocksdb_planned_rate(const struct filter_shape *shape, uint64_t nkeys,
                                      rocksdb_estimate *estimate);
double lanebloom_rocksdb_filled_rate(const struct filter_shape *shape, uint64_t nbits_set,
                                     uint64_t nkeys, rocksdb_estimate *estimate);

#endif
