/* rocksdb_local in lanes of AVX2: the probes of a key across lanes, one key in a register. Both
 * tables have it, as it gathers nothing: on Zen 4 it takes 1.0 ns per key, and a gathered dword
 * alone 0.36, of which six are needed.
 * SPDX-License-Identifier: MIT */
#include "../scalar/scalar.h"
#include "avx2.h"
#include "isa.h"
#include "lines.h"

enum {
  FEW_NKEYS = 6,   /* fewer go to scalar: a single key takes 44 ns there and 85 here (Zen 4) */
  MAX_NPASSES = 4, /* of eight probes: readers take up to 30 */
};

/* ---- Vocabulary ---- */

/* Where the lines of four hashes start, in bytes: rocksdb_local_line in each lane. */
static inline __m256i line_offsets(__m256i hashes, __m256i nlines)
{
  const __m256i scaled = _mm256_srli_epi64(_mm256_mul_epu32(hashes, nlines), 32);
  return _mm256_slli_epi64(scaled, 6);
}

/* What the high half of a hash is multiplied by: probe 8 * pass + i in lane i of a pass. Lanes
 * beyond the last probe repeat the first one. */
struct multipliers {
  __m256i passes[MAX_NPASSES];
};

static inline struct multipliers multipliers_for(uint32_t nprobes)
{
  struct multipliers multipliers;
  uint32_t power = 1;
  for (uint32_t pass = 0; pass < npasses_of(nprobes); pass++) {
    uint32_t lanes[LANES_PER_KEY];
    for (uint32_t i = 0; i < LANES_PER_KEY; i++, power *= ROCKSDB_LOCAL_MULTIPLIER)
      lanes[i] = pass * LANES_PER_KEY + i < nprobes ? power : 1;
    multipliers.passes[pass] = _mm256_loadu_si256((const __m256i *)lanes);
  }
  return multipliers;
}

/* The high half of a hash in all lanes. */
static inline __m256i high_half(const uint8_t *hash)
{
  int32_t half;
  memcpy(&half, hash + sizeof half, sizeof half);
  return _mm256_set1_epi32(half);
}

/* Each probe's bit, as the sign of its lane. A probe's top bit is the number of a half of its line,
 * the next 3 of a dword in it, which is all that the permutation looks at, and the next 5 of a
 * bit. */
static inline __m256i bits_as_signs(__m256i probes, const uint8_t *line)
{
  const __m256i dword = _mm256_srli_epi32(probes, 28);
  const __m256i lower =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)line), dword);
  const __m256i upper =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)(line + 32)), dword);
  const __m256i dwords = _mm256_castps_si256(_mm256_blendv_ps(
      _mm256_castsi256_ps(lower), _mm256_castsi256_ps(upper), _mm256_castsi256_ps(probes)));
  const __m256i to_sign = _mm256_andnot_si256(_mm256_srli_epi32(probes, 23), _mm256_set1_epi32(31));
  return _mm256_sllv_epi32(dwords, to_sign);
}

/* ---- Blocks of hashes and their lines ---- */

/* Where the lines of eight hashes are. Prefetched into L2, as more of them can be on their way
 * there than to L1 (measured on Zen 4, 16 and 256 MiB: 3.1 and 7.4 ns, to L1 3.9 and 9.5). */
static inline void locate_eight(struct block *block, size_t i, __m256i nlines,
                                const uint8_t *payload, const bool prefetch)
{
  for (size_t j = i; j < i + 8; j += 4) {
    const __m256i hashes =
        _mm256_loadu_si256((const __m256i *)(block->hashes + j * sizeof(uint64_t)));
    _mm256_store_si256((__m256i *)(block->offsets + j), line_offsets(hashes, nlines));
  }
  if (prefetch)
    for (size_t j = i; j < i + 8; j++)
      _mm_prefetch((const char *)payload + block->offsets[j], _MM_HINT_T1);
}

/* ---- Probing ---- */

