/* Tests single keys. Each probe of the key is in a lane, so one register is enough for up to eight
 * probes; scalar code tests keys with more probes.
 * SPDX-License-Identifier: MIT */
#include "../lanes/eights.h"
#include "../x86/kernels.h"

/* Checks whether the first nprobes probes, at most eight, find set bits. */
static inline bool are_set(vector bits_as_signs, uint32_t nprobes)
{
  return (mask_bits32(bits_as_signs) | UINT32_MAX << nprobes) == UINT32_MAX;
}

bool KERNEL(rocksdb_local_may_match)(const struct filter_shape *shape, const uint8_t *payload,
                                     struct key_hash hash)
{
  if (shape->nprobes > PASS_NPROBES)
    return lanebloom_rocksdb_local_may_match_scalar(shape, payload, hash);
  uint32_t powers[PASS_NPROBES];
  rocksdb_local_powers(PASS_NPROBES, powers);
  const vector bits = mul_low32(splat32((uint32_t)(hash.low >> 32)), load(powers));
  const struct probes probes = {bits, shift_right32(bits, 28), shift_right32(bits, 23)};
  const uint8_t *line = payload + rocksdb_local_line(hash.low, shape->lines.n);
  return are_set(bits_as_signs(probes, line), shape->nprobes);
}

bool KERNEL(rocksdb_legacy_may_match)(const struct filter_shape *shape, const uint8_t *payload,
                                      struct key_hash hash)
{
  if (shape->nprobes > PASS_NPROBES || shape->lines.nbytes != CACHE_LINE_NBYTES)
    return lanebloom_rocksdb_legacy_may_match_scalar(shape, payload, hash);
  const uint32_t first = (uint32_t)hash.low;
  const vector strides = splat32(bloomhash_stride(first));
  const vector bits = add32(splat32(first), mul_low32(strides, iota32()));
  const struct probes probes = {shift_left32(bits, 23), shift_right32(bits, 5), bits};
  const uint32_t line = first - divide(first, shape->lines.reciprocal) * shape->lines.n;
  return are_set(bits_as_signs(probes, payload + (size_t)line * CACHE_LINE_NBYTES), shape->nprobes);
}

bool KERNEL(parquet_may_match)(const struct filter_shape *shape, const uint8_t *payload,
                               struct key_hash hash)
{
  const vector low_halves = splat32((uint32_t)hash.low);
  const vector positions = shift_right32(mul_low32(low_halves, load(PARQUET_SALTS)), 27);
  const vector bits = shift_left_each32(splat32(1), positions);
  const vector clear = bit_and_not(bits, load(payload + parquet_block(hash.low, shape->lines.n)));
  return are_disjoint(clear, clear);
}
