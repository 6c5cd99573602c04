/* Has the definitions that RocksDB's filter formats share: a trailer that identifies the format,
 * and bits per key in thousandths.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FORMATS_ROCKSDB_H
#define LANEBLOOM_FORMATS_ROCKSDB_H

#include "../format.h"
#include "../layouts/rocksdb_local.h"

enum {
  ROCKSDB_TRAILER_NBYTES = 5,
  ROCKSDB_LEGACY_MAX_NPROBES = 127, /* a larger first byte of the trailer identifies another kind */
  ROCKSDB_MIN_MILLIBITS = 500,      /* for fewer bits the engine writes no filter */
  ROCKSDB_MAX_MILLIBITS = 100000,
  ROCKSDB_LINE_NBYTES =
      ROCKSDB_LOCAL_LINE_NBYTES, /* in the legacy format, writers on x86 use this size */
};

static const uint64_t ROCKSDB_MAX_NBYTES = UINT32_MAX; /* the engine stores sizes in 32 bits */

/* The kinds of filters that a trailer distinguishes. NEVER and ALWAYS are filters with constant
 * answers: no key is present, or every key may be present. */
enum rocksdb_kind {
  ROCKSDB_KIND_NEVER,
  ROCKSDB_KIND_ALWAYS,
  ROCKSDB_KIND_LEGACY,
  ROCKSDB_KIND_LOCAL,
  ROCKSDB_KIND_RIBBON,
};

/* Parses the parts that all kinds share: the size of the payload, and constant answers. If
 * shape->answer becomes ANSWER_BY_PROBES, the filter has the expected kind, and the caller fills in
 * the rest of the shape. Errors: FORMAT if the filter is of another kind. */
lanebloom_status lanebloom_rocksdb_parse(const uint8_t *bytes, size_t size,
                                         enum rocksdb_kind expected, struct filter_shape *shape,
                                         const struct problem *problem);

/* Reports that another process changed the bytes while they were parsed. */
static inline lanebloom_status rocksdb_bytes_changed(const struct problem *problem)
{
  return problem_set(problem, LANEBLOOM_ERR_CORRUPT, "the bytes were changed while they were read");
}

/* Serves as format_table.round_bits: rounds bits per key to thousandths as the engine does. */
lanebloom_status lanebloom_rocksdb_round_bits(const struct format_table *format,
                                              double bits_per_key, uint64_t *millibits);

/* These serve as format_table.planned_rate and format_table.filled_rate. They compute the engine's
 * estimates for Bloom filters. */
double lanebloom_rocksdb_planned_rate(const struct format_table *format,
                                      const struct filter_shape *shape, uint64_t nkeys);
double lanebloom_rocksdb_filled_rate(const struct format_table *format,
                                     const struct filter_shape *shape, uint64_t nbits_set,
                                     uint64_t nkeys);

#endif
