/* Probes and adds to Parquet's split-block filters in lanes. Each lane handles one word of a key's
 * block, and NKEYS keys are in a vector.
 * SPDX-License-Identifier: MIT */
#include "eights.h"

struct lookup {
  vector nblocks, salts;
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nblocks = splat64(shape->lines.n);
  lookup->salts = load_in_eights(PARQUET_SALTS);
}

/* Computes the offset of the block of each hash, as parquet_block() does. */
static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += LANES64) {
    const vector high_halves = shift_right64(load(hashes + i * sizeof(uint64_t)), 32);
    const vector blocks = shift_right64(mul_even32(high_halves, lookup->nblocks), 32);
    store_aligned(offsets + i, shift_left64(blocks, 5));
  }
}

/* Returns the bits that NKEYS hashes, from hash i on, probe. Each lane has one bit set, at its
 * position in the word. */
static inline vector bits_of(const struct lookup *lookup, const uint8_t *hashes, size_t i)
{
  const vector low_halves = spread(hashes, 2 * i, 2);
  const vector bits = shift_right32(mul_low32(low_halves, lookup->salts), 27);
  return shift_left_each32(splat32(1), bits);
}

/* ---- Probing ---- */

#if VECTOR_NBYTES == 32

/* Returns the bits that hash i probes and that are clear in its block. */
static inline vector failures_of(const struct lookup *lookup, const uint8_t *payload,
                                 const uint64_t *offsets, const uint8_t *hashes, size_t i)
{
  return bit_and_not(bits_of(lookup, hashes, i), load(payload + offsets[i]));
}

/* Returns a byte for each word that four hashes probe. The byte is 0 if the probed bit of the word
 * is set. A key has eight such bytes: four are a dword in the lower half of the vector, and four
 * are a dword in the upper half. The conversion to bytes saturates, so that a number other than 0
 * never becomes 0. */
static inline vector failures_of_four(const struct lookup *lookup, const uint8_t *payload,
                                      const uint64_t *offsets, const uint8_t *hashes, size_t i)
{
  const vector first = narrow_signed32(failures_of(lookup, payload, offsets, hashes, i),
                                       failures_of(lookup, payload, offsets, hashes, i + 1));
  const vector last = narrow_signed32(failures_of(lookup, payload, offsets, hashes, i + 2),
                                      failures_of(lookup, payload, offsets, hashes, i + 3));
  return narrow_signed16(first, last);
}

static inline uint8_t probe_eight_blocks(const struct lookup *lookup, uint32_t npasses,
                                         const uint8_t *payload, const uint64_t *offsets,
                                         const uint8_t *hashes, bool far)
{
  (void)npasses, (void)far;
  const vector first = failures_of_four(lookup, payload, offsets, hashes, 0),
               last = failures_of_four(lookup, payload, offsets, hashes, 4);
  const vector failures = bit_or(first_blocks(first, last), last_blocks(first, last));
  return (uint8_t)mask_bits32(equal32(failures, zero()));
}

#else

static inline uint8_t probe_eight_blocks(const struct lookup *lookup, uint32_t npasses,
                                         const uint8_t *payload, const uint64_t *offsets,
                                         const uint8_t *hashes, bool far)
{
  (void)npasses, (void)far;
  mask32 failures[4];
  for (size_t i = 0; i < 8; i += 2)
    failures[i / 2] = disjoint32(load_halves(payload + offsets[i], payload + offsets[i + 1]),
                                 bits_of(lookup, hashes, i));
  return zero_masks(failures);
}

#endif

/* ---- Adding ---- */

static inline void add_eight_blocks(const struct lookup *lookup, uint32_t nprobes, uint8_t *payload,
                                    const uint64_t *offsets, const uint8_t *hashes, size_t n,
                                    bool far)
{
  (void)nprobes, (void)far;
  _Alignas(CACHE_LINE_NBYTES) uint8_t bits[8][PARQUET_BLOCK_NBYTES];
  for (size_t i = 0; i < 8; i += NKEYS)
    store_aligned(bits[i], bits_of(lookup, hashes, i));
  for (size_t i = 0; i < n; i++)
    set_bits_32(payload + offsets[i], bits[i]);
}

static const struct cache_line_steps steps = {
    .hash_nbytes = sizeof(uint64_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight_blocks,
    .add = add_eight_blocks,
    .stream = stream_line,
};

CACHE_LINE_KERNELS(parquet)
