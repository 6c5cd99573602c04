/* Radix partitioning, for adding to a filter that no cache holds. Setting single bits in any order
 * fetches a cache line from memory for each and writes it back. Instead, elements (positions of
 * bits, or hashes) are collected by the partition of the filter in which they lie; once a partition
 * has collected enough, it is loaded into the cache, and all its bits are set there.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_PARTITIONS_H
#define LANEBLOOM_LANES_PARTITIONS_H

#include "../kernels.h"

enum {
  /* 512 KiB of a filter: half of a second-level cache of 1 MiB. */
  PARTITION_LOG2_NBYTES = 19,
  PARTITION_NBYTES = 1 << PARTITION_LOG2_NBYTES,
};

struct cache_line {
  _Alignas(CACHE_LINE_NBYTES) uint8_t bytes[CACHE_LINE_NBYTES];
};

/* The elements of each partition, the oldest first: those in `collected`, followed by up to a cache
 * line of them in `lines`. A full line moves to `collected` as a whole, by stores that bypass the
 * cache. */
struct partitions {
  size_t n;
  size_t max_nelements; /* of each partition: whole cache lines */
  uint8_t *collected;   /* n * max_nelements */
  struct cache_line *lines;
  uint32_t *counts; /* the number of each partition's elements, below max_nelements */
};

/* Copies a line, past the cache if that is possible. */
typedef void stream_function(uint8_t *to, const struct cache_line *line);

static inline size_t partitions_n(const struct filter_shape *shape)
{
  return (size_t)((shape->nbits - 1) >> (PARTITION_LOG2_NBYTES + 3)) + 1;
}

/* ---- The elements that a layout collects, and when ---- */

struct partition_rule {
  uint64_t min_nbytes; /* of the filter: below it, adding elements one by one is faster */
  size_t min_per_line; /* the least elements in a batch, for each cache line of the filter */
  size_t element_nbytes;
  size_t max_nbytes; /* that a partition collects */
};

/* Positions, which take half as many bytes as the filter has. Below 12 MiB, a third-level cache is
 * as fast for single bits (Zen 4, ns per key, one by one and by partitions: 8 MiB 9.1, 20.6; 12 MiB
 * 17.8, 21.8; 16 MiB 26, 20). If a batch has less than one position per line, loading whole
 * partitions would load more lines than adding one by one. */
static const struct partition_rule POSITIONS = {12 << 20, 1, sizeof(uint32_t),
                                                PARTITION_NBYTES / 2};

/* Hashes of 8 bytes, which take as many bytes as the filter has (AVX-512 on a Xeon, ns per key, one
 * by one and by partitions: 16 MiB 6.8, 9.7; 64 MiB 9.5, 9.7; 256 MiB 13.5, 9.5; collecting half as
 * many bytes 10.5, twice as many 9.4). */
static const struct partition_rule HASHES = {128 << 20, 2, sizeof(uint64_t), PARTITION_NBYTES};

/* Returns how many elements each partition collects; 0 if partitions are not faster. The number is
 * an eighth above the average, so that few partitions of a small batch are applied twice. */
static inline size_t partitions_max_nelements(const struct filter_shape *shape,
                                              const struct partition_rule *rule, size_t nkeys,
                                              size_t per_key)
{
  const uint64_t nbytes = shape->nbits / 8;
  const size_t min = (size_t)(nbytes / CACHE_LINE_NBYTES) * rule->min_per_line;
  if (nbytes < rule->min_nbytes || nkeys < min / per_key)
    return 0;
  const size_t max = rule->max_nbytes / rule->element_nbytes, n = partitions_n(shape);
  if (nkeys / n >= max / per_key)
    return max;
  const size_t per_line = CACHE_LINE_NBYTES / rule->element_nbytes;
  const size_t average = nkeys * per_key / n, wanted = average + average / 8;
  const size_t rounded = (wanted + per_line - 1) / per_line * per_line;
  return rounded < max ? rounded : max;
}

