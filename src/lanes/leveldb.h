/* LevelDB's layout in lanes: definitions that probing and adding share. A lane is a key, and a step
 * is one probe of each key.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_LEVELDB_H
#define LANEBLOOM_LANES_LEVELDB_H

#include "../layouts/leveldb.h"
#include "lanes.h"
#include "vector.h"

enum {
  /* The number of hashes that are added at a time (AVX-512 on Zen 4, 16 KiB: 16: 2.60 ns per key,
   * 32: 2.45, 64: 2.49). */
  GROUP_NKEYS = 32,
  MAX_NBITS = GROUP_NKEYS * LEVELDB_MAX_NPROBES, /* probing needs fewer */
};

/* Bits of a filter: the offset of the byte, and the mask in it. The arrays are aligned, so that no
 * store crosses cache lines. */
struct bits {
  _Alignas(CACHE_LINE_NBYTES) uint32_t bytes[MAX_NBITS];
  _Alignas(CACHE_LINE_NBYTES) uint8_t masks[MAX_NBITS];
};

/* Stores bits as elements i and following. The lowest 3 bits of an index are the bit in its byte;
 * an index may be a position or a probe. */
static inline void put_bits(struct bits *bits, size_t i, vector bytes, vector indices)
{
  store(bits->bytes + i, bytes);
  store_masks8(bits->masks + i, indices);
}

/* The constants that reduce a probe modulo the number of bits, and an eighth of a probe modulo the
 * number of bytes. */
struct modulus {
  vector multiplier, nbits, nbytes;
  count32 shift, byte_shift; /* for the high halves of products */
};

static inline struct modulus modulus_of(const struct filter_shape *shape)
{
  return (struct modulus){
      .multiplier = splat32(shape->leveldb.reciprocal.multiplier),
      .nbits = splat32((uint32_t)shape->nbits), /* 2^32 bits become 0: their quotient is 0 */
      .nbytes = splat32((uint32_t)(shape->nbits / 8)),
      .shift = splat_count32(shape->leveldb.reciprocal.shift + 3 - 32),
      .byte_shift = splat_count32(shape->leveldb.reciprocal.shift - 32), /* for 2 bytes or more */
  };
}

/* Computes probe % nbits = probe - probe / 8 / (nbits / 8) * nbits. Numerators are left 8 times as
 * large, so that filters of one byte need no special case: quotients are in the high halves of
 * products, and only need a shift. */
static inline vector positions_of(vector probes, const struct modulus *modulus)
{
  const vector numerators = bit_and(probes, splat32(~7u));
  const vector quotients =
      shift_right_count32(mul_high32(numerators, modulus->multiplier), modulus->shift);
  return sub32(probes, mul_low32(quotients, modulus->nbits));
}

/* Computes probe / 8 % nbytes, with fewer instructions than positions_of() needs. */
static inline vector bytes_of(vector probes, const struct modulus *modulus)
{
  const vector n = shift_right32(probes, 3);
  const vector quotients =
      shift_right_count32(mul_high32(n, modulus->multiplier), modulus->byte_shift);
  return sub32(n, mul_low32(quotients, modulus->nbytes));
}

static inline vector strides_of(vector hashes)
{
  return rotate_left32(hashes, 15);
}

#endif
