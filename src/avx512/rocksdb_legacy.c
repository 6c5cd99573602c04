/* rocksdb_legacy in lanes of AVX-512: as rocksdb_local, but for where the line is and which bits of
 * it.
 * SPDX-License-Identifier: MIT */
#include "avx512.h"
#include "cache_lines.h"

/* ---- Vocabulary ---- */

struct lookup {
  __m512i nlines, multiplier, addend; /* see divide.h */
  __m128i shift;
  __m512i numbers[ROCKSDB_LEGACY_MAX_NPASSES];
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = _mm512_set1_epi64(shape->nlines);
  lookup->multiplier = _mm512_set1_epi64(shape->reciprocal.multiplier);
  lookup->addend = _mm512_set1_epi64(shape->reciprocal.addend);
  lookup->shift = _mm_cvtsi32_si128((int)shape->reciprocal.shift);
  uint32_t lanes[ROCKSDB_LEGACY_MAX_NPASSES * PASS_NPROBES];
  rocksdb_legacy_numbers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++)
    lookup->numbers[pass] = load_twice(&lanes[pass * PASS_NPROBES]);
}

static inline __m256i eight_hashes(const uint8_t *hashes)
{
  return _mm256_loadu_si256((const __m256i *)hashes);
}

static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  const __m512i eight = _mm512_cvtepu32_epi64(eight_hashes(hashes));
  const __m512i product =
      _mm512_add_epi64(_mm512_mul_epu32(eight, lookup->multiplier), lookup->addend);
  const __m512i quotient = _mm512_srl_epi64(product, lookup->shift);
  const __m512i line = _mm512_sub_epi64(eight, _mm512_mul_epu32(quotient, lookup->nlines));
  _mm512_store_si512(offsets, _mm512_slli_epi64(line, 6));
}

/* The lowest 5 bits of a probe are the number of a bit in a dword, the next 4 of the dword. */
static inline struct probes probes_of(const struct lookup *lookup, uint32_t pass,
                                      const uint8_t *hashes, int pair)
{
  const __m512i first = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i two = _mm512_permutexvar_epi32(_mm512_add_epi32(first, _mm512_set1_epi32(2 * pair)),
                                               _mm512_castsi256_si512(eight_hashes(hashes)));
  const __m512i stride = _mm512_rol_epi32(two, 15); /* bloomhash_stride */
  const __m512i probes = _mm512_add_epi32(two, _mm512_mullo_epi32(stride, lookup->numbers[pass]));
  const __m512i dwords = _mm512_and_si512(_mm512_srli_epi32(probes, 5), _mm512_set1_epi32(15));
  return (struct probes){dwords, probes};
}

static const struct cache_line_vocabulary vocabulary = {
    .hash_nbytes = sizeof(uint32_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
    .add = add_eight,
};

/* ---- Kernels ---- */

void lanebloom_rocksdb_legacy_probe_avx512(const struct filter_shape *shape, const uint8_t *payload,
                                           struct hash_source *source, uint8_t *bitmap)
{
  struct lookup lookup;
  rocksdb_legacy_probe(shape, payload, source, bitmap, &lookup, &vocabulary);
}

void lanebloom_rocksdb_legacy_add_avx512(const struct filter_shape *shape, uint8_t *payload,
                                         struct hash_source *source)
{
  struct lookup lookup;
  rocksdb_legacy_add(shape, payload, source, &lookup, &vocabulary);
}
