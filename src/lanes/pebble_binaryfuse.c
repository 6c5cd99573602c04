/* Probes Pebble's binary fuse filters. Lanes mix the hashes of a block and find the positions of
 * their fingerprints; ordinary loads then read the fingerprints. While the fingerprints of one
 * block are tested, those of the next block are being loaded.
 * SPDX-License-Identifier: MIT */
#include "../scalar/pebble_binaryfuse.h"
#include "lanes.h"
#include "vector.h"

/* The number of keys in a block, whose fingerprints are loaded together. With AVX2 on a Zen 3, a
 * hash takes these times in ns:
 *
 *   keys in a block             32     64    128
 *   a filter of 2 MiB          5.5    6.4    7.6
 *   a filter of 16 MiB        21.0   22.3   23.6 */
enum { IN_FLIGHT_NKEYS = 32 };

/* A vector type of gcc and clang, as in xxh64.c. */
typedef uint64_t words __attribute__((vector_size(VECTOR_NBYTES)));

struct lookup {
  vector nstarts, segment_nslots;
  uint64_t seed;
  uint32_t fingerprint_nbits;
};

/* The positions of the fingerprints of a block of keys, and the fingerprints of the keys. */
struct block {
  _Alignas(CACHE_LINE_NBYTES) uint32_t positions[PEBBLE_BINARYFUSE_NSLOTS][IN_FLIGHT_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint32_t fingerprints[IN_FLIGHT_NKEYS];
  size_t n;
};

static inline words mix(words hash, uint64_t seed)
{
  hash += seed;
  hash = (hash ^ hash >> 33) * PEBBLE_BINARYFUSE_MULTIPLIER_1;
  hash = (hash ^ hash >> 33) * PEBBLE_BINARYFUSE_MULTIPLIER_2;
  return hash ^ hash >> 33;
}

/* Returns the slots in the first segment, in the high half of each lane. */
static inline vector first_slots(const struct lookup *lookup, vector mixed)
{
  return add64(mul_even32(shift_right64(mixed, 32), lookup->nstarts),
               shift_right64(mul_even32(mixed, lookup->nstarts), 32));
}

/* Locates LANES32 hashes as pebble_binaryfuse_slots() does. */
static inline void locate(const struct lookup *lookup, const uint8_t *hashes, struct block *block,
                          size_t i)
{
  const vector a = (vector)mix((words)load(hashes), lookup->seed),
               b = (vector)mix((words)load(hashes + VECTOR_NBYTES), lookup->seed);
  const vector low = unzip_even32(a, b), high = unzip_odd32(a, b),
               middle = unzip_even32(shift_right64(a, 18), shift_right64(b, 18));
  const vector nslots = lookup->segment_nslots, low_bits = sub32(nslots, splat32(1)),
               nbits = splat32(lookup->fingerprint_nbits);
  const vector first = unzip_odd32(first_slots(lookup, a), first_slots(lookup, b)),
               next = add32(first, nslots), last = add32(next, nslots);
  const vector slots[] = {first, bit_xor(next, bit_and(middle, low_bits)),
                          bit_xor(last, bit_and(low, low_bits))};
  for (size_t s = 0; s < PEBBLE_BINARYFUSE_NSLOTS; s++)
    store_aligned(&block->positions[s][i], unzipped(mul_low32(slots[s], nbits)));
  store_aligned(&block->fingerprints[i], unzipped(bit_xor(low, high)));
}

/* Gets the next block of hashes, and locates them. Lanes behind the last hash get the hash 0, whose
 * fingerprints can be read, too. */
static inline void block_next(struct block *block, struct hash_source *source,
                              const struct lookup *lookup)
{
  const uint8_t *hashes = hash_source_hash_next(source, IN_FLIGHT_NKEYS, &block->n);
  uint64_t padded[IN_FLIGHT_NKEYS];
  if (block->n % LANES32 != 0) {
    memcpy(padded, hashes, block->n * sizeof *padded);
    memset(padded + block->n, 0, (LANES32 - block->n % LANES32) * sizeof *padded);
    hashes = (const uint8_t *)padded;
  }
  for (size_t i = 0; i < block->n; i += LANES32, hashes += 2 * VECTOR_NBYTES)
    locate(lookup, hashes, block, i);
}

/* Prefetches the fingerprints of eight hashes. */
__attribute__((always_inline)) static inline void block_fetch(const struct block *block, size_t i,
                                                              const uint8_t *payload)
{
  if (i >= block->n)
    return;
  for (size_t s = 0; s < PEBBLE_BINARYFUSE_NSLOTS; s++)
    for (size_t j = i; j < i + 8; j++)
      __builtin_prefetch(payload + block->positions[s][j] / 8);
}

/* Tests eight hashes. Bit j of the result is set if hash i + j may be in the filter. */
static inline __attribute__((always_inline)) uint8_t
block_test(const struct block *block, size_t i, const uint8_t *payload, uint32_t mask)
{
  unsigned hits = 0;
  for (size_t j = 0; j < 8; j++) {
    uint32_t differing = block->fingerprints[i + j];
    for (size_t s = 0; s < PEBBLE_BINARYFUSE_NSLOTS; s++)
      differing ^= fingerprint_at(payload, block->positions[s][i + j]);
    hits |= (unsigned)((differing & mask) == 0) << j;
  }
  return (uint8_t)hits;
}

static inline __attribute__((always_inline)) void probe_blocks(const uint8_t *payload,
                                                               struct hash_source *source,
                                                               uint8_t *bitmap, const bool far,
                                                               const struct lookup *lookup)
{
  const uint32_t mask = ((uint32_t)1 << lookup->fingerprint_nbits) - 1;
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];
  block_next(block, source, lookup);
  for (size_t i = 0; far && i < block->n; i += 8)
    block_fetch(block, i, payload);
  while (block->n > 0) {
    block_next(next, source, lookup);
    struct fetch fetch = hash_source_ahead(source, IN_FLIGHT_NKEYS);
    for (size_t i = 0; i < block->n; i += 8) {
      if (far)
        block_fetch(next, i, payload);
      fetch_eight(&fetch);
      *bitmap++ = block_test(block, i, payload, mask);
    }
    if (block->n % 8 != 0)
      bitmap[-1] &= (uint8_t)((1 << block->n % 8) - 1);
    struct block *const done = block;
    block = next;
    next = done;
  }
}

/* Probes all hashes. The lanes have positions of 32 bits, and scalar code probes filters with more
 * bits. (Pebble makes no filters of more than 10,000,000 keys, which have 182,000,000 bits.) */
void KERNEL(pebble_binaryfuse_probe)(const struct filter_shape *shape, const uint8_t *payload,
                                     struct hash_source *source, uint8_t *bitmap)
{
  if (shape->nbits > UINT32_MAX) {
    lanebloom_pebble_binaryfuse_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const struct lookup lookup = {.nstarts = splat64(shape->fuse.nstarts),
                                .segment_nslots = splat32(shape->fuse.segment_nslots),
                                .seed = shape->fuse.seed,
                                .fingerprint_nbits = shape->nprobes};
  if (shape->nbytes > NEAR_NBYTES)
    probe_blocks(payload, source, bitmap, true, &lookup);
  else
    probe_blocks(payload, source, bitmap, false, &lookup);
}
