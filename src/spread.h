/* Adding to a filter that no cache holds. Bits set one by one would each fetch a line from memory
 * and send it back. Instead their positions wait in buckets, one for each piece of the filter, and
 * once a bucket is full its piece is fetched and all of them are set there. Kernels find positions,
 * fill buckets and set bits; what they share is here and in spread.c.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SPREAD_H
#define LANEBLOOM_SPREAD_H

#include "filter.h"

enum {
  PIECE_LOG_NBITS =
      22, /* 512 KiB, as a second-level cache of 1 MiB holds; other sizes were not measured */
  BUCKET_MAX_NPOSITIONS =
      1 << 16, /* 8 for each line of a piece; all buckets are half as large as the filter */
  LINE_NPOSITIONS = 16, /* of 32 bits in a cache line */
};

struct spread_line {
  _Alignas(64) uint32_t positions[LINE_NPOSITIONS];
};

/* The positions of a piece are those in its bucket, then the rest in its line: a line that is full
 * goes into the bucket as a whole, by stores that leave the cache alone. */
struct spread {
  size_t npieces;
  size_t bucket_npositions; /* when it is full: a multiple of LINE_NPOSITIONS */
  uint32_t *buckets;        /* npieces of them */
  struct spread_line *lines;
  uint32_t *counts; /* of each piece's positions, fewer than bucket_npositions */
  struct filter_memory memory;
};

static inline uint32_t *spread_bucket(const struct spread *spread, size_t piece)
{
  return spread->buckets + piece * spread->bucket_npositions;
}

/* Empty buckets for adding nkeys keys. False where it is better to set bits one by one, and where
 * there is no memory. */
bool lanebloom_spread_open(struct spread *spread, const struct filter_shape *shape, size_t nkeys);
void lanebloom_spread_close(struct spread *spread);

/* Brings a piece into the cache. */
void lanebloom_spread_fetch(const struct filter_shape *shape, const uint8_t *payload, size_t piece);

/* ---- Setting bits whose places lanes have found ---- */

enum {
  GROUP_NKEYS =
      32, /* AVX-512 on Zen 4, 16 KiB: 16: 2.60 ns per key, 32: 2.45, 64: 2.49, in a trial */
  GROUP_NBITS = GROUP_NKEYS * LEVELDB_MAX_NPROBES,
};

/* Bits to be set: in which byte, and the bit itself. */
struct bits {
  uint32_t bytes[GROUP_NBITS];
  uint8_t masks[GROUP_NBITS];
};

/* n is a multiple of 8. Two bytes and eight masks are loaded at a time, for a store needs two loads
 * already. Bytes, because the wider a unit, the more often it waits for its last store. */
static inline void set_bits_at(uint8_t *payload, const struct bits *bits, size_t n)
{
  for (size_t i = 0; i < n; i += 8) {
    uint64_t masks, two;
    memcpy(&masks, bits->masks + i, sizeof masks);
    for (size_t j = 0; j < 8; j += 2) {
      memcpy(&two, bits->bytes + i + j, sizeof two);
      payload[(uint32_t)two] |= (uint8_t)masks;
      payload[two >> 32] |= (uint8_t)(masks >> 8);
      masks >>= 16;
    }
  }
}

/* The group of hashes at `first` of n, or what is left, and then the last hash again until it is
 * whole. */
static inline const uint8_t *group_at(const uint8_t *hashes, size_t first, size_t n,
                                      uint32_t *filled)
{
  if (n - first >= GROUP_NKEYS)
    return hashes + first * sizeof(uint32_t);
  for (size_t i = 0; i < GROUP_NKEYS; i++)
    filled[i] = hash32_at(hashes, first + i < n ? first + i : n - 1);
  return (const uint8_t *)filled;
}

#endif