static inline size_t partitions_nbytes(const struct filter_shape *shape,
                                       const struct partition_rule *rule, size_t nkeys,
                                       size_t per_key)
{
  const size_t max_nelements = partitions_max_nelements(shape, rule, nkeys, per_key);
  const size_t each =
      max_nelements * rule->element_nbytes + sizeof(struct cache_line) + sizeof(uint32_t);
  return max_nelements ? partitions_n(shape) * each : 0;
}

/* Return the size of the memory that partitions need for adding nkeys keys; 0 if they are not
 * faster. */
static inline size_t positions_nbytes(const struct filter_shape *shape, size_t nkeys)
{
  return partitions_nbytes(shape, &POSITIONS, nkeys, shape->nprobes);
}

static inline size_t hashes_nbytes(const struct filter_shape *shape, size_t nkeys)
{
  return partitions_nbytes(shape, &HASHES, nkeys, 1);
}

/* ---- Collecting ---- */

/* Creates empty partitions in memory of partitions_nbytes() bytes, which must not be 0. The memory
 * begins at a cache line. */
static inline struct partitions partitions_in(void *memory, const struct filter_shape *shape,
                                              const struct partition_rule *rule, size_t nkeys,
                                              size_t per_key)
{
  const size_t n = partitions_n(shape),
               max_nelements = partitions_max_nelements(shape, rule, nkeys, per_key);
  struct partitions partitions = {.n = n, .max_nelements = max_nelements, .collected = memory};
  partitions.lines = (void *)(partitions.collected + n * max_nelements * rule->element_nbytes);
  partitions.counts = (void *)(partitions.lines + n);
  memset(partitions.counts, 0, n * sizeof(uint32_t));
  return partitions;
}

/* Returns the memory in which a partition collects elements. */
static inline uint8_t *partition_collected(const struct partitions *partitions,
                                           const struct partition_rule *rule, size_t partition)
{
  return partitions->collected + partition * partitions->max_nelements * rule->element_nbytes;
}

/* Appends an element. Returns true if the partition is now full: then the caller must apply all
 * max_nelements elements and set the count to 0. */
static inline __attribute__((always_inline)) bool
partition_append(const struct partitions *partitions, const struct partition_rule *rule,
                 size_t partition, const void *element, stream_function *stream)
{
  const size_t size = rule->element_nbytes, per_line = CACHE_LINE_NBYTES / size;
  struct cache_line *line = &partitions->lines[partition];
  const size_t count = partitions->counts[partition] + 1;
  memcpy(line->bytes + (count - 1) % per_line * size, element, size);
  partitions->counts[partition] = (uint32_t)count;
  if (count % per_line != 0)
    return false;
  stream(partition_collected(partitions, rule, partition) + (count - per_line) * size, line);
  return count == partitions->max_nelements;
}

/* Fills up the last line by repeating its first element. Returns how many elements there are
 * then. */
static inline __attribute__((always_inline)) size_t
partition_fill_up(const struct partitions *partitions, const struct partition_rule *rule,
                  size_t partition, stream_function *stream)
{
  const size_t per_line = CACHE_LINE_NBYTES / rule->element_nbytes;
  while (partitions->counts[partition] % per_line != 0)
    partition_append(partitions, rule, partition, partitions->lines[partition].bytes, stream);
  return partitions->counts[partition];
}

/* Loads a partition into the cache. Loads in sequence start the CPU's own prefetcher, which
 * prefetch instructions do not (Zen 4, ns per position of a full partition: without 3.3, prefetch
 * instructions 3.0, loads 1.2). */
static inline void partition_load(const struct filter_shape *shape, const uint8_t *payload,
                                  size_t partition)
{
  const uint64_t begin = (uint64_t)partition * PARTITION_NBYTES, nbytes = shape->nbits / 8;
  const uint64_t end = nbytes - begin < PARTITION_NBYTES ? nbytes : begin + PARTITION_NBYTES;
  for (uint64_t at = begin; at < end; at += CACHE_LINE_NBYTES)
    (void)*(const volatile uint8_t *)(payload + at); /* volatile: keeps the loads */
}

#endif
