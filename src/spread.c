/* Buckets of bit positions: their memory, and when they are worth it.
 * SPDX-License-Identifier: MIT */
#include "spread.h"

enum { LINE_NBYTES = 64, PIECE_NBYTES = 1 << (PIECE_LOG_NBITS - 3) };

/* Below, a third-level cache serves single bits well enough: measured on Zen 4 (AVX2 / AVX-512, ns
 * per key without its hash), 8 MiB: one by one 9.1 / 7.5, by buckets 20.6 / 19.0; 12 MiB: 17.8 /
 * 19.1 and 21.8 / 19.3; 16 MiB: 26, 20. */
static const uint64_t MIN_NBYTES = (uint64_t)12 << 20;

static size_t round_up(size_t n, size_t unit)
{
  return (n + unit - 1) / unit * unit;
}

/* How many positions a bucket should hold, or 0. A batch that comes to less than a position per
 * line of the filter would fetch more lines in whole pieces than one by one. An eighth more than
 * the average, so that hardly any bucket of a small batch is emptied twice. */
static size_t bucket_npositions_for(uint64_t nbytes, size_t npieces, uint32_t nprobes, size_t nkeys)
{
  if (nbytes < MIN_NBYTES || nkeys < nbytes / LINE_NBYTES / nprobes)
    return 0;
  const size_t max = BUCKET_MAX_NPOSITIONS;
  if (nkeys / npieces >= max / nprobes)
    return max;
  const size_t average = nkeys * nprobes / npieces;
  const size_t wanted = round_up(average + average / 8, LINE_NPOSITIONS);
  return wanted < max ? wanted : max;
}

bool lanebloom_spread_open(struct spread *spread, const struct filter_shape *shape, size_t nkeys)
{
  const size_t npieces = (size_t)((shape->nbits - 1) >> PIECE_LOG_NBITS) + 1;
  const size_t bucket_npositions =
      bucket_npositions_for(shape->nbits / 8, npieces, shape->nprobes, nkeys);
  if (bucket_npositions == 0)
    return false;

  const size_t buckets_nbytes = npieces * bucket_npositions * sizeof(uint32_t);
  const size_t lines_nbytes = npieces * sizeof(struct spread_line);
  struct filter_memory memory =
      lanebloom_memory_create(buckets_nbytes + lines_nbytes + npieces * sizeof(uint32_t));
  if (!memory.bytes)
    return false;
  *spread = (struct spread){
      .npieces = npieces,
      .bucket_npositions = bucket_npositions,
      .buckets = (void *)memory.bytes,
      .lines = (void *)(memory.bytes + buckets_nbytes),
      .counts = (void *)(memory.bytes + buckets_nbytes + lines_nbytes),
      .memory = memory,
  };
  return true;
}

void lanebloom_spread_close(struct spread *spread)
{
  lanebloom_memory_free(&spread->memory);
}

/* Loads in sequence wake the CPU's own prefetching, which software's does not: measured on Zen 4, a
 * position of a full bucket took 3.3 ns without, 3.0 with a prefetch of each line, 1.2 with a
 * load. */
void lanebloom_spread_fetch(const struct filter_shape *shape, const uint8_t *payload, size_t piece)
{
  const uint64_t begin = (uint64_t)piece * PIECE_NBYTES, nbytes = shape->nbits / 8;
  const uint64_t end = nbytes - begin < PIECE_NBYTES ? nbytes : begin + PIECE_NBYTES;
  uint8_t seen = 0;
  for (uint64_t at = begin; at < end; at += LINE_NBYTES)
    seen |= payload[at];
  __asm__ volatile("" : : "r"(seen)); /* so that the loads stay */
}
