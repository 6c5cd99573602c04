/* Probes filters of the layout rocksdb_legacy in vectors of 16 bytes. Scalar code adds to
 * them.
 * SPDX-License-Identifier: MIT */
#include "cache_lines_by_bytes.h"
#include "lanes.h"

/* ---- Vocabulary ---- */

struct lookup {
  vector nlines, multiplier, addend; /* see divide.h */
  count64 shift;
  vector numbers[ROCKSDB_LEGACY_MAX_NPASSES]; /* words */
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = splat64(shape->lines.n);
  lookup->multiplier = splat64(shape->lines.reciprocal.multiplier);
  lookup->addend = splat64(shape->lines.reciprocal.addend);
  lookup->shift = splat_count64(shape->lines.reciprocal.shift);
  uint32_t lanes[ROCKSDB_LEGACY_MAX_NPASSES * PASS_NPROBES];
  rocksdb_legacy_numbers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++) {
    const uint32_t *eight = &lanes[pass * PASS_NPROBES];
    lookup->numbers[pass] = narrow_unsigned32(load(eight), load(eight + LANES32));
  }
}

static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += 2) {
    const vector two = load_widened32(hashes + i * sizeof(uint32_t));
    const vector product = add64(mul_even32(two, lookup->multiplier), lookup->addend);
    const vector quotient = shift_right_count64(product, lookup->shift);
    const vector line = sub64(two, mul_even32(quotient, lookup->nlines));
    store_aligned(offsets + i, shift_left64(line, 6));
  }
}

/* Returns eight probes, with the lowest 9 bits of each at the top of a word of 16 bits. 16 bits are
 * enough to compute the lowest 9. */
static inline vector probes_of(const struct lookup *lookup, uint32_t pass, const uint8_t *hashes,
                               size_t i)
{
  const uint32_t hash = hash32_at(hashes, i);
  const vector stride = splat16((uint16_t)bloomhash_stride(hash));
  const vector probes = add16(splat16((uint16_t)hash), mul_low16(stride, lookup->numbers[pass]));
  return shift_left16(probes, 7);
}

static const struct cache_line_steps steps = {
    .hash_nbytes = sizeof(uint32_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
};

CACHE_LINE_PROBE(rocksdb_legacy)
