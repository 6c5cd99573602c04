/* rocksdb_local in lanes of AVX2: the probes of a key across lanes, one key in a register. Or, in
 * cache and for few probes, keys across lanes by gathers, for CPUs where gathers are fast.
 * SPDX-License-Identifier: MIT */
#include "avx2.h"
#include "cache_lines.h"
#include "gather.h"
#include "stream.h"

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
    .stream = stream_line,
};

/* ---- Gathers ---- */

/* Eight keys across lanes, a gather per probe. Larger payloads and more probes go to registers as
 * above (Xeon, 256 KiB, 4 and 6 probes: 1.09 and 1.50 ns per hash, in registers 1.72 and 1.74). */
enum { MAX_GATHERED_NPROBES = 6 };

static inline void locate_nothing(const struct lookup *lookup, const uint8_t *hashes,
                                  uint64_t *offsets)
{
  (void)lookup, (void)hashes, (void)offsets;
}

/* The high halves of eight 64-bit lanes, in another order:
 *
 *   a   -- a0 -- a1 -- a2 -- a3
 *   b   -- b0 -- b1 -- b2 -- b3    ->   a0 b0 a1 b1 a2 b2 a3 b3 */
static inline __m256i high_halves(__m256i a, __m256i b)
{
  return _mm256_blend_epi32(_mm256_srli_epi64(a, 32), b, 0xaa);
}

static inline __attribute__((always_inline)) uint8_t
gather_eight(const struct lookup *lookup, const uint32_t nprobes, const uint8_t *payload,
             const uint64_t *offsets, const uint8_t *hashes, bool far)
{
  (void)offsets, (void)far;
  const __m256i a = _mm256_loadu_si256((const __m256i *)hashes);
  const __m256i b = _mm256_loadu_si256((const __m256i *)(hashes + 32));
  const __m256i lines = _mm256_slli_epi32(
      high_halves(_mm256_mul_epu32(a, lookup->nlines), _mm256_mul_epu32(b, lookup->nlines)), 4);
  __m256i probes = high_halves(a, b), passed = _mm256_set1_epi32(-1);
  for (uint32_t i = 0; i < nprobes; i++) {
    const __m256i dwords =
        gather_dwords(payload, _mm256_add_epi32(lines, _mm256_srli_epi32(probes, 28)));
    const __m256i to_sign =
        _mm256_andnot_si256(_mm256_srli_epi32(probes, 23), _mm256_set1_epi32(31));
    passed = _mm256_and_si256(passed, _mm256_sllv_epi32(dwords, to_sign));
    probes = _mm256_mullo_epi32(probes, _mm256_set1_epi32((int)ROCKSDB_LOCAL_MULTIPLIER));
  }
  const __m256i in_order =
      _mm256_permutevar8x32_epi32(passed, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
  return (uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(in_order));
}

static const struct cache_line_vocabulary by_gathers = {
    .hash_nbytes = sizeof(uint64_t),
    .prepare = prepare,
    .locate = locate_nothing,
    .probe = gather_eight,
};

/* ---- Kernels ---- */

void lanebloom_rocksdb_local_probe_avx2(const struct filter_shape *shape, const uint8_t *payload,
                                        struct hash_source *source, uint8_t *bitmap)
{
  if (shape->nbytes > NEAR_NBYTES || shape->nprobes > MAX_GATHERED_NPROBES ||
      source->n < FEW_NKEYS) {
    lanebloom_rocksdb_local_probe_avx2_loads(shape, payload, source, bitmap);
    return;
  }
  struct lookup lookup;
  prepare(shape, &lookup);
  probe_blocks(payload, source, bitmap, shape->nprobes, false, &lookup, &by_gathers);
}

void lanebloom_rocksdb_local_probe_avx2_loads(const struct filter_shape *shape,
                                              const uint8_t *payload, struct hash_source *source,
                                              uint8_t *bitmap)
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
