/* Probes and adds to filters of the layout rocksdb_legacy in lanes. This file differs from
 * rocksdb_local.c in how a hash selects its line and the bits in the line.
 * SPDX-License-Identifier: MIT */
#include "lines.h"

struct lookup {
  vector nlines, multiplier, addend, shift; /* see divide.h */
  vector numbers[ROCKSDB_LEGACY_MAX_NPASSES];
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = splat64(shape->lines.n);
  lookup->multiplier = splat64(shape->lines.reciprocal.multiplier);
  lookup->addend = splat64(shape->lines.reciprocal.addend);
  lookup->shift = splat64(shape->lines.reciprocal.shift);
  uint32_t lanes[ROCKSDB_LEGACY_MAX_NPASSES * PASS_NPROBES];
  if (shape->nprobes <= PASS_NPROBES) { /* faster: the compiler makes all eight numbers */
    rocksdb_legacy_numbers(PASS_NPROBES, lanes);
    lookup->numbers[0] = keep32(first_probes(shape->nprobes), load_in_eights(lanes));
    return;
  }
  rocksdb_legacy_numbers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++)
    lookup->numbers[pass] = load_in_eights(&lanes[pass * PASS_NPROBES]);
}

/* Computes the line of each hash, hash % nlines, and stores the offset of the line. */
static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += LANES64) {
    const vector hash = load_widened32(hashes + i * sizeof(uint32_t));
    const vector product = add64(mul_even32(hash, lookup->multiplier), lookup->addend);
    const vector quotient = shift_right_each64(product, lookup->shift);
    const vector line = sub64(hash, mul_even32(quotient, lookup->nlines));
    store_aligned(offsets + i, shift_left64(line, 6));
  }
}

/* The lowest 9 bits of a probe are the number of a bit in the line: 4 bits for the dword, and 5
 * bits for the bit in the dword. The highest of the 9 bits says in which half of the line the bit
 * is. */
static inline struct probes probes_of(const struct lookup *lookup, uint32_t pass,
                                      const uint8_t *hashes, size_t i)
{
  const vector hash = spread(hashes, i, 1);
  const vector stride = rotate_left32(hash, 15); /* bloomhash_stride */
  const vector probes = add32(hash, mul_low32(stride, lookup->numbers[pass]));
  return (struct probes){shift_left32(probes, 23), shift_right32(probes, 5), probes};
}

static const struct cache_line_steps steps = {
    .hash_nbytes = sizeof(uint32_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
    .add = add_eight,
};

CACHE_LINE_KERNELS(rocksdb_legacy)
