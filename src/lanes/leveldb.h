/* Definitions that probing and adding share for LevelDB's layout in lanes. A lane holds a key, and
 * a step does one probe of each key.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_LEVELDB_H
#define LANEBLOOM_LANES_LEVELDB_H

#include "../layouts/leveldb.h"
#include "lanes.h"
#include "vector.h"

enum {
  /* The number of hashes that are added at a time. (With AVX-512 on a Zen 4 and a filter of 16 KiB,
   * a key takes 2.60 ns in groups of 16 hashes, 2.45 ns in groups of 32, and 2.49 ns in groups of
   * 64.) */
  GROUP_NKEYS = 32,
  MAX_NBITS = GROUP_NKEYS * LEVELDB_MAX_NPROBES, /* enough for adding; probing needs fewer */
};

/* A list of bits of a filter. Bit i is in the byte at the offset bytes[i], and masks[i] selects the
 * bit in this byte. The arrays are aligned, so that no store crosses a border of cache lines. */
struct bits {
  _Alignas(CACHE_LINE_NBYTES) uint32_t bytes[MAX_NBITS];
  _Alignas(CACHE_LINE_NBYTES) uint8_t masks[MAX_NBITS];
};

/* Stores LANES32 bits as the elements from i on. The lowest 3 bits of an index must be the number
 * of the bit in its byte. So an index may be the position of a bit, or the probe from which the
 * position was computed. */
static inline void put_bits(struct bits *bits, size_t i, vector bytes, vector indices)
{
  store(bits->bytes + i, bytes);
  store_masks8(bits->masks + i, indices);
}

/* The constants for two reductions of probes: positions_of() computes a probe modulo the number of
 * bits, and bytes_of() computes an eighth of a probe modulo the number of bytes. */
struct modulus {
  vector multiplier, nbits, nbytes;
  count32 shift, byte_shift; /* for the high halves of products */
};

static inline struct modulus modulus_of(const struct filter_shape *shape)
{
  return (struct modulus){
      .multiplier = splat32(shape->leveldb.reciprocal.multiplier),
      /* 2^32 bits become 0; the quotients are then 0, so their products with nbits are 0 in any
       * case */
      .nbits = splat32((uint32_t)shape->nbits),
      .nbytes = splat32((uint32_t)(shape->nbits / 8)),
      .shift = splat_count32(shape->leveldb.reciprocal.shift + 3 - 32),
      .byte_shift = splat_count32(shape->leveldb.reciprocal.shift - 32), /* needs nbytes >= 2 */
  };
}

/* Computes probe % nbits, as probe - probe / 8 / (nbits / 8) * nbits. The numerators are 8 times as
 * large as in this formula (the lowest 3 bits are cleared, not shifted out), so that the quotients
 * are always in the high halves of products and only need a shift. A filter of one byte is
 * therefore no special case. */
static inline vector positions_of(vector probes, const struct modulus *modulus)
{
  const vector numerators = bit_and(probes, splat32(~7u));
  const vector quotients =
      shift_right_count32(mul_high32(numerators, modulus->multiplier), modulus->shift);
  return sub32(probes, mul_low32(quotients, modulus->nbits));
}

/* Computes probe / 8 % nbytes, which is the offset of the probe's byte, with fewer instructions
 * than positions_of() needs. nbytes must be at least 2. */
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
