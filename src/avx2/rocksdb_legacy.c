/* rocksdb_legacy in lanes of AVX2: as rocksdb_local, but for where the line is and which bits of
 * it. Lines of other sizes than 64 bytes, which x86 never builds, are left to scalar.
 * SPDX-License-Identifier: MIT */
#include "../scalar/scalar.h"
#include "avx2.h"
#include "isa.h"
#include "lines.h"

enum {
  FEW_NKEYS = 6,    /* fewer go to scalar: a single key takes 50 ns there and 80 here (Zen 4) */
  MAX_NPASSES = 16, /* of eight probes: readers take up to 127 */
  LINE_NBYTES = 64,
};

/* ---- Vocabulary ---- */

/* What finds the lines of hashes: see divide.h. */
struct divisor {
  __m256i nlines, multiplier, addend;
  __m128i shift;
};

static inline struct divisor divisor_of(const struct filter_shape *shape)
{
  return (struct divisor){
      .nlines = _mm256_set1_epi64x(shape->nlines),
      .multiplier = _mm256_set1_epi64x(shape->reciprocal.multiplier),
      .addend = _mm256_set1_epi64x(shape->reciprocal.addend),
      .shift = _mm_cvtsi32_si128((int)shape->reciprocal.shift),
  };
}

/* Where the lines of four hashes start, in bytes. */
static inline __m256i line_offsets(__m128i hashes, const struct divisor *divisor)
{
  const __m256i n = _mm256_cvtepu32_epi64(hashes);
  const __m256i product =
      _mm256_add_epi64(_mm256_mul_epu32(n, divisor->multiplier), divisor->addend);
  const __m256i quotient = _mm256_srl_epi64(product, divisor->shift);
  const __m256i line = _mm256_sub_epi64(n, _mm256_mul_epu32(quotient, divisor->nlines));
  return _mm256_slli_epi64(line, 6);
}

/* What the stride of a hash is multiplied by: for probe 8 * pass + i in lane i of a pass. Lanes
 * beyond the last probe repeat the first one. */
struct multipliers {
  __m256i passes[MAX_NPASSES];
};

static inline struct multipliers multipliers_for(uint32_t nprobes)
{
  struct multipliers multipliers;
  for (uint32_t pass = 0; pass < npasses_of(nprobes); pass++) {
    uint32_t lanes[LANES_PER_KEY];
    for (uint32_t i = 0; i < LANES_PER_KEY; i++)
      lanes[i] = pass * LANES_PER_KEY + i < nprobes ? pass * LANES_PER_KEY + i : 0;
    multipliers.passes[pass] = _mm256_loadu_si256((const __m256i *)lanes);
  }
  return multipliers;
}

/* Of hash i. */
static inline __m256i probes_of(const uint8_t *hashes, int i, __m256i multipliers)
{
  const uint32_t hash = hash32_at(hashes, (size_t)i);
  const __m256i strides = _mm256_set1_epi32((int)bloomhash_stride(hash));
  return _mm256_add_epi32(_mm256_set1_epi32((int)hash), _mm256_mullo_epi32(strides, multipliers));
}

/* Each probe's bit, as the sign of its lane. A probe's lowest 5 bits are the number of a bit in a
 * dword, the next 3, which are all that the permutation looks at, of a dword in a half of the line,
 * and the next of a half. */
static inline __m256i bits_as_signs(__m256i probes, const uint8_t *line)
{
  const __m256i dword = _mm256_srli_epi32(probes, 5);
  const __m256i lower =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)line), dword);
  const __m256i upper =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)(line + 32)), dword);
  const __m256i dwords =
      _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(lower), _mm256_castsi256_ps(upper),
                                           _mm256_castsi256_ps(_mm256_slli_epi32(probes, 23))));
  const __m256i to_sign = _mm256_andnot_si256(probes, _mm256_set1_epi32(31));
  return _mm256_sllv_epi32(dwords, to_sign);
}

/* ---- Blocks of hashes and their lines ---- */

/* Where the lines of eight hashes are, prefetched as in rocksdb_local.c. */
static inline void locate_eight(struct block *block, size_t i, const struct divisor *divisor,
                                const uint8_t *payload, const bool prefetch)
{
  for (size_t j = i; j < i + 8; j += 4) {
    const __m128i hashes = _mm_loadu_si128((const __m128i *)(block->hashes + j * sizeof(uint32_t)));
    _mm256_store_si256((__m256i *)(block->offsets + j), line_offsets(hashes, divisor));
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
    const uint8_t *line = payload + offsets[i];
    __m256i passed = bits_as_signs(probes_of(hashes, i, multipliers->passes[0]), line);
    for (uint32_t pass = 1; pass < npasses; pass++)
      passed = _mm256_and_si256(
          passed, bits_as_signs(probes_of(hashes, i, multipliers->passes[pass]), line));
    hits = 2 * hits + (_mm256_movemask_ps(_mm256_castsi256_ps(passed)) == 0xff);
  }
  return (uint8_t)hits;
}

static inline void probe_blocks(const struct filter_shape *shape, const uint8_t *payload,
                                struct hash_source *source, uint8_t *bitmap, const uint32_t npasses,
                                const bool prefetch)
{
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const struct divisor divisor = divisor_of(shape);
  uint8_t padded[NEXT_NKEYS * sizeof(uint32_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint32_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, &divisor, payload, prefetch);
  while (block->n > 0) {
    next_block(source, sizeof(uint32_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, &divisor, payload, prefetch);
      *bitmap++ = probe_eight(&multipliers, npasses, payload, block->offsets + i,
                              block->hashes + i * sizeof(uint32_t));
    }
    if (block->n % 8 != 0)
      bitmap[-1] &= (uint8_t)((1 << block->n % 8) - 1);
    struct block *const done = block;
    block = next;
    next = done;
  }
}

void lanebloom_rocksdb_legacy_probe_avx2(const struct filter_shape *shape, const uint8_t *payload,
                                         struct hash_source *source, uint8_t *bitmap)
{
  if (shape->line_nbytes != LINE_NBYTES || source->n < FEW_NKEYS) {
    lanebloom_rocksdb_legacy_probe_scalar(shape, payload, source, bitmap);
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
      _mm256_storeu_si256((__m256i *)&bits[i][pass * LANES_PER_KEY],
                          _mm256_and_si256(probes_of(hashes, i, multipliers->passes[pass]),
                                           _mm256_set1_epi32(8 * LINE_NBYTES - 1)));
  for (size_t i = 0; i < n; i++)
    set_bits(payload + offsets[i], bits[i], nprobes);
}

void lanebloom_rocksdb_legacy_add_avx2(const struct filter_shape *shape, uint8_t *payload,
                                       struct hash_source *source)
{
  if (shape->line_nbytes != LINE_NBYTES) {
    lanebloom_rocksdb_legacy_add_scalar(shape, payload, source);
    return;
  }
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const struct divisor divisor = divisor_of(shape);
  const bool prefetch = shape->nbytes > NEAR_NBYTES;
  uint8_t padded[NEXT_NKEYS * sizeof(uint32_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint32_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, &divisor, payload, prefetch);
  while (block->n > 0) {
    next_block(source, sizeof(uint32_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, &divisor, payload, prefetch);
      const size_t left = block->n - i;
      add_eight(&multipliers, shape->nprobes, payload, block->offsets + i,
                block->hashes + i * sizeof(uint32_t), left < 8 ? left : 8);
    }
    struct block *const done = block;
    block = next;
    next = done;
  }
}
