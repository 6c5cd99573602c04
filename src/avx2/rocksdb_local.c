/* rocksdb_local in lanes of AVX2: the probes of a key across lanes, one key in a register. It
 * gathers nothing, so both tables have it.
 * SPDX-License-Identifier: MIT */
#include "avx2.h"
#include "cache_lines.h"

/* ---- Vocabulary ---- */

struct lookup {
  __m256i nlines;
  __m256i powers[ROCKSDB_LOCAL_MAX_NPASSES];
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = _mm256_set1_epi64x(shape->nlines);
  uint32_t lanes[ROCKSDB_LOCAL_MAX_NPASSES * PASS_NPROBES];
  rocksdb_local_powers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++)
    lookup->powers[pass] = _mm256_loadu_si256((const __m256i *)&lanes[pass * PASS_NPROBES]);
}

/* rocksdb_local_line in each of four lanes. */
static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  for (size_t i = 0; i < 8; i += 4) {
    const __m256i four = _mm256_loadu_si256((const __m256i *)(hashes + i * sizeof(uint64_t)));
    const __m256i line = _mm256_srli_epi64(_mm256_mul_epu32(four, lookup->nlines), 32);
    _mm256_store_si256((__m256i *)(offsets + i), _mm256_slli_epi64(line, 6));
  }
}

/* The top bit of a probe is the number of a half, the next 3 of a dword in it, the next 5 of a
 * bit. */
static inline struct probes probes_of(const struct lookup *lookup, uint32_t pass,
                                      const uint8_t *hashes, size_t i)
{
  const uint32_t high_half = (uint32_t)(hash64_at(hashes, i) >> 32);
  const __m256i probes =
      _mm256_mullo_epi32(_mm256_set1_epi32((int)high_half), lookup->powers[pass]);
  return (struct probes){probes, _mm256_srli_epi32(probes, 28), _mm256_srli_epi32(probes, 23)};
}

static const struct cache_line_vocabulary vocabulary = {
    .hash_nbytes = sizeof(uint64_t),
    .prepare = prepare,
    .locate = locate_eight,
    .probe = probe_eight,
    .add = add_eight,
};

/* ---- Kernels ---- */

void lanebloom_rocksdb_local_probe_avx2(const struct filter_shape *shape, const uint8_t *payload,
                                        struct hash_source *source, uint8_t *bitmap)
{
  struct lookup lookup;
  rocksdb_local_probe(shape, payload, source, bitmap, &lookup, &vocabulary);
}

void lanebloom_rocksdb_local_add_avx2(const struct filter_shape *shape, uint8_t *payload,
                                      struct hash_source *source)
{
  struct lookup lookup;
  rocksdb_local_add(shape, payload, source, &lookup, &vocabulary);
}
