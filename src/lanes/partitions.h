/* Radix partitioning, for adding to a filter that exceeds the caches. If bits were set in the order
 * of the keys, each bit would fetch a cache line from memory and write it back. Instead, the filter
 * is divided into partitions, and elements (positions of bits, or hashes) are collected for the
 * partition in which their bits lie. When a partition has collected enough elements, the partition
 * is loaded into the cache, and the bits of all its elements are set there.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_PARTITIONS_H
#define LANEBLOOM_LANES_PARTITIONS_H

#include "../kernels.h"

enum {
  /* A partition is 512 KiB of a filter, half of a second-level cache of 1 MiB. */
  PARTITION_LOG2_NBYTES = 19,
  PARTITION_NBYTES = 1 << PARTITION_LOG2_NBYTES,
};

struct cache_line {
  _Alignas(CACHE_LINE_NBYTES) uint8_t bytes[CACHE_LINE_NBYTES];
};

/* The elements that partitions have collected. The newest elements of a partition are in its cache
 * line in `lines`. When this line is full, it moves to `collected` as a whole, by stores that
 * bypass the cache, so that the cache only holds one line per partition. */
struct partitions {
  size_t n;
  size_t max_nelements; /* elements that a partition can collect; they fill whole cache lines */
  uint8_t *collected;   /* room for n * max_nelements elements */
  struct cache_line *lines;
  uint32_t *counts; /* the number of elements of each partition, less than max_nelements */
};

/* A function that copies a line to memory, and bypasses the cache if the instruction set can. */
typedef void stream_function(uint8_t *to, const struct cache_line *line);

static inline size_t partitions_n(const struct filter_shape *shape)
{
  return (size_t)((shape->nbits - 1) >> (PARTITION_LOG2_NBYTES + 3)) + 1;
}

/* ---- The elements that a layout collects, and when ---- */

struct partition_rule {
  uint64_t min_nbytes; /* for smaller filters, adding one by one is faster */
  /* for batches with fewer elements per cache line of the filter, adding one by one is faster */
  size_t min_per_line;
  size_t element_nbytes;
  size_t max_nbytes; /* the most bytes of elements that a partition collects */
};

/* The rule for positions of bits. The collected positions take half as many bytes as the filter
 * has. If a batch has less than one position per cache line, loading whole partitions would load
 * more lines than adding one by one does. For filters below 14 MiB, adding one by one is faster,
 * because of the third-level cache and because lines are prefetched. On a Zen 3, a key takes these
 * times in ns; with 16 MiB, one by one takes more if other programs use the third-level cache:
 *
 *   size of the filter        8 MiB   12 MiB   16 MiB     24 MiB
 *   one by one                13.4    20.8     24 to 55   70
 *   by partitions             36.9    36.9     38 to 40   41 */
static const struct partition_rule POSITIONS = {14 << 20, 1, sizeof(uint32_t),
                                                PARTITION_NBYTES / 2};

/* The rule for hashes of 8 bytes. The collected hashes take as many bytes as the filter has. With
 * AVX-512 on a Xeon, a key takes these times in ns:
 *
 *   size of the filter        16 MiB   64 MiB   256 MiB
 *   one by one                6.8      9.5      13.5
 *   by partitions             9.7      9.7      9.5
 *
 * If partitions collect half as many bytes, a key takes 10.5 ns at 256 MiB; with twice as many
 * bytes, it takes 9.4 ns. */
static const struct partition_rule HASHES = {128 << 20, 2, sizeof(uint64_t), PARTITION_NBYTES};

/* Returns the number of elements that each partition collects, or 0 if partitions are not faster.
 * For a small batch, the number is an eighth more than a partition gets on average, so that only
 * few partitions become full before the batch ends. Such partitions are loaded twice. */
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

/* These two functions return the size of the memory that partitions need for adding nkeys keys, or
 * 0 if partitions are not faster. */
static inline size_t positions_nbytes(const struct filter_shape *shape, size_t nkeys)
{
  return partitions_nbytes(shape, &POSITIONS, nkeys, shape->nprobes);
}

static inline size_t hashes_nbytes(const struct filter_shape *shape, size_t nkeys)
{
  return partitions_nbytes(shape, &HASHES, nkeys, 1);
}

/* ---- Collecting ---- */

/* Creates empty partitions in `memory`. The memory must be aligned to a cache line and have
 * partitions_nbytes() bytes, which must not be 0. */
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

/* Appends an element. Returns true if the partition is now full. In that case the caller must set
 * the bits of all its max_nelements elements, and set its count to 0. */
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

/* Fills up the last line of a partition by repeating the line's first element, so that the line
 * moves to `collected`. Returns the number of elements of the partition, including the
 * repetitions. */
static inline __attribute__((always_inline)) size_t
partition_fill_up(const struct partitions *partitions, const struct partition_rule *rule,
                  size_t partition, stream_function *stream)
{
  const size_t per_line = CACHE_LINE_NBYTES / rule->element_nbytes;
  while (partitions->counts[partition] % per_line != 0)
    partition_append(partitions, rule, partition, partitions->lines[partition].bytes, stream);
  return partitions->counts[partition];
}

/* Loads a partition into the cache. Loads in sequence start the CPU's own prefetcher, but prefetch
 * instructions do not. (On a Zen 4, a full partition takes 1.2 ns per position with these loads,
 * 3.0 ns with prefetch instructions, and 3.3 ns with neither.) */
static inline void partition_load(const struct filter_shape *shape, const uint8_t *payload,
                                  size_t partition)
{
  const uint64_t begin = (uint64_t)partition * PARTITION_NBYTES, nbytes = shape->nbits / 8;
  const uint64_t end = nbytes - begin < PARTITION_NBYTES ? nbytes : begin + PARTITION_NBYTES;
  for (uint64_t at = begin; at < end; at += CACHE_LINE_NBYTES)
    /* volatile, so that the compiler keeps the loads */
    (void)*(const volatile uint8_t *)(payload + at);
}

#endif