/* Bit i: hash i passes. */
static inline uint8_t probe_eight(const struct multipliers *multipliers, const uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets,
                                  const uint8_t *hashes)
{
  unsigned hits = 0;
  for (int i = 7; i >= 0; i--) {
    const __m256i half = high_half(hashes + i * 8);
    const uint8_t *line = payload + offsets[i];
    __m256i passed = bits_as_signs(_mm256_mullo_epi32(half, multipliers->passes[0]), line);
    for (uint32_t pass = 1; pass < npasses; pass++)
      passed = _mm256_and_si256(
          passed, bits_as_signs(_mm256_mullo_epi32(half, multipliers->passes[pass]), line));
    hits = 2 * hits + (_mm256_movemask_ps(_mm256_castsi256_ps(passed)) == 0xff);
  }
  return (uint8_t)hits;
}

static inline void probe_blocks(const struct filter_shape *shape, const uint8_t *payload,
                                struct hash_source *source, uint8_t *bitmap, const uint32_t npasses,
                                const bool prefetch)
{
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const __m256i nlines = _mm256_set1_epi64x(shape->nlines);
  uint8_t padded[NEXT_NKEYS * sizeof(uint64_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint64_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, nlines, payload, prefetch);
  while (block->n > 0) {
    next_block(source, sizeof(uint64_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, nlines, payload, prefetch);
      *bitmap++ =
          probe_eight(&multipliers, npasses, payload, block->offsets + i, block->hashes + i * 8);
    }
    if (block->n % 8 != 0)
      bitmap[-1] &= (uint8_t)((1 << block->n % 8) - 1);
    struct block *const done = block;
    block = next;
    next = done;
  }
}

void lanebloom_rocksdb_local_probe_avx2(const struct filter_shape *shape, const uint8_t *payload,
                                        struct hash_source *source, uint8_t *bitmap)
{
  if (source->n < FEW_NKEYS) {
    lanebloom_rocksdb_local_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const uint32_t npasses = npasses_of(shape->nprobes);
  const bool near = shape->nbytes <= NEAR_NBYTES;
  if (npasses == 1 && near)
    probe_blocks(shape, payload, source, bitmap, 1, false);
  else if (npasses == 1)
    probe_blocks(shape, payload, source, bitmap, 1, true);
  else
    probe_blocks(shape, payload, source, bitmap, npasses, !near);
}

/* ---- Adding ---- */

/* One key after another, as two may have the same line. */
static inline void add_eight(const struct multipliers *multipliers, const uint32_t nprobes,
                             uint8_t *payload, const uint64_t *offsets, const uint8_t *hashes,
                             size_t n)
{
  uint32_t bits[8][MAX_NPASSES * LANES_PER_KEY];
  for (int i = 0; i < 8; i++)
    for (uint32_t pass = 0; pass < npasses_of(nprobes); pass++)
      _mm256_storeu_si256(
          (__m256i *)&bits[i][pass * LANES_PER_KEY],
          _mm256_srli_epi32(
              _mm256_mullo_epi32(high_half(hashes + i * 8), multipliers->passes[pass]), 23));
  for (size_t i = 0; i < n; i++)
    set_bits(payload + offsets[i], bits[i], nprobes);
}

void lanebloom_rocksdb_local_add_avx2(const struct filter_shape *shape, uint8_t *payload,
                                      struct hash_source *source)
{
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const __m256i nlines = _mm256_set1_epi64x(shape->nlines);
  const bool prefetch = shape->nbytes > NEAR_NBYTES;
  uint8_t padded[NEXT_NKEYS * sizeof(uint64_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint64_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, nlines, payload, prefetch);
  while (block->n > 0) {
    next_block(source, sizeof(uint64_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, nlines, payload, prefetch);
      const size_t left = block->n - i;
      add_eight(&multipliers, shape->nprobes, payload, block->offsets + i, block->hashes + i * 8,
                left < 8 ? left : 8);
    }
    struct block *const done = block;
    block = next;
    next = done;
  }
}
