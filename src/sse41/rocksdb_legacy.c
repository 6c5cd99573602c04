/* Probes filters of the layout rocksdb_legacy with SSE4.1. Scalar code adds to them.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "cache_lines.h"

/* ---- Vocabulary ---- */

struct lookup {
  __m128i nlines, multiplier, addend; /* see divide.h */
  __m128i shift;
  __m128i numbers[ROCKSDB_LEGACY_MAX_NPASSES]; /* words */
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = _mm_set1_epi64x(shape->lines.n);
  lookup->multiplier = _mm_set1_epi64x(shape->lines.reciprocal.multiplier);
  lookup->addend = _mm_set1_epi64x(shape->lines.reciprocal.addend);
  lookup->shift = _mm_cvtsi32_si128((int)shape->lines.reciprocal.shift);
  uint32_t lanes[ROCKSDB_LEGACY_MAX_NPASSES * PASS_NPROBES];
  rocksdb_legacy_numbers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++) {
    const __m128i *eight = (const void *)&lanes[pass * PASS_NPROBES];
    lookup->numbers[pass] = _mm_packus_epi32(_mm_loadu_si128(eight), _mm_loadu_si128(eight + 1));
  }
}

static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += 2) {
    const __m128i two =
        _mm_cvtepu32_epi64(_mm_loadl_epi64((const void *)(hashes + i * sizeof(uint32_t))));
    const __m128i product = _mm_add_epi64(_mm_mul_epu32(two, lookup->multiplier), lookup->addend);
    const __m128i quotient = _mm_srl_epi64(product, lookup->shift);
    const __m128i line = _mm_sub_epi64(two, _mm_mul_epu32(quotient, lookup->nlines));
    _mm_store_si128((void *)(offsets + i), _mm_slli_epi64(line, 6));
  }
}

/* Returns eight probes, with the lowest 9 bits of each at the top of a word of 16 bits. 16 bits are
 * enough to compute the lowest 9. */
static inline __m128i probes_of(const struct lookup *lookup, uint32_t pass, const uint8_t *hashes,
                                size_t i)
{
  const uint32_t hash = hash32_at(hashes, i);
  const __m128i stride = _mm_set1_epi16((short)bloomhash_stride(hash));
  const __m128i probes =
      _mm_add_epi16(_mm_set1_epi16((short)hash), _mm_mullo_epi16(stride, lookup->numbers[pass]));
  return _mm_slli_epi16(probes, 7);
}

static const struct cache_line_steps steps = {
    .hash_nbytes = sizeof(uint32_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
};

CACHE_LINE_PROBE(rocksdb_legacy)
