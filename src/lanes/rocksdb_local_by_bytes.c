/* Probes filters of the layout rocksdb_local (FastLocalBloom) in vectors of 16 bytes. Scalar code
 * adds to them.
 * SPDX-License-Identifier: MIT */
#include "cache_lines_by_bytes.h"
#include "lanes.h"

/* ---- Vocabulary ---- */

struct lookup {
  vector nlines;
  /* The lower and the upper halves of the powers of the multiplier, in words of 16 bits. */
  vector low[ROCKSDB_LOCAL_MAX_NPASSES], high[ROCKSDB_LOCAL_MAX_NPASSES];
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = splat64(shape->lines.n);
  uint32_t lanes[ROCKSDB_LOCAL_MAX_NPASSES * PASS_NPROBES];
  rocksdb_local_powers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++) {
    uint16_t low[PASS_NPROBES], high[PASS_NPROBES];
    for (uint32_t i = 0; i < PASS_NPROBES; i++) {
      low[i] = (uint16_t)lanes[pass * PASS_NPROBES + i];
      high[i] = (uint16_t)(lanes[pass * PASS_NPROBES + i] >> 16);
    }
    lookup->low[pass] = load(low);
    lookup->high[pass] = load(high);
  }
}

/* Computes the offset of the line of each hash, as rocksdb_local_line() does, for two hashes at a
 * time. */
static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += 2) {
    const vector two = load(hashes + i * sizeof(uint64_t));
    const vector line = shift_right64(mul_even32(two, lookup->nlines), 32);
    store_aligned(offsets + i, shift_left64(line, 6));
  }
}

/* Copies word i to all lanes of 16 bits. */
static inline vector word(vector words, int i)
{
  return shuffle_bytes(words, splat16((uint16_t)((2 * i + 1) << 8 | 2 * i)));
}

/* Returns eight probes. A probe is the high half h of the hash times a power m of the multiplier,
 * modulo 2^32. Only its top 9 bits are needed, so the upper 16 bits of the product are computed:
 *
 *   h_low * m_low >> 16  +  h_low * m_high  +  h_high * m_low     modulo 2^16 */
static inline vector probes_of(const struct lookup *lookup, uint32_t pass, const uint8_t *hashes,
                               size_t i)
{
  const vector hash = load_half(hashes + i * sizeof(uint64_t));
  const vector h_low = word(hash, 2), h_high = word(hash, 3);
  return add16(mul_high16(h_low, lookup->low[pass]),
               add16(mul_low16(h_low, lookup->high[pass]), mul_low16(h_high, lookup->low[pass])));
}

static const struct cache_line_steps steps = {
    .hash_nbytes = sizeof(uint64_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
};

CACHE_LINE_PROBE(rocksdb_local)
