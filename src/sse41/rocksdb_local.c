/* Probes filters of the layout rocksdb_local (FastLocalBloom) with SSE4.1. Scalar code adds to
 * them.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "cache_lines.h"

/* ---- Vocabulary ---- */

struct lookup {
  __m128i nlines;
  /* The lower and the upper halves of the powers of the multiplier, in words of 16 bits. */
  __m128i low[ROCKSDB_LOCAL_MAX_NPASSES], high[ROCKSDB_LOCAL_MAX_NPASSES];
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = _mm_set1_epi64x(shape->lines.n);
  uint32_t lanes[ROCKSDB_LOCAL_MAX_NPASSES * PASS_NPROBES];
  rocksdb_local_powers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++) {
    uint16_t low[PASS_NPROBES], high[PASS_NPROBES];
    for (uint32_t i = 0; i < PASS_NPROBES; i++) {
      low[i] = (uint16_t)lanes[pass * PASS_NPROBES + i];
      high[i] = (uint16_t)(lanes[pass * PASS_NPROBES + i] >> 16);
    }
    lookup->low[pass] = _mm_loadu_si128((const void *)low);
    lookup->high[pass] = _mm_loadu_si128((const void *)high);
  }
}

/* Computes the offset of the line of each hash, as rocksdb_local_line() does, for two hashes at a
 * time. */
static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += 2) {
    const __m128i two = _mm_loadu_si128((const void *)(hashes + i * sizeof(uint64_t)));
    const __m128i line = _mm_srli_epi64(_mm_mul_epu32(two, lookup->nlines), 32);
    _mm_store_si128((void *)(offsets + i), _mm_slli_epi64(line, 6));
  }
}

/* Copies word i to all lanes of 16 bits. */
static inline __m128i word(__m128i words, int i)
{
  return _mm_shuffle_epi8(words, _mm_set1_epi16((short)((2 * i + 1) << 8 | 2 * i)));
}

/* Returns eight probes. A probe is the high half h of the hash times a power m of the multiplier,
 * modulo 2^32. Only its top 9 bits are needed, so the upper 16 bits of the product are computed:
 *
 *   h_low * m_low >> 16  +  h_low * m_high  +  h_high * m_low     modulo 2^16 */
static inline __m128i probes_of(const struct lookup *lookup, uint32_t pass, const uint8_t *hashes,
                                size_t i)
{
  const __m128i hash = _mm_loadl_epi64((const void *)(hashes + i * sizeof(uint64_t)));
  const __m128i h_low = word(hash, 2), h_high = word(hash, 3);
  return _mm_add_epi16(_mm_mulhi_epu16(h_low, lookup->low[pass]),
                       _mm_add_epi16(_mm_mullo_epi16(h_low, lookup->high[pass]),
                                     _mm_mullo_epi16(h_high, lookup->low[pass])));
}

static const struct cache_line_steps steps = {
    .hash_nbytes = sizeof(uint64_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
};

CACHE_LINE_PROBE(rocksdb_local)
