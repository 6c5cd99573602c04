/* Probes and adds to filters of the layout rocksdb_local (FastLocalBloom) with NEON. The probes of
 * a key are in adjacent lanes, and a register of bytes has the probes of two keys.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "cache_lines.h"

/* ---- Vocabulary ---- */

struct lookup {
  uint32x4_t nlines;
  uint32x4x2_t powers[ROCKSDB_LOCAL_MAX_NPASSES];
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = vdupq_n_u32(shape->lines.n);
  uint32_t lanes[ROCKSDB_LOCAL_MAX_NPASSES * PASS_NPROBES];
  rocksdb_local_powers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++) {
    lookup->powers[pass].val[0] = vld1q_u32(&lanes[pass * PASS_NPROBES]);
    lookup->powers[pass].val[1] = vld1q_u32(&lanes[pass * PASS_NPROBES + 4]);
  }
}

static inline uint32x4_t two_hashes(const uint8_t *hashes, size_t i)
{
  return vreinterpretq_u32_u8(vld1q_u8(hashes + i * sizeof(uint64_t)));
}

/* Computes the number of the line of each hash, which rocksdb_local_line() multiplies by the size
 * of a line. */
static inline uint32x4_t lines_of(const struct lookup *lookup, const uint8_t *hashes, size_t i)
{
  const uint32x4_t low_halves = vuzp1q_u32(two_hashes(hashes, i), two_hashes(hashes, i + 2));
  const uint64x2_t scaled01 = vmull_u32(vget_low_u32(low_halves), vget_low_u32(lookup->nlines));
  const uint64x2_t scaled23 = vmull_high_u32(low_halves, lookup->nlines);
  return vuzp2q_u32(vreinterpretq_u32_u64(scaled01), vreinterpretq_u32_u64(scaled23));
}

/* Returns the upper halves of eight lanes of 32 bits. */
static inline uint16x8_t upper_halves(uint32x4_t low, uint32x4_t high)
{
  return vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
}

/* Returns the probes of two hashes. The high halves of the hashes are lanes 1 and 3 of `two`. */
static inline struct pair pair_probes(uint32x4_t two, uint32x4x2_t powers)
{
  const uint32x4_t low = powers.val[0], high = powers.val[1];
  return pair_of(upper_halves(vmulq_laneq_u32(low, two, 1), vmulq_laneq_u32(high, two, 1)),
                 upper_halves(vmulq_laneq_u32(low, two, 3), vmulq_laneq_u32(high, two, 3)));
}

static inline struct four probes_of(const struct lookup *lookup, uint32_t pass,
                                    const uint8_t *hashes, size_t i)
{
  return (struct four){pair_probes(two_hashes(hashes, i), lookup->powers[pass]),
                       pair_probes(two_hashes(hashes, i + 2), lookup->powers[pass])};
}

static const struct cache_line_steps steps = {
    .hash_nbytes = sizeof(uint64_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
    .add = add_eight,
};

CACHE_LINE_KERNELS(rocksdb_local)
