/* Probes Pebble's binary fuse filters: a key may be present if its fingerprint is the bitwise
 * exclusive or of three fingerprints in the payload. Source: FastFilter/xorfilter 4e5a4d9
 * binaryfusefilter.go, Contains, and cockroachdb/pebble f82e3ff, whose filters pack fingerprints of
 * 4 to 16 bits.
 * SPDX-License-Identifier: MIT */
#include "pebble_binaryfuse.h"

bool lanebloom_pebble_binaryfuse_may_match_scalar(const struct filter_shape *shape,
                                                  const uint8_t *payload, struct key_hash hash)
{
  return pebble_binaryfuse_may_match(shape, payload, &hash.low, 0);
}

void lanebloom_pebble_binaryfuse_probe_scalar(const struct filter_shape *shape,
                                              const uint8_t *payload, struct hash_source *source,
                                              uint8_t *bitmap)
{
  probe_each_line(shape, payload, source, bitmap, pebble_binaryfuse_fetch,
                  pebble_binaryfuse_may_match, pebble_binaryfuse_may_match);
}
