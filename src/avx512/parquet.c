/* parquet in lanes of AVX-512: the blocks of two keys in a register, a word in each lane.
 * SPDX-License-Identifier: MIT */
#include "../lanes/cache_lines.h"
#include "avx512.h"
#include "isa.h"
#include "masks.h"
#include "stream.h"

/* ---- Vocabulary ---- */

struct lookup {
  __m512i nblocks, salts; /* of the words of both blocks */
};

static inline __m256i load_block(const uint8_t *block)
{
  return _mm256_loadu_si256((const __m256i *)block);
}

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nblocks = _mm512_set1_epi64(shape->nlines);
  lookup->salts = _mm512_broadcast_i64x4(load_block((const uint8_t *)PARQUET_SALTS));
}

/* parquet_block in each lane. */
static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  const __m512i high = _mm512_srli_epi64(_mm512_loadu_si512(hashes), 32);
  const __m512i block = _mm512_srli_epi64(_mm512_mul_epu32(high, lookup->nblocks), 32);
  _mm512_store_si512(offsets, _mm512_slli_epi64(block, 5));
}

/* The bits that hashes 2 * pair and the next one probe, each in a word of its own.
 *
 *   hashes     low 0, high 0, low 1, high 1, low 2, ...
 *   pair 0     low 0, low 0, ... low 0, low 1, low 1, ... low 1 */
static inline __m512i bits_of(const struct lookup *lookup, const uint8_t *hashes, int pair)
{
  const __m512i first = _mm512_set_epi32(2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i low_halves = _mm512_permutexvar_epi32(
      _mm512_add_epi32(first, _mm512_set1_epi32(4 * pair)), _mm512_loadu_si512(hashes));
  const __m512i bits = _mm512_srli_epi32(_mm512_mullo_epi32(low_halves, lookup->salts), 27);
  return _mm512_sllv_epi32(_mm512_set1_epi32(1), bits);
}

static inline uint8_t probe_eight(const struct lookup *lookup, uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets,
                                  const uint8_t *hashes, bool far)
{
  (void)npasses, (void)far;
  __mmask16 failures[4];
  for (int i = 0; i < 4; i++) {
    const __m512i first = _mm512_castsi256_si512(load_block(payload + offsets[2 * i]));
    const __m512i blocks = _mm512_inserti64x4(first, load_block(payload + offsets[2 * i + 1]), 1);
    failures[i] = _mm512_testn_epi32_mask(blocks, bits_of(lookup, hashes, i));
  }
  return bytes_of_zero(join_masks(failures));
}

static inline void add_eight(const struct lookup *lookup, uint32_t nprobes, uint8_t *payload,
                             const uint64_t *offsets, const uint8_t *hashes, size_t n, bool far)
{
  (void)nprobes, (void)far;
  __m256i bits[8];
  for (int i = 0; i < 4; i++) {
    const __m512i two = bits_of(lookup, hashes, i);
    bits[2 * i] = _mm512_castsi512_si256(two);
    bits[2 * i + 1] = _mm512_extracti64x4_epi64(two, 1);
  }
  for (size_t i = 0; i < n; i++) {
    uint8_t *block = payload + offsets[i];
    _mm256_storeu_si256((__m256i *)block, _mm256_or_si256(load_block(block), bits[i]));
  }
}

static const struct cache_line_vocabulary vocabulary = {
    .hash_nbytes = sizeof(uint64_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
    .add = add_eight,
    .stream = stream_line,
};

/* ---- Kernels ---- */

void lanebloom_parquet_probe_avx512(const struct filter_shape *shape, const uint8_t *payload,
                                    struct hash_source *source, uint8_t *bitmap)
{
  struct lookup lookup;
  parquet_probe(shape, payload, source, bitmap, &lookup, &vocabulary);
}

void lanebloom_parquet_add_avx512(const struct filter_shape *shape, uint8_t *payload,
                                  struct hash_source *source)
{
  struct lookup lookup;
  parquet_add(shape, payload, source, &lookup, &vocabulary);
}
