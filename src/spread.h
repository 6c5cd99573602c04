/* Adding to a filter that no cache holds. Bits set one by one would each fetch a line from memory and send it back.
 * Instead their positions wait in buckets, one for each piece of the filter, and once a bucket is full its piece is
 * fetched and all of them are set there. Kernels find positions, fill buckets and set bits; what they share is here and
 * in spread.c.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SPREAD_H
#define LANEBLOOM_SPREAD_H

#include "filter.h"

enum {
  PIECE_LOG_NBITS = 22,            /* 512 KiB, as a second-level cache of 1 MiB holds; other sizes were not measured */
  BUCKET_MAX_NPOSITIONS = 1 << 16, /* 8 for each line of a piece; all buckets are half as large as the filter */
  LINE_NPOSITIONS = 16,            /* of 32 bits in a cache line */
};

struct spread_line {
  _Alignas(64) uint32_t positions[LINE_NPOSITIONS];
};

/* The positions of a piece are those in its bucket, then the rest in its line: a line that is full goes into the bucket
 * as a whole, by stores that leave the cache alone. */
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

/* Empty buckets for adding nkeys keys. False where it is better to set bits one by one, and where there is no memory.
 * */
bool lanebloom_spread_open(struct spread *spread, const struct filter_shape *shape, size_t nkeys);
void lanebloom_spread_close(struct spread *spread);

/* Brings a piece into the cache. */
void lanebloom_spread_fetch(const struct filter_shape *shape, const uint8_t *payload, size_t piece);

#endif
