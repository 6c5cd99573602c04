/* rocksdb_legacy in lanes of AVX2: as rocksdb_local, but for where the line is and which bits of
 * it.
 * SPDX-License-Identifier: MIT */
#include "avx2.h"
#include "cache_lines.h"

/* ---- Vocabulary ---- */

struct lookup {
  __m256i nlines, multiplier, addend; /* see divide.h */
  __m128i shift;
  __m256i numbers[ROCKSDB_LEGACY_MAX_NPASSES];
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = _mm256_set1_epi64x(shape->nlines);
  lookup->multiplier = _mm256_set1_epi64x(shape->reciprocal.multiplier);
  lookup->addend = _mm256_set1_epi64x(shape->reciprocal.addend);
  lookup->shift = _mm_cvtsi32_si128((int)shape->reciprocal.shift);
  uint32_t lanes[ROCKSDB_LEGACY_MAX_NPASSES * PASS_NPROBES];
  rocksdb_legacy_numbers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++)
    lookup->numbers[pass] = _mm256_loadu_si256((const __m256i *)&lanes[pass * PASS_NPROBES]);
}

static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += 4) {
    const __m256i four =
        _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(hashes + i * sizeof(uint32_t))));
    const __m256i product =
        _mm256_add_epi64(_mm256_mul_epu32(four, lookup->multiplier), lookup->addend);
    const __m256i quotient = _mm256_srl_epi64(product, lookup->shift);
    const __m256i line = _mm256_sub_epi64(four, _mm256_mul_epu32(quotient, lookup->nlines));
    _mm256_store_si256((__m256i *)(offsets + i), _mm256_slli_epi64(line, 6));
  }
}

/* The lowest 5 bits of a probe are the number of a bit in a dword, the next 3 of a dword in a half,
 * the next one of the half. */
static inline struct probes probes_of(const struct lookup *lookup, uint32_t pass,
                                      const uint8_t *hashes, size_t i)
{
  const uint32_t hash = hash32_at(hashes, i);
  const __m256i stride = _mm256_set1_epi32((int)bloomhash_stride(hash));
  const __m256i probes = _mm256_add_epi32(_mm256_set1_epi32((int)hash),
                                          _mm256_mullo_epi32(stride, lookup->numbers[pass]));
  return (struct probes){_mm256_slli_epi32(probes, 23), _mm256_srli_epi32(probes, 5), probes};
}

static const struct cache_line_vocabulary vocabulary = {
    .hash_nbytes = sizeof(uint32_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
    .add = add_eight,
};

/* ---- Kernels ---- */

void lanebloom_rocksdb_legacy_probe_avx2(const struct filter_shape *shape, const uint8_t *payload,
                                         struct hash_source *source, uint8_t *bitmap)
{
  struct lookup lookup;
  rocksdb_legacy_probe(shape, payload, source, bitmap, &lookup, &vocabulary);
}

void lanebloom_rocksdb_legacy_add_avx2(const struct filter_shape *shape, uint8_t *payload,
                                       struct hash_source *source)
{
  struct lookup lookup;
  rocksdb_legacy_add(shape, payload, source, &lookup, &vocabulary);
}
