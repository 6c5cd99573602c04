/* BloomHash takes keys in chunks of 16 bytes: what all lanes have in common about them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CHUNKS_H
#define LANEBLOOM_CHUNKS_H

#include "keys.h"

enum {
  CHUNK_NBYTES = 16, /* of a key, per load */
  CHUNK_NWORDS = CHUNK_NBYTES / 4,
  PAGE_NBYTES = 4096, /* the smallest there are */
};

/* How far the product is shifted after word w of a chunk, by the bytes left of the chunk; 16 of
 * them stand at 0. Only where the word is cut is it a tail. */
static const uint8_t tail_shifts[CHUNK_NWORDS][16] = {
    {16, 24, 24, 24, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {16, 16, 16, 16, 16, 24, 24, 24, 16, 16, 16, 16, 16, 16, 16, 16},
    {16, 16, 16, 16, 16, 16, 16, 16, 16, 24, 24, 24, 16, 16, 16, 16},
    {16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 24, 24, 24},
};

/* Where a chunk may be loaded of which not all bytes belong to the key: while (at & mask) <=
 * last. */
struct reach {
  uint64_t mask, last;
};

/* Of a batch that is not empty. */
static inline struct reach reach_of(const lanebloom_keys *keys)
{
  const uint8_t *end = keys->data;
  switch ((enum keys_layout)keys->layout) {
  case KEYS_FIXED:
    end += keys->n * keys->width;
    break;
  case KEYS_OFFSETS32:
    end += ((const uint32_t *)keys->index)[keys->n];
    break;
  case KEYS_OFFSETS64:
    end += ((const uint64_t *)keys->index)[keys->n];
    break;
  case KEYS_SLICES: /* their neighbours are unknown, but a page is there as a whole */
    return (struct reach){PAGE_NBYTES - 1, PAGE_NBYTES - CHUNK_NBYTES};
  }
  return (struct reach){UINT64_MAX, (uint64_t)(uintptr_t)end - CHUNK_NBYTES};
}

/* Are all keys of a block, which is not empty, shorter than 2^31 bytes? For kernels that keep sizes
 * in lanes. */
static inline bool fits_lanes(const lanebloom_keys *keys)
{
  uint64_t bound = 0;
  switch ((enum keys_layout)keys->layout) {
  case KEYS_FIXED:
    bound = keys->width;
    break;
  case KEYS_OFFSETS32: {
    const uint32_t *offsets = keys->index;
    bound = offsets[keys->n] - offsets[0];
    break;
  }
  case KEYS_OFFSETS64: {
    const uint64_t *offsets = keys->index;
    bound = offsets[keys->n] - offsets[0];
    break;
  }
  case KEYS_SLICES: {
    const lanebloom_slice *slices = keys->index;
    for (size_t i = 0; i < keys->n; i++)
      bound |= slices[i].size;
    break;
  }
  }
  return bound <= INT32_MAX;
}

#endif
