/* Probes RocksDB's Ribbon filters: a hash gives an equation with 128 coefficients, and the payload
 * is a solution of the equations of all added keys. A key may be present if the solution fulfils
 * the key's equation in every column. This scalar code is the specification. Source: RocksDB 7.8.3
 * util/ribbon_impl.h and util/ribbon_alg.h, Standard128Ribbon and InterleavedFilterQuery.
 * SPDX-License-Identifier: MIT */
#include "rocksdb_ribbon.h"
#include "../common/bytes.h"

__extension__ typedef unsigned __int128 segment_bits;

static inline segment_bits load_segment(const uint8_t *segment)
{
  return load_le64(segment) | (segment_bits)load_le64(segment + 8) << 64;
}

static inline uint32_t parity(segment_bits bits)
{
  return (uint32_t)__builtin_parityll((uint64_t)(bits ^ bits >> 64));
}

/* Tests the equation of hash i. If its coefficients reach past the block, the rest of them apply to
 * the next block, which is adjacent and has at least as many columns. */
static inline bool rocksdb_ribbon_may_match(const struct filter_shape *shape,
                                            const uint8_t *payload, const void *hashes, size_t i)
{
  const struct rocksdb_ribbon_equation equation =
      rocksdb_ribbon_equation(shape, hash64_at(hashes, i));
  const uint32_t ncolumns = rocksdb_ribbon_ncolumns(shape, equation.block), slot = equation.slot;
  const segment_bits coefficients =
      equation.coefficients[0] | (segment_bits)equation.coefficients[1] << 64;
  const uint8_t *segment = payload + rocksdb_ribbon_block(shape, equation.block);
  const uint8_t *next = segment + (size_t)ncolumns * ROCKSDB_RIBBON_SEGMENT_NBYTES;
  for (uint32_t column = 0; column < ncolumns; column++) {
    const size_t at = (size_t)column * ROCKSDB_RIBBON_SEGMENT_NBYTES;
    segment_bits sum = load_segment(segment + at) & coefficients << slot;
    if (slot > 0) /* with slot 0 the next block is not needed, and may not exist */
      sum ^= load_segment(next + at) & coefficients >> (ROCKSDB_RIBBON_BLOCK_NSLOTS - slot);
    if (parity(sum) != (equation.expected >> column & 1))
      return false;
  }
  return true;
}

bool lanebloom_rocksdb_ribbon_may_match_scalar(const struct filter_shape *shape,
                                               const uint8_t *payload, struct key_hash hash)
{
  return rocksdb_ribbon_may_match(shape, payload, &hash.low, 0);
}

void lanebloom_rocksdb_ribbon_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                           struct hash_source *source, uint8_t *bitmap)
{
  probe_each_line(shape, payload, source, bitmap, ribbon_fetch, rocksdb_ribbon_may_match,
                  rocksdb_ribbon_may_match);
}
