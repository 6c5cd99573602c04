/* Probes filters of the layout rocksdb_local by gathers, for CPUs on which gathers are fast. If the
 * filter fits into the caches and has few probes, eight keys are in lanes, and each probe is one
 * gather. Larger filters, and filters with more probes, are left to lanes/rocksdb_local.c. (On a
 * Xeon with a filter of 256 KiB, a hash with 4 probes takes 1.09 ns by gathers, and 1.72 ns by
 * lanes/rocksdb_local.c. A hash with 6 probes takes 1.50 ns by gathers, and 1.74 ns by
 * lanes/rocksdb_local.c.)
 * SPDX-License-Identifier: MIT */
#include "../lanes/cache_lines.h"
#include "../lanes/lanes.h"
#include "vector.h"

enum { MAX_GATHERED_NPROBES = 6 };

struct lookup {
  vector nlines;
};

static inline void locate_nothing(const struct lookup *lookup, const uint8_t *hashes,
                                  uint64_t *offsets)
{
  (void)lookup, (void)hashes, (void)offsets;
}

/* Probes eight hashes. The high halves of their eight 64-bit lanes are merged into one vector, in
 * an order that the permutation at the end reverses:
 *
 *   a   -- a0 -- a1 -- a2 -- a3
 *   b   -- b0 -- b1 -- b2 -- b3    ->   a0 b0 a1 b1 a2 b2 a3 b3 */
static inline __attribute__((always_inline)) uint8_t
gather_eight(const struct lookup *lookup, const uint32_t nprobes, const uint8_t *payload,
             const uint64_t *offsets, const uint8_t *hashes, bool far)
{
  (void)offsets, (void)far;
  const vector a = load(hashes), b = load(hashes + VECTOR_NBYTES);
  const vector lines =
      shift_left32(merge_odd32(mul_even32(a, lookup->nlines), mul_even32(b, lookup->nlines)), 4);
  vector probes = merge_odd32(a, b), passed = splat32(UINT32_MAX);
  for (uint32_t i = 0; i < nprobes; i++) {
    const vector dwords = gather32(payload, add32(lines, shift_right32(probes, 28)));
    passed = bit_and(passed, pick_bits32(dwords, shift_right32(probes, 23)));
    probes = mul_low32(probes, splat32(ROCKSDB_LOCAL_MULTIPLIER));
  }
  return (uint8_t)mask_bits32(permute32(passed, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7)));
}

static const struct cache_line_steps by_gathers = {
    .hash_nbytes = sizeof(uint64_t),
    .locate = locate_nothing,
    .probe = gather_eight,
};

void KERNEL(rocksdb_local_probe_by_gathers)(const struct filter_shape *shape,
                                            const uint8_t *payload, struct hash_source *source,
                                            uint8_t *bitmap)
{
  if (shape->nbytes > NEAR_NBYTES || shape->nprobes > MAX_GATHERED_NPROBES ||
      source->n <= FEW_SCREENED_IN_LINES) {
    KERNEL(rocksdb_local_probe)(shape, payload, source, bitmap);
    return;
  }
  const struct lookup lookup = {splat64(shape->lines.n)};
  probe_blocks(payload, source, bitmap, shape->nprobes, false, &lookup, &by_gathers);
}
