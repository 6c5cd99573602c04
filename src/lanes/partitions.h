/* Radix partitioning, for adding to a filter that no cache holds. A bit set by itself fetches a
 * cache line from memory and sends it back. Instead, positions of bits are collected by the
 * partition of the filter that they lie in; once a partition has collected enough, it is loaded
 * into the cache, and all its bits are set there.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_PARTITIONS_H
#define LANEBLOOM_LANES_PARTITIONS_H

#include "../kernels.h"

enum {
  /* 512 KiB of a filter: half of a second-level cache of 1 MiB. Other sizes were not measured. */
  PARTITION_LOG2_NBITS = 22,
  PARTITION_NBYTES = 1 << (PARTITION_LOG2_NBITS - 3),
  /* 8 for each of its cache lines: all partitions' positions take half as much as the filter. */
  PARTITION_MAX_NPOSITIONS = 1 << 16,

  CACHE_LINE_NPOSITIONS = CACHE_LINE_NBYTES / sizeof(uint32_t),

  /* 12 MiB: below, a third-level cache serves single bits as well (Zen 4, ns per key, one by one
   * and by partitions: 8 MiB 9.1, 20.6; 12 MiB 17.8, 21.8; 16 MiB 26, 20). */
  PARTITIONED_MIN_NBYTES = 12 << 20,
};

struct positions_line {
  _Alignas(CACHE_LINE_NBYTES) uint32_t positions[CACHE_LINE_NPOSITIONS];
};

/* Positions of one partition, the oldest first: those in `collected`, then up to a cache line of
 * them in `lines`. A line that is full moves to `collected` as a whole, by stores that leave the
 * cache alone. */
struct partitions {
  size_t n;
  size_t max_npositions; /* of each: a multiple of CACHE_LINE_NPOSITIONS */
  uint32_t *collected;   /* n * max_npositions */
  struct positions_line *lines;
  uint32_t *counts; /* of each partition's positions, below max_npositions */
};

static inline size_t partitions_n(const struct filter_shape *shape)
{
  return (size_t)((shape->nbits - 1) >> PARTITION_LOG2_NBITS) + 1;
}

/* How many positions each partition collects when nkeys keys are added, or 0: partitions do not
 * pay. A batch of less than a position per cache line of the filter would load more lines as whole
 * partitions than one by one. An eighth above the average, so that few partitions of a small batch
 * are applied twice. */
static inline size_t partitions_max_npositions(const struct filter_shape *shape, size_t nkeys)
{
  const uint64_t nbytes = shape->nbits / 8;
  if (nbytes < PARTITIONED_MIN_NBYTES || nkeys < nbytes / CACHE_LINE_NBYTES / shape->nprobes)
    return 0;
  const size_t max = PARTITION_MAX_NPOSITIONS, n = partitions_n(shape);
  if (nkeys / n >= max / shape->nprobes)
    return max;
  const size_t average = nkeys * shape->nprobes / n, wanted = average + average / 8;
  const size_t rounded =
      (wanted + CACHE_LINE_NPOSITIONS - 1) / CACHE_LINE_NPOSITIONS * CACHE_LINE_NPOSITIONS;
  return rounded < max ? rounded : max;
}

/* The memory that partitions take for adding nkeys keys; 0 where they do not pay. */
static inline size_t partitions_nbytes(const struct filter_shape *shape, size_t nkeys)
{
  const size_t max_npositions = partitions_max_npositions(shape, nkeys);
  const size_t each =
      max_npositions * sizeof(uint32_t) + sizeof(struct positions_line) + sizeof(uint32_t);
  return max_npositions ? partitions_n(shape) * each : 0;
}

/* Empty partitions in partitions_nbytes(shape, nkeys) bytes, which are not 0 and begin at a cache
 * line. */
static inline struct partitions partitions_in(void *memory, const struct filter_shape *shape,
                                              size_t nkeys)
{
  const size_t n = partitions_n(shape), max_npositions = partitions_max_npositions(shape, nkeys);
  struct partitions partitions = {.n = n, .max_npositions = max_npositions, .collected = memory};
  partitions.lines = (void *)(partitions.collected + n * max_npositions);
  partitions.counts = (void *)(partitions.lines + n);
  memset(partitions.counts, 0, n * sizeof(uint32_t));
  return partitions;
}

/* Where a partition collects positions. */
static inline uint32_t *partition_collected(const struct partitions *partitions, size_t partition)
{
  return partitions->collected + partition * partitions->max_npositions;
}

/* Loads in sequence wake the CPU's own prefetcher, which prefetch instructions do not (Zen 4, ns
 * per position of a full partition: without 3.3, prefetch instructions 3.0, loads 1.2). */
static inline void partition_load(const struct filter_shape *shape, const uint8_t *payload,
                                  size_t partition)
{
  const uint64_t begin = (uint64_t)partition * PARTITION_NBYTES, nbytes = shape->nbits / 8;
  const uint64_t end = nbytes - begin < PARTITION_NBYTES ? nbytes : begin + PARTITION_NBYTES;
  for (uint64_t at = begin; at < end; at += CACHE_LINE_NBYTES)
    (void)*(const volatile uint8_t *)(payload + at); /* volatile: the loads stay */
}

#endif
