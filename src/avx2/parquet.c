/* parquet in lanes of AVX2: a key's block in a register, a word in each lane.
 * SPDX-License-Identifier: MIT */
#include "../lanes/cache_lines.h"
#include "avx2.h"
#include "isa.h"
#include "stream.h"

/* ---- Vocabulary ---- */

struct lookup {
  __m256i nblocks, salts;
};

static inline __m256i load_block(const uint8_t *block)
{
  return _mm256_loadu_si256((const __m256i *)block);
}

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nblocks = _mm256_set1_epi64x(shape->nlines);
  lookup->salts = load_block((const uint8_t *)PARQUET_SALTS);
}

/* parquet_block in each of four lanes. */
static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += 4) {
    const __m256i four = _mm256_loadu_si256((const __m256i *)(hashes + i * sizeof(uint64_t)));
    const __m256i scaled = _mm256_mul_epu32(_mm256_srli_epi64(four, 32), lookup->nblocks);
    _mm256_store_si256((__m256i *)(offsets + i),
                       _mm256_slli_epi64(_mm256_srli_epi64(scaled, 32), 5));
  }
}

/* The bits that hash i probes, each in a word of its own. */
static inline __m256i bits_of(const struct lookup *lookup, const uint8_t *hashes, size_t i)
{
  const __m256i low_half = _mm256_set1_epi32((int)(uint32_t)hash64_at(hashes, i));
  const __m256i bits = _mm256_srli_epi32(_mm256_mullo_epi32(low_half, lookup->salts), 27);
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), bits);
}

/* The bits of hash i that are clear in its block. */
static inline __m256i failures_of(const struct lookup *lookup, const uint8_t *payload,
                                  const uint64_t *offsets, const uint8_t *hashes, size_t i)
{
  return _mm256_andnot_si256(load_block(payload + offsets[i]), bits_of(lookup, hashes, i));
}

/* Of four hashes: a byte for each word, which is 0 if the word's bit is set. In either half of the
 * register a dword for each hash. Saturation keeps what is not 0 from becoming it. */
static inline __m256i failures_of_four(const struct lookup *lookup, const uint8_t *payload,
                                       const uint64_t *offsets, const uint8_t *hashes, size_t i)
{
  const __m256i first = _mm256_packs_epi32(failures_of(lookup, payload, offsets, hashes, i),
                                           failures_of(lookup, payload, offsets, hashes, i + 1));
  const __m256i last = _mm256_packs_epi32(failures_of(lookup, payload, offsets, hashes, i + 2),
                                          failures_of(lookup, payload, offsets, hashes, i + 3));
  return _mm256_packs_epi16(first, last);
}

static inline uint8_t probe_eight(const struct lookup *lookup, uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets,
                                  const uint8_t *hashes, bool far)
{
  (void)npasses, (void)far;
  const __m256i first = failures_of_four(lookup, payload, offsets, hashes, 0),
                last = failures_of_four(lookup, payload, offsets, hashes, 4);
  const __m256i failures = _mm256_or_si256(_mm256_permute2x128_si256(first, last, 0x20),
                                           _mm256_permute2x128_si256(first, last, 0x31));
  const __m256i passed = _mm256_cmpeq_epi32(failures, _mm256_setzero_si256());
  return (uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(passed));
}

static inline void add_eight(const struct lookup *lookup, uint32_t nprobes, uint8_t *payload,
                             const uint64_t *offsets, const uint8_t *hashes, size_t n, bool far)
{
  (void)nprobes, (void)far;
  for (size_t i = 0; i < n; i++) {
    uint8_t *block = payload + offsets[i];
    const __m256i bits = bits_of(lookup, hashes, i);
    _mm256_storeu_si256((__m256i *)block, _mm256_or_si256(load_block(block), bits));
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

void lanebloom_parquet_probe_avx2(const struct filter_shape *shape, const uint8_t *payload,
                                  struct hash_source *source, uint8_t *bitmap)
{
  struct lookup lookup;
  parquet_probe(shape, payload, source, bitmap, &lookup, &vocabulary);
}

void lanebloom_parquet_add_avx2(const struct filter_shape *shape, uint8_t *payload,
                                struct hash_source *source)
{
  struct lookup lookup;
  parquet_add(shape, payload, source, &lookup, &vocabulary);
}
