/* rocksdb_local in lanes of AVX-512: the probes of a key across lanes, two keys in a register. More
 * than eight probes take one more pass for each eight, at no more work per probe than one key in a
 * register would be.
 * SPDX-License-Identifier: MIT */
#include "avx512.h"
#include "cache_lines.h"
#include "stream.h"

/* ---- Vocabulary ---- */

struct lookup {
  __m512i nlines;
  __m512i powers[ROCKSDB_LOCAL_MAX_NPASSES];
};

static inline void prepare(const struct filter_shape *shape, struct lookup *lookup)
{
  lookup->nlines = _mm512_set1_epi64(shape->nlines);
  uint32_t lanes[ROCKSDB_LOCAL_MAX_NPASSES * PASS_NPROBES];
  rocksdb_local_powers(shape->nprobes, lanes);
  for (uint32_t pass = 0; pass < npasses_for(shape->nprobes); pass++)
    lookup->powers[pass] = load_twice(&lanes[pass * PASS_NPROBES]);
}

/* rocksdb_local_line in each lane. */
static inline void locate_eight(const struct lookup *lookup, const uint8_t *hashes,
                                uint64_t *offsets)
{
  const __m512i eight = _mm512_loadu_si512(hashes);
  const __m512i line = _mm512_srli_epi64(_mm512_mul_epu32(eight, lookup->nlines), 32);
  _mm512_store_si512(offsets, _mm512_slli_epi64(line, 6));
}

/* The top 4 bits of a probe are the number of a dword, the next 5 of a bit in it.
 *
 *   hashes     low 0, high 0, low 1, high 1, low 2, ...
 *   pair 0     high 0, high 0, ... high 0, high 1, high 1, ... high 1 */
static inline struct probes probes_of(const struct lookup *lookup, uint32_t pass,
                                      const uint8_t *hashes, int pair)
{
  const __m512i first = _mm512_set_epi32(3, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1);
  const __m512i high_halves = _mm512_permutexvar_epi32(
      _mm512_add_epi32(first, _mm512_set1_epi32(4 * pair)), _mm512_loadu_si512(hashes));
  const __m512i probes = _mm512_mullo_epi32(high_halves, lookup->powers[pass]);
  return (struct probes){_mm512_srli_epi32(probes, 28), _mm512_srli_epi32(probes, 23)};
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

void lanebloom_rocksdb_local_probe_avx512(const struct filter_shape *shape, const uint8_t *payload,
                                          struct hash_source *source, uint8_t *bitmap)
{
  struct lookup lookup;
  rocksdb_local_probe(shape, payload, source, bitmap, &lookup, &vocabulary);
}

void lanebloom_rocksdb_local_add_avx512(const struct filter_shape *shape, uint8_t *payload,
                                        struct hash_source *source)
{
  struct lookup lookup;
  rocksdb_local_add(shape, payload, source, &lookup, &vocabulary);
}
