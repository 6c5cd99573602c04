/* Probes filters of the layout rocksdb_local with registers whose length only the CPU knows (see
 * key_per_lane.h). Scalar code probes large payloads, because scalar code prefetches their lines.
 * SPDX-License-Identifier: MIT */
#include "cache_lines.h"
#include "key_per_lane.h"
#include "lanes.h"

static inline mask32 probe_lanes(const struct filter_shape *shape, const uint8_t *payload,
                                 const uint8_t *hashes, size_t n)
{
  const vector nlines = splat32(shape->lines.n);
  const vector lines = /* rocksdb_local_line */
      shift_left32(mul_high32(load_first_low_halves(hashes, n), nlines), 6);
  vector probes = load_first_high_halves(hashes, n);
  mask32 keys = first_lanes32(n);
  for (uint32_t k = 0; k < shape->nprobes && any32(keys); k++) {
    const vector bits = shift_right32(probes, 23); /* rocksdb_local_bit */
    keys = probe_bits(keys, payload, add32(lines, shift_right32(bits, 3)), bits);
    probes = mul_low32(probes, splat32(ROCKSDB_LOCAL_MULTIPLIER));
  }
  return keys;
}

void KERNEL(rocksdb_local_probe)(const struct filter_shape *shape, const uint8_t *payload,
                                 struct hash_source *source, uint8_t *bitmap)
{
  if (shape->nbytes > NEAR_NBYTES)
    lanebloom_rocksdb_local_probe_scalar(shape, payload, source, bitmap);
  else
    key_per_lane_probe(shape, payload, source, bitmap, sizeof(uint64_t), probe_lanes);
}
