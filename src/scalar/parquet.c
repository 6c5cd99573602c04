/* Probes and adds to Parquet's split-block filters: the high half of a 64-bit hash selects a block
 * of eight words, and the low half selects one bit in each word. This scalar code is the
 * specification. Source: Apache Parquet Format 2.10, BloomFilter.md.
 * SPDX-License-Identifier: MIT */
#include "../layouts/parquet.h"
#include "../common/bytes.h"
#include "each_hash.h"

static inline size_t block_of(const struct filter_shape *shape, const void *hashes, size_t i)
{
  return parquet_block(hash64_at(hashes, i), shape->lines.n);
}

__attribute__((always_inline)) static inline void
fetch_block(const struct filter_shape *shape, const uint8_t *payload, const void *hashes, size_t i)
{
  __builtin_prefetch(payload + block_of(shape, hashes, i));
}

/* Probes without branches. A branch would save nothing, because a block takes only one or two
 * loads, regardless of which bits are set. */
static inline bool parquet_may_match(const struct filter_shape *shape, const uint8_t *payload,
                                     const void *hashes, size_t i)
{
  const uint32_t low = (uint32_t)hash64_at(hashes, i);
  const uint8_t *block = payload + block_of(shape, hashes, i);
  uint32_t all = 1;
  for (uint32_t word = 0; word < PARQUET_BLOCK_NWORDS; word++)
    all &= load_le32(block + 4 * word) >> parquet_bit(low, word);
  return all;
}

static inline void parquet_set(const struct filter_shape *shape, uint8_t *payload,
                               const void *hashes, size_t i)
{
  const uint32_t low = (uint32_t)hash64_at(hashes, i);
  uint8_t *block = payload + block_of(shape, hashes, i);
  for (uint32_t word = 0; word < PARQUET_BLOCK_NWORDS; word++) {
    const uint32_t bit = parquet_bit(low, word);
    block[4 * word + bit / 8] |= (uint8_t)(1 << bit % 8);
  }
}

bool lanebloom_parquet_may_match_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                        struct key_hash hash)
{
  return parquet_may_match(shape, payload, &hash.low, 0);
}

void lanebloom_parquet_probe_scalar(const struct filter_shape *shape, const uint8_t *payload,
                                    struct hash_source *source, uint8_t *bitmap)
{
  probe_each_line(shape, payload, source, bitmap, fetch_block, parquet_may_match,
                  parquet_may_match);
}

void lanebloom_parquet_add_scalar(const struct filter_shape *shape, uint8_t *payload,
                                  struct hash_source *source)
{
  add_each_hash(shape, payload, source, parquet_set);
}
