/* LevelDB's layout in lanes: what probing and adding share. A lane is a key, and a step is one
 * probe of each.
 *
 * Before this, the file that includes it defines `lanes`, a register or several of 32-bit lanes;
 * LANES, how many; and `struct modulus`, what takes probes modulo the number of bits.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_LEVELDB_H
#define LANEBLOOM_LANES_LEVELDB_H

#include "../kernels.h"
#include "../layouts/leveldb.h"

enum {
  /* Hashes that are added at a time (AVX-512 on Zen 4, 16 KiB: 16: 2.60 ns per key, 32: 2.45, 64:
   * 2.49). */
  GROUP_NKEYS = 32,
  MAX_NBITS = GROUP_NKEYS * LEVELDB_MAX_NPROBES, /* probing needs fewer */
};

/* Bits of a filter: their byte, and their mask in it. Aligned, so that no store crosses cache
 * lines. */
struct bits {
  _Alignas(CACHE_LINE_NBYTES) uint32_t bytes[MAX_NBITS];
  _Alignas(CACHE_LINE_NBYTES) uint8_t masks[MAX_NBITS];
};

/* What an instruction set does: inline functions, in a constant. */
struct leveldb_arithmetic {
  lanes (*load)(const void *from); /* at any alignment */
  lanes (*sum)(lanes a, lanes b);
  lanes (*times)(lanes a, uint32_t n);
  lanes (*strides)(lanes hashes);
  lanes (*positions)(lanes probes, const struct modulus *modulus);

  /* The bits at LANES positions, as elements i and following. */
  void (*put_bits)(struct bits *bits, size_t i, lanes positions);
};

#endif
