/* Probes and adds to filters of the layout rocksdb_local (FastLocalBloom) in lanes. The probes of a
 * key are in adjacent lanes.
 * SPDX-License-Identifier: MIT */
#include "lines.h"

struct lookup {
  vector nlines;
  vector powers[ROCKSDB_LOCAL_MAX_NPASSES];
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = splat64(shape->lines.n);
  uint32_t lanes[ROCKSDB_LOCAL_MAX_NPASSES * PASS_NPROBES];
  if (shape->nprobes <= PASS_NPROBES) { /* faster: the compiler computes all eight powers */
    rocksdb_local_powers(PASS_NPROBES, lanes);
    lookup->powers[0] = select32(first_probes(shape->nprobes), load_in_eights(lanes), splat32(1));
    return;
  }
  rocksdb_local_powers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++)
    lookup->powers[pass] = load_in_eights(&lanes[pass * PASS_NPROBES]);
}

/* Computes the offset of the line of each hash, as rocksdb_local_line() does. */
static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += LANES64) {
    const vector products = mul_even32(load(hashes + i * sizeof(uint64_t)), lookup->nlines);
    store_aligned(offsets + i, shift_left64(shift_right64(products, 32), 6));
  }
}

/* The top 9 bits of a probe are the number of a bit in the line: 4 bits for the dword, and 5 bits
 * for the bit in the dword. The highest of the 9 bits says in which half of the line the bit is. */
static inline struct probes probes_of(const struct lookup *lookup, uint32_t pass,
                                      const uint8_t *hashes, size_t i)
{
  const vector high_halves = spread(hashes, 2 * i + 1, 2);
  const vector probes = mul_low32(high_halves, lookup->powers[pass]);
  return (struct probes){probes, shift_right32(probes, 28), shift_right32(probes, 23)};
}

static const struct cache_line_steps steps = {
    .hash_nbytes = sizeof(uint64_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
    .add = add_eight,
    .stream = stream_line,
};

CACHE_LINE_KERNELS(rocksdb_local)
