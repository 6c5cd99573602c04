/* Probes filters of LevelDB's layout with registers whose length only the CPU knows (see
 * key_per_lane.h).
 * SPDX-License-Identifier: MIT */
#include "key_per_lane.h"
#include "lanes.h"

/* Computes probe % nbits, as probe - probe / 8 / (nbits / 8) * nbits. The numerators are 8 times as
 * large as in this formula (the lowest 3 bits are cleared, not shifted out), so that the quotients
 * are in the high halves of products and only need a shift. If nbits is 2^32, a lane holds 0 in
 * place of nbits. The quotients are then 0, so their products with nbits are 0 in any case. */
static inline vector positions_of(const struct filter_shape *shape, vector probes)
{
  const vector numerators = bit_and(probes, splat32(~UINT32_C(7)));
  const vector products = mul_high32(numerators, splat32(shape->leveldb.reciprocal.multiplier));
  const vector quotients = shift_right32(products, shape->leveldb.reciprocal.shift + 3 - 32);
  return sub32(probes, mul_low32(quotients, splat32((uint32_t)shape->nbits)));
}

static inline mask32 probe_lanes(const struct filter_shape *shape, const uint8_t *payload,
                                 const uint8_t *hashes, size_t n)
{
  vector probes = load_first32(hashes, n);
  const vector strides = rotate_left32(probes, 15); /* bloomhash_stride */
  mask32 keys = first_lanes32(n);
  for (uint32_t k = 0; k < shape->nprobes && any32(keys); k++) {
    const vector positions = positions_of(shape, probes);
    keys = probe_bits(keys, payload, shift_right32(positions, 3), positions);
    probes = add32(probes, strides);
  }
  return keys;
}

void KERNEL(leveldb_probe)(const struct filter_shape *shape, const uint8_t *payload,
                           struct hash_source *source, uint8_t *bitmap)
{
  key_per_lane_probe(shape, payload, source, bitmap, sizeof(uint32_t), probe_lanes);
}
